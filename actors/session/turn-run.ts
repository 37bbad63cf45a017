import type { TurnInput } from '../../machines/session/context.js';
import type { Json } from '../../machines/outputs.js';
import { lackOf } from '../engines/agent/access.js';
import { imagesUnseen, type Engine } from '../engines/engine.js';
import { readNote } from '../engines/process.js';
import type { TurnEvent } from '../engines/turn-events.js';
import type { EngineTurnOptions } from './turn-options.js';
import type { ChangeWatch } from './turn-changes.js';
import { createDeltas } from './turn-deltas.js';
import { readConversation } from './turn-conversation.js';
import { untilWritten } from '../until-written.js';
import { followTurn, type TurnFollower } from './turn-follow.js';
import { judgedSettings, leftOut, prepareFolder, wantsTrust, type JudgedSettings } from './turn-folder.js';
import { hearTurn } from './turn-hearing.js';
import { hostHere, type DistantTurn, type Host, type GatewaySide } from './turn-hosts.js';
import { hostedTurn } from './turn-request.js';
import { storedMessages } from './turn-outbox.js';
import { cutOff, failure, interruption, judged, type TurnOutput } from './turn-outcome.js';
import { reportPartial } from './turn-partial.js';
import { permissionAsker, type TurnContext } from './turn-permission.js';
import { createTurnRecord } from './turn-record.js';
import type { SandboxLevel } from '../sandbox/levels.js';
import { ConfineError } from '../sandbox/sandbox.js';
import { openSandbox, type ConfinedTurn } from './turn-sandbox.js';

/** A turn, from its beginning or from where an earlier gateway left it, to its outcome. */
export interface TurnRun {
  readonly input: TurnInput;
  readonly context: TurnContext;
  readonly options: EngineTurnOptions;
  /** A process of it could not be confirmed gone. */
  readonly onLingering: (note: Json) => void;
  /** Its host died: ends what it left running. Answers an outcome where that cannot be confirmed. */
  readonly clear: (note: Json | undefined) => Promise<TurnOutput | undefined>;
}

/** Everything that a turn needs is made, its engine works, and all of it is undone again. */
export async function runTurn(run: TurnRun): Promise<TurnOutput> {
  const { input, context, options } = run;
  const engine = options.registry.get(input.engine);
  if (engine === undefined) return failure(`Unknown engine "${input.engine}". GET /api/engines lists them.`);
  const folderFault = await prepareFolder(input.cwd, options.workRoot);
  if (folderFault !== undefined) return failure(folderFault);
  const files: string[] = [];
  const sandbox = await sandboxOf(run, engine, files);
  const project = await judgedProject(run, engine);
  const began = {
    type: 'turn.began' as const,
    turnId: input.turnId,
    ...(project.untrusted && { untrusted: project.untrusted }),
    ...(sandbox && { sandbox: sandbox.record }),
    ...(options.silence && { silence: options.silence() }),
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
  const hosted = await hostedTurn(run, engine, {
    ...conversation,
    cwd: input.cwd,
    files,
    project: project.verdict,
    url: sandbox === undefined ? options.gatewayUrl() : sandbox.gatewayUrl,
  });
  const access = conversation.transcript.length === 0 ? await lackOf(engine) : undefined;
  const notices = [
    ...(conversation.images.length > 0 && engine.seesImages !== true ? [imagesUnseen] : []),
    ...(project.untrusted ? [leftOut(project.untrusted)] : []),
    ...(access === undefined ? [] : [access]),
  ];
  const changes = await options.watchChanges?.({ cwd: input.cwd, level: sandbox?.folderLevel ?? 'off' });
  return follow(run, {
    ...(sandbox && { sandbox }),
    confirm: project.confirm,
    changes,
    tokenHash: hosted.tokenHash,
    notices,
    access,
    deadlineMs: input.deadlineMs,
    host: async (side) =>
      (await options.hosts?.begin(hosted, side)?.catch((error: unknown): undefined => {
        options.onFault?.(engine.name, error); // the turn is run here, and ends with this gateway
      })) ?? hostHere(hosted, side, options),
  });
}

/** A turn that outlived the gateway that began it; undefined where it is not there any more. */
export async function adoptTurn(run: TurnRun, note: Json): Promise<TurnOutput | undefined> {
  const { input, context, options } = run;
  const { hosts } = options;
  const engine = options.registry.get(input.engine);
  const hash = readNote(note)?.tokenHash ?? undefined;
  if (hosts === undefined || engine === undefined || hash === undefined) return undefined;
  const toolPolicy = await options.policyOf?.(context);
  const now = { ...run, input: { ...input, ...(toolPolicy && { toolPolicy }) } };
  const sandbox = await sandboxOf(run, engine, [], true);
  const project = await judgedProject(run, engine);
  options.tokens.restore(context.actor.id, hash);
  const changes = await changesOf(run, note, sandbox?.folderLevel);
  return followAgain(now, note, {
    ...(sandbox && { sandbox }),
    confirm: () => (project.untrusted ? refuseToStart(wantsTrust(project.untrusted)) : project.confirm()),
    changes,
    tokenHash: hash,
    attach: (side) => hosts.attach(note, input.turnId, side),
  });
}

export interface FollowingAgain extends Pick<Following, 'sandbox' | 'confirm' | 'changes' | 'tokenHash'> {
  readonly attach: (side: GatewaySide) => Promise<DistantTurn | undefined>;
}

/** From its first event, leaving out what is stored; undefined where the turn is not there any more. */
export async function followAgain(
  run: TurnRun,
  note: Json,
  { attach, ...again }: FollowingAgain,
): Promise<TurnOutput | undefined> {
  const { input, context } = run;
  let isThere = true;
  const outcome = await follow(run, {
    ...again,
    notices: [],
    access: undefined,
    deadlineMs: remaining(note, input.deadlineMs),
    isStored: await storedMessages(input.turnId, context),
    host: async (side) => {
      const turn = await attach(side);
      isThere = turn !== undefined;
      return turn;
    },
  });
  return isThere ? outcome : undefined;
}

/** The look at the working folder that the turn began with. */
export async function changesOf(
  { input, options }: Pick<TurnRun, 'input' | 'options'>,
  note: Json | undefined,
  level: SandboxLevel = 'off',
): Promise<ChangeWatch | undefined> {
  const { changes: mark } = (note ?? {}) as { readonly changes?: Json };
  return typeof mark === 'string' ? options.watchChanges?.({ cwd: input.cwd, level, mark }) : undefined;
}

const judgedProject = ({ input, context, options }: TurnRun, engine: Engine): Promise<JudgedSettings> =>
  judgedSettings(engine, { cwd: input.cwd, allNames: options.registry.settingsNames?.() }, (settings) =>
    options.isTrusted?.(context.actor.id, settings),
  );

/** Its engine was told long ago what the project sets: whether that still holds is not known. */
function refuseToStart(why: string): Promise<never> {
  return Promise.reject(new ConfineError(`After a restart nothing more is started in this turn. ${why}`));
}

const sandboxOf = (
  { input, context, options }: TurnRun,
  engine: Engine,
  files: readonly string[],
  isAdopted = false,
): Promise<ConfinedTurn | undefined> =>
  options.sandbox === undefined
    ? Promise.resolve(undefined)
    : openSandbox(options.sandbox, input, {
        sessionId: context.actor.id,
        engine,
        files,
        gatewayUrl: options.gatewayUrl(),
        isAdopted,
      });

export interface Following {
  readonly sandbox?: ConfinedTurn;
  /** Just before a program starts; rejects where none may. */
  readonly confirm: () => Promise<void>;
  readonly changes: ChangeWatch | undefined;
  readonly tokenHash: string;
  readonly notices: readonly string[];
  /** What may be amiss with its login. */
  readonly access: string | undefined;
  readonly deadlineMs: number;
  /** For a turn whose events come again. */
  readonly isStored?: (id: string) => boolean;
  readonly host: (side: GatewaySide) => Promise<Host | undefined>;
}

/** Its host works, and what it says becomes the session's. */
export async function follow(run: TurnRun, following: Following): Promise<TurnOutput> {
  const { input, context, options, onLingering } = run;
  const { sandbox, changes, isStored } = following;
  const { keepText } = options;
  const sessionId = context.actor.id;
  const onFault = (error: unknown): void => options.onFault?.(input.engine, error);
  const messageId = answerId(input.turnId);
  const deltas = createDeltas((frame) =>
    context.progress('session:delta', { sessionId, messageId, ...frame }),
  );
  const forget = options.words?.begin(sessionId, () => {
    const text = deltas.text();
    return { messageId, text, end: text.length, at: deltas.textAt() ?? null };
  });
  for (const notice of following.notices) deltas.add('status', notice);
  const ending = new AbortController();
  const record = createTurnRecord({
    turnId: input.turnId,
    context,
    keepText: keepText && ((file) => keepText(sessionId, file, context)),
    ...(isStored && { isStored }),
    onFault,
  });
  const early: TurnEvent[] = [];
  let follower: TurnFollower | undefined;
  let overdue: string | undefined;
  let isAgain = isStored !== undefined;
  let isLeft = false;
  let deadline: NodeJS.Timeout | undefined;
  let [interrupt, leave, end] = [(): void => undefined, (): void => undefined, (): void => undefined];
  const left = new Promise<'left'>((resolve) => {
    leave = () => resolve('left');
  });
  const endFor = (why: string): void => {
    overdue = why;
    end();
  };
  const rule = options.silence?.();
  const listening = { turnId: input.turnId, context, onOver: endFor, isAdopted: isAgain };
  const hearing = rule && hearTurn({ ...listening, rule });
  try {
    const host = await following.host({
      post(event) {
        if (!isAgain) hearing?.heard();
        if (follower === undefined) early.push(event);
        else follower.take(event);
      },
      async confine(command) {
        await following.confirm();
        return sandbox === undefined ? { ...command, level: 'off', mounts: [] } : sandbox.confine(command);
      },
      onCaughtUp(quietMs) {
        isAgain = false;
        hearing?.heard(quietMs);
        deltas.skip();
      },
      onTaken: () => leave(),
    });
    if (host === undefined) {
      isLeft = true; // what its host has left running is ended first
      return interruption('');
    }
    const followed = followTurn({
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
        isAgain: isStored !== undefined,
      }),
      ...(host.whereabouts && {
        whereabouts: { ...host.whereabouts, ...(changes && { changes: changes.mark }) },
      }),
      command(command) {
        if (command.type === 'decide') hearing?.heard(); // until then it waited for a person
        host.take(command);
      },
    });
    follower = followed;
    end = () => {
      host.take({ type: 'interrupt' });
      ending.abort();
    };
    interrupt = () => (mayGoOn(context, host) && host.leave?.() === true ? leave() : end());
    for (const event of early.splice(0)) followed.take(event);
    if (context.signal.aborted) interrupt();
    else context.signal.addEventListener('abort', interrupt, { once: true });
    const late = (): void =>
      endFor(`The turn took longer than ${Math.round(input.deadlineMs / 1000)} s and was ended.`);
    deadline = setTimeout(late, Math.min(following.deadlineMs, 2 ** 31 - 1));
    const lost = host.lost?.then((why) => ({ why: why ?? hostDied }));
    const how = await Promise.race([followed.ended, left, ...(lost ? [lost] : [])]);
    if (how === 'left') {
      isLeft = true;
      context.detach();
      return interruption('');
    }
    deltas.close();
    if ('why' in how) {
      await record.close();
      const note = host.isElsewhere === true ? undefined : followed.lastNote();
      const cut = interruption(deltas.text(), how.why);
      if (context.signal.aborted) await reportPartial(cut, input.turnId, context, note);
      return (await run.clear(note && { ...note })) ?? cutOff(cut, options);
    }
    const { result, unconfirmedPid } = how;
    const changed = context.reason() === 'stopping' ? undefined : host.redact(await changes?.read());
    if (changed !== undefined) record.changes(changed);
    await record.close();
    const outcome = judged(result, {
      isLeft: context.signal.aborted,
      overdue,
      said: deltas.text(),
      used: followed.usage(),
      access: following.access,
    });
    if (context.signal.aborted) await reportPartial(outcome, input.turnId, context, followed.lastNote());
    if (unconfirmedPid === undefined)
      return changed === undefined ? outcome : { ...outcome, changedFiles: changed.files.slice(0, 100) };
    onLingering({ ...followed.lastNote() });
    return { ...outcome, unconfirmedPid };
  } finally {
    clearTimeout(deadline);
    forget?.();
    hearing?.close();
    context.signal.removeEventListener('abort', interrupt);
    if (!isLeft) await changes?.close().catch(onFault);
    await sandbox?.close({ isLeft }).catch(onFault);
    options.tokens.revoke(following.tokenHash);
  }
}

/**
 * Only this gateway ends, or this effect; the session is where it was. Where another gateway has the home, it finds
 * what runs elsewhere and nothing of what runs here.
 */
const mayGoOn = ({ reason }: TurnContext, { isElsewhere }: Pick<Host, 'isElsewhere'>): boolean =>
  reason() === 'stopping' || reason() === 'restarting' || (reason() === 'lost' && isElsewhere === true);

const hostDied = 'The process that ran this turn died.';

/** The id that the session gives to the answer of a turn, so that watchers can join deltas and message. */
const answerId = (turnId: string): string => `${turnId}:answer`;

/** What is left of the time of a turn, by when its host began it. */
function remaining(note: Json, deadlineMs: number): number {
  const { beganAt } = (note ?? {}) as { readonly beganAt?: Json };
  const passed = typeof beganAt === 'number' ? Date.now() - beganAt : 0;
  return Math.min(Math.max(deadlineMs - passed, 0), deadlineMs);
}
