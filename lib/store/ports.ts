import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type Database, type OpenDatabase } from './database.js';
import { nodeFiles, type StoreFiles } from './files.js';

/**
 * Everything impure that the store needs, so that a simulation can stand below all of its code: the disk, what
 * opens LevelDB, and time.
 */
export interface StorePorts {
  readonly files: StoreFiles;
  readonly openDatabase: OpenDatabase;
  readonly clock: StoreClock;
}

/** Time as the store sees it. It decides nothing by it: names of folders, notes, pauses. */
export interface StoreClock {
  /** Wall time, epoch ms. */
  now(): number;
  /** For durations, ms; never goes back. */
  monotonic(): number;
  /** Rejects when `signal` aborts. A `background` wait does not keep the process alive. */
  wait(ms: number, options?: WaitOptions): Promise<void>;
}

export interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly background?: boolean;
}

/** The real disk, the real LevelDB, the real time, but for what is given. */
export function storePorts({ files, openDatabase: opens, clock }: Partial<StorePorts> = {}): StorePorts {
  const disk = files ?? nodeFiles;
  const openOne: OpenDatabase = opens ?? ((directory, options) => openDatabase(disk, directory, options));
  /** Closing them failed, so they hold the locks of their folders. */
  const unclosed = new Map<Database, string>();
  return {
    files: disk,
    async openDatabase(directory, options) {
      for (const [database, folder] of unclosed)
        if (folder === directory) await database.close().then(() => unclosed.delete(database));
      const database = await openOne(directory, options);
      const close = async (): Promise<void> => {
        unclosed.set(database, directory);
        await database.close();
        unclosed.delete(database);
      };
      return { ...database, close };
    },
    clock: clock ?? systemClock,
  };
}

const systemClock: StoreClock = {
  now: Date.now,
  monotonic: () => performance.now(),
  wait: (ms, { signal, background } = {}) =>
    wait(ms, undefined, { ...(signal ? { signal } : {}), ref: background !== true }),
};
