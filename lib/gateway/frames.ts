import type { LogEntry } from '../supervisor/contract.js';

/**
 * Log entries → frames for watchers. The frames of one commit share the position of its last entry, and the last of
 * them says so: a client that moves its cursor only there can resume without gap or repetition.
 */
export interface Frame {
  readonly seq: number | null;
  readonly event: string;
  readonly payload: unknown;
  /** Epoch ms. */
  readonly ts: number;
  readonly last?: true;
}

/** `frameText({seq: 7, event: 'session:stopped', payload: {…}, ts, last: true})` → one line of JSON. */
export const frameText = (frame: Frame): string => JSON.stringify(frame);

/** The frames of a whole commit, of those entries that `visible` lets through. */
export function framesOf(commit: readonly LogEntry[], seq: number, visible: (entry: LogEntry) => boolean): string[] {
  const shown = commit.filter((entry) => entry.frames.length > 0 && visible(entry));
  const texts = shown.flatMap((entry) => textsOf(entry, seq));
  const final = texts.at(-1);
  if (final !== undefined) texts[texts.length - 1] = `${final.slice(0, -1)},"last":true}`;
  return texts;
}

const written = new WeakMap<LogEntry, readonly string[]>();

/** A commit is written down once, however many watch. */
function textsOf(entry: LogEntry, seq: number): readonly string[] {
  const known = written.get(entry);
  if (known) return known;
  const texts = entry.frames.map(({ event, payload }) => frameText({ seq, event, payload, ts: entry.at }));
  written.set(entry, texts);
  return texts;
}

/** True for what the kernel says when a reader asked for something below the retention floor. */
export const isReset = (entry: LogEntry): boolean => (entry.event as { type?: unknown } | null)?.type === 'reset';
