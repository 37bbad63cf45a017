import { join } from 'node:path';
import type { Op } from './contract.js';
import { baseName, type BaseFile, type WrittenImage } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import type { StoreFiles } from './files.js';
import { frameWriter, headerBytes, opsIn, origin, positionOf, type Position } from './frame.js';
import { readFrames } from './frame-reader.js';
import { headKey } from './keys.js';
import type { StorePorts } from './ports.js';

/**
 * The base image: every row of the database at one position, in the frames of a segment file. It is read
 * through one iterator, so it is consistent while the store goes on; the head row within says which position
 * it is. Its frames count from 0; the last has no rows and tells the position and how many rows there must
 * be.
 */
export interface BaseOptions {
  readonly ports: Pick<StorePorts, 'files' | 'clock'>;
  readonly directory: string;
  /** Part of the time to be busy, 0–1. Default 1. */
  readonly share?: number;
  /** From then on without pauses: someone waits, and pauses keep no process alive. */
  readonly hurry?: AbortSignal | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (rows: number) => void;
  /**
   * Sees every page before it is written, the head row first, and then that there is no more; throws where
   * the image must not be made.
   */
  readonly check?: (rows: readonly Row[], position: Position, end: boolean) => Promise<void>;
}

type Row = readonly [key: string, value: string];

/** What the last frame of an image says; which frame of the segments that is stands in the file's name. */
export type End = Omit<Position, 'frame'>;

/** Write a base image beside the segments. It takes its name only when it is whole and durable. */
export async function writeBase(database: Database, options: BaseOptions): Promise<WrittenImage> {
  const { directory, share = 1, signal, hurry } = options;
  const cutShort = AbortSignal.any([signal, hurry].filter((one) => one !== undefined));
  const { files, clock } = options.ports;
  const temporary = join(directory, 'base.new');
  const file = await files.open(temporary, 'new');
  let position = origin;
  let bytes = 0;
  let rows = 0;
  let index = 0;
  const frames = frameWriter();
  const put = async (ops: readonly Op[], first: number, { seq, chain, digest }: End): Promise<void> => {
    frames.begin();
    frames.state(index, { first, last: seq, chain, ops }, digest);
    index += 1;
    const buffer = frames.finish();
    await file.write(buffer, bytes);
    bytes += buffer.length;
  };
  try {
    let began = clock.monotonic();
    for await (const page of database.walk()) {
      const head = page.find(([key]) => key === headKey);
      if (head) position = positionOf(JSON.parse(head[1]) as Position);
      await options.check?.(page, position, false);
      await put(page, 0, origin);
      rows += page.length;
      options.onProgress?.(rows);
      const busy = clock.monotonic() - began;
      if (share < 1 && hurry?.aborted !== true)
        await clock
          .wait(busy * (1 / share - 1), { background: true, signal: cutShort })
          .catch(() => undefined);
      signal?.throwIfAborted();
      began = clock.monotonic();
    }
    await options.check?.([], position, true);
    await put([], rows, position);
    await file.sync();
  } catch (error) {
    await file.close();
    await files.remove(temporary);
    throw error;
  }
  await file.close();
  const name = baseName(position.frame);
  await files.rename(temporary, join(directory, name));
  await files.syncDirectory(directory);
  return { file: name, frame: position.frame, bytes, position };
}

/**
 * The rows of a base image, page by page. Throws DamageError where it is not whole; `onEnd` tells the
 * position (its frame is in the file's name).
 */
export async function* readBase(
  files: StoreFiles,
  path: string,
  onEnd?: (position: End) => void,
): AsyncGenerator<Op[]> {
  let index = 0;
  let rows = 0;
  let whole = false;
  for await (const found of readFrames(files, path)) {
    if ('damage' in found) throw new DamageError(`the base image is damaged at byte ${found.damage.start}`);
    if (found.frame.frame !== index || whole)
      throw new DamageError(`part ${index} of the base image is missing`);
    index += 1;
    if (found.frame.bytes === 0) {
      whole = true;
      if (rows !== found.frame.first)
        throw new DamageError(`the base image holds ${rows} of ${found.frame.first} rows`);
      onEnd?.({ seq: found.frame.seq, chain: found.frame.chain, digest: found.frame.digest });
      continue;
    }
    const ops = [...opsIn(found.body)];
    rows += ops.length;
    yield ops;
  }
  if (!whole) throw new DamageError('the base image is incomplete');
}

/** Which position a base image holds, by its last frame; undefined where its end is cut. */
export async function endOfBase(
  files: StoreFiles,
  directory: string,
  base: BaseFile,
): Promise<Position | undefined> {
  const from = Math.max(0, base.bytes - headerBytes);
  for await (const found of readFrames(files, join(directory, base.file), from)) {
    if ('frame' in found && found.frame.bytes === 0) return positionOf({ ...found.frame, frame: base.frame });
  }
  return undefined;
}
