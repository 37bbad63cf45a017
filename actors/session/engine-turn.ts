import type { Json } from '../../machines/outputs.js';
import type { TurnInput } from '../../machines/session/context.js';
import type { AtMostOnceEffect, EffectContext } from '../contracts.js';
import { lackOf } from '../engines/agent/access.js';
import { imagesUnseen, type TurnResult } from '../engines/engine.js';
import type { Pool } from '../engines/pool.js';
import type { ProjectSettings } from '../engines/project-settings.js';
import { readNote, reap, type Graces, type ProcessTable, type Reaped } from '../engines/process.js';
import type { Redact } from '../engines/turn-events.js';
import type { EngineRegistry } from '../engines/registry.js';
import { tokenHash, type SessionTokens } from '../engines/tokens.js';
import type { WatchChanges } from './turn-changes.js';
import type { BudgetPort } from '../budget/kind.js';
import { createDeltas, type Deltas } from './turn-deltas.js';
import { readConversation } from './turn-conversation.js';
import { followTurn, type TurnFollower } from './turn-follow.js';
import { hostTurn } from './turn-host.js';
import { failure, interruption, sentence, type TurnOutput } from './turn-outcome.js';
import { partialOf, reportPartial } from './turn-partial.js';
import { environment, toolsOf } from './turn-environment.js';
import { permissionAsker, type TurnContext } from './turn-permission.js';
import { closeRecord, createTurnRecord, type KeepText } from './turn-record.js';
import { openSandbox, type TurnSandbox } from './turn-sandbox.js';
import { judgedSettings, leftOut, prepareFolder, wantsTrust } from './turn-folder.js';
import { untilWritten } from './until-written.js';

/**
 * The effect of a session's turn: waits for a process slot, tells the session that it began, lets the engine
 * work, and answers only when no process of the turn is left. Fenced: a turn is never run twice; after a
 * crash `recover` ends what the dead gateway left running and calls the turn `interrupted`.
 *
 * Whatever an engine does wrong (throws, rejects, never settles, leaves processes behind) becomes a failed
 * outcome with a sentence for a person.
 */
export type { TurnInput };

export interface EngineTurnOptions {
  readonly registry: Pick<EngineRegistry, 'get'> & Partial<Pick<EngineRegistry, 'settingsNames'>>;
  readonly pool: Pool;
  readonly tokens: SessionTokens;
  /** Where agents reach the gateway; undefined when embedded without one. */
  readonly gatewayUrl: () => string | undefined;
  /** Working folders below this one are made when missing; any other must exist. */
  readonly workRoot?: string;
  /** How long an agent may be silent before watchers are told so. Default 2 minutes. */
  readonly silenceMs?: number;
  /**
   * How long an engine may take to settle after its turn was aborted. Default 15 s: SIGINT, SIGTERM, SIGKILL
   * fit in.
   */
  readonly settleMs?: number;
  /** How long a tool waits for a person's word. Default 10 minutes. */
  readonly permissionWaitMs?: number;
  /** Where the bytes of a managed file lie, by its id. Absent: agents are told its address. */
  readonly attachmentPath?: (id: string, context: EffectContext) => Promise<string | undefined>;
  /** Keeps what a tool said where it is too long for a message. Absent: the beginning is all that is kept. */
  readonly keepText?: (
    sessionId: string,
    file: Parameters<KeepText>[0],
    context: EffectContext,
  ) => ReturnType<KeepText>;
  /** Looks at what a turn changes in its folder. Absent: nothing is looked at. */
  readonly watchChanges?: WatchChanges;
  /** Takes out what nothing that an engine says may hold. */
  readonly redact?: Redact;
  /** Has a person trusted what the project of this folder sets? Absent: no one has. */
  readonly isTrusted?: (sessionId: string, settings: ProjectSettings) => Promise<boolean>;
  /** Keeps the accounts of employees. */
  readonly budget?: (context: EffectContext) => BudgetPort;
  /** Confines what engines start. Absent: nothing is confined. */
  readonly sandbox?: TurnSandbox;
  /** Called when an engine broke its contract; the turn fails with a sentence in any case. */
  readonly onFault?: (engine: string, error: unknown) => void;
  readonly graces?: Graces;
  readonly table?: ProcessTable;
}

/** `effects: { turn: engineTurnEffect({ registry, pool, tokens, gatewayUrl: () => gateway.url }) }` */
export function engineTurnEffect(options: EngineTurnOptions): AtMostOnceEffect<TurnInput, TurnOutput> {
  /** Sessions with a process that could not be ended: no turn of theirs begins beside it. */
  const lingering = new Map<string, Json>();

  /** Sessions whose dead gateway's processes are being ended right now. */
  const recovering = new Map<string, Promise<TurnOutput | undefined>>();

  async function cleared(sessionId: string, note: Json | undefined): Promise<TurnOutput | undefined> {
    const reaped = await reap(note, processOptions(options)).catch((error: unknown): Reaped => {
      options.onFault?.('process table', error); // who cannot look must not say "gone"
      return { gone: false, pid: readNote(note)?.pid ?? 0 };
    });
    if (reaped.gone) {
      lingering.delete(sessionId);
      return undefined;
    }
    // What runs elsewhere will never look gone from here: a person who resumes the queue has looked there
    if (note !== undefined && reaped.machine === undefined) lingering.set(sessionId, note);
    const where = reaped.machine === undefined ? '' : ` on another machine (${reaped.machine})`;
    const message =
      `Process ${reaped.pid} of an earlier turn may still be running${where}. End it manually, then resume ` +
      'the queue.';
    return { ...interruption(partialOf(note), message), unconfirmedPid: reaped.pid };
  }

  return {
    guarantee: 'at-most-once',
    async run(input, context: TurnContext) {
      const sessionId = context.actor.id;
      const rootId = input.rootSessionId ?? input.parentSessionId ?? sessionId;
      const slot = await options.pool
        .take({ sessionId, rootId, engine: input.engine, signal: context.signal })
        .catch(() => undefined);
      if (slot === undefined) return interruption('');
      try {
        await recovering.get(sessionId); // a newer message may have started this turn meanwhile
        const left = lingering.has(sessionId)
          ? await cleared(sessionId, lingering.get(sessionId))
          : undefined;
        return left ?? (await paidTurn(input, context, options, (note) => lingering.set(sessionId, note)));
      } catch (error) {
        if (context.signal.aborted) return interruption('');
        options.onFault?.(input.engine, error);
        return failure(`The turn could not be run: ${sentence(error)}`);
      } finally {
        slot.release();
      }
    },
    async recover(input, note, context: TurnContext) {
      const sessionId = context.actor.id;
      const clearing = cleared(sessionId, note);
      recovering.set(sessionId, clearing);
      try {
        const onFault = (error: unknown): void => options.onFault?.(input.engine, error);
        await closeRecord(input.turnId, { context, onFault }).catch(onFault);
        return (
          (await clearing) ?? interruption(partialOf(note), 'The gateway ended while this turn was running.')
        );
      } finally {
        if (recovering.get(sessionId) === clearing) recovering.delete(sessionId);
      }
    },
  };
}

/** Where the employee may not spend, it waits as for a provider; its cost is reported before its end is. */
async function paidTurn(
  input: TurnInput,
  context: TurnContext,
  options: EngineTurnOptions,
  onLingering: (note: Json) => void,
): Promise<TurnOutput> {
  const { employee, turnId } = input;
  const budget = options.budget?.(context);
  if (budget === undefined || employee === null) return turn(input, context, options, onLingering);
  const closed = await budget.admits(employee);
  if (closed !== undefined)
    return { outcome: 'rate-limited', text: '', error: closed.reason, resetAt: closed.resetAt };
  const output = await turn(input, context, options, onLingering);
  const costUsd = output.usage?.costUsd ?? 0;
  if (costUsd > 0)
    await budget
      .spent(employee, turnId, costUsd)
      .catch((error: unknown) => options.onFault?.(input.engine, error));
  return output;
}

async function turn(
  input: TurnInput,
  context: TurnContext,
  options: EngineTurnOptions,
  onLingering: (note: Json) => void,
): Promise<TurnOutput> {
  const sessionId = context.actor.id;
  const engine = options.registry.get(input.engine);
  if (engine === undefined) return failure(`Unknown engine "${input.engine}". GET /api/engines lists them.`);
  const folderFault = await prepareFolder(input.cwd, options.workRoot);
  if (folderFault !== undefined) return failure(folderFault);
  const files: string[] = [];
  const sandbox =
    options.sandbox &&
    (await openSandbox(options.sandbox, input, {
      sessionId,
      engine,
      files,
      gatewayUrl: options.gatewayUrl(),
    }));
  const place = { cwd: input.cwd, allNames: options.registry.settingsNames?.() };
  const project = await judgedSettings(engine, place, (settings) => options.isTrusted?.(sessionId, settings));
  const began = {
    type: 'turn.began' as const,
    turnId: input.turnId,
    ...(project.untrusted && { untrusted: project.untrusted }),
    ...(sandbox && { sandbox: sandbox.record }),
  };
  await untilWritten(() => context.send(began), context.signal);
  if (sandbox?.refusal !== undefined) return failure(sandbox.refusal);
  if (project.untrusted && engine.leavesOutSettings !== true)
    return failure(`${engine.name} would take over what this project sets. ${wantsTrust(project.untrusted)}`);
  const conversation = await readConversation(input.messageIds, context, async (id) => {
    const path = await options.attachmentPath?.(id, context);
    if (path !== undefined) files.push(path);
    return path;
  });
  const gatewayUrl = sandbox === undefined ? options.gatewayUrl() : sandbox.gatewayUrl;

  const token = options.tokens.mint(sessionId);
  const deltas = createDeltas((frame) =>
    context.progress('session:delta', { sessionId, messageId: answerId(input.turnId), ...frame }),
  );
  if (conversation.images.length > 0 && engine.seesImages !== true) deltas.add('status', imagesUnseen);
  const changes = await options.watchChanges?.({ cwd: input.cwd, level: sandbox?.folderLevel ?? 'off' });
  const host = hostTurn({
    engine,
    request: {
      sessionId,
      turnId: input.turnId,
      ...conversation,
      nativeId: input.nativeId,
      model: input.model,
      effort: input.effort,
      cwd: input.cwd,
      files,
      project: project.verdict,
      env: environment(input, sessionId, token, gatewayUrl),
      deadlineMs: input.deadlineMs,
      silenceMs: options.silenceMs ?? 120_000,
      ...toolsOf(token, gatewayUrl),
    },
    processes: {
      tokenHash: tokenHash(token),
      async confine(command) {
        await project.confirm();
        return sandbox === undefined ? { ...command, level: 'off', mounts: [] } : sandbox.confine(command);
      },
      ...processOptions(options),
    },
    redact: options.redact,
    settleMs: options.settleMs ?? 15_000,
    onFault: (...fault) => options.onFault?.(...fault),
    post: (event) => follower.take(event),
  });
  const ending = new AbortController();
  const { keepText } = options;
  const record = createTurnRecord({
    turnId: input.turnId,
    context,
    keepText: keepText && ((file) => keepText(sessionId, file, context)),
    onFault: (error) => options.onFault?.(input.engine, error),
  });
  const follower = followTurn({
    turnId: input.turnId,
    context,
    deltas,
    record,
    permission: permissionAsker({
      turnId: input.turnId,
      policy: input.toolPolicy ?? { mode: 'ask', allow: [] },
      cwd: input.cwd,
      context,
      signal: ending.signal,
      waitMs: options.permissionWaitMs ?? 600_000,
    }),
    command: (command) => host.take(command),
  });
  if (project.untrusted) host.report({ type: 'notice', text: leftOut(project.untrusted) });
  const access = conversation.transcript.length === 0 ? await lackOf(engine) : undefined;
  if (access) host.report({ type: 'notice', text: access });
  let isLate = false;
  const interrupt = (): void => {
    host.take({ type: 'interrupt' });
    ending.abort();
  };
  if (context.signal.aborted) interrupt();
  else context.signal.addEventListener('abort', interrupt, { once: true });
  const deadline = setTimeout(
    () => {
      isLate = true;
      interrupt();
    },
    Math.min(input.deadlineMs, 2 ** 31 - 1),
  );
  try {
    const { result, unconfirmedPid } = await follower.ended;
    deltas.close();
    const changed = context.reason() === 'stopping' ? undefined : host.redact(await changes?.read());
    if (changed !== undefined) record.changes(changed);
    await record.close();
    const outcome = judged(result, {
      isLeft: context.signal.aborted,
      isLate,
      input,
      deltas,
      follower,
      access,
    });
    if (context.signal.aborted) await reportPartial(outcome, input.turnId, context, follower.lastNote());
    if (unconfirmedPid === undefined)
      return changed === undefined ? outcome : { ...outcome, changedFiles: changed.files.slice(0, 100) };
    onLingering({ ...follower.lastNote() });
    return { ...outcome, unconfirmedPid };
  } finally {
    clearTimeout(deadline);
    context.signal.removeEventListener('abort', interrupt);
    await changes?.close().catch((error: unknown) => options.onFault?.(input.engine, error));
    await sandbox?.close().catch((error: unknown) => options.onFault?.(input.engine, error));
    options.tokens.revoke(token);
  }
}

interface Ending {
  /** The session has left it. */
  readonly isLeft: boolean;
  readonly isLate: boolean;
  readonly input: TurnInput;
  readonly deltas: Deltas;
  readonly follower: TurnFollower;
  /** What may be amiss with its login. */
  readonly access: string | undefined;
}

/** What we did to the turn outranks what the engine makes of it. */
function judged(result: TurnResult, { isLeft, isLate, input, deltas, follower, access }: Ending): TurnResult {
  const text = result.text === '' ? deltas.text() : result.text;
  const used = result.usage ?? follower.usage();
  const usage = used === undefined ? {} : { usage: used };
  if (isLeft) return { ...interruption(text), ...usage };
  if (isLate)
    return {
      ...failure(`The turn took longer than ${Math.round(input.deadlineMs / 1000)} s and was ended.`, text),
      ...usage,
    };
  if (result.outcome === 'failed' && access !== undefined)
    return { ...failure([result.error, access].filter(Boolean).join(' '), text), ...usage };
  return { ...result, ...usage };
}

/** The id that the session gives to the answer of a turn, so that watchers can join deltas and message. */
const answerId = (turnId: string): string => `${turnId}:answer`;

const processOptions = ({
  graces,
  table,
}: EngineTurnOptions): { readonly graces?: Graces; readonly table?: ProcessTable } => ({
  ...(graces === undefined ? {} : { graces }),
  ...(table === undefined ? {} : { table }),
});

export type { TurnOutput } from './turn-outcome.js';
