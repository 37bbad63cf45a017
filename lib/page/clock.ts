import { computed, signal } from '@preact/signals';
import { timeZone } from './access.js';
import { skewMs } from './connection.js';

/**
 * The gateway's time, a second at a time: ages and countdowns are read from it, so that all of them step
 * together.
 */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now() + skewMs.value;
}, 1_000);

/** `3 s`, `4 min`, `2 h`, `5 d`: the largest unit alone, for a column of ages. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** `240 ms`, `1.4 s`, `3 min`: how long something took. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : span(ms);
}

/** `0:42`, `1:02:03`: for countdowns. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds >= 86_400) return span(ms);
  const hours = Math.floor(seconds / 3_600);
  const two = (value: number): string => String(value).padStart(2, '0');
  return (
    `${hours > 0 ? `${hours}:${two(Math.floor(seconds / 60) % 60)}` : Math.floor(seconds / 60)}:` +
    `${two(seconds % 60)}`
  );
}

// Made once for a time zone: to make one takes a hundred times as long as to use it
const formatOf = (style: Intl.DateTimeFormatOptions) =>
  computed(() => new Intl.DateTimeFormat(undefined, { ...style, timeZone: timeZone.value }));
const timeFormat = formatOf({ timeStyle: 'medium', hourCycle: 'h23' });
const dateFormat = formatOf({ dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day, to the second. */
export const timeOfDay = (at: number): string => timeFormat.value.format(at);
/** `09:17` */
export const minuteOf = (at: number): string => timeOfDay(at).slice(0, 5);
export const dateAndTime = (at: number): string => dateFormat.value.format(at);
/** For a hover: `23 Nov 2026, 09:17:00 (2026-11-23 08:17:00 UTC)`. */
export const withUtc = (at: number): string =>
  `${dateAndTime(at)} (${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC)`;
export const whole = (value: number): string => value.toLocaleString('en');
/** `12 MiB`, rounded up. */
export const mebibytes = (bytes: number): string => `${whole(Math.ceil(bytes / 2 ** 20))} MiB`;
export const short = (text: string, charsMax: number): string =>
  text.length > charsMax ? `${text.slice(0, charsMax - 1)}…` : text;
