import type { Json } from './outputs.js';

/** Bytes of a value as JSON in UTF-8: what it takes in a snapshot, whose 64 KiB the machines must keep. */
export function jsonBytes(value: Json): number {
  const text = JSON.stringify(value);
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Halves of pairs count two each, and JSON has no single ones: it escapes them.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}
