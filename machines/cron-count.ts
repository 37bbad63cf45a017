import { dayMs, instantOf, nextAfter, offsetAt, patternOf, wallOf } from './cron-time.js';

/**
 * How many instants of a schedule lie in a stretch of time, without going through them: a gateway that was
 * away for years tells how many minutes it missed at once. Days on which no clock is changed all hold equally
 * many; the others, and the two ends, are counted one by one. Pure, as cron-time.ts is, and of one mind with
 * it.
 *
 * `countWithin('* * * * *', 'UTC', after, until)`: the instants after `after`, up to and with `until`.
 */
export function countWithin(schedule: string, zone: string, after: number, until: number): number {
  const first = Math.ceil(wallOf(after, zone) / dayMs) + 1;
  const last = Math.floor(wallOf(until, zone) / dayMs) - 1;
  if (last - first < 2) return each(schedule, zone, after, until).length;
  const [minutes = '', hours = '', ...date] = schedule.trim().split(/\s+/);
  const perDay = timesIn(`${minutes} * * * *`, dayMs / 24) * timesIn(`0 ${hours} * * *`, dayMs);
  let count =
    each(schedule, zone, after, startOf(first, zone) - 1).length +
    each(schedule, zone, startOf(last, zone) - 1, until).length;
  let quietFrom = first;
  for (const day of [...changes(zone, first, last), last]) {
    count += perDay * daysOf(date, quietFrom, day);
    if (day < last) count += each(schedule, zone, startOf(day, zone) - 1, startOf(day + 1, zone) - 1).length;
    quietFrom = day + 1;
  }
  return count;
}

/** The newest instants of such a stretch, oldest first: at least `count` of them where there are so many. */
export function newestWithin(
  schedule: string,
  zone: string,
  after: number,
  until: number,
  count: number,
): readonly number[] {
  let from = after;
  for (let span = dayMs / 24; until - span > after; span *= 2) {
    if (countWithin(schedule, zone, until - span, until) < count) continue;
    from = until - span;
    break;
  }
  return each(schedule, zone, from, until);
}

/** One by one. A stretch that holds very many is never asked for: see the two above. */
function each(schedule: string, zone: string, after: number, until: number): number[] {
  const instants: number[] = [];
  for (
    let next = nextAfter(schedule, zone, after);
    next !== null && next <= until && instants.length < eachMax;
    next = nextAfter(schedule, zone, next)
  )
    instants.push(next);
  return instants;
}
const eachMax = 20_000; // five days of every minute, and more

const startOf = (day: number, zone: string): number => instantOf(day * dayMs, zone);

/**
 * The local days from `first` to before `last` near which the clocks of the zone are changed, in their order.
 */
function changes(zone: string, first: number, last: number): number[] {
  const days: number[] = [];
  const alike = (from: number, to: number): boolean =>
    offsetAt(from * dayMs, zone) === offsetAt(to * dayMs, zone);
  for (let day = first; day < last;) {
    if (alike(day - 1, day + 8)) day += 7; // no zone has ever changed its clocks there and back within a week
    else if (alike(day - 1, day + 2)) day += 1;
    else {
      days.push(day);
      day += 1;
    }
  }
  return days;
}

/** How many days from `first` to before `last` the date fields name. */
function daysOf(date: readonly string[], first: number, last: number): number {
  if (last <= first) return 0;
  return date.every((field) => field === '*')
    ? last - first
    : timesIn(`0 0 ${date.join(' ')}`, (last - first) * dayMs, first * dayMs);
}

function timesIn(schedule: string, span: number, from = 0): number {
  const cron = patternOf(schedule);
  let count = 0;
  for (
    let next = cron.nextRun(new Date(from - 1));
    next !== null && next.getTime() < from + span;
    next = cron.nextRun(next)
  )
    count += 1;
  return count;
}
