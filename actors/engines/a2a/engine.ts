import type { Message, Part } from '@a2a-js/sdk';
import { accessOf } from '../agent/access.js';
import { promptWithTranscript } from '../command.js';
import { defineEngine, type Engine, type TurnIO, type TurnRequest } from '../engine.js';
import { keyOf } from '../remote/bounded-fetch.js';
import { firstBytes } from '../process/output.js';
import { watchOver } from '../remote/turn-watch.js';
import type { TurnReport, TurnResult } from '../turn-events.js';
import { openAgent, RefusedError, type A2aOptions, type RemoteAgent } from './agent.js';
import { cancelTask, followTask, sendMessage, type Following } from './follow-task.js';
import { probe } from './probe.js';
import { createTaskReader, isUnderWay, taskStates, type TaskReader } from './task-reader.js';

/**
 * An agent of another house, over the Agent2Agent protocol: its task is followed over broken connections, cancelled
 * where the turn is, and found again by its id after a restart. It gets the words and pictures of the turn and nothing
 * else: no tools of the gateway, no token of the session, no folder. Throws a TypeError for a name that is none.
 * @example const movers = a2aEngine({ name: 'movers', url: 'https://movers.example', apiKeyEnv: 'MOVERS_KEY' });
 */
export function a2aEngine(options: A2aOptions): Engine {
  return defineEngine({
    name: options.name,
    isInProcess: true,
    seesImages: true,
    effortMechanism: 'none',
    discover: () => probe(options),
    ...(options.apiKeyEnv !== undefined && {
      access: () =>
        accessOf({ ...options, section: `engines.a2a.${options.name}` }, { files: [], keys: [], remedy: '' }),
    }),
    async turn(request, given) {
      const io = namingOnce(given);
      if (io.signal.aborted) return { outcome: 'interrupted', text: '' };
      const watch = watchOver(request, io, 'The agent');
      const readers: TaskReader[] = [];
      const text = (): string => readers.flatMap((reader) => reader.text() || []).join('\n\n');
      let agent: RemoteAgent | undefined;
      let isUnsent = false;
      try {
        agent = await openAgent(options, watch.signal);
        const last = await play(agent, request, io, {
          words: (error) => wordsOf(error, options, 300),
          signal: watch.signal,
          retryMs: options.retryMs ?? 1_000,
          heard: watch.heard,
          sends: (later) => (isUnsent = later),
          read() {
            const isFirst = readers.length === 0;
            readers.push(createTaskReader(isFirst ? io.report : behind(io.report)));
            return readers.at(-1)!;
          },
        });
        return endOf(last, text(), options.name);
      } catch (error) {
        const isLeft = watch.signal.aborted || error instanceof RefusedError;
        // what was asked of it must not go on unseen
        if (isLeft && agent !== undefined && readers.length > 0) await cancelTask(agent, readers.at(-1)!);
        if (!watch.signal.aborted) return endOfFault(error, options, text());
        return io.signal.aborted
          ? { outcome: 'interrupted', text: text() }
          : {
              outcome: 'failed',
              text: text(),
              error: `${options.name} did not finish within its time and was ended.`,
            };
      } finally {
        if (readers.length > 0) nameConversation(readers.at(-1)!, io, isUnsent);
        watch.close();
      }
    },
  });
}

interface Talk extends Omit<Following, 'reader'> {
  /** A reader for the next task of the turn. */
  readonly read: () => TaskReader;
  /** The words of the turn wait for the end of an earlier task, or wait no more. */
  readonly sends: (later: boolean) => void;
  /** What a fault says. */
  readonly words: (error: unknown) => string;
}

/**
 * The task of a turn that was cut off comes to its end first: what it says is part of the answer, and all of it where
 * the turn asks nothing else. The words that began that task are not sent again.
 */
async function play(
  agent: RemoteAgent,
  request: TurnRequest,
  io: TurnIO,
  { read, heard, words, sends, ...talk }: Talk,
): Promise<TaskReader> {
  const before = conversationOf(request.nativeId);
  const earlier = before?.taskId ? await findTask(agent, before.taskId, read(), { io, words }) : undefined;
  // One that waits for an answer may not have got it yet; nor is it asked where the words waited for its end
  const isAsked =
    request.isResumed === true &&
    before?.isUnsent === false &&
    earlier !== undefined &&
    !wantsMore(earlier.state);
  if (earlier !== undefined && isUnderWay(earlier.state)) {
    const which = isAsked ? 'this is its answer' : 'its answer comes first';
    io.report({ type: 'notice', text: `The task of a turn that was cut off goes on; ${which}.` });
    if (!isAsked) {
      sends(true);
      nameConversation(earlier, io, true);
    }
    await followTask(agent, { ...talk, heard, reader: earlier });
  }
  if (isAsked) return earlier;
  sends(false);
  const reader = read();
  const message = messageOf(agent, request, io, {
    contextId: before?.contextId ?? '',
    taskId: earlier !== undefined && isOpen(earlier.state) ? earlier.taskId : '',
  });
  await sendMessage(agent, message, {
    ...talk,
    reader,
    heard() {
      heard();
      nameConversation(reader, io);
    },
  });
  return reader;
}

async function findTask(
  { client }: RemoteAgent,
  id: string,
  reader: TaskReader,
  { io, words }: Pick<Talk, 'words'> & { readonly io: TurnIO },
): Promise<TaskReader | undefined> {
  try {
    reader.take({ $case: 'task', value: await client.getTask({ tenant: '', id }, { signal: io.signal }) });
    return reader;
  } catch (error) {
    if (io.signal.aborted || error instanceof RefusedError) throw error;
    io.report({ type: 'notice', text: `The task of a turn that was cut off is not found: ${words(error)}` });
    return undefined;
  }
}

/** Its number stands for the turn, so that an agent that looks at it takes the message once. */
function messageOf(
  { card }: RemoteAgent,
  { turnId, prompt, transcript, images = [] }: TurnRequest,
  io: TurnIO,
  { contextId, taskId }: { readonly contextId: string; readonly taskId: string },
): Message {
  const takesImages = card.defaultInputModes.some((mode) => /^(?:image\/|\*)/.test(mode));
  if (images.length > 0 && !takesImages)
    io.report({
      type: 'notice',
      text: 'This agent takes no pictures, as its card says; they were left out.',
    });
  const text = contextId === '' ? promptWithTranscript(prompt, transcript, transcriptBytesMax) : prompt;
  return {
    messageId: turnId,
    contextId,
    taskId,
    role: userRole,
    parts: [
      { ...plain, content: { $case: 'text', value: text } },
      ...(takesImages ? images : []).map(({ name, mimeType, data }): Part => ({
        ...plain,
        content: { $case: 'raw', value: Buffer.from(data, 'base64') },
        filename: name,
        mediaType: mimeType,
      })),
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

const plain = { metadata: undefined, filename: '', mediaType: 'text/plain' };
const transcriptBytesMax = 256 * 1024;
/** ROLE_USER */
const userRole = 1;

const wantsMore = (state: number): boolean =>
  state === taskStates.inputRequired || state === taskStates.authRequired;

const isOpen = (state: number): boolean => isUnderWay(state) || wantsMore(state);

/** With its task as long as there is more to come of it: after a crash the next turn finds it by that. */
function nameConversation({ contextId, taskId, state }: TaskReader, io: TurnIO, isUnsent = false): void {
  const nativeId = nameOf({ contextId, taskId: isOpen(state) || isUnsent ? taskId : '', isUnsent });
  if (nativeId !== undefined) io.report({ type: 'conversation.named', nativeId });
}

/** A name is a write to the store; an answer in a thousand pieces has one. */
function namingOnce(io: TurnIO): TurnIO {
  let named: string | undefined;
  return {
    ...io,
    report(report) {
      if (report.type === 'conversation.named') {
        if (report.nativeId === named) return;
        named = report.nativeId;
      }
      io.report(report);
    },
  };
}

/** What a second task says begins behind what the first one said. */
function behind(report: (report: TurnReport) => void): (report: TurnReport) => void {
  let isFirst = true;
  return (piece) => {
    report(piece.type === 'text' && isFirst ? { ...piece, text: `\n\n${piece.text}` } : piece);
    if (piece.type === 'text') isFirst = false;
  };
}

function endOf({ state, isAnswered }: TaskReader, text: string, name: string): TurnResult {
  const failed = (error: string): TurnResult => ({ outcome: 'failed', text, error });
  if (isAnswered || state === taskStates.completed || state === taskStates.inputRequired)
    return { outcome: 'succeeded', text: text || `${name} has done it, and said nothing.` };
  const words = text === '' ? '' : ` It said: ${firstBytes(text, 2_048)}`;
  switch (state) {
    case taskStates.authRequired:
      return failed(`${name} wants a login of its own before it goes on.${words}`);
    case taskStates.rejected:
      return failed(`${name} does not take this on.${words}`);
    case taskStates.canceled:
      return failed(`The task was cancelled at ${name}.${words}`);
    default:
      return failed(`${name} says that its task failed.${words}`);
  }
}

/** The key never stands in what is said. */
function wordsOf(error: unknown, options: A2aOptions, bytesMax: number): string {
  const cause = (error as { readonly cause?: unknown }).cause;
  const said = [error, cause].flatMap((one) => (one instanceof Error ? one.message : [])).join(' ');
  const key = keyOf(options);
  return firstBytes(key === undefined ? said : said.replaceAll(key, '…'), bytesMax);
}

function endOfFault(error: unknown, options: A2aOptions, text: string): TurnResult {
  const { name, apiKeyEnv } = options;
  const words = wordsOf(error, options, 2_000);
  const status = error instanceof RefusedError ? error.status : undefined;
  if (status === 429) return { outcome: 'rate-limited', text, error: `${name} asks to come later.` };
  if (status === 401 || status === 403) {
    const remedy =
      apiKeyEnv === undefined
        ? `Name the variable with its key as engines.a2a.${name}.apiKeyEnv.`
        : `Check the key in ${apiKeyEnv}.`;
    return { outcome: 'failed', text, error: `Authentication with ${name} failed. ${remedy}` };
  }
  const host = new URL(options.url).host;
  return { outcome: 'failed', text, error: `${name} at ${host} could not be followed: ${words}` };
}

/** Where a conversation stands: by what the agent knows it, and its task that is not at its end. */
interface Conversation {
  readonly contextId: string;
  /** Empty: the last task has ended. */
  readonly taskId: string;
  /** The words of the turn wait for the end of that task, which they did not begin. */
  readonly isUnsent: boolean;
}

/** As a session keeps it: `nameOf({ contextId: 'c-1', taskId: 't-1' })` → 'c-1/t-1'. Undefined for one that is too long. */
function nameOf({ contextId, taskId, isUnsent }: Conversation): string | undefined {
  const name = `${encodeURIComponent(contextId)}/${encodeURIComponent(taskId)}${isUnsent ? unsent : ''}`;
  return name.length <= charsMax && name !== '/' ? name : undefined;
}

/** The reverse; undefined for what no turn of ours has named. */
function conversationOf(name: string | null): Conversation | undefined {
  const isUnsent = name?.endsWith(unsent) === true;
  const [context, task, ...rest] = (isUnsent ? name.slice(0, -unsent.length) : name)?.split('/') ?? [];
  if (context === undefined || task === undefined || rest.length > 0) return undefined;
  try {
    return { contextId: decodeURIComponent(context), taskId: decodeURIComponent(task), isUnsent };
  } catch {
    return undefined;
  }
}

const unsent = '/unsent';
/** Of the name of a conversation in a record. */
const charsMax = 200;
