import { join } from 'node:path';
import { commitPipeline, type CommitPipeline } from './commit-pipeline.js';
import type { Database } from './database.js';
import type { LevelStoreOptions } from './level-options.js';
import type { StorePorts } from './ports.js';
import type { Opened } from './recover.js';
import { scrubber, type Scrubber } from './scrub.js';
import type { SegmentWriter } from './segment-writer.js';
import { storeThread, type StoreThread } from './thread.js';
import { startUpkeep, upkeepLimits, type Upkeep } from './upkeep.js';

/** One opening of the files, replaced as a whole after a failure. */
export interface Session {
  readonly database: Database;
  readonly writer: SegmentWriter;
  readonly scrubber: Scrubber;
  readonly pipeline: CommitPipeline;
  readonly upkeep: Upkeep;
}

/** Put the parts together over opened files. `recover` is called when one of them fails. */
export async function beginSession(
  ports: StorePorts,
  opened: Opened,
  options: LevelStoreOptions,
  recover: (reason: string, cause: unknown) => Promise<void>,
  thread: StoreThread | undefined,
): Promise<Session> {
  const { directory: home, log } = options;
  const copy = join(home, 'store-copy');
  const { database, writer } = opened;
  const pipeline = commitPipeline({
    database,
    ...(thread ? { thread } : {}),
    writer,
    position: opened.position,
    onFailure: (reason, cause) => void recover(reason, cause),
  });
  const sizes = await Promise.all(
    opened.segments.map(async (name) => await ports.files.size(join(copy, name))),
  );
  const upkeep = startUpkeep({
    ports,
    directory: copy,
    database,
    ...(thread ? { thread } : {}),
    pipeline,
    base: opened.base,
    segments: opened.segments,
    bytesSinceBase: sizes.reduce((sum, size) => sum + size, 0),
    bytesSinceCheckpoint: opened.replayedBytes,
    limits: { ...upkeepLimits, ...options.limits },
    ...(log ? { log } : {}),
    onFailure: (reason, cause) => void recover(reason, cause),
  });
  const checker = scrubber({
    ports,
    directory: copy,
    database,
    pipeline,
    upkeep,
    ...(log ? { log } : {}),
    onDamage: (error) => recover(error.message, error),
  });
  return { database, writer, pipeline, upkeep, scrubber: checker };
}

/** It knows the real disk and the real LevelDB only. */
export function threadOf({
  directory,
  thread = true,
  ports = {},
  log,
}: LevelStoreOptions): StoreThread | undefined {
  if (thread === false || ports.files !== undefined || ports.openDatabase !== undefined) return undefined;
  return storeThread(join(directory, 'store'), { ...(thread === true ? {} : thread), log });
}
