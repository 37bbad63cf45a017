import { crc32 } from 'node:zlib';
import { hex } from './frame.js';

/**
 * A row as LevelDB keeps it: `=`, eight digits of a CRC-32 over key and value, then the JSON text. LevelDB checksums
 * its blocks, but reads (and the recovery of its log) do not insist on them; this one is checked at every read. The key
 * is part of it, because a flipped bit in a key makes a sound value appear where nobody put it.
 *
 * Rows of format 1 have no `=`, and their checksum covers the value alone. They are still read, and sealed anew
 * whenever they are written and by the scrub.
 */
export function sealRow(key: string, value: string): string {
  return mark + hex(sumOf(key, value)) + value;
}

/** The JSON text of a stored row, or undefined where the checksum does not hold. */
export function openRow(key: string, stored: string): string | undefined {
  if (!stored.startsWith(mark)) return openFormat1(stored);
  const value = stored.slice(9);
  return stored.startsWith(hex(sumOf(key, value)), 1) ? value : undefined;
}

/** A row whose checksum does not cover its key yet. */
export function isFormat1(stored: string): boolean {
  return !stored.startsWith(mark);
}

const mark = '=';

function openFormat1(stored: string): string | undefined {
  const value = stored.slice(8);
  return stored.startsWith(hex(crc32(value))) ? value : undefined;
}

function sumOf(key: string, value: string): number {
  return crc32(value, crc32(`${key}\t`));
}
