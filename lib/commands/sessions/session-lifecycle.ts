import type { MessageRow } from '../../../machines/session/context.js';
import { rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { App, GatewayActor } from '../app.js';
import { answeredBefore, optionsOf, askActor, replyWith, type Request, type Reply } from '../request.js';
import { levelOf } from '../changes/work-place.js';
import { opening } from './open-session.js';
import { presentSession } from './read-session.js';
import { workingFolder } from './working-folder.js';
import { dropClean } from './worktree.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * What people do with a whole session beside talking to it. Each is one event, judged by the session's own
 * policy.
 */

export interface SessionPatch {
  readonly title?: string | undefined;
  readonly engine?: string | undefined;
  readonly model?: string | null | undefined;
  readonly effort?: string | null | undefined;
}

/**
 * Change title, engine, model or effort, from the next turn on. A selection that the registry does not
 * declare is refused.
 */
export async function patchSession(
  request: Request,
  id: string,
  patch: SessionPatch,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const session = await presentSession(request.app, id);
  if (isRefusal(session)) return session;
  const change: Record<string, unknown> = patch.title === undefined ? {} : { title: patch.title };
  if (patch.engine !== undefined || patch.model !== undefined || patch.effort !== undefined) {
    const now = session.view as { engine: string; model: string | null; effortLevel: string | null };
    // A model means nothing on another engine
    const moves = patch.engine !== undefined && patch.engine !== now.engine;
    const model = patch.model === undefined ? (moves ? null : now.model) : patch.model;
    const keepsModel = !moves && patch.model === undefined;
    const effort = patch.effort === undefined ? (keepsModel ? now.effortLevel : null) : patch.effort;
    const selection = await request.app.engines.select(patch.engine ?? now.engine, model, effort);
    if (isRefusal(selection)) return selection;
    Object.assign(change, { engine: selection.engine, model: selection.model, effort: selection.effort });
  }
  return askActor(request, 'session', id, { type: 'session.patch', ...change });
}

export type LifecycleEvent =
  | 'session.archive'
  | 'session.unarchive'
  | 'session.reset'
  | 'session.resume'
  | 'queue.pause'
  | 'queue.resume';

export async function sendLifecycle(
  request: Request,
  id: string,
  type: LifecycleEvent,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const session = await presentSession(request.app, id);
  return isRefusal(session) ? session : askActor(request, 'session', id, { type });
}

/** Cancel everything that waits; how much that was is counted in the same commit. */
export async function clearQueue(
  request: Request,
  id: string,
): Promise<Reply<{ readonly cancelled: number }> | Refusal> {
  const key = { kind: 'session', id } as const;
  const committed = await request.app.supervisor.transact<{ cancelled: number }>({
    name: 'clear-queue',
    startsWork: false,
    actors: [key],
    ...optionsOf(request),
    run(turns) {
      const before = turns.read(key);
      if (before === undefined || before.value === 'deleted') return refuse('NOT_FOUND', key, 'Not found');
      const after = turns.send(key, { type: 'queue.clear' });
      return isRefusal(after) ? after : { cancelled: depthOf(before) - depthOf(after) };
    },
  });
  return isRefusal(committed) ? committed : replyWith(committed, committed.result);
}

const depthOf = (session: GatewayActor<'session'>): number => session.view.queueDepth;

/**
 * Its rows go and its id is never given out again; files of its agent stay, a folder without any goes.
 * Evidence of a work item stays too (409, `preserved`).
 */
export async function deleteSession(
  request: Request,
  id: string,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const session = await presentSession(request.app, id);
  // Asked again with its key, it was this that took it away
  if (isRefusal(session) && (await answeredBefore(request)) === undefined) return session;
  const done = await askActor(request, 'session', id, { type: 'session.delete' });
  if (!isRefusal(done) && request.dryRun !== true && !isRefusal(session))
    await dropFolders(request.app, id, session);
  return done;
}

/** Its own folder, if no one would miss anything in it, and what codex has kept of its conversation. */
async function dropFolders(app: App, id: string, { view }: GatewayActor<'session'>): Promise<void> {
  const { home } = app.settings;
  const folder = join(home, 'work', id);
  await rm(join(home, 'engines', 'codex', 'of', basename(id)), { recursive: true, force: true });
  if (view.cwd !== folder) return;
  await dropClean(app, id, { level: levelOf(app, view), isForGood: true }).catch((error: unknown) =>
    app.supervisor.environment.log.warn(
      { sessionId: id, err: error },
      'kept the working copy of a deleted session',
    ),
  );
  await rmdir(folder).catch(() => undefined); // there is something in it
}

/** A session that was not deleted: the code of the refusal, and its sentence. */
interface Preserved {
  readonly id: string;
  readonly code: string;
  readonly reason: string;
}

/** One after the other; those that cannot go are named with their reason. */
export async function deleteSessions(
  request: Request,
  ids: readonly string[],
): Promise<{ readonly count: number; readonly preserved: readonly Preserved[] }> {
  let count = 0;
  const preserved: Preserved[] = [];
  for (const id of new Set(ids)) {
    const done = await deleteSession({ app: request.app, caller: request.caller }, id);
    if (isRefusal(done)) preserved.push({ id, code: done.code, reason: done.message });
    else count += 1;
  }
  return { count, preserved };
}

/** A copy at rest: the same settings and the last messages, but a new conversation for its engine. */
export async function duplicateSession(
  request: Request,
  id: string,
): Promise<Reply<GatewayActor<'session'>> | Refusal> {
  const before = await answeredBefore<{ id: string }>(request); // no folder is made again for that
  if (before !== undefined) return isRefusal(before) ? before : opening(request.app, before);
  const session = await presentSession(request.app, id);
  if (isRefusal(session)) return session;
  const original = session.view;
  const rows = await request.app.supervisor.rows({ kind: 'session', id }, 'messages', {
    last: transcriptMax,
  });
  const copyId = request.app.supervisor.environment.ids.next();
  const isOwn = original.cwd === join(request.app.settings.home, 'work', id);
  const cwd = isOwn
    ? await workingFolder(request.app, copyId, null, { rehearsal: request.dryRun === true })
    : original.cwd;
  if (isRefusal(cwd)) return cwd;
  let made: GatewayActor<'session'> | undefined;
  const committed = await request.app.supervisor.transact<{ id: string }>({
    name: 'duplicate-session',
    actors: [{ kind: 'session', id }],
    ...optionsOf(request),
    run(turns) {
      if (turns.read({ kind: 'session', id })?.value === 'deleted')
        return refuse('NOT_FOUND', { kind: 'session', id }, 'Not found'); // what it said is being erased
      made = turns.create('session', copyId, {
        input: {
          engine: original.engine,
          model: original.model,
          effort: original.effortLevel,
          employee: original.employee,
          actsAs: original.actsAs,
          confinedAs: original.confinedAs,
          parentSessionId: null,
          ancestors: [],
          workItemId: null,
          title: `Copy of ${original.title}`.slice(0, 200),
          cwd,
          ...((original.worker !== null || original.workerLabels.length > 0) && {
            placement: { worker: original.worker, labels: original.workerLabels },
          }),
          source: 'web',
          sourceRef: null,
          interruptOnNewMessage: request.app.settings.interruptOnNewMessage,
          turnDeadlineMs: request.app.settings.turnDeadlineMs,
          permissions: original.toolPolicy,
          transcript: bounded(rows.map(({ row }) => row)),
        },
      });
      return { id: copyId };
    },
  });
  if (isRefusal(committed)) return committed;
  return opening(request.app, committed, committed.replayed ? undefined : made);
}

const transcriptMax = 200;
const transcriptBytesMax = 1_000_000;

/** The last ones that fit together. */
function bounded(rows: readonly MessageRow[]): MessageRow[] {
  const kept: MessageRow[] = [];
  let bytes = 0;
  for (const row of [...rows].reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (bytes > transcriptBytesMax) break;
    kept.unshift(row);
  }
  return kept;
}
