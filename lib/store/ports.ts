import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type OpenDatabase } from './database.js';
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
  return {
    files: disk,
    openDatabase: opens ?? ((directory, options) => openDatabase(disk, directory, options)),
    clock: clock ?? systemClock,
  };
}

const systemClock: StoreClock = {
  now: Date.now,
  monotonic: () => performance.now(),
  wait: (ms, { signal, background } = {}) =>
    wait(ms, undefined, { ...(signal ? { signal } : {}), ref: background !== true }),
};
