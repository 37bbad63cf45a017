import { join } from 'node:path';
import { StoreError, type Op, type Range } from './contract.js';
import { exists, type StoreFiles } from './files.js';
import { firstKey, headKey, pageLimit } from './keys.js';
import { hex, opsOf, origin, positionOf, type Position } from './frame.js';
import { openTables, type OpenOptions, type OpenTables, type Tables, type TablesBatch } from './tables.js';
import { crc32 } from 'node:zlib';

/** A row that LevelDB cannot read or whose checksum does not hold. The second copy must repair it. */
export class DamageError extends Error {
  override readonly name = 'DamageError';
}

/**
 * Of which build this code is: bundled, its file has the name of what it holds. Two threads that write to one database
 * must agree on it; an upgrade may replace the files of one that runs.
 */
export const codeUrl = import.meta.url;

/**
 * LevelDB with checksummed rows and a head row that moves with every batch. Nothing here is synced: the
 * segments carry the durability.
 */
export interface Database {
  /** What the head row says; `undefined` where there is none. */
  head(): Position | undefined;
  /** The operations of whole frames, which are given away, and the head row, in one batch. */
  apply(frames: readonly Buffer[], position: Position): Promise<void>;
  /** Rows as they are, without a head: for rebuilding. */
  load(rows: Iterable<Op>): Promise<void>;
  get(key: string): string | undefined;
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>;
  page(range: Range): Promise<[key: string, value: string][]>;
  count(range: Range): Promise<number>;
  /** Every row as of now, in pages, the head row too; throws DamageError where one is bad. */
  walk(options?: {
    readonly from?: string;
    readonly pageRows?: number;
  }): AsyncGenerator<[key: string, value: string][]>;
  /** The rows behind a key, where the database stood at that moment, and which rows were sealed by format 1. */
  slice(
    from: string | undefined,
    limit: number,
  ): Promise<{
    readonly position: Position;
    readonly rows: [key: string, value: string][];
    readonly format1: readonly string[];
  }>;
  /** Seal rows of format 1 again. No one may write meanwhile. */
  reseal(keys: readonly string[]): Promise<void>;
  /** Put everything written so far into tables (synced by LevelDB), so that its own log no longer matters. */
  flush(): Promise<void>;
  /** Rewrites all tables: what was replaced or deleted is in none of them any more. */
  rewrite(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Open LevelDB, or what a test puts in its place. Throws LOCKED when another process has it, DamageError when it is
 * not whole. `new` makes an empty one and refuses one that exists.
 */
export type OpenDatabase = (directory: string, options: OpenOptions) => Promise<Database>;

/** LevelDB, or a model of it. Its files are its own; `files` only tells whether there are any. */
export async function openDatabase(
  files: StoreFiles,
  directory: string,
  options: OpenOptions,
  opens: OpenTables = openTables,
): Promise<Database> {
  // LevelDB makes the folder even where it then refuses to make the database.
  if (options.create === 'never' && !(await exists(files, join(directory, 'CURRENT'))))
    throw new DamageError('its file CURRENT is missing');
  try {
    return wrap(await opens(directory, options));
  } catch (error) {
    throw openingError(directory, error);
  }
}

function wrap(level: Tables): Database {
  const open = (key: string, stored: string): string => {
    const value = openRow(key, stored);
    if (value === undefined) throw new DamageError(`the checksum of the row ${key} does not match`);
    return value;
  };
  const get = (key: string): string | undefined => {
    // Synchronous: from the cache of the system it takes 5 µs, while a trip to the thread pool takes 70.
    const stored = reading(() => level.getSync(key));
    return stored === undefined ? undefined : open(key, stored);
  };

  const sealed = (ops: Iterable<Op>): TablesBatch => {
    const batch = level.batch();
    for (const [key, value] of ops) {
      if (value === null) batch.del(key);
      else batch.put(key, sealRow(key, value));
    }
    return batch;
  };

  return {
    head() {
      const value = get(headKey);
      return value === undefined ? undefined : positionOf(JSON.parse(value) as Position);
    },
    async apply(frames, position) {
      const batch = sealed(opsOf(frames));
      batch.put(headKey, sealRow(headKey, JSON.stringify(positionOf(position))));
      await batch.write().catch(writingError);
    },
    load: (rows) => sealed(rows).write().catch(writingError),
    get,
    async getMany(keys) {
      const stored = await reading(() => level.getMany([...keys]));
      return stored.map((row, n) => (row === undefined ? undefined : open(keys[n]!, row)));
    },
    async page(asked) {
      const range = await behindOffset(level, asked);
      if (range === undefined) return [];
      if (range.keysOnly === true) {
        const keys = await reading(() =>
          level
            .keys({ ...bounds(range), limit: pageLimit(range.limit), highWaterMarkBytes: pageBytes })
            .all(),
        );
        return keys.map((key) => [key, ''] as [string, string]);
      }
      const rows = await reading(() =>
        level
          .iterator({ ...bounds(range), limit: pageLimit(range.limit), highWaterMarkBytes: pageBytes })
          .all(),
      );
      return rows.map(([key, stored]) => [key, open(key, stored)] as [string, string]);
    },
    async count(range) {
      return (await passOver(level, range, range.limit)).passed;
    },
    async *walk({ from, pageRows = 1_000 } = {}) {
      const rows = level.iterator({
        ...(from === undefined ? {} : { gt: from }),
        fillCache: false,
        highWaterMarkBytes: pageBytes,
      });
      try {
        for (;;) {
          const some = await reading(() => rows.nextv(pageRows));
          if (some.length === 0) return;
          yield some.map(([key, stored]) => [key, open(key, stored)] as [string, string]);
        }
      } finally {
        await rows.close();
      }
    },
    async slice(from, limit) {
      for (;;) {
        const before = reading(() => level.getSync(headKey));
        const iterator = level.iterator({
          // From the very beginning: before the first key nothing but the head belongs
          ...(from === undefined ? {} : { gt: from }),
          limit,
          fillCache: false,
          highWaterMarkBytes: pageBytes,
        });
        // It sees one moment; a head that is the same before and behind it is of that moment, too.
        if (reading(() => level.getSync(headKey)) !== before) {
          await iterator.close();
          continue;
        }
        const all = await reading(() => iterator.all());
        const rows = all.filter(([key]) => key !== headKey);
        return {
          position: before === undefined ? origin : positionOf(JSON.parse(open(headKey, before)) as Position),
          rows: rows.map(([key, stored]) => [key, open(key, stored)] as [string, string]),
          format1: rows.filter(([, stored]) => isFormat1(stored)).map(([key]) => key),
        };
      }
    },
    async reseal(keys) {
      const batch = level.batch();
      for (const key of keys) {
        const stored = reading(() => level.getSync(key));
        if (stored !== undefined && isFormat1(stored)) batch.put(key, sealRow(key, open(key, stored)));
      }
      await batch.write().catch(writingError);
    },
    async rewrite() {
      await this.flush();
      await level.compactRange('', '\x7f\x7f\x7f');
      await this.flush(); // an error that was swallowed shows here
    },
    async flush() {
      // LevelDB writes out its memory before it looks at the range, and the range beyond all keys is empty.
      await level.compactRange('\x7f\x7f', '\x7f\x7f\x7f');
      // compactRange swallows errors; after a failed flush every write fails.
      await level.batch().put(flushKey, sealRow(flushKey, '1')).del(flushKey).write().catch(writingError);
    },
    close: () => level.close(),
  };
}

/** Never seen: put and deleted in one batch. */
const flushKey = ' flush';
const pageBytes = 1 << 20;

/** What is left of a range behind its `offset`; undefined: nothing. */
async function behindOffset(level: Tables, { offset = 0, ...range }: Range): Promise<Range | undefined> {
  if (offset === 0) return range;
  const { passed, last } = await passOver(level, range, offset);
  if (last === undefined || passed < offset) return undefined;
  const { lte: _lte, ...below } = range; // abstract-level would prefer it to `lt`
  return range.reverse === true ? { ...below, lt: last } : { ...range, gt: last };
}

/**
 * How many keys a range has, up to a limit, and the last of them. They are read in slices, and none but the
 * last is kept.
 */
async function passOver(
  level: Tables,
  range: Range,
  limit = -1,
): Promise<{ readonly passed: number; readonly last: string | undefined }> {
  const keys = level.keys({ ...bounds(range), limit, highWaterMarkBytes: pageBytes });
  let passed = 0;
  let last: string | undefined;
  try {
    for (;;) {
      const some = await reading(() => keys.nextv(1_000));
      if (some.length === 0) return { passed, last };
      passed += some.length;
      last = some.at(-1);
    }
  } finally {
    await keys.close();
  }
}

/**
 * The range without the limit, and never before the first key; abstract-level would prefer a lower `gte` to
 * `gt`.
 */
function bounds(range: Range): Range {
  const { limit: _limit, keysOnly: _keysOnly, gt, gte, ...rest } = range;
  if (gt !== undefined && gt >= firstKey)
    return gte !== undefined && gte > gt ? { ...rest, gte } : { ...rest, gt };
  return { ...rest, gte: gte !== undefined && gte > firstKey ? gte : firstKey };
}

/** Tell damage from other failures of reading. Works on values and on promises. */
function reading<Value>(read: () => Value): Value {
  const judge = (error: unknown): never => {
    const damaged =
      codeOf(error) === 'LEVEL_CORRUPTION' ||
      (codeOf(error) === 'LEVEL_IO_ERROR' && !surroundings.test(String(error)));
    if (damaged) throw new DamageError('LevelDB cannot read a table', { cause: error });
    throw new StoreError('STORE_UNAVAILABLE', 'the store cannot be read now', { cause: error });
  };
  try {
    const value = read();
    return (value instanceof Promise ? value.catch(judge) : value) as Value;
  } catch (error) {
    return judge(error);
  }
}

function openingError(directory: string, error: unknown): Error {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (codeOf(cause) === 'LEVEL_LOCKED')
    return new StoreError('LOCKED', `another process has ${directory} open`, { cause });
  if (surroundings.test(text)) return new StoreError('STORE_UNAVAILABLE', text, { cause });
  return new DamageError(text, { cause });
}

/** A full disk or a missing permission is no damage: rebuilding would not repair it. */
const surroundings = /No space left|Permission denied|Too many open files|Read-only file system/i;

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** LevelDB refuses all writes once a compaction met damage. */
function writingError(error: unknown): never {
  throw codeOf(error) === 'LEVEL_CORRUPTION'
    ? new DamageError('LevelDB found damage in a table', { cause: error })
    : error;
}

/** The head of a database that may have none yet. */
export function headOf(database: Database): Position {
  return database.head() ?? origin;
}

/**
 * A row as LevelDB keeps it: `=`, eight digits of a CRC-32 over key and value, then the JSON text. LevelDB checksums
 * its blocks, but reads (and the recovery of its log) do not insist on them; this one is checked at every read. The key
 * is part of it, because a flipped bit in a key makes a sound value appear where no one put it.
 *
 * Rows of format 1 have no `=`, and their checksum covers the value alone. They are still read, and sealed again
 * whenever they are written and by the scrub.
 */
export function sealRow(key: string, value: string): string {
  return mark + hex(sumOf(key, value)) + value;
}

/** The JSON text of a stored row, or undefined where the checksum does not hold. */
export function openRow(key: string, stored: string): string | undefined {
  if (!stored.startsWith(mark)) return openFormat1(stored);
  const value = stored.slice(9);
  return stored.startsWith(hex(sumOf(key, value)), 1) ? value : undefined;
}

/** A row whose checksum does not cover its key yet. */
export function isFormat1(stored: string): boolean {
  return !stored.startsWith(mark);
}

const mark = '=';

function openFormat1(stored: string): string | undefined {
  const value = stored.slice(8);
  return stored.startsWith(hex(crc32(value))) ? value : undefined;
}

function sumOf(key: string, value: string): number {
  return crc32(value, crc32(`${key}\t`));
}
