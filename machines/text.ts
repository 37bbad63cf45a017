import type { Json } from './outputs.js';

/**
 * Texts and values from outside, before they are kept: cut, measured in bytes and depth, told apart by a hash,
 * compared with the names that are known.
 */

/** At most `chars` characters, never half of a surrogate pair. */
export function excerpt(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const cut = text.slice(0, chars);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

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

/**
 * Is a value nested deeper than that? What is kept is walked through again and again, by code that would fall
 * off its stack a few thousand levels down; so anyone who takes values from outsiders asks this first. Looks no
 * further than `depth`.
 * @example deeperThan([[1]], 1) // true
 */
export function deeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const inside of Array.isArray(value) ? value : Object.values(value))
    if (deeperThan(inside, depth - 1)) return true;
  return false;
}

/** Of bodies, of what programs print and of what agents hand over. */
export const jsonDepthMax = 32;

/** FNV-1a, 32 bits (Fowler, Noll, Vo): tells short names of long texts apart. No secret rests on it. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1)
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash >>> 0;
}

/**
 * The name that is at most two edits away from what was typed, for a slip of the finger: `nearest('prot',
 * ['host', 'port'])` → `'port'`
 */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = editsMax + 1;
  for (const name of known) {
    const count = edits(
      typed.toLowerCase().slice(0, nameCharsMax),
      name.toLowerCase().slice(0, nameCharsMax),
    );
    if (count < bestEdits) [best, bestEdits] = [name, count];
  }
  return best;
}

const editsMax = 2;
const nameCharsMax = 100;

/** Letters to insert, remove or replace (Levenshtein), row by row. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** In words, whatever it is: hosts throw refusals, texts, and objects that have no text at all. */
export function reasonOf(cause: unknown): string {
  try {
    const { message } = Object(cause) as { readonly message?: unknown };
    return typeof message === 'string' ? message : String(cause);
  } catch {
    return 'something without a text';
  }
}
