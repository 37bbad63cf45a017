import { Level } from 'level';
import type { Range } from './contract.js';

/**
 * What the store uses of LevelDB. A simulation puts a model in its place and so has the whole of the store's own
 * code above it.
 */
export interface Tables {
  getSync(key: string): string | undefined;
  getMany(keys: string[]): Promise<(string | undefined)[]>;
  batch(): TablesBatch;
  iterator(range: TablesRange): TablesIterator<[key: string, value: string]>;
  keys(range: TablesRange): TablesIterator<string>;
  /** Writes out the memory first, whatever the range. Swallows errors. */
  compactRange(start: string, end: string): Promise<void>;
  close(): Promise<void>;
}

/** Written whole or not at all; not synced. */
export interface TablesBatch {
  put(key: string, value: string): TablesBatch;
  del(key: string): TablesBatch;
  write(): Promise<void>;
}

/** Sees the rows as they were when it was made. */
export interface TablesIterator<Entry> {
  nextv(size: number): Promise<Entry[]>;
  all(): Promise<Entry[]>;
  close(): Promise<void>;
}

export type TablesRange = Pick<Range, 'gt' | 'gte' | 'lt' | 'lte' | 'reverse' | 'limit'> & {
  readonly fillCache?: boolean;
  readonly highWaterMarkBytes?: number;
};

/**
 * `new` makes empty ones and refuses those that exist. `alone`: no one else may have them open, in this process
 * either; otherwise other threads of it may, under the very same path. Rejects with what LevelDB says.
 */
export type OpenTables = (directory: string, options: OpenOptions) => Promise<Tables>;

export interface OpenOptions {
  readonly create: 'new' | 'if-missing' | 'never';
  readonly alone?: boolean;
}

/** LevelDB itself. */
export const openTables: OpenTables = async (directory, { create, alone = false }) => {
  // The text options are typed for browsers too; LevelDB's own are passed through. Level is classic-level
  // here.
  const level = new Level<string, string>(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'utf8',
    createIfMissing: create !== 'never',
    errorIfExists: create === 'new',
    multithreading: !alone,
    writeBufferSize: 16 << 20,
    cacheSize: 32 << 20,
  }) as Level<string, string> & Pick<Tables, 'compactRange'>;
  await level.open();
  return level;
};
