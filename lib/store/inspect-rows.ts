import { chainIn, checkEntry, isBlanked } from './chain.js';
import { DamageError, type Database } from './database.js';
import { origin, positionOf, type Position } from './frame.js';
import { digits, headKey, logFloorChainKey, logFloorKey } from './keys.js';

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
 * Read every row: its checksum, and for the log that it is gap-free, that each entry follows from the one
 * before it, the first one from what retention says it let go, and that the head row names the last.
 */
export async function inspectRows(
  database: Database,
  options: {
    readonly onProgress?: (rows: number) => void;
    /**
     * Sees every page, the head row first, and then that there is no more. What it throws as a DamageError
     * is a fault.
     */
    readonly visit?: (
      rows: readonly (readonly [key: string, value: string])[],
      head: Position,
      end: boolean,
    ) => Promise<void>;
  } = {},
): Promise<RowReport> {
  const faults: string[] = [];
  const log = logChecker();
  let rows = 0;
  let head: Position | undefined;
  let floor = 0;
  let floorChain: string | undefined;
  try {
    for await (const page of database.walk()) {
      for (const [key, value] of page) {
        if (key.startsWith('l/')) log.entry(key, value);
        else if (key === logFloorKey) floor = Number(value);
        else if (key === logFloorChainKey) floorChain = value;
        else if (key === headKey) head = positionOf(JSON.parse(value) as Position);
      }
      rows += page.length;
      await options.visit?.(page, head ?? origin, false);
      options.onProgress?.(rows);
    }
    if (head) await options.visit?.([], head, true);
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    faults.push(error.message);
  }
  faults.push(...log.faults);
  if (!head && faults.length === 0 && rows > 0) faults.push('the head row is missing');
  if (head && faults.length === 0 && log.entries > 0 && (log.last !== head.seq || log.chain !== head.chain)) {
    faults.push(`the log ends at ${log.last}, the head row says ${head.seq}`);
  }
  if (faults.length === 0) faults.push(...log.faultsBefore(floor, floorChain), ...log.unaccounted());
  return { rows, entries: log.entries, firstSeq: log.first, head, faults };
}

/** Follows log rows in order and notes each fault. */
export function logChecker() {
  const faults: string[] = [];
  let first: number | undefined;
  let last = 0;
  let firstValue = '';
  let chain = '';
  let entries = 0;
  /** By actor: the last blanked entry that no later entry of it has accounted for. */
  const blanked = new Map<string, number>();
  const follows = (previous: string, value: string): string | undefined =>
    isBlanked(value) ? chainIn(value) : checkEntry(previous, value);
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
    /** What is wrong with the beginning, where entries up to `floor` were let go, the last of them with this chain. */
    faultsBefore(floor: number, floorChain: string | undefined): readonly string[] {
      if (first === undefined) return [];
      if (first !== floor + 1)
        return [`the log begins at ${first}, but only the entries up to ${floor} were removed`];
      return floorChain === undefined || follows(floorChain, firstValue) !== undefined
        ? []
        : [`entry ${first} of the log does not continue the last removed entry`];
    },
    entry(key: string, value: string): void {
      const seq = Number(key.slice(2));
      entries += 1;
      if (first === undefined) {
        first = seq;
        firstValue = value;
        // Entry 1 follows nothing; a later first one follows what retention dropped.
        chain =
          (seq === 1 ? follows('', value) : chainIn(value)) ??
          note(`entry ${seq} of the log has no valid chain`);
      } else if (key !== `l/${digits(last + 1)}`) {
        note(`the log jumps from ${last} to ${seq}`);
        chain = chainIn(value) ?? '';
      } else {
        chain =
          follows(chain, value) ??
          note(`entry ${seq} of the log does not follow from the one before it`, chainIn(value));
      }
      last = seq;
      account(seq, value);
    },
    /** Entries that were blanked, and nothing behind them says that their actor was erased. */
    unaccounted(): readonly string[] {
      return [...blanked.values()]
        .slice(0, faultsMax)
        .map((seq) => `entry ${seq} of the log is blank, but nothing says that it was erased`);
    },
  };

  function account(seq: number, value: string): void {
    const isBlank = isBlanked(value);
    if (!isBlank && !value.includes('"event":{"type":"kernel.erased"}')) return;
    const { kind, id, event } = JSON.parse(value) as Readonly<Record<string, unknown>>;
    const actor = `${String(kind)}/${String(id)}`;
    if (isBlank) blanked.set(actor, seq);
    else if ((event as { type?: unknown }).type === 'kernel.erased') blanked.delete(actor);
  }

  function note(fault: string, goOnWith = ''): string {
    if (faults.length < faultsMax) faults.push(fault);
    return goOnWith;
  }
}

/** Takes rows in order, piece by piece. Throws DamageError where an entry of the log does not follow the one before. */
export function requireLog(): (rows: readonly (readonly [key: string, value: string])[]) => void {
  const log = logChecker();
  return (rows) => {
    for (const [key, value] of rows) if (key.startsWith('l/')) log.entry(key, value);
    if (log.faults.length > 0) throw new DamageError(log.faults.join('; '));
  };
}

const faultsMax = 20;
