import type { Json } from './ground.js';

/** Bytes of a value as JSON in UTF-8: what it takes in a snapshot, whose 64 KiB the machines must keep. */
export function jsonBytes(value: Json): number {
  let bytes = 0;
  for (const character of JSON.stringify(value)) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
