import { type App } from '../app.js';
import { merged, type Place, type Range } from './merge-lists.js';
import {
  attentionRanges,
  countsOf,
  needsAttention,
  ownRanges,
  rangesFor,
  windowOf,
  type Facets,
  type Row,
  type Window,
} from './work-item-ranges.js';
import { textsOf } from './work-item-texts.js';
import type { Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { sortableText } from '../../../machines/sortable.js';

export interface WorkItemsQuery {
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly assignee?: string | undefined;
  readonly department?: string | undefined;
  readonly label?: string | undefined;
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

type Test = (row: Row, id: string) => boolean | Promise<boolean>;

/**
 * A page of work items, ranked ones first, then the latest change first. `totals` counts every status under
 * the same filter without `status`. Filters by status, source, assignee and department, alone or together,
 * are answered from counts and keys; windows of time from keys; only text, attention, labels and an agent's
 * own look into rows, in slices.
 */
export async function listWorkItems(app: App, query: WorkItemsQuery, by: Caller): Promise<WorkItemsPage> {
  const tests = testsFor(app, query, by);
  if (query.needsAttentionFor !== undefined || query.label !== undefined || by.type === 'session')
    return scan(app, query, by, query.q === undefined ? tests : [...tests, textTest(app, query.q)]);
  if (query.q !== undefined)
    return (await searched(app, query, query.q)) ?? scan(app, query, by, [...tests, textTest(app, query.q)]);
  const facets = facetsOf(query);
  const window = windowOf(query);
  const totals = { ...noTotals(), ...(await countsOf(app.supervisor, facets, window)) };
  const { status } = query;
  const chosen = (): number => (status === undefined ? sum(totals) : (totals[status] ?? 0));
  const unranked = chosen();
  const ranked: (readonly [string, Row])[] = [];
  if (window) {
    for await (const [id, row] of rankedWithin(app, facets, window)) {
      totals[String(row['status'])] = (totals[String(row['status'])] ?? 0) + 1;
      if (status === undefined || row['status'] === status) ranked.push([id, row]);
    }
  }
  const ahead = ranked.slice(query.offset, query.offset + query.limit);
  const rest = { offset: Math.max(0, query.offset - ranked.length), limit: query.limit - ahead.length };
  const ranges = rangesFor(app.supervisor, { ...facets, status }, window);
  const places =
    rest.limit === 0 || rest.offset >= unranked ? [] : await placesOf(app, ranges, rest, unranked);
  return answer(query, [...ahead, ...(await rowsAt(app, places))], chosen(), totals);
}

/** By text: the texts in memory find the places, the rows are read as always. */
async function searched(app: App, query: WorkItemsQuery, q: string): Promise<WorkItemsPage | undefined> {
  const found = await textsOf(app.supervisor).search(
    q.toLowerCase(),
    { ...facetsOf(query), status: query.status },
    windowOf(query),
    query.offset + query.limit,
  );
  if (found === undefined) return undefined;
  const totals = { ...noTotals(), ...found.totals };
  const total = query.status === undefined ? sum(totals) : (totals[query.status] ?? 0);
  return answer(query, await rowsAt(app, found.places.slice(query.offset)), total, totals);
}

/**
 * Substring of id, title or body, whatever the case. The row knows id and title; the body is read only where
 * those do not match.
 */
function textTest(app: App, q: string): Test {
  const wanted = q.toLowerCase();
  return (row, id) => {
    if (
      id.toLowerCase().includes(wanted) ||
      String(row['title'] ?? '')
        .toLowerCase()
        .includes(wanted)
    )
      return true;
    return app.supervisor.get('work-item', id).then(
      (item) =>
        item !== undefined &&
        String(item.view.body ?? '')
          .toLowerCase()
          .includes(wanted),
    );
  };
}

/**
 * Items with a rank that changed within the window: they lie before all others, by rank, so each is looked
 * at.
 */
async function* rankedWithin(
  app: App,
  facets: Facets,
  window: Window,
): AsyncGenerator<readonly [id: string, row: Row]> {
  const ranges = rangesFor(app.supervisor, facets).map((range) => ({ ...range, from: '0', to: '1' }));
  for await (const batch of merged(app.supervisor, 'work-item', ranges, sliceRows)) {
    const within = batch.filter(({ key }) => key.slice(-16) >= window.from && key.slice(-16) <= window.to);
    if (within.length > 0) yield* await rowsAt(app, within);
  }
}

export const workItemStatuses = [
  'backlog',
  'assigned',
  'executing',
  'in_review',
  'blocked',
  'escalated',
  'done',
  'cancelled',
] as const;

const noTotals = (): Record<string, number> =>
  Object.fromEntries(workItemStatuses.map((status) => [status, 0]));
const sum = (totals: Readonly<Record<string, number>>): number =>
  Object.values(totals).reduce((all, count) => all + count, 0);

const facetsOf = ({ source, assignee, department }: WorkItemsQuery): Facets => ({
  source,
  assignee,
  department,
});

/** One range is paged by the store, from whichever end is nearer; several are merged. */
async function placesOf(
  app: App,
  ranges: readonly Range[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  total: number,
): Promise<readonly Place[]> {
  const [only, ...others] = ranges;
  if (only && others.length === 0) {
    const { index, prefix } = only;
    const bounds = {
      ...(only.from !== undefined && { from: prefix + only.from }),
      ...(only.to !== undefined && { to: prefix + only.to }),
    };
    const fromEnd = offset > total / 2;
    const rest = Math.min(limit, total - offset);
    const { items } = await app.supervisor.list('work-item', {
      index,
      prefix,
      ...bounds,
      limit: rest,
      ...(fromEnd ? { reverse: true, offset: total - offset - rest } : { offset }),
    });
    const places = items.map(({ key, id }) => ({ key: key.slice(prefix.length), id }));
    return fromEnd ? places.reverse() : places;
  }
  const found: Place[] = [];
  let skip = offset;
  for await (const batch of merged(app.supervisor, 'work-item', ranges, offset + limit)) {
    if (skip >= batch.length) {
      skip -= batch.length;
      continue;
    }
    for (const place of skip === 0 ? batch : batch.slice(skip)) found.push(place);
    skip = 0;
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Rows in the order of their places. An item that moved in between is read as it is now. */
async function rowsAt(
  app: App,
  places: readonly Place[],
): Promise<readonly (readonly [id: string, row: Row])[]> {
  const rows = await app.supervisor.rowsAt('work-item', 'all', places);
  const found = await Promise.all(
    places.map(async ({ id }, at): Promise<readonly [string, Row] | undefined> => {
      const row = rows[at] ?? (await app.supervisor.get('work-item', id))?.view;
      return row === undefined ? undefined : [id, row as Row];
    }),
  );
  return found.filter((each) => each !== undefined);
}

function answer(
  { limit, offset }: WorkItemsQuery,
  rows: readonly (readonly [string, Row])[],
  total: number,
  totals: Readonly<Record<string, number>>,
): WorkItemsPage {
  const end = offset + limit;
  return {
    workItems: rows.map(([id, row]) => listed(id, row)),
    total,
    totals,
    limit,
    offset,
    nextOffset: end < total ? end : null,
  };
}

/** Look into every row that the narrowest lists let through: a slice at a time, only the page is kept. */
async function scan(
  app: App,
  query: WorkItemsQuery,
  by: Caller,
  tests: readonly Test[],
): Promise<WorkItemsPage> {
  const totals = noTotals();
  const page: (readonly [string, Row])[] = [];
  let total = 0;
  for await (const batch of merged(app.supervisor, 'work-item', candidates(app, query, by), sliceRows)) {
    for (let from = 0; from < batch.length; from += sliceRows) {
      for (const [id, row] of await rowsAt(app, batch.slice(from, from + sliceRows))) {
        if (!(await satisfies(tests, row, id))) continue;
        const status = String(row['status']);
        totals[status] = (totals[status] ?? 0) + 1;
        if (query.status !== undefined && query.status !== status) continue;
        total += 1;
        if (total > query.offset && page.length < query.limit) page.push([id, row]);
      }
    }
  }
  return answer(query, page, total, totals);
}

const sliceRows = 400;

async function satisfies(tests: readonly Test[], row: Row, id: string): Promise<boolean> {
  for (const test of tests) {
    const passed = test(row, id);
    if (!(typeof passed === 'boolean' ? passed : await passed)) return false;
  }
  return true;
}

function candidates(app: App, query: WorkItemsQuery, by: Caller): readonly Range[] {
  if (by.type === 'session') return ownRanges(app, by);
  if (query.needsAttentionFor !== undefined)
    return attentionRanges(app.supervisor, attentive(query.needsAttentionFor, by));
  if (query.label !== undefined) return [{ index: 'label', prefix: `${sortableText(query.label)}/` }];
  return rangesFor(app.supervisor, facetsOf(query), windowOf(query));
}

function testsFor(app: App, query: WorkItemsQuery, by: Caller): readonly Test[] {
  const tests: Test[] = [];
  const narrowed =
    by.type === 'session' || query.needsAttentionFor !== undefined || query.label !== undefined;
  for (const facet of narrowed ? (['source', 'assignee', 'department'] as const) : []) {
    const wanted = query[facet];
    if (wanted !== undefined) tests.push((row) => row[facet] === wanted);
  }
  const { since, until, label } = query;
  if (narrowed && since !== undefined) tests.push((row) => Date.parse(String(row['updatedAt'])) >= since);
  if (narrowed && until !== undefined) tests.push((row) => Date.parse(String(row['updatedAt'])) <= until);
  if (label !== undefined && (by.type === 'session' || query.needsAttentionFor !== undefined))
    tests.push((row) => (row['labels'] as readonly string[] | undefined)?.includes(label) ?? false);
  if (query.needsAttentionFor !== undefined) {
    const person = attentive(query.needsAttentionFor, by);
    tests.push((row) => needsAttention(row, person));
  }
  return tests;
}

/** Whom `me` means. */
const attentive = (wanted: string, by: Caller): string | null =>
  wanted !== 'me' ? wanted : by.type === 'session' ? by.employee : 'operator';

/** The compact shape of a list. */
function listed(id: string, row: Row): Json {
  const compact: Record<string, Json> = {};
  for (const member of listMembers) compact[member] = row[member] ?? null;
  compact['id'] = id;
  const { sessionRef } = row;
  if (typeof sessionRef === 'string')
    compact['sessionRef'] = { sessionId: sessionRef, ref: `session:${sessionRef}` };
  return compact;
}

export const listMembers = [
  'id',
  'title',
  'status',
  'version',
  'assignee',
  'department',
  'source',
  'sourceRef',
  'rank',
  'approvalState',
  'approvalRequest',
  'approvalRef',
  'approvalTarget',
  'approvalEscalatedAt',
  'sessionRef',
  'updatedAt',
] as const;
