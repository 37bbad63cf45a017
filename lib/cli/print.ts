import type { Terminal } from './command-line.js';
/**
 * How answers look to a person. Text that agents or clients wrote is shown without its control characters: a
 * title must not steer a terminal.
 */

/**
 * Columns as wide as their widest cell, cut at `cellMax`. An empty list is one sentence that says what to do
 * next.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string {
  if (rows.length === 0) return whenEmpty;
  const lines = [head, ...rows].map((row) => row.map((cell) => cut(plainText(cell))));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * `2026-11-23 09:17:00 +01:00`; milliseconds or ISO-8601. Without a zone (`Europe/Berlin`) by that of this
 * terminal (`TZ`).
 */
export function localTime(at: number | string, timeZone?: string): string {
  const { year, month, day, hour, minute, second, timeZoneName } = partsOf(at, timeZone);
  const ahead = timeZoneName?.replace('GMT', '') || '+00:00';
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${ahead}`;
}

/** `09:17:00.120`, by the same zone. */
export function timeOfDay(at: number, timeZone?: string): string {
  const { hour, minute, second, fractionalSecond } = partsOf(at, timeZone);
  return `${hour}:${minute}:${second}.${fractionalSecond}`;
}

function partsOf(at: number | string, timeZone = ''): Partial<Record<Intl.DateTimeFormatPartTypes, string>> {
  const format = formats.get(timeZone) ?? formatOf(timeZone);
  formats.set(timeZone, format);
  return Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
}

/** By zone: to make one takes longer than a thousand uses of it. */
const formats = new Map<string, Intl.DateTimeFormat>();
const formatOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    ...(timeZone === '' ? {} : { timeZone }),
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'longOffset',
  });

/** `3 s`, `5 min`, `2 h`, `4 d`. */
export const ago = (then: number, now: number): string => duration(now - then);

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `512 B`, `3.2 MB`. */
export function bytes(count: number): string {
  const unit = Math.min(units.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** unit;
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? 'B'}`;
}

/** Without control characters other than line breaks and tabs: those become spaces in tables. */
export function plainText(text: string, options: { readonly keepLines?: boolean } = {}): string {
  // Escape sequences would let a session's title or answer recolour, overwrite or retitle the reader's
  // terminal.
  const calm = text.replace(/[\u0000-\u0008\u000b-\u001f]/g, '').replace(steering, '');
  return options.keepLines === true ? calm : calm.replace(/\s+/g, ' ').trim();
}

/**
 * Of all that goes out: what JSON leaves as it is and a terminal obeys, as JSON would write it.
 * @example visible(JSON.stringify({ title: 'a\u009b2J' })) // a program still reads the same
 */
export const visible = (text: string): string =>
  text.replace(steering, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Beside those below the blank: what a terminal obeys, and what turns the order of what is read. */
const steering = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const units = ['B', 'kB', 'MB', 'GB', 'TB'];
const cellMax = 60;
const cut = (text: string): string => (text.length <= cellMax ? text : `${text.slice(0, cellMax - 1)}…`);

/**
 * Tells of long work on stderr: when a task begins and at every further 100,000 rows; short work is not
 * mentioned.
 */
export function progressTeller(
  terminal: Pick<Terminal, 'say'>,
): (progress: { readonly task: string; readonly rows: number }) => void {
  const reported = new Map<string, number>();
  return ({ task, rows }) => {
    const step = Math.floor(rows / rowsPerLine);
    if (step === (reported.get(task) ?? 0)) return;
    reported.set(task, step);
    terminal.say(`${tasks[task] ?? task}: ${step * rowsPerLine} rows …`);
  };
}

const rowsPerLine = 100_000;
const tasks: Readonly<Record<string, string>> = {
  rebuild: 'rebuilding the database from its second copy',
  replay: 'replaying the second copy into the database',
  verify: 'verifying',
  base: 'writing a base image',
  backup: 'copying the store',
  restore: 'restoring the store',
  migrate: 'migrating actors',
  'take-over': 'writing migrated actors into the home',
};
