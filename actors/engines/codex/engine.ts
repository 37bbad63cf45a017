import { endWithoutResult } from '../turn-result.js';
import { objectAt, startLines, textAt, type JsonObject } from '../agent/lines.js';
import { accessOf } from '../agent/access.js';
import { chosenWord, programFinder, providerHosts } from '../agent/program.js';
import { promptWithTranscript } from '../command.js';
import {
  defineEngine,
  type ChildResult,
  type Engine,
  type TurnIO,
  type TurnRequest,
  type TurnResult,
} from '../engine.js';
import { limitsMemory, type LimitsMemory } from '../limits.js';
import { answerApproval } from './approval.js';
import { catalogue } from './catalogue.js';
import { converse, Refused, type Conversation } from './conversation.js';
import { playExec } from './exec.js';
import { codexResult, failed, codexParser } from './parser.js';
import {
  codexEnvironment,
  processSettings,
  threadSettings,
  trustSettings,
  type CodexOptions,
} from './settings.js';
import { settingsNames } from '../project-settings.js';
import { projectWords } from '../project-words.js';
import { codexFolders, sessionHome, userLogin } from './homes.js';

/**
 * Codex as an engine: one `codex app-server` a turn, spoken to in JSON-RPC lines. Commands and changes of
 * files are asked for, an interrupt is a request that it answers with the half of its answer, limits arrive
 * as notifications. Where codex no longer knows a conversation, what was said so far goes into the prompt of
 * a new one. A codex without an app-server is driven by `codex exec --json`, which cannot ask.
 */
export type { CodexOptions };

const transcriptBytesMax = 256 * 1024;
const remedy = 'npm install -g @openai/codex';

/**
 * `codexEngine({home: 'codex-home'})`; with `{baseUrl, apiKeyEnv}` for another endpoint than the provider's.
 * Throws a TypeError for a name that is none; a missing program is what `discover` answers.
 * @example const codex = codexEngine({ home: 'codex-home' });
 */
export function codexEngine(options: CodexOptions = {}): Engine {
  const bin = options.bin ?? 'codex';
  const find = programFinder(bin, remedy, '0.169.0');
  const models = catalogue(bin, options);
  const limits = limitsMemory('account/rateLimits/updated');
  let isOld = false;
  return defineEngine({
    name: options.name ?? 'codex',
    effortMechanism: 'codex-config',
    seesImages: true,
    async discover() {
      const facts = await find();
      return { ...facts, ...(await models(facts.available ? (facts.version ?? '') : undefined)) };
    },
    settingsNames: settingsNames.codex,
    leavesOutSettings: true,
    access: () =>
      accessOf(
        { ...options, section: 'engines.codex' },
        { files: [userLogin()], keys: ['OPENAI_API_KEY', 'CODEX_API_KEY'], remedy: 'codex login' },
      ),
    folders: (request) => codexFolders(options, request),
    hosts: providerHosts(options.baseUrl, ['api.openai.com', 'chatgpt.com', 'auth.openai.com']),
    limits: async () => limits.read(),
    async turn(request, io) {
      const own = { ...options, ...(await sessionHome(options, request)) };
      if (!isOld) {
        const result = await play(bin, own, request, io, limits);
        if (result !== 'no app-server') return result;
        isOld = true;
      }
      return playExec(bin, own, request, io, limits);
    },
  });
}

async function play(
  bin: string,
  options: CodexOptions,
  request: TurnRequest,
  io: TurnIO,
  limits: LimitsMemory,
): Promise<TurnResult | 'no app-server'> {
  const chosen = {
    model: chosenWord(request.model ?? options.model),
    effort: chosenWord(request.effort ?? options.effort),
  };
  const parser = codexParser(io, limits);
  const running: { threadId?: string; turnId?: string } = {};
  let isHeard = false;
  let refusal: TurnResult | undefined;
  // sent before the answer, so that it is there when the agent goes on; a codex that does not take it goes on
  // without
  const explain = ({ threadId, turnId }: JsonObject, message: string): void => {
    if (typeof threadId === 'string' && typeof turnId === 'string')
      talk
        .ask('turn/steer', {
          threadId,
          expectedTurnId: turnId,
          input: [{ type: 'text', text: message, text_elements: [] }],
        })
        .catch(() => undefined);
  };
  const talk = converse({
    onQuestion: (method, params) =>
      answerApproval(method, params, { allow: options.allow ?? [], cwd: request.cwd }, parser, io, explain),
    onNotification(method, params) {
      // agents that it begins beside itself have conversations of their own
      const threadId = textAt(params, 'threadId');
      if (threadId === undefined || running.threadId === undefined || threadId === running.threadId)
        parser.take(method, params);
      if (parser.ended() !== undefined) child.finish();
    },
  });
  const child = await startLines(
    bin,
    [...(options.args ?? []), 'app-server', ...processSettings, ...(await trustSettings(request))],
    {
      request,
      env: codexEnvironment(options, request),
      onMessage(message, self) {
        isHeard = true;
        talk.take(message, self);
      },
      interrupt(self) {
        const { threadId, turnId } = running;
        if (threadId === undefined || turnId === undefined) return self.stop();
        talk.ask('turn/interrupt', { threadId, turnId }).catch(() => undefined);
      },
    },
    io,
  );
  talk.begin(child);
  begin(talk, { ...options, ...chosen }, request, io, running).catch((error: unknown) => {
    // Else it is gone: how it ended says more
    if (error instanceof Refused) refusal = failed(error.message, '', limits);
    child.finish();
  });
  const ended = await child.done.finally(() => talk.end());
  const last = parser.ended();
  if (last !== undefined) return codexResult(last, parser, limits);
  if (refusal !== undefined && ended.ended === null) return refusal;
  if (!isHeard && isUnknownCommand(ended)) return 'no app-server';
  const usage = parser.usage();
  return { ...endWithoutResult(ended, 'codex', parser.text()), ...(usage === undefined ? {} : { usage }) };
}

const isUnknownCommand = ({ ended, stderr }: ChildResult): boolean =>
  ended === null && /unrecognized subcommand|unexpected argument|invalid subcommand/i.test(stderr);

type Chosen = Omit<CodexOptions, 'model' | 'effort'> & {
  readonly model: string | undefined;
  readonly effort: string | undefined;
};

/** Since 0.150 codex leaves AGENTS.md out as well in a folder of which it is not told that a person trusted it. */
const wordsFor = async ({ cwd, project }: Pick<TurnRequest, 'cwd' | 'project'>): Promise<string> =>
  project === 'trusted' ? '' : projectWords(cwd, ['AGENTS.override.md', 'AGENTS.md']);

/** Opens the conversation, the old one where it is still known, and says what is to be said. */
async function begin(
  talk: Conversation,
  { model, effort, ...options }: Chosen,
  request: TurnRequest,
  io: TurnIO,
  running: { threadId?: string; turnId?: string },
): Promise<void> {
  const thread = {
    cwd: request.cwd,
    approvalPolicy: 'untrusted',
    sandbox: options.sandbox ?? 'danger-full-access',
    config: threadSettings(options, request),
    ...(model === undefined ? {} : { model }),
  };
  await talk.ask('initialize', {
    clientInfo: { name: 'troupe', title: 'Troupe', version: '1' },
    capabilities: null,
  });
  talk.notify('initialized');
  const resumed =
    request.nativeId === null
      ? undefined
      : await talk
          .ask('thread/resume', { threadId: request.nativeId, excludeTurns: true, ...thread })
          .catch((error: unknown) => {
            if (!(error instanceof Refused)) throw error;
            io.report({
              type: 'notice',
              text: 'The agent no longer has this conversation; it continues from the stored transcript.',
            });
            return undefined;
          });
  const opened = resumed ?? (await talk.ask('thread/start', thread));
  const threadId = textAt(objectAt(opened, 'thread'), 'id') ?? '';
  running.threadId = threadId;
  if (threadId !== request.nativeId) io.report({ type: 'conversation.named', nativeId: threadId });
  const text =
    resumed === undefined
      ? (await wordsFor(request)) +
        promptWithTranscript(request.prompt, request.transcript, transcriptBytesMax)
      : request.prompt;
  const begun = await talk.ask('turn/start', {
    threadId,
    input: [
      { type: 'text', text, text_elements: [] },
      ...(request.images ?? []).map(({ mimeType, data }) => ({
        type: 'image',
        url: `data:${mimeType};base64,${data}`,
      })),
    ],
    ...(effort === undefined ? {} : { effort }),
  });
  const turnId = textAt(objectAt(begun, 'turn'), 'id');
  if (turnId !== undefined) running.turnId = turnId;
  if (io.signal.aborted && turnId !== undefined)
    await talk.ask('turn/interrupt', { threadId, turnId }).catch(() => undefined);
}
