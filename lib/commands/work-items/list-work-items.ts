import type { App } from '../app.js';
import { merged, mergedAfter, type Place, type Range } from './merge-lists.js';
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
import { answer, cursorBehind, listed, rowsAt, type Listed, type WorkItemsPage } from './work-item-page.js';
import { textsOf } from './work-item-texts.js';
import type { Caller } from '../../../machines/caller.js';
import { sortableText } from '../../../machines/sortable.js';
import { statuses } from '../../../machines/work-item/edges.js';

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
  /** The place of the last item that was seen; instead of an offset. */
  readonly cursor?: Place | undefined;
}

type Test = (row: Row, id: string) => boolean | Promise<boolean>;

/**
 * A page of work items, ranked ones first, then the latest change first. `totals` counts every status under
 * the same filter without `status`. Filters by status, source, assignee and department, alone or together,
 * are answered from counts and keys; windows of time from keys; only text, attention, labels and an agent's
 * own look into rows, in slices.
 */
export async function listWorkItems(app: App, query: WorkItemsQuery, by: Caller): Promise<WorkItemsPage> {
  if (query.cursor !== undefined) return listAfter(app, query, by, query.cursor);
  const tests = testsFor(app, query, by);
  if (isNarrowed(query, by))
    return scan(app, query, by, query.q === undefined ? tests : [...tests, textTest(app, query.q)]);
  if (query.q !== undefined)
    return (await searched(app, query, query.q)) ?? scan(app, query, by, [...tests, textTest(app, query.q)]);
  const facets = facetsOf(query);
  const window = windowOf(query);
  const totals = { ...noTotals(), ...(await countsOf(app.supervisor, facets, window)) };
  const { status } = query;
  const chosen = (): number => (status === undefined ? sum(totals) : (totals[status] ?? 0));
  const unranked = chosen();
  const ranked: Listed[] = [];
  if (window) {
    for await (const listed of rankedWithin(app, facets, window)) {
      const [, row] = listed;
      totals[String(row['status'])] = (totals[String(row['status'])] ?? 0) + 1;
      if (status === undefined || row['status'] === status) ranked.push(listed);
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
async function* rankedWithin(app: App, facets: Facets, window: Window): AsyncGenerator<Listed> {
  const ranges = rangesFor(app.supervisor, facets).map((range) => ({ ...range, from: '0', to: '1' }));
  for await (const batch of merged(app.supervisor, 'work-item', ranges, sliceRows)) {
    const within = batch.filter(({ key }) => key.slice(-16) >= window.from && key.slice(-16) <= window.to);
    if (within.length > 0) yield* await rowsAt(app, within);
  }
}

const noTotals = (): Record<string, number> => Object.fromEntries(statuses.map((status) => [status, 0]));
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

/** The page behind a place, and whether there is more behind it. */
async function listAfter(app: App, query: WorkItemsQuery, by: Caller, after: Place): Promise<WorkItemsPage> {
  const { limit, q, status } = query;
  const whole = await listWorkItems(app, { ...query, cursor: undefined, offset: 0, limit: 0 }, by);
  const tests = [
    ...testsFor(app, query, by),
    ...timeTests(query),
    ...(q === undefined ? [] : [textTest(app, q)]),
    ...(status === undefined ? [] : [(row: Row) => row['status'] === status]),
  ];
  const page: Listed[] = [];
  for (const ranges of stretches(app, query, by))
    for await (const place of mergedAfter(app.supervisor, 'work-item', ranges, { after, first: limit + 1 })) {
      const [row] = await rowsAt(app, [place]);
      if (row !== undefined && (await satisfies(tests, row[1], row[0]))) page.push(row);
      if (page.length > limit) break;
    }
  const shown = page.slice(0, limit);
  const nextCursor = page.length > limit ? cursorBehind(shown) : null;
  return {
    ...whole,
    workItems: shown.map(([id, row]) => listed(id, row)),
    limit,
    nextOffset: null,
    nextCursor,
  };
}

/** Ranges one after the other: with a window of time the ranked items stand before it. */
function stretches(app: App, query: WorkItemsQuery, by: Caller): readonly (readonly Range[])[] {
  const ranges = candidates(app, query, by);
  if (isNarrowed(query, by)) return [ranges];
  const chosen = { ...facetsOf(query), status: query.status };
  const window = windowOf(query);
  const all = rangesFor(app.supervisor, chosen, window);
  if (window === undefined) return [all];
  return [rangesFor(app.supervisor, chosen).map((range) => ({ ...range, from: '0', to: '1' })), all];
}

const isNarrowed = (query: WorkItemsQuery, by: Caller): boolean =>
  by.type === 'session' || query.needsAttentionFor !== undefined || query.label !== undefined;

function timeTests({ since, until }: WorkItemsQuery): readonly Test[] {
  const at = (row: Row): number => Date.parse(String(row['updatedAt']));
  return [
    ...(since === undefined ? [] : [(row: Row) => at(row) >= since]),
    ...(until === undefined ? [] : [(row: Row) => at(row) <= until]),
  ];
}

/** Look into every row that the narrowest lists let through: a slice at a time, only the page is kept. */
async function scan(
  app: App,
  query: WorkItemsQuery,
  by: Caller,
  tests: readonly Test[],
): Promise<WorkItemsPage> {
  const totals = noTotals();
  const page: Listed[] = [];
  let total = 0;
  for await (const batch of merged(app.supervisor, 'work-item', candidates(app, query, by), sliceRows)) {
    for (let from = 0; from < batch.length; from += sliceRows) {
      for (const listed of await rowsAt(app, batch.slice(from, from + sliceRows))) {
        const [id, row] = listed;
        if (!(await satisfies(tests, row, id))) continue;
        const status = String(row['status']);
        totals[status] = (totals[status] ?? 0) + 1;
        if (query.status !== undefined && query.status !== status) continue;
        total += 1;
        if (total > query.offset && page.length < query.limit) page.push(listed);
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
  const narrowed = isNarrowed(query, by);
  for (const facet of narrowed ? (['source', 'assignee', 'department'] as const) : []) {
    const wanted = query[facet];
    if (wanted !== undefined) tests.push((row) => row[facet] === wanted);
  }
  const { label } = query;
  if (narrowed) tests.push(...timeTests(query));
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
