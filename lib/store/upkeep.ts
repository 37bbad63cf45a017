import { join } from 'node:path';
import type { Logger } from 'pino';
import type { CommitPipeline } from './commit-pipeline.js';
import { firstFrameOf, listSegments, writeCheckpoint, type BaseFile, type Checkpoint } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { writeImage } from './compare.js';
import type { StorePorts } from './ports.js';
import type { StoreThread } from './thread.js';

/**
 * What a store does beside its writes: checkpoints, so that a start has little to replay, and a new base
 * image once the segments have outgrown the old one, so that the second copy stays about as large as the
 * data.
 */
export interface Upkeep {
  /** Put LevelDB into tables and note how far it is. */
  checkpoint(clean?: boolean): Promise<void>;
  /**
   * Write a new base image and drop what it makes superfluous; erased contents leave the second copy with it.
   */
  compact(share?: number): Promise<void>;
  /** The second copy is damaged: replace all of it, the segment that is being written to included. */
  replaceCopy(): Promise<void>;
  readonly base: BaseFile | null;
  readonly segments: readonly string[];
  /** Nothing of it runs afterwards. */
  stop(): Promise<void>;
}

export interface UpkeepOptions {
  readonly ports: StorePorts;
  readonly directory: string;
  readonly database: Database;
  readonly thread?: StoreThread;
  readonly pipeline: CommitPipeline;
  readonly base: BaseFile | null;
  readonly segments: readonly string[];
  /** Bytes in the segments since the base image, and since the checkpoint. */
  readonly bytesSinceBase: number;
  readonly bytesSinceCheckpoint: number;
  readonly limits: UpkeepLimits;
  readonly log?: Logger;
  readonly onFailure: (reason: string, cause: unknown) => void;
}

export interface UpkeepLimits {
  readonly checkpointBytes: number;
  /** Log entries and groups together: what a replay has to go through beside the bytes. */
  readonly checkpointSteps: number;
  /**
   * A base image is written when the segments since the last hold more than this and more than that image.
   */
  readonly baseBytesMin: number;
}

export const upkeepLimits: UpkeepLimits = {
  checkpointBytes: 32 << 20,
  checkpointSteps: 40_000,
  baseBytesMin: 64 << 20,
};

export function startUpkeep(options: UpkeepOptions): Upkeep {
  const { ports, directory, database, thread, pipeline, limits, log, onFailure } = options;
  const { files } = ports;
  const stopping = new AbortController();
  let base = options.base;
  let segments = options.segments;
  let checkpointed: Omit<Checkpoint, 'format' | 'base' | 'segments'> | undefined;
  let bytesSinceBase = options.bytesSinceBase;
  let bytesSinceCheckpoint = options.bytesSinceCheckpoint;
  let stepsSinceCheckpoint = 0;
  let running: Promise<void> | undefined;
  let compacting: Promise<void> | undefined;
  let hurry = new AbortController();
  let droppedFiles = 0;

  const noteCheckpoint = async (clean: boolean): Promise<void> => {
    const at = pipeline.applied;
    const place = pipeline.appliedPlace;
    const bytes = bytesSinceCheckpoint;
    const steps = stepsSinceCheckpoint;
    await database.flush();
    segments = await listSegments(files, directory);
    checkpointed = {
      frame: at.frame,
      seq: at.seq,
      chain: at.chain,
      digest: at.digest,
      segment: place.segment,
      offset: place.offset,
      clean,
    };
    await writeCheckpoint(files, directory, { ...checkpointed, base, segments });
    bytesSinceCheckpoint -= bytes;
    stepsSinceCheckpoint -= steps;
  };
  /** One at a time: what is called while one runs waits its turn behind it. */
  const exclusively = (task: () => Promise<void>): Promise<void> => {
    const turn = (running ?? Promise.resolve()).catch(() => undefined).then(task);
    running = turn;
    return turn.finally(() => {
      if (running === turn) running = undefined;
    });
  };
  const checkpoint = (clean = false): Promise<void> => exclusively(() => noteCheckpoint(clean));
  const renew = async (share: number): Promise<void> => {
    const bytes = bytesSinceBase;
    const order = { directory, base, share, signal: stopping.signal, hurry: hurry.signal };
    const image = (await thread?.image(order)) ?? (await writeImage(ports, database, order));
    if (image.copyFault !== undefined)
      log?.warn(
        { fault: image.copyFault },
        'the second copy is damaged; the new base image was not compared',
      );
    const old = base;
    base = { file: image.file, frame: image.frame, bytes: image.bytes };
    bytesSinceBase -= bytes;
    await exclusively(async () => {
      await noteCheckpoint(false);
      await prune(old);
    });
    log?.info({ base: base.file, bytes: base.bytes, dropped: droppedFiles }, 'store wrote a new base image');
  };
  /** The checkpoint names no file any more before it goes. */
  const prune = async (old: BaseFile | null): Promise<void> => {
    if (!base || !checkpointed) return;
    const floor = Math.min(base.frame, checkpointed.frame);
    const dropped = segments.filter(
      (_, index) => segments[index + 1] !== undefined && firstFrameOf(segments[index + 1]!) <= floor + 1,
    );
    segments = segments.filter((name) => !dropped.includes(name));
    await writeCheckpoint(files, directory, { ...checkpointed, base, segments });
    for (const name of old && old.file !== base.file ? [...dropped, old.file] : dropped)
      await files.remove(join(directory, name));
    droppedFiles = dropped.length;
  };
  const compact = (share = 1): Promise<void> => {
    compacting ??= renew(share).finally(() => (compacting = undefined));
    return compacting;
  };
  const replaceCopy = async (): Promise<void> => {
    hurry.abort();
    await compacting?.catch(() => undefined);
    hurry = new AbortController();
    await pipeline.rotate();
    await pipeline.readable();
    await compact();
  };
  const failed = (error: unknown): void => {
    if (!stopping.signal.aborted) onFailure('the database could not be flushed', error);
  };
  /** A full disk must not stop a store over an image that can wait; damage must. */
  const compactionFailed = (error: unknown): void => {
    if (stopping.signal.aborted) return;
    if (error instanceof DamageError) return onFailure(error.message, error);
    log?.warn({ err: error }, 'store could not write a base image');
    bytesSinceBase = 0;
  };

  pipeline.onCommitted((bytes, steps) => {
    bytesSinceBase += bytes;
    bytesSinceCheckpoint += bytes;
    stepsSinceCheckpoint += steps;
    if (stopping.signal.aborted) return;
    if (
      !running &&
      (bytesSinceCheckpoint > limits.checkpointBytes || stepsSinceCheckpoint > limits.checkpointSteps)
    )
      checkpoint().catch(failed);
    if (!compacting && bytesSinceBase > Math.max(limits.baseBytesMin, base?.bytes ?? 0))
      compact(backgroundShare).catch(compactionFailed);
  });

  return {
    get base() {
      return base;
    },
    get segments() {
      return segments;
    },
    checkpoint,
    compact,
    replaceCopy,
    async stop() {
      stopping.abort();
      await compacting?.catch(() => undefined);
      await running?.catch(() => undefined);
    },
  };
}

/** Part of the time that a background base image may take. */
const backgroundShare = 0.2;
