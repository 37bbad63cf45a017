/**
 * The five fields of a schedule in plain words: `0 7 * * 1-5` is "at 07:00, Monday to Friday". What is rarer than that
 * is left as it is written.
 */
export function cronWords(schedule: string): string {
  const fields = schedule.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5) return schedule;
  const when = [timeWords(minute, hour), dayWords(day, weekday), monthWords(month)];
  return when.some((words) => words === undefined)
    ? schedule
    : when.filter((words) => words !== '').join(', ');
}

function timeWords(minute: string, hour: string): string | undefined {
  const every = stepOf(minute);
  if (hour === '*') {
    if (minute === '*') return 'every minute';
    if (every !== undefined) return every === 1 ? 'every minute' : `every ${every} minutes`;
    if (minute === '0') return 'every hour';
    return isList(minute)
      ? `every hour at ${listed(minute.split(',').map((one) => `:${two(one)}`))}`
      : undefined;
  }
  const hours = stepOf(hour);
  if (hours !== undefined && isNumber(minute))
    return minute === '0' ? `every ${hours} hours` : `every ${hours} hours at :${two(minute)}`;
  if (isList(hour) && isNumber(minute))
    return `at ${listed(hour.split(',').map((one) => `${two(one)}:${two(minute)}`))}`;
  const range = rangeOf(hour);
  if (range === undefined) return undefined;
  const from = `${two(range[0])}:00`;
  const to = `${two(range[1])}:59`;
  if (minute === '*') return `every minute from ${from} to ${to}`;
  if (every !== undefined) return `every ${every} minutes from ${from} to ${to}`;
  return isNumber(minute)
    ? `every hour from ${two(range[0])}:${two(minute)} to ${two(range[1])}:${two(minute)}`
    : undefined;
}

function dayWords(day: string, weekday: string): string | undefined {
  const on = weekday === '*' || weekday === '?' ? '' : named(weekday.replaceAll(/\b7\b/g, '0'), weekdays);
  if (day === '*' || day === '?') return on;
  const days = isList(day) ? `on day ${listed(day.split(','))} of the month` : undefined;
  if (day === 'L') return on === '' ? 'on the last day of the month' : undefined;
  if (days === undefined || on === undefined) return undefined;
  return on === '' ? days : `${days} or on ${on}`; // cron takes either
}

const monthWords = (month: string): string | undefined => {
  if (month === '*') return '';
  const words = named(month, months, 1);
  return words === undefined ? undefined : `in ${words}`;
};

/** `1-5` and `MON,WED` as names. */
function named(field: string, names: readonly string[], first = 0): string | undefined {
  const nameOf = (one: string): string | undefined =>
    isNumber(one)
      ? names[Number(one) - first]
      : names.find((name) => name.slice(0, 3).toLowerCase() === one.toLowerCase());
  const parts = field.split(',').map((part) => {
    const ends = part.split('-').map(nameOf);
    return ends.length > 2 || ends.includes(undefined) ? undefined : ends.join(' to ');
  });
  return parts.includes(undefined) ? undefined : listed(parts as string[]);
}

const isNumber = (field: string): boolean => /^\d{1,2}$/.test(field);
const isList = (field: string): boolean => /^\d{1,2}(?:,\d{1,2})*$/.test(field);
const stepOf = (field: string): number | undefined => {
  const step = /^\*\/(\d{1,2})$/.exec(field)?.[1];
  return step === undefined ? undefined : Number(step);
};
const rangeOf = (field: string): readonly [string, string] | undefined => {
  const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(field) ?? [];
  return from === undefined || to === undefined ? undefined : [from, to];
};
const two = (field: string): string => field.padStart(2, '0');
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
