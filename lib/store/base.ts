import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Op } from './contract.js';
import { baseName, type BaseFile } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { syncDirectory } from './durable-file.js';
import { frameWriter, headerBytes, opsIn, origin, type Position } from './frame.js';
import { readFrames } from './frame-reader.js';
import { headKey } from './keys.js';

/**
 * The base image: every row of the database at one position, in the frames of a segment file. It is read through
 * one iterator, so it is consistent while the store goes on; the head row within says which position it is. Its
 * frames count from 0; the last has no rows and tells the position and how many rows there must be.
 */
export interface BaseOptions {
  readonly directory: string;
  /** Part of the time to be busy, 0–1. Default 1. */
  readonly share?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (rows: number) => void;
}

/** Write a base image beside the segments. It takes its name only when it is whole and durable. */
export async function writeBase(database: Database, options: BaseOptions): Promise<BaseFile & { readonly position: Position }> {
  const { directory, share = 1, signal } = options;
  const temporary = join(directory, 'base.new');
  const file = await open(temporary, 'w', 0o600);
  let position = origin;
  let bytes = 0;
  let rows = 0;
  let index = 0;
  const frames = frameWriter();
  const put = async (ops: readonly Op[], first: number, seq: number, chain: string): Promise<void> => {
    frames.begin();
    frames.add(index, { first, last: seq, chain, ops });
    index += 1;
    const buffer = frames.finish();
    for (let done = 0; done < buffer.length; ) done += (await file.write(buffer, done, buffer.length - done, bytes + done)).bytesWritten;
    bytes += buffer.length;
  };
  try {
    let began = performance.now();
    for await (const page of database.walk()) {
      const head = page.find(([key]) => key === headKey);
      if (head) position = JSON.parse(head[1]) as Position;
      await put(page, 0, 0, '');
      rows += page.length;
      options.onProgress?.(rows);
      const busy = performance.now() - began;
      if (share < 1) await wait(busy * (1 / share - 1), undefined, signal ? { signal, ref: false } : { ref: false });
      signal?.throwIfAborted();
      began = performance.now();
    }
    await put([], rows, position.seq, position.chain);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  const name = baseName(position.frame);
  await rename(temporary, join(directory, name));
  await syncDirectory(directory);
  return { file: name, frame: position.frame, bytes, position };
}

/** The rows of a base image, page by page. Throws DamageError where it is not whole; `onEnd` tells the position (its frame is in the file's name). */
export async function* readBase(path: string, onEnd?: (position: Omit<Position, 'frame'>) => void): AsyncGenerator<Op[]> {
  let index = 0;
  let rows = 0;
  let whole = false;
  for await (const found of readFrames(path)) {
    if ('damage' in found) throw new DamageError(`the base image is damaged at byte ${found.damage.start}`);
    if (found.frame.frame !== index || whole) throw new DamageError(`the base image misses its part ${index}`);
    index += 1;
    if (found.frame.bytes === 0) {
      whole = true;
      if (rows !== found.frame.first) throw new DamageError(`the base image holds ${rows} of ${found.frame.first} rows`);
      onEnd?.({ seq: found.frame.seq, chain: found.frame.chain });
      continue;
    }
    const ops = [...opsIn(found.body)];
    rows += ops.length;
    yield ops;
  }
  if (!whole) throw new DamageError('the base image has no end');
}

/** Which position a base image holds, by its last frame; undefined where its end is cut. */
export async function endOfBase(directory: string, base: BaseFile): Promise<Position | undefined> {
  const from = base.bytes - headerBytes;
  if (from < 0) return undefined;
  for await (const found of readFrames(join(directory, base.file), from)) {
    if ('frame' in found && found.frame.bytes === 0) return { frame: base.frame, seq: found.frame.seq, chain: found.frame.chain };
  }
  return undefined;
}
