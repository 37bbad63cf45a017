import { endWithoutResult } from '../turn-result.js';
import { isObject, startLines, textAt, type LineChild } from '../agent/lines.js';
import {
  apiKey,
  chosenWord,
  modelsOf,
  ownChoice,
  programFinder,
  providerHosts,
  type AgentProgram,
} from '../agent/program.js';
import { accessOf, type ProgramLogins } from '../agent/access.js';
import { promptWithTranscript } from '../command.js';
import {
  defineEngine,
  imagesUnseen,
  type Engine,
  type TurnIO,
  type TurnRequest,
  type TurnResult,
} from '../engine.js';
import type { Json } from '../../../machines/outputs.js';
import { CannotOpen, isAnswer, openConversation, type Conversation } from './conversation.js';
import { endOfError, endOfPrompt, type Completion } from './completion.js';
import { allowedByDefault, answerPermission, type OwnTool } from './permission.js';
import { acpParser, usageOfAnswer } from './parser.js';
import { allSettingsNames } from '../project-settings.js';
import { acpFolders } from './folders.js';
import { connect, Late } from './wire.js';

/**
 * Any agent that speaks the Agent Client Protocol, by its command line: one process a turn. The prompt goes
 * over the wire, tools that it may not use by itself are asked for, an interrupt is `session/cancel`, and
 * only then do signals follow. An old conversation is loaded where the agent can; where it cannot or will
 * not, what is stored here goes into the prompt of a new one. It is offered neither files nor terminals of
 * ours.
 */
export interface AcpOptions extends AgentProgram {
  /** Exact string in the API: `[a-z][a-z0-9-]*`. */
  readonly name: string;
  /** The program: a name on PATH, or an absolute path. */
  readonly bin: string;
  /** The command that would install it. */
  readonly remedy?: string;
  /** The oldest one that was tried. */
  readonly leastVersion?: string;
  /** Levels that may be chosen; the agent must offer a choice of that kind. */
  readonly efforts?: readonly string[];
  /** Mode of its own in which it works, e.g. one that does not ask. */
  readonly mode?: string;
  /** Way to log in, of those that it names; used before every conversation. */
  readonly authMethod?: string;
  /** Folders of its settings and logins, below the user's own; for sandboxes. */
  readonly folders?: readonly string[];
  /**
   * What of them outlives a confined turn: logins and conversations. A folder ends with a slash and is made where it
   * is missing. The rest is read-only, and what is new is gone afterwards. Absent: all of them.
   */
  readonly keeps?: readonly string[];
  /** What stands in them for one run alone, locks say: a confined turn begins without. */
  readonly momentary?: readonly string[];
  /** Where its provider lives; for sandboxes. */
  readonly hosts?: readonly string[];
  /** How its logins are found. Absent: they are not looked for. */
  readonly logins?: ProgramLogins;
  /** What its settings are called: `engines.gemini`. */
  readonly section?: string;
  /** Where it departs from the protocol. Default: nowhere. */
  readonly quirks?: AcpQuirks;
  /**
   * Where a project keeps settings for it, relative: it takes them all, so that a person has to trust them first.
   * Absent: where any known agent keeps them. `[]` for a program that takes nothing of a project but words.
   */
  readonly settingsNames?: readonly string[];
}

/** In what single programs differ, as measured. */
export interface AcpQuirks {
  /** Where the model stands on the command line. Absent: it is chosen over the protocol. */
  readonly modelArgument?: (model: string) => string;
  readonly effortArgument?: (effort: string) => string;
  /** Variables by which it takes key, address and model. */
  readonly keyVariable?: string;
  readonly addressVariable?: string;
  /** Set with an address, e.g. to keep it from its own provider. */
  readonly withAddress?: Readonly<Record<string, string>>;
  /** Stays when its stdin ends: ended at once when it is done. */
  readonly staysAfterEnd?: boolean;
  /** How its questions about the gateway's own tools look, where it asks for them too. */
  readonly ownTool?: OwnTool;
  /** Tells of errors in the words of an answer. */
  readonly errorInText?: RegExp;
  /** Loading within the clock minute in which the conversation was last written would overwrite it. */
  readonly losesByLoadingInSameMinute?: boolean;
}

const transcriptBytesMax = 256 * 1024;
const learnedMax = 200;

/**
 * An agent that speaks the Agent Client Protocol. Throws a TypeError for a name that is none; a missing
 * program is what `discover` answers.
 * @example const goose = acpEngine({ name: 'goose', bin: 'goose', args: ['acp'] });
 */
export function acpEngine(options: AcpOptions): Engine {
  const find = programFinder(
    options.bin,
    options.remedy ??
      `Install "${options.bin}", or set the command of engine ${options.name} to a program of this machine.`,
    options.leastVersion,
  );
  const { logins, section = `engines.acp.${options.name}`, efforts = [] } = options;
  const learned = new Set<string>();
  const written = new Map<string, number>();
  const startedAt = Date.now();

  /** What was written before this process began is not known; it may have been a moment ago. */
  const mayLoad = (id: string): boolean =>
    options.quirks?.losesByLoadingInSameMinute !== true ||
    Math.floor((written.get(id) ?? startedAt) / 60_000) !== Math.floor(Date.now() / 60_000);

  return defineEngine({
    name: options.name,
    settingsNames: options.settingsNames ?? allSettingsNames,
    folders: () => acpFolders(options),
    hosts: providerHosts(options.baseUrl, options.hosts ?? []),
    seesImages: true,
    ...(logins && { access: () => accessOf({ ...options, section }, logins) }),
    effortMechanism:
      efforts.length === 0
        ? 'none'
        : options.quirks?.effortArgument === undefined
          ? 'session/set_config_option'
          : 'argument',
    async discover() {
      const ids = [
        ...(options.model === undefined ? [] : [options.model]),
        ownChoice,
        ...(options.models ?? []),
        ...learned,
      ];
      const models = new Map(modelsOf(ids, efforts).map((model) => [model.id, model]));
      return { ...(await find()), defaultModel: options.model ?? ownChoice, models: [...models.values()] };
    },
    turn: (request, io) =>
      play(options, request, io, {
        mayLoad: request.nativeId !== null && mayLoad(request.nativeId),
        onOpen({ models }) {
          for (const model of models) if (learned.size < learnedMax) learned.add(model);
        },
        onEnd(id) {
          if (written.size >= 10_000) written.delete(written.keys().next().value ?? '');
          written.delete(id);
          written.set(id, Date.now());
        },
      }),
  });
}

interface Memory {
  readonly mayLoad: boolean;
  onOpen(conversation: Conversation): void;
  onEnd(id: string): void;
}

async function play(
  options: AcpOptions,
  request: TurnRequest,
  io: TurnIO,
  memory: Memory,
): Promise<TurnResult> {
  const { quirks = {}, allow = allowedByDefault } = options;
  const reach = options.allow === undefined ? { cwd: request.cwd, files: request.files ?? [] } : undefined;
  const model = chosenWord(request.model ?? options.model);
  const effort = chosenWord(request.effort ?? options.effort);
  const parser = acpParser(io);
  let conversation: Conversation | undefined;
  let isAsked = false;
  let child: LineChild | undefined;
  const wire = await connect({
    send: (message) => child?.send(message),
    onUpdate: (params) => parser.take(params),
    onPermission: (params) => {
      const id = isObject(params['toolCall']) ? (textAt(params['toolCall'], 'toolCallId') ?? '') : '';
      const rules = { allow, cwd: request.cwd, ownTool: quirks.ownTool, reach };
      return answerPermission(params, parser.toolCall(id), rules, io);
    },
  });
  child = await startLines(
    options.bin,
    acpArguments(options, model, effort),
    {
      request,
      env: acpEnvironment(options, request),
      onMessage: (message) => wire.take(message),
      interrupt(self) {
        isAsked = true;
        if (conversation === undefined) self.stop();
        else
          void wire.agent.notify('session/cancel', { sessionId: conversation.id }).catch(() => self.stop());
      },
    },
    io,
  );
  void child.done.then(
    () => wire.close(),
    () => wire.close(),
  );
  const completion = (): Completion => ({
    program: options.name,
    text: parser.text(),
    usage: parser.usage(),
    isAsked,
    ...(quirks.errorInText === undefined ? {} : { errorInText: quirks.errorInText }),
  });
  let result: TurnResult | undefined;
  try {
    const opened = await openConversation(
      wire.agent,
      {
        request,
        model,
        effort: quirks.effortArgument === undefined ? effort : undefined,
        isModelGiven: quirks.modelArgument !== undefined,
        mode: options.mode,
        authMethod: options.authMethod,
        mayLoad: memory.mayLoad,
      },
      io,
    );
    memory.onOpen(opened);
    if (opened.isResumed) await parser.quiet();
    const text = opened.isResumed
      ? request.prompt
      : promptWithTranscript(request.prompt, request.transcript, transcriptBytesMax);
    if (!isAsked) {
      conversation = opened;
      parser.begin(opened.id);
      const answer = await wire.agent.request<unknown>('session/prompt', {
        sessionId: opened.id,
        prompt: [{ type: 'text', text }, ...picturesFor(opened, request, io)],
      });
      const fields = isObject(answer) ? answer : {};
      result = endOfPrompt(fields, { ...completion(), usage: parser.usage(usageOfAnswer(fields)) });
    }
  } catch (error) {
    // otherwise the wire broke, and how the program ended tells why
    if (error instanceof CannotOpen || error instanceof Late)
      result = { outcome: isAsked ? 'interrupted' : 'failed', text: parser.text(), error: error.message };
    else if (isAnswer(error)) result = endOfError(error, completion());
    else if (!wire.closed) throw error;
  } finally {
    if (result === undefined || quirks.staysAfterEnd === true) child.stop();
    else child.finish();
  }
  const ended = await child.done;
  if (conversation !== undefined) memory.onEnd(conversation.id);
  return (
    result ??
    endWithoutResult(isAsked ? { ...ended, ended: 'interrupted' } : ended, options.name, parser.text())
  );
}

/** An agent that takes none is told where they lie, and watchers that it sees none. */
function picturesFor({ seesImages }: Conversation, { images = [] }: TurnRequest, io: TurnIO): Json[] {
  if (seesImages) return images.map(({ mimeType, data }) => ({ type: 'image', mimeType, data }));
  if (images.length > 0) io.report({ type: 'notice', text: imagesUnseen });
  return [];
}

function acpArguments(
  { args = [], quirks = {} }: AcpOptions,
  model: string | undefined,
  effort: string | undefined,
): readonly string[] {
  return [
    ...args,
    ...(model === undefined || quirks.modelArgument === undefined ? [] : [quirks.modelArgument(model)]),
    ...(effort === undefined || quirks.effortArgument === undefined ? [] : [quirks.effortArgument(effort)]),
  ];
}

function acpEnvironment(options: AcpOptions, request: TurnRequest): Record<string, string> {
  const { quirks = {}, baseUrl } = options;
  const key = apiKey(options);
  return {
    NO_COLOR: '1',
    CI: '1',
    DO_NOT_TRACK: '1',
    ...(baseUrl === undefined || quirks.addressVariable === undefined
      ? {}
      : { [quirks.addressVariable]: baseUrl, ...quirks.withAddress }),
    // an agent without a variable of its own gets the key under the name that the operator knows
    ...(key === undefined ? {} : { [quirks.keyVariable ?? options.apiKeyEnv ?? 'API_KEY']: key }),
    ...options.env,
    ...request.env,
  };
}
