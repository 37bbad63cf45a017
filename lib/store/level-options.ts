import type { Logger } from 'pino';
import type { Backup } from './backup.js';
import type { Store } from './contract.js';
import type { StorePorts } from './ports.js';
import type { Progress } from './rebuild.js';
import type { ScrubReport } from './scrub.js';
import type { ThreadOptions } from './thread.js';
import type { UpkeepLimits } from './upkeep.js';
import type { VerifyOptions, VerifyReport } from './verify.js';

/** How a home's store is opened, and what the opened one offers beyond the port. */
export interface LevelStoreOptions {
  /** The home: `store/`, `store-copy/` and `lock/` lie in it. */
  readonly directory: string;
  /** Where recovery and repair are reported. Default: nowhere. */
  readonly log?: Logger;
  /** Called while a damaged store is recovered, which may take minutes. */
  readonly onProgress?: (progress: Progress) => void;
  /** When old segments and tables are tidied up; defaults suit a home of gigabytes. */
  readonly limits?: Partial<UpkeepLimits>;
  /** Bytes after which a new segment file begins. Default 64 MiB. */
  readonly segmentBytesMax?: number;
  /** Room reserved ahead of the writes; 0 reserves none. */
  readonly reserveBytes?: number;
  /**
   * Pause between two small pieces of the background check of both copies; after a whole pass it is 300 times
   * as long. Default 2,000; 0 never checks.
   */
  readonly scrubEveryMs?: number;
  /**
   * Whether a thread of its own puts what is durable into LevelDB while there is much of it, writes base images and
   * verifies. Default true, but not where `ports` has another disk or LevelDB.
   */
  readonly thread?: boolean | ThreadOptions;
  /** The disk, LevelDB and time; the real ones where absent. */
  readonly ports?: Partial<StorePorts>;
}

/** The embedded store: what the port promises, and what an operator may ask of it. */
export interface LevelStore extends Store {
  /** Bytes left on the disk for this process. */
  freeBytes(): Promise<number>;
  /** Note how far LevelDB's tables are, so that the next start has nothing to replay. */
  checkpoint(): Promise<void>;
  /**
   * Write the second copy again and rewrite LevelDB's tables: values that were replaced or deleted leave the disk.
   * As slow as the home is large; the store goes on meanwhile.
   */
  compact(): Promise<void>;
  /**
   * Write everything, as of one moment, to a new folder while the store goes on. REFUSED where the folder
   * holds anything.
   */
  backUp(target: string, options?: { readonly onProgress?: (progress: Progress) => void }): Promise<Backup>;
  /** Check both copies from end to end now, repairing nothing. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /** The background check, one whole pass now; what it finds is repaired. */
  scrub(): Promise<ScrubReport>;
  /** What the last pass found. */
  readonly lastScrub: ScrubReport | undefined;
}
