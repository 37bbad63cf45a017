/** Is a schedule one at all: five cron fields within their ranges, and a time zone that is known. When it is due is the scheduler's matter. */
export function scheduleFault(cron: string, timezone: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== ranges.length) return `"${cron.slice(0, 64)}" has ${fields.length} fields; a schedule has five: minute hour day month weekday`;
  for (const [index, field] of fields.entries()) {
    const [name, least, most, words] = ranges[index] as Range;
    if (!field.split(',').every((part) => isPart(part, least, most, words))) return `the ${name} "${field.slice(0, 32)}" is none: ${least} to ${most}, *, lists, ranges and steps like */5`;
  }
  return isZone(timezone) ? undefined : `there is no time zone "${timezone.slice(0, 64)}"; write one like Europe/Berlin`;
}

type Range = readonly [name: string, least: number, most: number, words: readonly string[]];

const ranges: readonly Range[] = [
  ['minute', 0, 59, []], ['hour', 0, 23, []], ['day', 1, 31, []],
  ['month', 1, 12, ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']],
  ['weekday', 0, 7, ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']],
];

function isPart(part: string, least: number, most: number, words: readonly string[]): boolean {
  const [, from = '', to, step] = /^(\*|[0-9A-Za-z]{1,3})(?:-([0-9A-Za-z]{1,3}))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  if (step !== undefined && !(Number(step) >= 1)) return false;
  if (from === '*') return to === undefined;
  const valueOf = (text: string): number => (/^\d+$/.test(text) ? Number(text) : words.includes(text.toLowerCase()) ? words.indexOf(text.toLowerCase()) + least : Number.NaN);
  const inside = (value: number): boolean => value >= least && value <= most;
  return inside(valueOf(from)) && (to === undefined || (inside(valueOf(to)) && valueOf(from) <= valueOf(to)));
}

/** Intl knows the zones; asking it is a look-up in a table. */
function isZone(timezone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(timezone)) return false; // offsets like +01:00 are no zones: they know no summer
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
