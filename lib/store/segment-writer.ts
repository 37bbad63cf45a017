import { join } from 'node:path';
import { segmentName, type Place } from './copy-files.js';
import type { StoreFiles } from './files.js';

export interface SegmentWriter {
  /**
   * Append whole frames, the first of which is number `frame`. Durable when it resolves. One call at a time.
   */
  append(frames: Buffer, frame: number): Promise<Place>;
  /** Begin a new segment, whose first frame will be number `frame`. Not while an append runs. */
  rotate(frame: number): Promise<Place>;
  /** Where the last durable frame ends. */
  readonly place: Place;
  /**
   * Close after a failed append, and cut off whatever it left. Throws where the disk does not let it; call
   * again then. Once that is done its files are no more its business: another may have taken their place.
   */
  abandon(): Promise<void>;
  /** Give back the reserved room. */
  close(): Promise<void>;
}

export interface SegmentWriterOptions {
  readonly files: StoreFiles;
  readonly directory: string;
  readonly place: Place;
  readonly segmentBytesMax?: number;
  /** Room reserved ahead of the writes; 0 lets the file grow. */
  readonly reserveBytes?: number;
  /** Nothing is lost by it, but a disk that fails is to be heard of. */
  readonly onUnreserved?: (error: unknown) => void;
}

/**
 * Appends frames to segment files. The room is reserved by zeros ahead of the writes, and the file is opened
 * for synchronous data, so that one call to the disk makes a group durable: measured here 6,100 groups of 75
 * KB per second, against 1,700 with a growing file, a write and an fdatasync.
 */
export async function openSegmentWriter(options: SegmentWriterOptions): Promise<SegmentWriter> {
  const { files, directory, segmentBytesMax = 64 << 20, reserveBytes = 4 << 20, onUnreserved } = options;
  let place = options.place;
  let file = await files.open(join(directory, place.segment), 'log');
  let reserved = place.offset;
  let reserving: Promise<void> | undefined;
  let isAbandoned = false;
  await file.truncate(place.offset);
  await file.sync();
  // An earlier process may have made the file and died before its name was durable.
  await files.syncDirectory(directory);

  /** Runs beside the appends; a failure (a full disk) only means that the file grows as it is written. */
  const reserve = (): void => {
    const from = reserved;
    const handle = file;
    reserving = zeroFill(files, directory, place.segment, from, reserveBytes)
      .then(
        () => {
          if (handle === file) reserved = from + reserveBytes;
        },
        (error: unknown) => {
          onUnreserved?.(error);
          if (handle === file) reserved = Infinity;
        },
      )
      .finally(() => (reserving = undefined));
  };
  const next = async (frame: number): Promise<void> => {
    await reserving;
    await file.truncate(place.offset);
    await file.sync();
    await file.close();
    place = { segment: segmentName(frame), offset: 0 };
    file = await files.open(join(directory, place.segment), 'log');
    await file.truncate(0);
    await files.syncDirectory(directory);
    reserved = 0;
  };

  return {
    get place() {
      return place;
    },
    async append(frames, frame) {
      if (place.offset > 0 && place.offset + frames.length > segmentBytesMax) await next(frame);
      // A zero-filler that starts at the old end would erase a write that grows past it.
      if (place.offset + frames.length > reserved && reserving) await reserving;
      await file.write(frames, place.offset);
      place = { segment: place.segment, offset: place.offset + frames.length };
      if (reserved < place.offset) reserved = place.offset;
      if (
        reserveBytes > 0 &&
        !reserving &&
        reserved - place.offset < reserveBytes / 2 &&
        reserved < segmentBytesMax
      )
        reserve();
      return place;
    },
    async rotate(frame) {
      if (place.offset > 0) await next(frame);
      return place;
    },
    async abandon() {
      if (isAbandoned) return;
      await reserving;
      await file.close().catch(() => undefined);
      // The failure may have been that a new segment could not be made.
      const again = await files.open(join(directory, place.segment), place.offset === 0 ? 'log' : 'existing');
      try {
        await again.truncate(place.offset);
        await again.sync();
      } finally {
        await again.close();
      }
      isAbandoned = true;
    },
    async close() {
      await reserving;
      try {
        await file.truncate(place.offset);
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}

const zeros = Buffer.alloc(1 << 20);

/** Through a handle of its own that is not synchronous: one flush at the end instead of one per write. */
async function zeroFill(
  files: StoreFiles,
  directory: string,
  segment: string,
  from: number,
  bytes: number,
): Promise<void> {
  const file = await files.open(join(directory, segment), 'existing');
  try {
    for (let done = 0; done < bytes; done += zeros.length)
      await file.write(zeros.subarray(0, Math.min(zeros.length, bytes - done)), from + done);
    await file.sync();
  } finally {
    await file.close();
  }
}
