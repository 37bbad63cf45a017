import type { App } from '../app.js';
import type { Agent } from '../relation.js';
import type { Range } from './merge-lists.js';
import type { Supervisor } from '../../supervisor/contract.js';
import type { Json } from '../../../machines/outputs.js';
import { sortable, sortableText } from '../../../machines/sortable.js';

/** Which ranges of which lists answer a query for work items, and how many lie in them. */

/** A row as lists keep it: what is null is left out. */
export type Row = Readonly<Record<string, Json | undefined>>;

export interface Facets {
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly assignee?: string | undefined;
  readonly department?: string | undefined;
}

/** Times of the last change, as orders: items without a rank lie in one stretch of every list. */
export interface Window {
  readonly from: string;
  readonly to: string;
}

export function windowOf({
  since,
  until,
}: {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}): Window | undefined {
  if (since === undefined && until === undefined) return undefined;
  const newest = until === undefined ? '' : sortable(until, { descending: true });
  const oldest = since === undefined ? '~' : `${sortable(since, { descending: true })}~`;
  return { from: newest, to: oldest };
}

/** Ranges that together hold exactly what the facets let through, in one order. */
export function rangesFor(supervisor: Supervisor, facets: Facets, window?: Window): readonly Range[] {
  const { status, source, assignee, department } = facets;
  const everything = [status, source, assignee, department].every((facet) => facet === undefined);
  return inWindow(everything ? [{ index: 'all', prefix: '' }] : combined(supervisor, facets), window);
}

/**
 * With a window: of each range the stretch without ranks. Ranked items lie before it and are looked at one by
 * one.
 */
function inWindow(ranges: readonly Range[], window: Window | undefined): readonly Range[] {
  if (window === undefined) return ranges;
  return ranges.map((range) => ({ ...range, from: `1${window.from}`, to: `1${window.to}` }));
}

/** How many of each status the facets (without status) let through. Counts alone, or with a window keys. */
export async function countsOf(
  supervisor: Supervisor,
  facets: Facets,
  window: Window | undefined,
): Promise<Readonly<Record<string, number>>> {
  const totals: Record<string, number> = {};
  const add = (status: string, count: number): void => void (totals[status] = (totals[status] ?? 0) + count);
  if (window === undefined) {
    for (const { status, count } of matching(supervisor, facets)) add(status, count);
    return totals;
  }
  const ranges = combined(supervisor, facets);
  const counts = await Promise.all(ranges.map((range) => countWithin(supervisor, range, window)));
  ranges.forEach(({ status }, at) => add(status, counts[at] as number));
  return totals;
}

interface Counted {
  readonly index: string;
  readonly prefix: string;
  readonly status: string;
  readonly count: number;
}

/** Of a range whose size is known, what lies outside is counted where that is less. */
async function countWithin(
  supervisor: Supervisor,
  { index, prefix, count }: Counted,
  window: Window,
): Promise<number> {
  const [from, to] = [`${prefix}1${window.from}`, `${prefix}1${window.to}`];
  const half = Math.ceil(count / 2);
  const before = await supervisor.countRange('work-item', { index, prefix, to: from, limit: half });
  const outside =
    before +
    (before < half
      ? await supervisor.countRange('work-item', { index, prefix, from: to, limit: half })
      : half);
  return outside < half ? count - outside : supervisor.countRange('work-item', { index, prefix, from, to });
}

/** One range for each combination in use. */
function combined(supervisor: Supervisor, facets: Facets): readonly Counted[] {
  const ranges = new Map<string, Counted>();
  for (const { status, group, assignee, count } of matching(supervisor, facets)) {
    const range =
      facets.assignee === undefined
        ? { index: 'group', prefix: `${group}/`, status }
        : { index: 'assignee-group', prefix: `${assignee}/${group}/`, status };
    ranges.set(range.prefix, { ...range, count: count + (ranges.get(range.prefix)?.count ?? 0) });
  }
  return [...ranges.values()];
}

interface Tally {
  readonly status: string;
  readonly group: string;
  readonly assignee: string;
  readonly count: number;
}

/**
 * The combinations in use that the facets let through; names are `<status>/<source>/<department>/<assignee>`.
 */
function matching(supervisor: Supervisor, facets: Facets): readonly Tally[] {
  const wanted = [facets.status, facets.source, facets.department, facets.assignee].map((facet) =>
    facet === undefined ? undefined : sortableText(facet),
  );
  const found: Tally[] = [];
  for (const [name, count] of supervisor.totals('work-item')) {
    const parts = name.split('/');
    if (wanted.every((facet, at) => facet === undefined || facet === parts[at])) {
      const [status = '', source = '', department = '', assignee = ''] = parts;
      found.push({ status, group: `${status}/${source}/${department}`, assignee, count });
    }
  }
  return found;
}

/**
 * An agent's own: what it created, what it or a session above it attempted, what is its employee's or theirs
 * below.
 */
export function ownRanges(app: App, agent: Agent): readonly Range[] {
  const people = agent.employee === null ? [] : [agent.employee, ...beneath(app, agent.employee)];
  return [
    { index: 'creator', prefix: `${sortableText(agent.id)}/` },
    ...[agent.id, ...agent.ancestors].map((id) => ({ index: 'attempt', prefix: `${sortableText(id)}/` })),
    ...people.flatMap((assignee) => combined(app.supervisor, { assignee })),
  ];
}

/** Everybody below a manager. Bounded by the roster; a circle ends where it began. */
function beneath(app: App, manager: string): readonly string[] {
  const employees = app.roster?.()?.employees ?? [];
  const found = new Set<string>();
  for (let level = [manager]; level.length > 0;) {
    const next = employees
      .filter(
        ({ name, reportsTo }) =>
          reportsTo != null && level.includes(reportsTo) && name !== manager && !found.has(name),
      )
      .map(({ name }) => name);
    for (const name of next) found.add(name);
    level = next;
  }
  return [...found];
}

/**
 * Where whatever needs someone's attention must lie: pending approvals, and what is stuck in their hands.
 */
export function attentionRanges(supervisor: Supervisor, person: string | null): readonly Range[] {
  const pending = { index: 'pending', prefix: '' };
  if (person === null) return [pending];
  if (person === 'operator') return [pending, ...combined(supervisor, { status: 'escalated' })];
  return [
    pending,
    ...(['blocked', 'escalated'] as const).flatMap((status) =>
      combined(supervisor, { status, assignee: person }),
    ),
  ];
}

/**
 * A pending approval that waits for them, or work of theirs that is stuck. Escalated approvals and the
 * virtual root's are the operator's.
 */
export function needsAttention(row: Row, person: string | null): boolean {
  if (row['approvalState'] === 'pending') {
    const routed =
      person === 'operator'
        ? (row['approvalTargetKind'] ?? 'employee') !== 'employee' || row['approvalEscalatedAt'] != null
        : row['approvalTarget'] === person;
    if (routed) return true;
  }
  if (person === 'operator') return row['status'] === 'escalated';
  return row['assignee'] === person && (row['status'] === 'blocked' || row['status'] === 'escalated');
}
