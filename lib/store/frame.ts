import { crc32 } from 'node:zlib';
import type { Group, Op } from './contract.js';

/**
 * The frame: how one group lies in a segment file. A header line of fixed width,
 * `#<crc32> <frame> <first> <last> <bytes> <chain>\n`, then one line per op: `+key\tvalue\n` or `-key\n`.
 *
 * The checksum covers everything after itself, header fields included. Values and keys hold no control characters,
 * so `\n#` can only be the beginning of a frame: a reader finds damage, and finds the next good frame behind it.
 * Frames are numbered without a gap, so that a lost one shows even where it held no log entries.
 */
export interface Frame extends Position {
  readonly first: number;
  readonly bytes: number;
}

/** Where a copy stands: the last frame, the last log entry, its chain. */
export interface Position {
  readonly frame: number;
  readonly seq: number;
  readonly chain: string;
}

export const origin: Position = { frame: 0, seq: 0, chain: '' };

export const headerBytes = 1 + 8 + 1 + 16 + 1 + 16 + 1 + 16 + 1 + 10 + 1 + 43 + 1;
/** So that a reader who meets a damaged length does not try to fetch half the disk. */
const bytesMax = 256 << 20;
const noChain = '-'.repeat(43);

/**
 * Writes frames into one buffer that is used again and again: `begin()`, `add(frame, group)` for each, then
 * `finish()` is the bytes to be written. They are valid until the next `begin()`.
 */
export function frameWriter(): { begin(): void; add(frame: number, group: Group): void; readonly size: number; finish(): Buffer } {
  let buffer = Buffer.allocUnsafeSlow(1 << 18);
  let end = 0;
  const reserve = (bytes: number): void => {
    if (end + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, end + bytes));
    buffer.copy(larger, 0, 0, end);
    buffer = larger;
  };
  const line = ([key, value]: Op): void => {
    // UTF-8 never needs more than three bytes for one unit of a JavaScript string.
    reserve(key.length + (value === null ? 0 : value.length * 3) + 3);
    buffer[end] = value === null ? minus : plus;
    end += 1 + buffer.write(key, end + 1, 'latin1');
    if (value !== null) {
      buffer[end] = tab;
      end += 1 + buffer.write(value, end + 1);
    }
    buffer[end++] = newline;
  };
  return {
    begin() {
      end = 0;
      if (buffer.length > keptBytesMax) buffer = Buffer.allocUnsafeSlow(1 << 18);
    },
    get size() {
      return end;
    },
    add(frame, group) {
      reserve(headerBytes);
      const start = end;
      end += headerBytes;
      for (const op of group.ops) line(op);
      const bytes = end - start - headerBytes;
      if (bytes > bytesMax) throw new RangeError('a group is too large for a frame');
      const chain = group.chain === '' ? noChain : group.chain;
      const header = `#........ ${wide(frame, 16)} ${wide(group.first, 16)} ${wide(group.last, 16)} ${wide(bytes, 10)} ${chain}\n`;
      if (buffer.write(header, start, 'latin1') !== headerBytes) throw new RangeError(`not a chain: ${chain}`);
      buffer.write(hex(crc32(buffer.subarray(start + 10, end))), start + 1, 'latin1');
    },
    finish: () => buffer.subarray(0, end),
  };
}

const keptBytesMax = 8 << 20;
const [plus, minus, tab, newline] = [0x2b, 0x2d, 0x09, 0x0a];

/** The header at `offset`, or undefined where there is none. Says nothing yet about the checksum. */
export function headerAt(buffer: Buffer, offset: number): Frame | undefined {
  if (offset + headerBytes > buffer.length) return undefined;
  const match = headerPattern.exec(buffer.toString('latin1', offset, offset + headerBytes));
  if (!match) return undefined;
  const [, frame, first, last, bytes, chain] = match;
  if (Number(bytes) > bytesMax) return undefined;
  return { frame: Number(frame), first: Number(first), seq: Number(last), bytes: Number(bytes), chain: chain === noChain ? '' : chain! };
}

const headerPattern = /^#[0-9a-f]{8} (\d{16}) (\d{16}) (\d{16}) (\d{10}) ([A-Za-z0-9_-]{43})\n$/;

/** Does the checksum of the whole frame at `offset` hold? The frame must lie in the buffer in full. */
export function isSound(buffer: Buffer, offset: number, frame: Frame): boolean {
  const sum = crc32(buffer.subarray(offset + 10, offset + headerBytes + frame.bytes));
  return buffer.toString('latin1', offset + 1, offset + 9) === hex(sum);
}

/** The ops in the body of a frame. */
export function* opsIn(body: Buffer): Generator<Op> {
  let at = 0;
  while (at < body.length) {
    const end = body.indexOf(newline, at);
    const stop = end < 0 ? body.length : end;
    if (body[at] === plus) {
      const split = body.indexOf(tab, at);
      yield [body.toString('latin1', at + 1, split), body.toString('utf8', split + 1, stop)];
    } else {
      yield [body.toString('latin1', at + 1, stop), null];
    }
    at = stop + 1;
  }
}

/** A checksum as eight digits. By table: `toString(16)` of a number beyond 31 bits is five times slower. */
export function hex(sum: number): string {
  return octets[sum >>> 24]! + octets[(sum >>> 16) & 255]! + octets[(sum >>> 8) & 255]! + octets[sum & 255]!;
}

const octets = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function wide(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
