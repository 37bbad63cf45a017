import {
  employeeNamed,
  type App,
  type Employee,
  type Selection,
  type GatewayActor,
  type GatewayTransaction,
} from '../app.js';
import { answeredBefore, optionsOf, replyWith, type Request, type Reply, inTurn } from '../request.js';
import type { Media } from '../files.js';
import {
  frozenPrefix,
  mintWorkItem,
  sourceRef,
  workItemInput,
  type Prefix,
} from '../work-items/create-work-item.js';
import { causesOf } from '../authority/causes.js';
import { spend } from '../authority/quotas.js';
import { rightsOf, type SessionRights } from '../authority/session-rights.js';
import { relationToItem } from '../relation.js';
import {
  lineageOf,
  openWithin,
  placedElsewhere,
  selectFor,
  statusOf,
  type Lineage,
  workingDirectoryOf,
} from './open-session.js';
import { ownRow } from '../iterate.js';
import type { Committed } from '../../supervisor/contract.js';
import { sortableText, isoTime } from '../../../machines/sortable.js';
import type { ActorKey } from '../../../machines/outputs.js';
import type { DelegationCard } from '../../../machines/session/delegation-card.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

export interface DelegationInput {
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

export interface Delegated {
  readonly workItemId: string;
  readonly sessionId: string;
  readonly session: GatewayActor<'session'>;
  readonly title: string;
}

/**
 * Give a task to someone: a work item (minted, or an open one) and the session that attempts it, in one
 * commit. When the engine cannot run, the item is kept and the answer is ENGINE_UNAVAILABLE with its id; the
 * same idempotency key then dispatches that item once the engine is there.
 */
export function delegate(request: Request, input: DelegationInput): Promise<Reply<Delegated> | Refusal> {
  const operation = () => delegateOnce(request, input);
  // twins under one key run one after the other, so that the second finds what the first has kept
  const once = request.idempotency
    ? () => inTurn(request.app.supervisor, intentKey(request), operation)
    : operation;
  // and those of one Todo too: its attempts are listed before the plan takes any turn
  return input.workItemId == null
    ? once()
    : inTurn(request.app.supervisor, `delegate/${input.workItemId}`, once);
}

async function delegateOnce(request: Request, input: DelegationInput): Promise<Reply<Delegated> | Refusal> {
  // The Todo may be done by now, the engine gone
  const before = await answeredBefore<Dispatched>(request);
  if (before !== undefined) return isRefusal(before) ? before : delegated(request.app, before);
  const employee = employeeNamed(request.app, input.employee);
  if (isRefusal(employee)) return employee;
  const selection = await selectFor(request.app, { ...input, prompt: input.task }, employee);
  if (isRefusal(selection)) return selection;
  const lineage = await lineageOf(request, input.parent);
  if (isRefusal(lineage)) return lineage;
  const rights = await rightsOf(request.app, { causes: causesOf(request), ...lineage, employee });
  if (isRefusal(rights)) return rights;
  const full = (await spend(request, 'sessions')) ?? (await spend(request, 'items'));
  return full ?? dispatch({ request, input, employee, selection, lineage, rights });
}

type Dispatched = { readonly workItemId: string; readonly sessionId: string; readonly title: string };

async function delegated(
  app: App,
  committed: Committed<Dispatched>,
  opened?: GatewayActor<'session'>,
): Promise<Reply<Delegated> | Refusal> {
  const { result } = committed;
  const session = opened ?? (await app.supervisor.get('session', result.sessionId));
  return session
    ? replyWith(committed, { ...result, session })
    : refuse('NOT_FOUND', { kind: 'session', id: result.sessionId });
}

interface Delegation {
  readonly request: Request;
  readonly input: DelegationInput;
  readonly employee: Employee | null;
  readonly selection: Selection;
  readonly lineage: Lineage;
  readonly rights: SessionRights;
}

async function dispatch(delegation: Delegation): Promise<Reply<Delegated> | Refusal> {
  const { request, input } = delegation;
  const { app } = request;
  const kept = await keptItem(request);
  if (isRefusal(kept)) return kept;
  const itemId = kept ?? input.workItemId ?? null;
  const item = itemId === null ? null : await openItem(request, itemId);
  if (isRefusal(item)) return item;
  const { employee, selection } = delegation;
  const { engine } = selection;
  const sessionId = app.supervisor.environment.ids.next();
  const placed = await placedElsewhere(request, sessionId, input, { employee, engine });
  if (isRefusal(placed)) return placed;
  if (selection.unavailable && placed === undefined) return keepIntent(app, delegation, itemId);
  const place = await workingDirectoryOf(request, sessionId, input, {
    employee,
    engine,
    ...delegation.rights,
  });
  if (isRefusal(place)) return place;
  const prefix = await frozenPrefix(app);
  const attempts = itemId === null ? [] : await attemptsAt(app, itemId);
  const { parentSessionId } = delegation.lineage;
  const parent = parentSessionId === null ? [] : [{ kind: 'session', id: parentSessionId } as const];
  let opened: GatewayActor<'session'> | undefined;
  const committed = await app.supervisor.transact<Dispatched>({
    name: 'delegate',
    actors: [...(itemId === null ? [] : [{ kind: 'work-item', id: itemId }]), ...attempts, ...parent],
    ...optionsOf(request),
    run(turns) {
      const taken = takeItem(turns, delegation, prefix, itemId, attempts);
      if (isRefusal(taken)) return taken;
      // From now on the key remembers this, for as long as keys do
      if (kept !== null) turns.put(intentKey(request), null);
      const { title } = taken.view;
      const sessionInput = { ...input, prompt: input.task, title };
      const sessionKey = `delegation:${taken.id}:${sessionId}`;
      opened = openWithin(app, turns, sessionId, {
        ...delegation,
        input: sessionInput,
        cwd: place.cwd,
        branch: place.branch,
        placement: place.placement,
        workItemId: taken.id,
        source: 'delegation',
        sourceRef: sessionKey,
      });
      // a parent that is halted or gone shows no card; the work is delegated all the same
      for (const key of parent)
        turns.send(key, cardOf(delegation, { workItemId: taken.id, sessionId, title }), { soft: true });
      return { workItemId: taken.id, sessionId, title };
    },
  });
  if (isRefusal(committed) || committed.replayed) await place.drop();
  if (isRefusal(committed)) return committed;
  if (!request.dryRun) prefix.frozen = true;
  return delegated(app, committed, committed.replayed ? undefined : opened);
}

/** What the parent shows of it. */
function cardOf({ request, employee }: Delegation, { workItemId, sessionId, title }: Dispatched) {
  const { clock, ids } = request.app.supervisor.environment;
  const card: DelegationCard = {
    id: `dg-${workItemId}`,
    type: 'delegation',
    version: 1,
    status: 'dispatched',
    payload: {
      employee: employee?.name ?? null,
      employeeDisplay: employee?.displayName ?? employee?.name ?? null,
      title,
      childSessionId: sessionId,
      workItemId,
      dispatchedAt: isoTime(clock.now()),
      repliedAt: null,
    },
  };
  const content = `Delegated ${workItemId} to ${employee?.name ?? 'a session'}: ${title}`;
  const message = { id: ids.next(), content, blocks: [card] };
  return { type: 'delegation.dispatched' as const, message };
}

/** Within the plan: the item that the new session attempts. */
function takeItem(
  turns: GatewayTransaction,
  delegation: Delegation,
  prefix: Prefix,
  itemId: string | null,
  attempts: readonly ActorKey<'session'>[],
): GatewayActor<'work-item'> | Refusal {
  if (itemId === null) return mintWorkItem(turns, prefix, intentInput(delegation));
  const key = { kind: 'work-item', id: itemId } as const;
  const item = turns.read(key);
  if (!item) return refuse('NOT_FOUND', key, `Todo ${itemId} not found`);
  const closed = closedItem(item);
  if (closed) return closed;
  const live = attempts
    .map((attempt) => turns.read(attempt))
    .find((session) => session && liveStatuses.has(statusOf(session)));
  if (live)
    return refuse(
      'LIVE_ATTEMPT',
      { workItemId: itemId, sessionId: live.id },
      `Todo ${itemId} already has live execution session ${live.id}`,
    );
  const { employee } = delegation;
  if (employee && item.view.assignee !== employee.name) {
    turns.send(key, {
      type: 'item.assign',
      assignee: employee.name,
      department: employee.department ?? null,
    });
  }
  return turns.read(key) ?? item;
}

const liveStatuses: ReadonlySet<string> = new Set(['running', 'waiting']);
const attemptsMax = 15;

/** Sessions linked to the item that may be at work, newest first; the older ones have long ended. */
async function attemptsAt(app: App, itemId: string): Promise<ActorKey<'session'>[]> {
  const page = await app.supervisor.list('session', {
    index: 'work-item',
    prefix: `${sortableText(itemId)}/`,
    reverse: true,
    limit: attemptsMax,
  });
  return page.items.map((item) => ({ kind: 'session', id: item.id }));
}

async function openItem(request: Request, itemId: string): Promise<GatewayActor<'work-item'> | Refusal> {
  const item = await request.app.supervisor.get('work-item', itemId);
  if (!item) return refuse('NOT_FOUND', { kind: 'work-item', id: itemId }, `Todo ${itemId} not found`);
  if (
    request.caller.type === 'session' &&
    relationToItem(request.app, request.caller, item.view) === 'outsider'
  )
    return refuse('NOT_OWNER');
  return closedItem(item) ?? item;
}

function closedItem(item: GatewayActor<'work-item'>): Refusal | undefined {
  const { status } = item.view;
  if (!['done', 'cancelled'].includes(status)) return undefined;
  return refuse(
    'TERMINAL',
    { workItemId: item.id, status },
    `Todo ${item.id} is ${status} and cannot accept a new delegation`,
  );
}

function intentInput({ request, input, employee, selection, lineage }: Delegation) {
  const from = lineage.parentSessionId;
  const title = input.title ?? input.task.split('\n', 1)[0] ?? input.task;
  return workItemInput(
    { title, body: input.task, assignee: employee?.name ?? null, department: employee?.department },
    request.caller,
    {
      source: 'delegation',
      sourceRef: sourceRef('delegate', from ?? `${request.caller.type}.${selection.engine}`),
    },
  );
}

/**
 * The engine cannot run: the item stays (assigned, if to someone) and the key remembers it. Only a success
 * is remembered as such.
 */
async function keepIntent(app: App, delegation: Delegation, itemId: string | null): Promise<Refusal> {
  const { request, selection } = delegation;
  const prefix = await frozenPrefix(app);
  const { idempotency, ...how } = optionsOf(request);
  const committed = await app.supervisor.transact<{ workItemId: string }>({
    name: 'keep-delegation-intent',
    actors: itemId === null ? [] : [{ kind: 'work-item', id: itemId }],
    ...how,
    run(turns) {
      const workItemId = itemId ?? mintWorkItem(turns, prefix, intentInput(delegation)).id;
      if (idempotency) turns.put(intentKey(request), { workItemId, hash: idempotency.hash });
      return { workItemId };
    },
  });
  if (isRefusal(committed)) return committed;
  if (!request.dryRun) prefix.frozen = true;
  return refuse(
    'ENGINE_UNAVAILABLE',
    { workItemId: committed.result.workItemId, engine: selection.engine },
    selection.unavailable?.reason,
  );
}

/** The item that an earlier 502 under the same key has kept. */
async function keptItem(request: Request): Promise<string | null | Refusal> {
  if (!request.idempotency) return null;
  const row = (await ownRow(request.app.supervisor, intentKey(request))) as
    | { workItemId: string; hash: string }
    | null
    | undefined;
  if (!row) return null;
  return row.hash === request.idempotency.hash ? row.workItemId : refuse('IDEMPOTENCY_CONFLICT');
}

const intentKey = ({ idempotency }: Request): string =>
  `delegation/${idempotency?.scope ?? ''}/${Buffer.from(idempotency?.key ?? '').toString('base64url')}`;
