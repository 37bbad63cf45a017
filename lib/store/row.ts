import { crc32 } from 'node:zlib';
import { hex } from './frame.js';

/**
 * A row as LevelDB keeps it: eight digits of CRC-32, then the JSON text. LevelDB checksums its blocks, but reads
 * (and the recovery of its log) do not insist on them; this one is checked at every read.
 */
export function sealRow(value: string): string {
  return hex(crc32(value)) + value;
}

/** The JSON text of a stored row, or undefined where the checksum does not hold. */
export function openRow(stored: string): string | undefined {
  const value = stored.slice(8);
  return stored.startsWith(hex(crc32(value))) ? value : undefined;
}
