import { censusOf } from './census.js';
import type { Desk } from './desk.js';
import { itemKinship } from './kinship.js';
import { idsOf, recordsOf, walk, walkRecords } from './walk.js';
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { sortableText } from '../../machines/sortable.js';

export interface WorkItemsQuery {
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly assignee?: string | undefined;
  readonly department?: string | undefined;
  /** Epoch ms, on `updatedAt`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly q?: string | undefined;
  readonly needsAttentionFor?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface WorkItemsPage {
  readonly workItems: readonly Json[];
  readonly total: number;
  readonly totals: Readonly<Record<string, number>>;
  readonly limit: number;
  readonly offset: number;
  readonly nextOffset: number | null;
}

type Item = Readonly<Record<string, Json | undefined>>;

/**
 * A page of work items, ranked ones first, then the latest change first. `totals` counts every status under the same
 * filter without `status`. Filters that an index knows are answered from keys alone; only what no index can say
 * (text, times, attention, an agent's own) makes it look into the records.
 */
export async function listWorkItems(desk: Desk, query: WorkItemsQuery, by: Caller): Promise<WorkItemsPage> {
  const look = testsFor(desk, query, by);
  if (look.length === 0 && indexed.every((index) => query[index] === undefined)) return listAll(desk, query);
  const candidates = await candidatesFor(desk, query);
  const ids = look.length === 0 ? candidates : await lookedInto(desk, candidates, look);
  const statuses = await statusesOf(desk, ids);
  const totals = noTotals();
  const chosen: string[] = [];
  for (const id of ids) {
    const status = statuses.get(id);
    if (status === undefined) continue; // came into being while we were counting
    totals[status] = (totals[status] ?? 0) + 1;
    if (query.status === undefined || query.status === status) chosen.push(id);
  }
  return page(desk, query, chosen.slice(query.offset, query.offset + query.limit), chosen.length, totals);
}

/** The whole ledger, or all of one status: one page of keys, and totals from the census. */
async function listAll(desk: Desk, query: WorkItemsQuery): Promise<WorkItemsPage> {
  const { status, offset, limit } = query;
  const totals = noTotals();
  for (const [word, count] of await censusOf(desk.supervisor, 'work-item', statusWord).counts()) totals[word] = count;
  const total = status === undefined ? Object.values(totals).reduce((sum, count) => sum + count, 0) : totals[status] ?? 0;
  const list = status === undefined ? { index: 'all' } : { index: 'status', prefix: `${status}/` };
  const { items } = await desk.supervisor.list('work-item', { ...list, offset, limit });
  return page(desk, query, items.map(({ id }) => id), total, totals);
}

async function page(desk: Desk, { limit, offset }: WorkItemsQuery, ids: readonly string[], total: number, totals: Record<string, number>): Promise<WorkItemsPage> {
  const records = await recordsOf(desk.supervisor, 'work-item', ids);
  const end = offset + limit;
  return { workItems: records.map((record) => listed(record as Item)), total, totals, limit, offset, nextOffset: end < total ? end : null };
}

const indexed = ['assignee', 'department', 'source'] as const;

const noTotals = (): Record<string, number> => Object.fromEntries(workItemStatuses.map((status) => [status, 0]));

/** The status region of a work item's state value. */
const statusWord = (value: unknown): string => String((value as { work?: unknown } | null)?.work);

export const workItemStatuses = ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'escalated', 'done', 'cancelled'] as const;

/** The items' statuses: of a few from their records, of many from the keys of the list by status. */
async function statusesOf(desk: Desk, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length <= fewMax) {
    const records = (await recordsOf(desk.supervisor, 'work-item', ids)) as readonly Item[];
    return new Map(records.map((record) => [String(record['id']), String(record['status'])]));
  }
  const statuses = new Map<string, string>();
  for await (const { id, key } of walk(desk.supervisor, 'work-item', { index: 'status' })) statuses.set(id, key.slice(0, key.indexOf('/')));
  return statuses;
}

const fewMax = 300;

/** The ids, in order, that the indexes let through. */
async function candidatesFor(desk: Desk, query: WorkItemsQuery): Promise<readonly string[]> {
  const lists: string[][] = [];
  for (const index of indexed) {
    const wanted = query[index];
    if (wanted !== undefined) lists.push(await idsOf(desk.supervisor, 'work-item', { index, prefix: `${sortableText(wanted)}/` }));
  }
  const [first, ...others] = lists;
  if (!first) return idsOf(desk.supervisor, 'work-item', { index: 'all' });
  const sets = others.map((ids) => new Set(ids));
  return first.filter((id) => sets.every((set) => set.has(id)));
}

type Test = (record: Item) => boolean;

async function lookedInto(desk: Desk, ids: readonly string[], tests: readonly Test[]): Promise<readonly string[]> {
  const passed: string[] = [];
  for await (const record of walkRecords(desk.supervisor, 'work-item', ids)) {
    if (tests.every((test) => test(record as Item))) passed.push(String((record as Item)['id']));
  }
  return passed;
}

function testsFor(desk: Desk, query: WorkItemsQuery, by: Caller): readonly Test[] {
  const tests: Test[] = [];
  const { since, until, q } = query;
  if (since !== undefined) tests.push((record) => Date.parse(String(record['updatedAt'])) >= since);
  if (until !== undefined) tests.push((record) => Date.parse(String(record['updatedAt'])) <= until);
  if (q !== undefined) {
    const wanted = q.toLowerCase();
    tests.push((record) => ['id', 'title', 'body'].some((member) => String(record[member] ?? '').toLowerCase().includes(wanted)));
  }
  if (query.needsAttentionFor !== undefined) {
    const person = query.needsAttentionFor === 'me' ? (by.type === 'session' ? by.employee : 'operator') : query.needsAttentionFor;
    tests.push((record) => needsAttention(record, person));
  }
  if (by.type === 'session') tests.push((record) => ['self', 'above'].includes(itemKinship(desk, by, record)));
  return tests;
}

/** A pending approval that waits for them, or work of theirs that is stuck. Escalated approvals and the virtual root's are the operator's. */
function needsAttention(record: Item, person: string | null): boolean {
  if (record['approvalState'] === 'pending') {
    if (person === 'operator') return record['approvalTargetKind'] !== 'employee' || record['approvalEscalatedAt'] != null;
    if (record['approvalTarget'] === person) return true;
  }
  if (person === 'operator') return record['status'] === 'escalated';
  return record['assignee'] === person && (record['status'] === 'blocked' || record['status'] === 'escalated');
}

/** The compact shape of a list. */
function listed(record: Item): Json {
  const compact: Record<string, Json> = {};
  for (const member of listMembers) compact[member] = record[member] ?? null;
  return compact;
}

export const listMembers = [
  'id', 'title', 'status', 'version', 'assignee', 'department', 'source', 'sourceRef', 'rank', 'approvalState', 'approvalRequest',
  'approvalRef', 'approvalTarget', 'approvalEscalatedAt', 'sessionRef', 'updatedAt',
] as const;
