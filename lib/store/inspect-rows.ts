import { chainIn, checkEntry } from './chain.js';
import { DamageError, type Database } from './database.js';
import type { Position } from './frame.js';
import { digits, headKey } from './keys.js';

/** What a walk over every row of a database found. */
export interface RowReport {
  readonly rows: number;
  /** Log entries, and the position of the first one kept. */
  readonly entries: number;
  readonly firstSeq: number | undefined;
  readonly head: Position | undefined;
  /** Empty when all is well. */
  readonly faults: readonly string[];
}

/**
 * Read every row: its checksum, and for the log that it is gap-free, that each entry follows from the one before it
 * and that the head row names the last.
 */
export async function inspectRows(database: Database, options: { readonly onProgress?: (rows: number) => void } = {}): Promise<RowReport> {
  const faults: string[] = [];
  const log = logChecker();
  let rows = 0;
  let head: Position | undefined;
  try {
    for await (const page of database.walk()) {
      for (const [key, value] of page) {
        if (key.startsWith('l/')) log.entry(key, value);
        else if (key === headKey) head = JSON.parse(value) as Position;
      }
      rows += page.length;
      options.onProgress?.(rows);
    }
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    faults.push(error.message);
  }
  faults.push(...log.faults);
  if (!head && faults.length === 0 && rows > 0) faults.push('there is no head row');
  if (head && faults.length === 0 && log.entries > 0 && (log.last !== head.seq || log.chain !== head.chain)) {
    faults.push(`the log ends at ${log.last}, the head row says ${head.seq}`);
  }
  return { rows, entries: log.entries, firstSeq: log.first, head, faults };
}

/** Follows log rows in order and notes each fault. */
export function logChecker() {
  const faults: string[] = [];
  let first: number | undefined;
  let last = 0;
  let chain = '';
  let entries = 0;
  return {
    faults,
    get first() {
      return first;
    },
    get last() {
      return last;
    },
    get chain() {
      return chain;
    },
    get entries() {
      return entries;
    },
    entry(key: string, value: string): void {
      const seq = Number(key.slice(2));
      entries += 1;
      if (first === undefined) {
        first = seq;
        // Entry 1 follows nothing; a later first one follows what retention dropped.
        chain = (seq === 1 ? checkEntry('', value) : chainIn(value)) ?? note(`entry ${seq} of the log has no valid chain`);
      } else if (key !== `l/${digits(last + 1)}`) {
        note(`the log jumps from ${last} to ${seq}`);
        chain = chainIn(value) ?? '';
      } else {
        chain = checkEntry(chain, value) ?? note(`entry ${seq} of the log does not follow from the one before it`, chainIn(value));
      }
      last = seq;
    },
  };

  function note(fault: string, goOnWith = ''): string {
    if (faults.length < faultsMax) faults.push(fault);
    return goOnWith;
  }
}

const faultsMax = 20;
