import { answeredBefore } from './answered-before.js';
import type { Media } from './attachments.js';
import { asked, doneWith, employeeNamed, recordOf, type Asking, type Desk, type Done, type Employee, type Selection } from './desk.js';
import { frozenPrefix, mintWorkItem, sourceRef, workItemInput, type Prefix } from './create-work-item.js';
import { inTurn } from './in-turn.js';
import { itemKinship } from './kinship.js';
import { lineageOf, openWithin, selectFor, statusOf, type Lineage } from './open-session.js';
import { ownRow } from './own-row.js';
import { workplaceOf } from './workplace.js';
import type { ActorView, Committed, Turns } from '../supervisor/contract.js';
import { sortableText } from '../../machines/sortable.js';
import type { ActorKey, Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

export interface DelegationWish {
  readonly task: string;
  readonly employee?: string | null | undefined;
  readonly engine?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly effort?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly parent?: string | null | undefined;
  readonly workItemId?: string | null | undefined;
  readonly cwd?: string | null | undefined;
  /** A git worktree of its own. People only. */
  readonly worktree?: boolean | undefined;
  readonly media?: readonly Media[] | undefined;
}

export interface Delegated { readonly workItemId: string; readonly sessionId: string; readonly session: ActorView; readonly title: string }

/**
 * Give a task to somebody: a work item (minted, or an open one) and the session that attempts it, in one commit.
 * When the engine cannot run, the item is kept and the answer is ENGINE_UNAVAILABLE with its id; the same idempotency
 * key then dispatches that item once the engine is there.
 */
export function delegate(desk: Desk, wish: DelegationWish, asking: Asking): Promise<Done<Delegated> | Refusal> {
  const deed = () => delegateOnce(desk, wish, asking);
  // twins under one key run one after the other, so that the second finds what the first has kept
  const once = asking.idempotency ? () => inTurn(desk.supervisor, intentKey(asking), deed) : deed;
  // and those of one Todo too: its attempts are listed before the plan takes any turn
  return wish.workItemId == null ? once() : inTurn(desk.supervisor, `delegate/${wish.workItemId}`, once);
}

async function delegateOnce(desk: Desk, wish: DelegationWish, asking: Asking): Promise<Done<Delegated> | Refusal> {
  const before = await answeredBefore<Dispatched>(desk, asking); // the Todo may be done by now, the engine gone
  if (before !== undefined) return isRefusal(before) ? before : delegated(desk, before);
  const employee = employeeNamed(desk, wish.employee);
  if (isRefusal(employee)) return employee;
  const selection = await selectFor(desk, { ...wish, prompt: wish.task }, employee);
  if (isRefusal(selection)) return selection;
  const lineage = await lineageOf(desk, wish.parent, asking);
  if (isRefusal(lineage)) return lineage;
  return dispatch(desk, { wish, asking, employee, selection, lineage });
}

type Dispatched = { readonly workItemId: string; readonly sessionId: string; readonly title: string };

async function delegated(desk: Desk, committed: Committed<Dispatched>, opened?: ActorView): Promise<Done<Delegated> | Refusal> {
  const { result } = committed;
  const session = opened ?? await desk.supervisor.get('session', result.sessionId);
  return session ? doneWith(committed, { ...result, session }) : refuse('NOT_FOUND', { kind: 'session', id: result.sessionId });
}

interface Delegation {
  readonly wish: DelegationWish;
  readonly asking: Asking;
  readonly employee: Employee | null;
  readonly selection: Selection;
  readonly lineage: Lineage;
}

async function dispatch(desk: Desk, delegation: Delegation): Promise<Done<Delegated> | Refusal> {
  const { wish, asking } = delegation;
  const kept = await keptItem(desk, asking);
  if (isRefusal(kept)) return kept;
  const itemId = kept ?? wish.workItemId ?? null;
  const item = itemId === null ? null : await openItem(desk, itemId, asking);
  if (isRefusal(item)) return item;
  if (delegation.selection.unavailable) return keepIntent(desk, delegation, itemId);
  const sessionId = desk.supervisor.world.id();
  const place = await workplaceOf(desk, sessionId, wish, delegation.employee, asking);
  if (isRefusal(place)) return place;
  const prefix = await frozenPrefix(desk);
  const attempts = itemId === null ? [] : await attemptsAt(desk, itemId);
  let opened: ActorView | undefined;
  const committed = await desk.supervisor.transact<Dispatched>({
    name: 'delegate',
    actors: [...(itemId === null ? [] : [{ kind: 'work-item', id: itemId }]), ...attempts],
    ...asked(asking),
    decide(turns) {
      const taken = takeItem(turns, delegation, prefix, itemId, attempts);
      if (isRefusal(taken)) return taken;
      if (kept !== null) turns.put(intentKey(asking), null); // from now on the key remembers this, for as long as keys do
      const title = String(recordOf(taken)['title']);
      const wishes = { ...wish, prompt: wish.task, title };
      const sessionKey = `delegation:${taken.id}:${sessionId}`;
      opened = openWithin(desk, turns, sessionId, { ...delegation, wish: wishes, cwd: place.cwd, workItemId: taken.id, source: 'delegation', sourceRef: sessionKey });
      return { workItemId: taken.id, sessionId, title };
    },
  });
  if (isRefusal(committed) || committed.replayed) await place.drop();
  if (isRefusal(committed)) return committed;
  if (!asking.dryRun) prefix.frozen = true;
  return delegated(desk, committed, committed.replayed ? undefined : opened);
}

/** Within the plan: the item that the new session attempts. */
function takeItem(turns: Turns, delegation: Delegation, prefix: Prefix, itemId: string | null, attempts: readonly ActorKey[]): ActorView | Refusal {
  if (itemId === null) return mintWorkItem(turns, prefix, intentInput(delegation));
  const key = { kind: 'work-item', id: itemId };
  const item = turns.read(key);
  if (!item) return refuse('NOT_FOUND', key, `Todo ${itemId} not found`);
  const closed = closedItem(item);
  if (closed) return closed;
  const live = attempts.map((attempt) => turns.read(attempt)).find((session) => session && liveStatuses.has(statusOf(session)));
  if (live) return refuse('LIVE_ATTEMPT', { workItemId: itemId, sessionId: live.id }, `Todo ${itemId} already has live execution session ${live.id}`);
  const { employee } = delegation;
  if (employee && recordOf(item)['assignee'] !== employee.name) {
    turns.send(key, { type: 'item.assign', assignee: employee.name, department: employee.department ?? null });
  }
  return turns.read(key) ?? item;
}

const liveStatuses: ReadonlySet<string> = new Set(['running', 'waiting']);
const attemptsMax = 15;

/** Sessions linked to the item that may be at work, newest first; the older ones have long ended. */
async function attemptsAt(desk: Desk, itemId: string): Promise<ActorKey[]> {
  const page = await desk.supervisor.list('session', { index: 'work-item', prefix: `${sortableText(itemId)}/`, reverse: true, limit: attemptsMax });
  return page.items.map((item) => ({ kind: 'session', id: item.id }));
}

async function openItem(desk: Desk, itemId: string, asking: Asking): Promise<ActorView | Refusal> {
  const item = await desk.supervisor.get('work-item', itemId);
  if (!item) return refuse('NOT_FOUND', { kind: 'work-item', id: itemId }, `Todo ${itemId} not found`);
  if (asking.by.type === 'session' && itemKinship(desk, asking.by, recordOf(item)) === 'stranger') return refuse('NOT_OWNER');
  return closedItem(item) ?? item;
}

function closedItem(item: ActorView): Refusal | undefined {
  const status = String(recordOf(item)['status']);
  if (!['done', 'cancelled'].includes(status)) return undefined;
  return refuse('TERMINAL', { workItemId: item.id, status }, `Todo ${item.id} is ${status} and cannot accept a new delegation`);
}

function intentInput({ wish, asking, employee, selection, lineage }: Delegation): Json {
  const from = lineage.parentSessionId;
  const title = wish.title ?? wish.task.split('\n', 1)[0] ?? wish.task;
  return workItemInput({ title, body: wish.task, assignee: employee?.name ?? null, department: employee?.department }, asking.by,
    { source: 'delegation', sourceRef: sourceRef('delegate', from ?? `${asking.by.type}.${selection.engine}`) });
}

/** The engine cannot run: the item stays (assigned, if to somebody) and the key remembers it. Only a success is remembered as such. */
async function keepIntent(desk: Desk, delegation: Delegation, itemId: string | null): Promise<Refusal> {
  const { asking, selection } = delegation;
  const prefix = await frozenPrefix(desk);
  const { idempotency, ...how } = asked(asking);
  const committed = await desk.supervisor.transact<{ workItemId: string }>({
    name: 'keep-delegation-intent',
    actors: itemId === null ? [] : [{ kind: 'work-item', id: itemId }],
    ...how,
    decide(turns) {
      const workItemId = itemId ?? mintWorkItem(turns, prefix, intentInput(delegation)).id;
      if (idempotency) turns.put(intentKey(asking), { workItemId, hash: idempotency.hash });
      return { workItemId };
    },
  });
  if (isRefusal(committed)) return committed;
  if (!asking.dryRun) prefix.frozen = true;
  return refuse('ENGINE_UNAVAILABLE', { workItemId: committed.result.workItemId, engine: selection.engine }, selection.unavailable?.reason);
}

/** The item that an earlier 502 under the same key has kept. */
async function keptItem(desk: Desk, asking: Asking): Promise<string | null | Refusal> {
  if (!asking.idempotency) return null;
  const row = await ownRow(desk.supervisor, intentKey(asking)) as { workItemId: string; hash: string } | null | undefined;
  if (!row) return null;
  return row.hash === asking.idempotency.hash ? row.workItemId : refuse('IDEMPOTENCY_CONFLICT');
}

const intentKey = ({ idempotency }: Asking): string =>
  `delegation/${idempotency?.scope ?? ''}/${Buffer.from(idempotency?.key ?? '').toString('base64url')}`;
