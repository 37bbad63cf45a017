import { Cron } from 'croner';

/**
 * When a schedule is due next: five fields, read as local time of an IANA zone. Pure: the only clock is the
 * argument.
 *
 * Local times are what people write, so they are what counts: each one that the schedule names runs once. One
 * that the clocks leap over (spring) runs right after the leap, several of them together as one; one that
 * comes twice (autumn) runs the first time. The schedule itself is therefore looked up in a zone without
 * leaps, and only its answer is put into the real zone.
 */
export function nextAfter(schedule: string, zone: string, after: number): number | null {
  const cron = patternOf(schedule);
  let wall = wallOf(after, zone);
  for (let tries = 0; tries < triesMax; tries += 1) {
    const next = cron.nextRun(new Date(wall));
    if (next === null || next.getTime() > lastYear) return null;
    wall = next.getTime();
    const at = instantOf(wall, zone);
    if (at > after) return at; // else it ran in the first of two equal hours
  }
  return null;
}

/** What is wrong with a schedule or a zone, as a sentence; undefined: nothing. */
export function scheduleFault(
  schedule: string,
  zone: string,
): { readonly path: 'schedule' | 'timezone'; readonly message: string } | undefined {
  try {
    patternOf(schedule);
  } catch {
    return {
      path: 'schedule',
      message:
        'schedule must be a valid cron expression of five fields: ' +
        'minute, hour, day of the month, month, day of the week',
    };
  }
  if (!isTimeZone(zone))
    return { path: 'timezone', message: `timezone ${JSON.stringify(zone)} is not a valid IANA timezone` };
  return nextAfter(schedule, zone, sometime) === null
    ? { path: 'schedule', message: 'schedule must match a time in the future' }
    : undefined;
}

/** Is it the IANA name of a time zone? */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false; // an offset like +01:00 knows no summer
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Offset of the clocks of a zone from UTC at an instant, in milliseconds. */
export function offsetAt(at: number, zone: string): number {
  const day = Math.floor(at / dayMs);
  const offset = offsetOf(day, zone);
  return offset === offsetOf(day + 1, zone) ? offset : shownAt(at, zone) - at;
}

/** What the clocks of a zone show, as if that were UTC. */
export const wallOf = (at: number, zone: string): number => at + offsetAt(at, zone);

const triesMax = 300; // two equal hours hold at most 180 minutes
const lastYear = Date.UTC(2200, 0);
const sometime = Date.UTC(2024, 0); // a leap year
const minuteMs = 60_000;
export const dayMs = 86_400_000;

/**
 * The schedule in a zone without leaps. Only the last one is remembered: many of these objects would be a lot
 * of memory.
 */
export function patternOf(schedule: string): Cron {
  if (lastPattern?.schedule === schedule) return lastPattern.cron;
  if (schedule.length > 200 || schedule.trim().startsWith('@')) throw new RangeError('not five fields');
  // For a zone by name, even UTC, it asks Intl: twenty times as slow
  const cron = new Cron(schedule, { mode: '5-part', utcOffset: 0, paused: true });
  lastPattern = { schedule, cron };
  return cron;
}
let lastPattern: { readonly schedule: string; readonly cron: Cron } | undefined;

/**
 * The instant at which the clocks of a zone first show a time, or where they leap over it, the end of the
 * leap.
 */
export function instantOf(wall: number, zone: string): number {
  const [before, later] = [offsetAt(wall - dayMs, zone), offsetAt(wall + dayMs, zone)];
  for (const offset of before > later ? [before, later] : [later, before]) {
    if (wallOf(wall - offset, zone) === wall) return wall - offset;
  }
  let [early, late] = [wall - later, wall - before];
  while (late - early > minuteMs) {
    const middle = Math.floor((early + late) / 2 / minuteMs) * minuteMs;
    if (offsetAt(middle, zone) === later) late = middle;
    else early = middle;
  }
  return late;
}

/** The offset at the beginning of a day of UTC. Intl is slow, and few days have two offsets. */
function offsetOf(day: number, zone: string): number {
  const name = `${zone} ${day}`;
  let offset = offsets.get(name);
  if (offset === undefined) {
    offset = shownAt(day * dayMs, zone) - day * dayMs;
    if (offsets.size >= offsetsMax) offsets.clear();
    offsets.set(name, offset);
  }
  return offset;
}
const offsets = new Map<string, number>();
const offsetsMax = 20_000;

function shownAt(at: number, zone: string): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((at % 1_000) + 1_000) % 1_000);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    if (formats.size >= formatsMax) formats.clear();
    formats.set(zone, format);
  }
  return format;
}

// A format takes fifty times as long to make as to use. There are some 600 zones.
const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 700;
