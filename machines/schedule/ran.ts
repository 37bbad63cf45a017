import { countWithin, newestWithin } from '../cron-count.js';
import { nextAfter } from '../cron-time.js';

/**
 * Which instants a job has run, however long it lives: stretches of time, `[from, to]`, in which it ran every
 * instant. It only matters when someone sets the clock back and instants come a second time. There are at
 * most `stretchesMax`: beyond that the two nearest become one, so that an instant between them may be left
 * out but none ever runs twice.
 */
export type Ran = readonly (readonly [from: number, to: number])[];

/**
 * With the stretch that was run now. `since`: up to when everything was dealt with before; a stretch that
 * reached there goes on.
 */
export function withRun(ran: Ran, from: number, to: number, since: number): Ran {
  const sorted = ran.map(([begin, end]): [number, number] =>
    end === since ? [begin, Math.max(end, to)] : [begin, end],
  );
  if (!sorted.some(([begin, end]) => begin <= from && to <= end)) sorted.push([from, to]);
  sorted.sort(([a], [b]) => a - b);
  const joined = sorted.reduce<[number, number][]>((all, next) => {
    const last = all.at(-1);
    if (last !== undefined && next[0] <= last[1]) last[1] = Math.max(last[1], next[1]);
    else all.push(next);
    return all;
  }, []);
  while (joined.length > stretchesMax) {
    let nearest = 1;
    for (let at = 2; at < joined.length; at += 1)
      if (gapBefore(joined, at) < gapBefore(joined, nearest)) nearest = at;
    const [before, after] = joined.slice(nearest - 1, nearest + 1) as [[number, number], [number, number]];
    joined.splice(nearest - 1, 2, [before[0], after[1]]);
  }
  return joined;
}

/** The next instant that has not run. */
export function nextNotRun(schedule: string, zone: string, after: number, ran: Ran): number | null {
  let next = nextAfter(schedule, zone, after);
  for (const [from, to] of ran) {
    // in their order, so one look at each will do
    if (next !== null && from <= next && next <= to) next = nextAfter(schedule, zone, to);
  }
  return next;
}

/** How many instants after `after`, up to and with `until`, have not run. */
export function countNotRun(schedule: string, zone: string, after: number, until: number, ran: Ran): number {
  return gaps(ran, after, until).reduce(
    (count, [from, to]) => count + countWithin(schedule, zone, from, to),
    0,
  );
}

/** Those instants, oldest first: all of them, or of very many the newest `count`. */
export function newestNotRun(
  schedule: string,
  zone: string,
  after: number,
  until: number,
  ran: Ran,
  count: number,
): readonly number[] {
  let newest: readonly number[] = [];
  for (const [from, to] of gaps(ran, after, until).reverse()) {
    if (newest.length < count)
      newest = [...newestWithin(schedule, zone, from, to, count - newest.length), ...newest];
  }
  return newest.slice(-count);
}

/** What lies between the stretches: after the one, up to and with the other. */
function gaps(ran: Ran, after: number, until: number): [after: number, until: number][] {
  const between: [number, number][] = [];
  let since = after;
  for (const [from, to] of ran) {
    if (since < Math.min(from - 1, until)) between.push([since, Math.min(from - 1, until)]);
    since = Math.max(since, to);
  }
  if (since < until) between.push([since, until]);
  return between;
}

const stretchesMax = 32;
const gapBefore = (stretches: readonly [number, number][], at: number): number =>
  (stretches[at]?.[0] ?? 0) - (stretches[at - 1]?.[1] ?? 0);
