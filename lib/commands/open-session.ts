import { answeredBefore } from './answered-before.js';
import type { Media } from './attachments.js';
import { ancestorsOf, sessionKinship } from './kinship.js';
import { asked, doneWith, employeeNamed, recordOf, type Asking, type Desk, type Done, type Employee, type Selection } from './desk.js';
import { presentSession } from './present-session.js';
import { toolPolicyOf } from './tool-policy.js';
import { workplaceOf } from './workplace.js';
import type { ActorView, Committed, Turns } from '../supervisor/contract.js';
import type { ActorKey, Json } from '../../machines/ground.js';
import type { ReplyTo, StepLink } from '../../machines/session/context.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

export interface SessionWish {
  readonly prompt: string;
  readonly employee?: string | null | undefined;
  readonly engine?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly effort?: string | null | undefined;
  readonly parent?: string | null | undefined;
  readonly cwd?: string | null | undefined;
  readonly title?: string | null | undefined;
  /** Files shown with the prompt. */
  readonly media?: readonly Media[] | undefined;
  /** A git worktree of its own, of the repository in `cwd` or in its employee's folder. People only. */
  readonly worktree?: boolean | undefined;
}

/**
 * Open a session and hand it its first message. An unknown employee, engine, model or effort is refused; an engine
 * that is known but not installed gives a session in `error` that names what would mend it.
 * @example await openSession(desk, {prompt: 'digest'}, {by: operator})
 */
export async function openSession(desk: Desk, wish: SessionWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const before = await answeredBefore<{ id: string }>(desk, asking); // no folder is made again for that
  if (before !== undefined) return isRefusal(before) ? before : opening(desk, before);
  const employee = employeeNamed(desk, wish.employee);
  if (isRefusal(employee)) return employee;
  const selection = await selectFor(desk, wish, employee);
  if (isRefusal(selection)) return selection;
  const lineage = await lineageOf(desk, wish.parent, asking);
  if (isRefusal(lineage)) return lineage;
  const id = desk.supervisor.world.id();
  const place = await workplaceOf(desk, id, wish, employee, asking);
  if (isRefusal(place)) return place;
  let opened: ActorView | undefined;
  const committed = await desk.supervisor.transact<{ id: string }>({
    name: 'open-session',
    actors: [],
    ...asked(asking),
    decide(turns) {
      const source = asking.by.type === 'session' ? 'session' : 'web';
      opened = openWithin(desk, turns, id, { wish, employee, selection, lineage, cwd: place.cwd, workItemId: null, source });
      return { id };
    },
  });
  if (isRefusal(committed) || committed.replayed) await place.drop();
  if (isRefusal(committed)) return committed;
  return opening(desk, committed, committed.replayed ? undefined : opened);
}

/** The session that a plan has opened, now or under the same key before. */
export async function opening(desk: Desk, committed: Committed<{ id: string }>, opened?: ActorView): Promise<Done<ActorView> | Refusal> {
  const session = opened ?? await presentSession(desk, committed.result.id);
  return isRefusal(session) ? session : doneWith(committed, session);
}

/** Within a plan: create the session, numbered in the order of creation. */
export function openWithin(desk: Desk, turns: Turns, id: string, parts: SessionParts): ActorView {
  return turns.create('session', id, { input: sessionInput(desk, parts, turns.count('session')) });
}

/** Above a session: its parent and the parent's ancestors, nearest first. */
export interface Lineage { readonly parentSessionId: string | null; readonly ancestors: readonly string[] }

export interface SessionParts {
  readonly wish: SessionWish;
  readonly employee: Employee | null;
  readonly selection: Selection;
  readonly lineage: Lineage;
  readonly cwd: string;
  readonly workItemId: string | null;
  readonly source: string;
  readonly sourceRef?: string;
  /** Whom its answers go to, outside. */
  readonly replyTo?: ReplyTo;
  /** The attempt at a step of a workflow that it is opened for. */
  readonly step?: StepLink;
  /** Who is told the end of its work beside parent and work item. */
  readonly reportTo?: ActorKey;
}

/** The input with which the session machine is created. */
function sessionInput(desk: Desk, parts: SessionParts, number: number): Json {
  const { wish, selection, lineage } = parts;
  return {
    engine: selection.engine,
    model: selection.model,
    effort: selection.effort,
    employee: parts.employee?.name ?? null,
    parentSessionId: lineage.parentSessionId,
    ancestors: lineage.ancestors,
    workItemId: parts.workItemId,
    title: wish.title ?? null,
    number,
    cwd: parts.cwd,
    source: parts.source,
    sourceRef: parts.sourceRef ?? null,
    interruptOnNewMessage: desk.settings.interruptOnNewMessage,
    turnDeadlineMs: desk.settings.turnDeadlineMs,
    permissions: toolPolicyOf(parts.employee),
    message: { id: desk.supervisor.world.id(), role: 'user', content: wish.prompt, kind: 'user', ...(wish.media?.length && { media: wish.media }) },
    ...(parts.reportTo && { reportTo: { ...parts.reportTo } }),
    ...(parts.replyTo && { replyTo: parts.replyTo }),
    ...(parts.step && { step: parts.step }),
    ...(selection.unavailable && { unavailable: { reason: selection.unavailable.reason } }),
  };
}

/** The engine that was asked for, else the employee's, else the default one. An employee's model means nothing on another engine. */
export async function selectFor(desk: Desk, wish: SessionWish, employee: Employee | null): Promise<Selection | Refusal> {
  const own = wish.engine == null || wish.engine === employee?.engine;
  const model = wish.model ?? (own ? employee?.model : undefined);
  const effort = wish.effort ?? (own && wish.model == null ? employee?.effortLevel : undefined);
  return desk.engines.select(wish.engine ?? employee?.engine, model, effort);
}

/** An agent's session is always beneath itself or beneath what it spawned; a person may put it anywhere. */
export async function lineageOf(desk: Desk, wished: string | null | undefined, asking: Asking): Promise<Lineage | Refusal> {
  const parentId = wished ?? (asking.by.type === 'session' ? asking.by.id : null);
  if (parentId === null) return { parentSessionId: null, ancestors: [] };
  const parent = await presentSession(desk, parentId);
  if (isRefusal(parent)) return refuse('NOT_FOUND', { kind: 'session', id: parentId }, `There is no session ${parentId} to be the parent.`);
  if (asking.by.type === 'session' && !['self', 'above'].includes(sessionKinship(asking.by, parent))) {
    return refuse('FORBIDDEN', {}, 'An agent may open sessions only beneath itself.');
  }
  const ancestors = [parentId, ...ancestorsOf(parent)];
  if (ancestors.length > depthMax) return refuse('BAD_REQUEST', { path: 'parent' }, `Sessions may be nested at most ${depthMax} deep.`);
  return { parentSessionId: parentId, ancestors };
}

/** Every session carries its ancestors in its snapshot, and snapshots are bounded. */
const depthMax = 32;

/** The status word of a session's view. */
export const statusOf = (session: ActorView): string => String(recordOf(session)['status']);
