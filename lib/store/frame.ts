import { crc32 } from 'node:zlib';
import type { Group, Op } from './contract.js';

/**
 * The frame: how one group lies in a segment file. A header line of fixed width,
 * `#<crc32> <frame> <first> <last> <bytes> <chain> <digest>\n`, then one line per op: `+key\tvalue\n` or `-key\n`.
 *
 * The checksum covers the body and everything after itself in the header. Values and keys hold no control
 * characters, so `\n#` can only be the beginning of a frame: a reader finds damage, and finds the next good
 * frame behind it. Frames are numbered without a gap, so that a lost one shows even where it held no log
 * entries. The digest runs from frame to frame over every operation: two copies with the same one were given the
 * same operations in the same order.
 *
 * Frames of format 1 have no digest, and their checksum begins with the header. They are read, never written.
 */
export interface Frame extends Position {
  readonly first: number;
  readonly bytes: number;
  readonly headerBytes: number;
}

/** Where a copy stands: the last frame, the last log entry, its chain. */
export interface Position {
  readonly frame: number;
  readonly seq: number;
  readonly chain: string;
  /** The running hash of all operations; '' where the last frame was of format 1. */
  readonly digest: string;
}

export const origin: Position = { frame: 0, seq: 0, chain: '', digest: '' };

/** The position that a head row or a checkpoint tells; those of format 1 know no digest. */
export function positionOf({
  frame,
  seq,
  chain,
  digest = '',
}: Omit<Position, 'digest'> & { readonly digest?: string }): Position {
  return { frame, seq, chain, digest };
}

const headerBytes1 = 1 + 8 + 1 + 16 + 1 + 16 + 1 + 16 + 1 + 10 + 1 + 43 + 1;
export const headerBytes = headerBytes1 + 1 + 8;
/** So that a reader who meets a damaged length does not try to fetch half the disk. */
const bytesMax = 256 << 20;
const noChain = '-'.repeat(43);
const noDigest = '-'.repeat(8);

/** Whether two copies that both stand at one frame were given the same entries and operations up to it. */
export function isSameHistory(one: Position, other: Position): boolean {
  return (
    one.seq === other.seq &&
    one.chain === other.chain &&
    (one.digest === '' || other.digest === '' || one.digest === other.digest)
  );
}

/** The digest of a frame that comes after `previous` with a body of this checksum. */
export function digestAfter(previous: string, frame: number, bodySum: number): string {
  return hex(crc32(`${previous} ${frame} ${bodySum}`));
}

/**
 * Writes frames into one buffer that is used again and again: `begin()`, `follow(frame, group, digest)` for each
 * group, then `finish()` is the bytes to be written. They are valid until the next `begin()`.
 */
export function frameWriter(): {
  begin(): void;
  /** A group behind the one with the digest `previous`. Answers its own digest. */
  follow(frame: number, group: Group, previous: string): string;
  /** A frame that tells a digest instead of making one. */
  state(frame: number, group: Group, digest: string): void;
  readonly size: number;
  finish(): Buffer;
} {
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
  const add = (frame: number, group: Group, digestOf: (bodySum: number) => string): string => {
    reserve(headerBytes);
    const start = end;
    end += headerBytes;
    for (const op of group.ops) line(op);
    const bytes = end - start - headerBytes;
    if (bytes > bytesMax) throw new RangeError('a group is too large for a frame');
    const bodySum = crc32(buffer.subarray(start + headerBytes, end));
    const digest = digestOf(bodySum);
    const chain = group.chain === '' ? noChain : group.chain;
    const rest =
      ` ${wide(frame, 16)} ${wide(group.first, 16)} ${wide(group.last, 16)} ${wide(bytes, 10)} ` +
      `${chain} ${digest === '' ? noDigest : digest}\n`;
    if (buffer.write(`#${hex(crc32(rest, bodySum))}${rest}`, start, 'latin1') !== headerBytes)
      throw new RangeError(`not a chain: ${chain}`);
    return digest;
  };
  return {
    begin() {
      end = 0;
      if (buffer.length > keptBytesMax) buffer = Buffer.allocUnsafeSlow(1 << 18);
    },
    get size() {
      return end;
    },
    follow: (frame, group, previous) => add(frame, group, (bodySum) => digestAfter(previous, frame, bodySum)),
    state: (frame, group, digest) => void add(frame, group, () => digest),
    finish: () => buffer.subarray(0, end),
  };
}

const keptBytesMax = 8 << 20;
const [plus, minus, tab, newline] = [0x2b, 0x2d, 0x09, 0x0a];

/** The header at `offset`, or undefined where there is none. Says nothing yet about the checksum. */
export function headerAt(buffer: Buffer, offset: number): Frame | undefined {
  if (offset + headerBytes1 > buffer.length) return undefined;
  const text = buffer.toString('latin1', offset, offset + headerBytes);
  const match = headerPattern.exec(text);
  if (!match) return undefined;
  const [all, frame, first, last, bytes, chain, digest] = match;
  if (Number(bytes) > bytesMax) return undefined;
  return {
    frame: Number(frame),
    first: Number(first),
    seq: Number(last),
    bytes: Number(bytes),
    chain: chain === noChain ? '' : chain!,
    digest: digest === undefined || digest === noDigest ? '' : digest,
    headerBytes: all.length,
  };
}

const headerPattern =
  /^#[0-9a-f]{8} (\d{16}) (\d{16}) (\d{16}) (\d{10}) ([A-Za-z0-9_-]{43})(?: ([0-9a-f]{8}|-{8}))?\n/;

/**
 * The checksum of the body of the frame at `offset`, or undefined where that of the whole does not hold. The frame
 * must lie in the buffer in full.
 */
export function bodySumAt(buffer: Buffer, offset: number, frame: Frame): number | undefined {
  const start = offset + frame.headerBytes;
  const bodySum = crc32(buffer.subarray(start, start + frame.bytes));
  const sum =
    frame.headerBytes === headerBytes1
      ? crc32(buffer.subarray(offset + 10, start + frame.bytes))
      : crc32(buffer.subarray(offset + 9, start), bodySum);
  return buffer.toString('latin1', offset + 1, offset + 9) === hex(sum) ? bodySum : undefined;
}

/** The operations of whole frames, one after the other, in their order. */
export function* opsOf(frames: readonly Buffer[]): Generator<Op> {
  for (const bytes of frames) {
    for (let at = 0; at < bytes.length;) {
      const frame = headerAt(bytes, at);
      if (frame === undefined) throw new RangeError(`there is no frame at byte ${at}`);
      const body = at + frame.headerBytes;
      at = body + frame.bytes;
      yield* opsIn(bytes.subarray(body, at));
    }
  }
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
