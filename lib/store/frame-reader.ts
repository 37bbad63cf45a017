import type { StoreFiles } from './files.js';
import { bodySumAt, headerAt, headerBytes, type Frame } from './frame.js';

/** What a file of frames holds, in order: a sound frame, or a stretch that is none. */
export type Found =
  | {
      readonly frame: Frame;
      readonly start: number;
      readonly end: number;
      readonly body: Buffer;
      readonly bodySum: number;
    }
  | { readonly damage: { readonly start: number; readonly end: number } };

/**
 * Read the frames of a file from byte `from` on. Zeros up to the end of the file are reserved room, not
 * damage. After damage the reader goes on at the next sound frame. `body` is valid until the next step.
 */
export async function* readFrames(files: StoreFiles, path: string, from = 0): AsyncGenerator<Found> {
  const file = await files.open(path, 'read');
  try {
    const size = await file.size();
    let buffer = Buffer.alloc(0);
    let base = from; // the place in the file of the buffer's first byte
    let at = 0;
    let damagedFrom = -1;
    /** Make at least `bytes` from `at` available, as far as the file has them. */
    const want = async (bytes: number): Promise<void> => {
      if (buffer.length - at >= bytes || base + buffer.length >= size) return;
      const rest = buffer.subarray(at);
      const next = Buffer.allocUnsafe(Math.min(Math.max(chunkBytes, bytes), size - base - at));
      rest.copy(next);
      base += at;
      at = 0;
      const filled = await file.read(next.subarray(rest.length), base + rest.length);
      buffer = next.subarray(0, rest.length + filled);
    };

    for (;;) {
      await want(headerBytes);
      if (at >= buffer.length) break;
      const frame = headerAt(buffer, at);
      if (frame !== undefined && base + at + frame.headerBytes + frame.bytes <= size) {
        await want(frame.headerBytes + frame.bytes);
        const bodySum = bodySumAt(buffer, at, frame);
        if (bodySum !== undefined) {
          const start = base + at;
          if (damagedFrom >= 0) yield { damage: { start: damagedFrom, end: start } };
          damagedFrom = -1;
          const end = at + frame.headerBytes + frame.bytes;
          const body = buffer.subarray(at + frame.headerBytes, end);
          yield { frame, start, end: base + end, body, bodySum };
          at = end;
          continue;
        }
      }
      // No frame here. The next can only begin at a `#` that follows a newline (or zeros of reserved room).
      if (damagedFrom < 0) {
        const zeros = zerosFrom(buffer, at);
        if (zeros > 0) {
          at += zeros;
          let reserved = true;
          for (;;) {
            await want(1);
            if (at >= buffer.length) break;
            const more = zerosFrom(buffer, at);
            at += more;
            if (at < buffer.length) {
              reserved = false;
              break;
            }
          }
          if (reserved) return;
          damagedFrom = base + at;
          if (buffer[at] === hash) continue;
        } else {
          damagedFrom = base + at;
        }
      }
      const next = buffer.indexOf(hash, at + 1);
      at = next < 0 ? buffer.length : next;
    }
    if (damagedFrom >= 0) yield { damage: { start: damagedFrom, end: size } };
  } finally {
    await file.close();
  }
}

const chunkBytes = 4 << 20;
const hash = 0x23;
const nothing = Buffer.alloc(64 << 10);

/** How many zero bytes lie from `at` on. */
function zerosFrom(buffer: Buffer, at: number): number {
  let end = at;
  while (end < buffer.length) {
    const piece = Math.min(nothing.length, buffer.length - end);
    if (buffer.compare(nothing, 0, piece, end, end + piece) !== 0) break;
    end += piece;
  }
  while (end < buffer.length && buffer[end] === 0) end += 1;
  return end - at;
}
