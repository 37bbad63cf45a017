import { jsonBytes } from '../text.js';
import type { MessageRow } from './input.js';

/**
 * How long results of tools stay whole (`sessions.keepToolOutput`). A session knows which of its rows may hold one, and
 * when they were written: a mark is made once a day at most, on the clock of retention, which no wall clock moves.
 * The sweep reads the rows and shortens them; which may go is decided by the session (sweep-output.ts).
 */
export type KeptOutput = {
  /** Row of the last message that may hold a result. */
  readonly last: number;
  /** Up to this row they have been dropped. */
  readonly dropped: number;
  /** Oldest first. */
  readonly marks: readonly OutputMark[];
};

/**
 * Everything up to a row was written at or before a moment of the clock of retention, epoch milliseconds. 0: before the
 * home's first sweep.
 */
export type OutputMark = readonly [row: number, at: number];

/** A look at results of tools. */
export type OutputSwept = {
  readonly type: 'output.swept';
  /** On the clock of retention, epoch milliseconds. */
  readonly now: number;
  /** Between two marks at least. */
  readonly everyMs: number;
  /** What is past its days by that mark, up to a row. */
  readonly dropped?: {
    readonly mark: OutputMark;
    readonly upTo: number;
    readonly rows: readonly ShortenedRow[];
  };
};

/** A message as it stays, under its number. */
export type ShortenedRow = { readonly n: number; readonly row: MessageRow };

/** Of a result that was dropped so much stays. */
export const outputHeadBytes = 500;

/** Does a message hold more of a tool's result than would stay of it? */
export function holdsOutput({ media, meta }: { readonly media?: unknown; readonly meta?: unknown }): boolean {
  const { kind, toolOutput, droppedAt } = (meta ?? {}) as Readonly<Record<string, unknown>>;
  if (kind !== 'tool' || droppedAt !== undefined) return false;
  return media !== undefined || (typeof toolOutput === 'string' && bytesOf(toolOutput) > outputHeadBytes);
}

const bytesOf = (text: string): number => jsonBytes(text) - 2; // quotes; escapes count more, and do no harm
