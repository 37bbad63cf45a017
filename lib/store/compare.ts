import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { readBase, writeBase, type BaseOptions } from './base.js';
import type { Op } from './contract.js';
import { listSegments, type BaseFile, type ImageOrder, type WrittenImage } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import type { StoreFiles } from './files.js';
import { digestAfter, opsIn, origin, positionOf, type Position } from './frame.js';
import { readFrames } from './frame-reader.js';
import { requireLog } from './inspect-rows.js';
import { firstKey, headKey } from './keys.js';
import type { StorePorts } from './ports.js';
import { rowSums } from './row-sums.js';
import { neededAfter } from './scan.js';

/** The second copy itself is damaged, so it proves nothing about the database. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/**
 * Compares the rows of a database with what the second copy says they must be: a row that vanished, came back, lies
 * under another key or shows an older value passes every checksum of its own. Rows come in the order of their keys,
 * piece by piece, each with the position at which the database held them, which may move on from piece to piece:
 * the walk never holds a snapshot for longer than one piece takes.
 */
export interface Comparison {
  /**
   * Take the operations after the base image into account, up to a frame or about so many bytes of them. Answers
   * whether the frame is reached. Throws CopyError where the copy cannot tell.
   */
  advance(frame: number, bytesMax?: number): Promise<boolean>;
  /** The rows that come next. Throws DamageError where they are not what they must be. */
  rows(rows: readonly (readonly [key: string, value: string])[], position: Position): Promise<void>;
  /** There are no more rows. */
  end(position: Position): Promise<void>;
  /** Bytes of the copy that were read. */
  readonly bytes: number;
  /** Damage in front of what was needed. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export interface ComparisonOptions {
  readonly files: StoreFiles;
  readonly directory: string;
  readonly base: BaseFile | null;
}

export function compareWithCopy({ files, directory, base }: ComparisonOptions): Comparison {
  const changes = rowSums();
  const faults: string[] = [];
  const image = base ? readBase(files, join(directory, base.file)) : undefined;
  let page: readonly Op[] = [];
  let next = 0;
  let bytes = 0;
  /** The last key that was compared. */
  let cursor = '';
  let at: Position | undefined;
  let segment: string | undefined;
  let offset = 0;

  /** The next row of the image that is not its head row. */
  const imageRow = async (): Promise<readonly [key: string, value: string] | undefined> => {
    for (;;) {
      const row = page[next];
      if (row !== undefined) {
        if (row[0] >= firstKey) return row as readonly [string, string];
        next += 1;
        continue;
      }
      const more = await image?.next().catch((error: unknown) => {
        throw error instanceof DamageError ? new CopyError(error.message) : error;
      });
      if (more === undefined || more.done === true) return undefined;
      page = more.value;
      next = 0;
      for (const [key, value] of page) bytes += key.length + value!.length;
    }
  };
  const missing = (key: string): DamageError =>
    new DamageError(`the row ${key}of the second copy is missing in the database`);

  const advance = async (frame: number, bytesMax = Infinity): Promise<boolean> => {
    at ??= base ? { ...origin, frame: base.frame } : origin;
    if (base && frame < base.frame)
      throw new CopyError(`the base image holds group ${base.frame}, the database is at group ${frame}`);
    let read = 0;
    while (at.frame < frame) {
      const segments = neededAfter(await listSegments(files, directory), at.frame);
      const current = segments[0];
      if (current === undefined) throw new CopyError(`the second copy ends at group ${at.frame}`);
      if (current !== segment) [segment, offset] = [current, 0];
      const before = at.frame;
      for await (const found of readFrames(files, join(directory, segment), offset)) {
        if ('damage' in found) {
          faults.push(`${segment} is damaged from byte ${found.damage.start} to ${found.damage.end}`);
          continue;
        }
        if (found.frame.frame > frame) break;
        offset = found.end;
        read += found.end - found.start;
        bytes += found.end - found.start;
        if (found.frame.frame <= at.frame) continue;
        if (found.frame.frame > at.frame + 1)
          throw new CopyError(
            `the groups ${at.frame + 1} to ${found.frame.frame - 1} are missing in ${segment}`,
          );
        if (
          at.digest !== '' &&
          found.frame.digest !== '' &&
          found.frame.digest !== digestAfter(at.digest, found.frame.frame, found.bodySum)
        )
          throw new CopyError(
            `${segment} does not continue the operations before group ${found.frame.frame}`,
          );
        for (const [key, value] of opsIn(found.body))
          changes.set(key, value === null ? null : crc32(value), key <= cursor);
        at = positionOf(found.frame);
        if (at.frame === frame || read >= bytesMax) break;
      }
      if (at.frame === before)
        throw new CopyError(`the second copy ends at group ${at.frame}, and ${segment} has no more`);
      if (read >= bytesMax && at.frame < frame) return false;
    }
    return true;
  };

  const compare = async (key: string, value: string): Promise<void> => {
    let other = await imageRow();
    for (; other !== undefined && other[0] < key; other = await imageRow()) {
      if (!changes.has(other[0])) throw missing(other[0]);
      next += 1;
    }
    const same = other !== undefined && other[0] === key;
    if (same) next += 1;
    const change = changes.meet(key);
    if (change !== undefined) {
      if (change.sum === null) throw new DamageError(`the row ${key}was deleted but is in the database`);
      if (change.sum !== crc32(value)) throw new DamageError(`the row ${key} differs from the second copy`);
    } else if (!same) {
      throw new DamageError(`the row ${key} is in the database but not in the second copy`);
    } else if (other![1] !== value) {
      throw new DamageError(`the row ${key} differs from the second copy`);
    }
  };

  return {
    advance,
    async rows(rows, position) {
      await advance(position.frame);
      for (const [key, value] of rows) {
        if (key === headKey) continue;
        await compare(key, value);
        cursor = key;
      }
    },
    async end(position) {
      await advance(position.frame);
      for (let other = await imageRow(); other !== undefined; other = await imageRow()) {
        if (!changes.has(other[0])) throw missing(other[0]);
        next += 1;
      }
      const unmet = changes.unmet();
      if (unmet > 0) throw new DamageError(`${unmet} rows of the second copy are missing in the database`);
    },
    get bytes() {
      return bytes;
    },
    faults,
    close: async () => void (await image?.return(undefined)),
  };
}

/**
 * Write a base image that was compared with the second copy: nothing wrong in the database may replace what is right
 * in the copy. Throws DamageError where they differ. Of a copy that is damaged itself, the answer says so.
 */
export async function writeImage(
  ports: Pick<StorePorts, 'files' | 'clock'>,
  database: Database,
  { base, ...order }: ImageOrder,
): Promise<WrittenImage> {
  const write = (check: NonNullable<BaseOptions['check']>): Promise<WrittenImage> =>
    writeBase(database, { ...order, ports, check });
  const comparison = compareWithCopy({ files: ports.files, directory: order.directory, base });
  try {
    return await write((rows, position, end) =>
      end ? comparison.end(position) : comparison.rows(rows, position),
    );
  } catch (error) {
    if (!(error instanceof CopyError)) throw error;
    const checkLog = requireLog(); // it must at least follow from entry to entry
    return { ...(await write(async (rows) => checkLog(rows))), copyFault: error.message };
  } finally {
    await comparison.close();
  }
}
