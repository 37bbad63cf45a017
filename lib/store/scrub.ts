import { join } from 'node:path';
import type { Logger } from 'pino';
import { readBase } from './base.js';
import { DamageError, type Database } from './database.js';
import { readFrames } from './frame-reader.js';
import { logChecker } from './inspect-rows.js';
import type { Upkeep } from './upkeep.js';

/** What a walk over both copies came to. */
export interface ScrubReport {
  /** ISO-8601. */
  readonly finishedAt: string;
  readonly rows: number;
  /** Bytes read of the second copy. */
  readonly copyBytes: number;
  /** What was found, and mended from the other copy. */
  readonly faults: readonly string[];
}

export interface Scrubber {
  /** The next small piece of a pass. `true` when it ended one. */
  step(): Promise<boolean>;
  readonly last: ScrubReport | undefined;
}

export interface ScrubOptions {
  readonly directory: string;
  readonly database: Database;
  readonly upkeep: Upkeep;
  readonly log?: Logger;
  /** Mend the database from the copy. */
  readonly onDamage: (error: DamageError) => Promise<void>;
}

/**
 * Damage that nobody reads stays unseen until the second copy has gone bad too. So every row, the chain of the log,
 * the base image and every finished segment are read in small pieces, over and over.
 */
export function scrubber(options: ScrubOptions): Scrubber {
  const { directory, database, upkeep, log } = options;
  let last: ScrubReport | undefined;
  let rows = 0;
  let copyBytes = 0;
  let faults: string[] = [];
  let pass: AsyncGenerator<void> | undefined;

  async function* whole(): AsyncGenerator<void> {
    for (let from: string | undefined; ; ) {
      const page = await firstOf(database.walk(from === undefined ? {} : { from }));
      if (!page) break;
      checkLog(page);
      rows += page.length;
      from = page.at(-1)![0];
      yield;
    }
    try {
      if (upkeep.base) {
        for await (const _page of readBase(join(directory, upkeep.base.file))) {
          copyBytes += pieceBytes;
          yield;
        }
      }
      // The last segment is being written to; it is read at the next start.
      for (const name of upkeep.segments.slice(0, -1)) {
        let piece = 0;
        for await (const found of readFrames(join(directory, name))) {
          if ('damage' in found) throw new DamageError(`${name} is damaged at byte ${found.damage.start}`);
          piece += found.end - found.start;
          copyBytes += found.end - found.start;
          if (piece < pieceBytes) continue;
          piece = 0;
          yield;
        }
      }
    } catch (error) {
      if (isGone(error)) return;
      if (!(error instanceof DamageError)) throw error;
      faults.push(error.message);
      log?.warn({ fault: error.message }, 'scrub found damage in the second copy; a new base image replaces it');
      await upkeep.compact();
    }
  }

  return {
    get last() {
      return last;
    },
    async step() {
      pass ??= whole();
      try {
        if (!(await pass.next()).done) return false;
      } catch (error) {
        pass = undefined;
        if (!(error instanceof DamageError)) throw error;
        faults.push(error.message);
        log?.warn({ fault: error.message }, 'scrub found damage in the database');
        await options.onDamage(error);
      }
      last = { finishedAt: new Date().toISOString(), rows, copyBytes, faults };
      log?.[faults.length > 0 ? 'warn' : 'debug']({ rows, copyBytes, faults }, 'scrub finished'); // a small store is through in seconds, again and again
      pass = undefined;
      [rows, copyBytes, faults] = [0, 0, []];
      return true;
    },
  };
}

const pieceBytes = 1 << 20;

/** Each page for itself: between two pages retention may have taken entries away. */
function checkLog(page: readonly (readonly [key: string, value: string])[]): void {
  const log = logChecker();
  for (const [key, value] of page) if (key.startsWith('l/')) log.entry(key, value);
  if (log.faults.length > 0) throw new DamageError(log.faults.join('; '));
}

async function firstOf<Item>(items: AsyncGenerator<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** A compaction took the file away while it was being read. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
