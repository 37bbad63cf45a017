import type { Supervisor } from '../../supervisor/contract.js';

/**
 * Ranges of lists that are ordered alike, as one list: merged in order, each actor once. Read in slices that
 * grow with what is wanted, so that a first page costs a few rows of each range and a long walk a thousand
 * rows at a time.
 */
export interface Range {
  readonly index: string;
  /** Everything before the order in the range's keys: `blocked/`. */
  readonly prefix: string;
  /** Only orders from here (inclusive) to there (exclusive). */
  readonly from?: string;
  readonly to?: string;
}

/** Where an actor stands: its order, the same in every list, and its id. */
export interface Place {
  readonly key: string;
  readonly id: string;
}

/**
 * `for await (const places of merged(supervisor, 'work-item', ranges, 20)) …`: batches in order; `first` is
 * how many are wanted soon.
 */
export async function* merged(
  supervisor: Supervisor,
  kind: string,
  ranges: readonly Range[],
  first: number,
): AsyncGenerator<readonly Place[]> {
  let slice = Math.min(sliceMax, Math.ceil((first * 1.25) / Math.max(1, ranges.length)) + 8);
  const open = ranges.map((range): Reader => ({ range, rows: [], after: undefined, ended: false }));
  let last: Place | undefined;
  for (;;) {
    await Promise.all(
      open
        .filter((reader) => reader.rows.length === 0 && !reader.ended)
        .map((reader) => read(supervisor, kind, reader, slice)),
    );
    const frontier = lowest(open);
    const ready: Place[] = [];
    for (const reader of open) {
      const end = frontier === undefined ? reader.rows.length : countUpTo(reader.rows, frontier);
      for (const place of reader.rows.splice(0, end)) ready.push(place);
    }
    if (ready.length === 0 && open.every(({ ended, rows }) => ended && rows.length === 0)) return;
    if (open.length > 1) ready.sort(inOrder);
    const batch: Place[] = [];
    for (const place of ready) {
      if (last === undefined || place.id !== last.id || place.key !== last.key) batch.push(place);
      last = place;
    }
    if (batch.length > 0) yield batch;
    slice = Math.min(sliceMax, slice * 2);
  }
}

/** The same from a place on, which itself was seen; without one, all of them. */
export async function* mergedAfter(
  supervisor: Supervisor,
  kind: string,
  ranges: readonly Range[],
  { after, first }: { readonly after: Place | undefined; readonly first: number },
): AsyncGenerator<Place> {
  const left =
    after === undefined
      ? ranges
      : ranges
          .map((range) => ({
            ...range,
            from: range.from !== undefined && range.from > after.key ? range.from : after.key,
          }))
          .filter(({ from, to }) => to === undefined || from < to);
  if (left.length === 0) return;
  for await (const batch of merged(supervisor, kind, left, first))
    for (const place of batch) if (after === undefined || inOrder(place, after) > 0) yield place;
}

interface Reader {
  readonly range: Range;
  rows: Place[];
  after: string | undefined;
  ended: boolean;
}

const sliceMax = 1_000;

async function read(supervisor: Supervisor, kind: string, reader: Reader, limit: number): Promise<void> {
  const { index, prefix, from, to } = reader.range;
  const page = await supervisor.list(kind, {
    index,
    prefix,
    limit,
    ...(from !== undefined && { from: prefix + from }),
    ...(to !== undefined && { to: prefix + to }),
    ...(reader.after !== undefined && { after: reader.after }),
  });
  reader.rows = page.items.map(({ key, id }) => ({ key: key.slice(prefix.length), id }));
  reader.after = page.next ?? undefined;
  reader.ended = page.next === null;
}

/** No range that goes on has anything unread before this place: the least of their last rows. */
function lowest(open: readonly Reader[]): Place | undefined {
  let least: Place | undefined;
  for (const { rows, ended } of open) {
    const end = rows.at(-1);
    if (!ended && end !== undefined && (least === undefined || inOrder(end, least) < 0)) least = end;
  }
  return least;
}

/** How many rows stand at or before a place. */
function countUpTo(rows: readonly Place[], place: Place): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (inOrder(rows[middle] as Place, place) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const inOrder = (a: Place, b: Place): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
