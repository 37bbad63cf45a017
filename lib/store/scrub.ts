import type { Logger } from 'pino';
import type { CommitPipeline } from './commit-pipeline.js';
import { compareWithCopy, CopyError } from './compare.js';
import { DamageError, type Database } from './database.js';
import { isGone } from './files.js';
import { requireLog } from './inspect-rows.js';
import type { StorePorts } from './ports.js';
import type { Upkeep } from './upkeep.js';

/** What a walk over both copies came to. */
export interface ScrubReport {
  /** ISO-8601. */
  readonly finishedAt: string;
  readonly rows: number;
  /** Bytes read of the second copy. */
  readonly copyBytes: number;
  /** What was found, and repaired from the other copy. */
  readonly faults: readonly string[];
}

export interface Scrubber {
  /** The next small piece of a pass. `true` when it ended one. */
  step(): Promise<boolean>;
  readonly last: ScrubReport | undefined;
}

export interface ScrubOptions {
  readonly ports: StorePorts;
  readonly directory: string;
  readonly database: Database;
  readonly pipeline: CommitPipeline;
  readonly upkeep: Upkeep;
  readonly log?: Logger;
  /** Repair the database from the copy. */
  readonly onDamage: (error: DamageError) => Promise<void>;
}

/**
 * Damage that no one reads stays unseen until the second copy has gone bad too. So every row, the chain of
 * the log, the base image and every segment are read in small pieces, over and over, and compared with each other.
 * Rows that are still sealed by format 1 are sealed again on the way.
 */
export function scrubber(options: ScrubOptions): Scrubber {
  const { directory, database, pipeline, upkeep, log } = options;
  const { files, clock } = options.ports;
  let last: ScrubReport | undefined;
  let rows = 0;
  let copyBytes = 0;
  let faults: string[] = [];
  let pass: AsyncGenerator<void> | undefined;

  async function* whole(): AsyncGenerator<void> {
    const { base } = upkeep;
    const comparison = compareWithCopy({ files, directory, base });
    try {
      yield* comparePieces(comparison);
      if (comparison.faults.length > 0) throw new CopyError(comparison.faults.join('; '));
    } catch (error) {
      // The base image was replaced meanwhile, and compared before that: the next pass reads the new one.
      if (isGone(error) || (error instanceof CopyError && upkeep.base !== base)) return;
      if (!(error instanceof CopyError)) throw error;
      faults.push(error.message);
      log?.warn({ fault: error.message }, 'scrub found damage in the second copy; it is being replaced');
      await upkeep.replaceCopy();
    } finally {
      copyBytes += comparison.bytes;
      await comparison.close();
    }
  }

  async function* comparePieces(comparison: ReturnType<typeof compareWithCopy>): AsyncGenerator<void> {
    while (!(await comparison.advance(pipeline.applied.frame, pieceBytes))) yield;
    for (let from: string | undefined; ;) {
      const piece = await database.slice(from, pieceRows);
      requireLog()(piece.rows); // each piece for itself: between two retention may have taken entries away
      if (piece.rows.length === 0) return comparison.end(piece.position);
      await comparison.rows(piece.rows, piece.position);
      if (piece.format1.length > 0) await pipeline.between(() => database.reseal(piece.format1));
      rows += piece.rows.length;
      from = piece.rows.at(-1)![0];
      yield;
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
      last = { finishedAt: new Date(clock.now()).toISOString(), rows, copyBytes, faults };
      // A small store is through in seconds, again and again
      log?.[faults.length > 0 ? 'warn' : 'debug']({ rows, copyBytes, faults }, 'scrub finished');
      pass = undefined;
      [rows, copyBytes, faults] = [0, 0, []];
      return true;
    },
  };
}

const pieceBytes = 1 << 20;
const pieceRows = 1_000;
