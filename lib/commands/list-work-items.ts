import type { Desk } from './desk.js';
import { attempted, itemKinship } from './kinship.js';
import { walk } from './walk.js';
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';

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
 * filter without `status`. The narrowest index serves; what it cannot say is filtered record by record.
 */
export async function listWorkItems(desk: Desk, query: WorkItemsQuery, by: Caller): Promise<WorkItemsPage> {
  const keep = await filterFor(desk, query, by);
  const totals: Record<string, number> = Object.fromEntries(workItemStatuses.map((status) => [status, 0]));
  const picked: Json[] = [];
  let total = 0;
  for await (const item of walk(desk.supervisor, 'work-item', narrowest(query))) {
    const record = item.row as Item;
    if (!keep(record)) continue;
    const status = String(record['status']);
    totals[status] = (totals[status] ?? 0) + 1;
    if (query.status !== undefined && status !== query.status) continue;
    if (total >= query.offset && picked.length < query.limit) picked.push(listed(record));
    total++;
  }
  const end = query.offset + picked.length;
  return { workItems: picked, total, totals, limit: query.limit, offset: query.offset, nextOffset: end < total && picked.length > 0 ? end : null };
}

export const workItemStatuses = ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'escalated', 'done', 'cancelled'] as const;

/** Not `status`: the totals need the others too. */
function narrowest(query: WorkItemsQuery): { index: string; prefix?: string } {
  if (query.assignee !== undefined) return { index: 'assignee', prefix: `${query.assignee}/` };
  if (query.department !== undefined) return { index: 'department', prefix: `${query.department}/` };
  if (query.source !== undefined) return { index: 'source', prefix: `${query.source}/` };
  return { index: 'all' };
}

async function filterFor(desk: Desk, query: WorkItemsQuery, by: Caller): Promise<(record: Item) => boolean> {
  const tests: ((record: Item) => boolean)[] = [];
  for (const member of ['source', 'assignee', 'department'] as const) {
    const wanted = query[member];
    if (wanted !== undefined) tests.push((record) => record[member] === wanted);
  }
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
  if (by.type === 'session') {
    const own = await attempted(desk, by);
    tests.push((record) => itemKinship(desk, by, record, own) !== 'stranger');
  }
  return (record) => tests.every((test) => test(record));
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
