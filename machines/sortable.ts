/**
 * Strings that sort as the values do. Keys of lists are ASCII, and never hold a `/`, which separates the parts of a
 * key: stores compare keys byte by byte, so whatever a list is ordered by must first become such a string. Times
 * are written as ISO-8601, which sorts, too.
 */

/**
 * A number as 16 hexadecimal digits in numeric order; `descending` turns the order round. NaN is refused.
 *
 * After IEEE 754: positive doubles sort like their bits, negative ones in reverse, so the sign bit is flipped
 * for the former and every bit for the latter.
 * @example sortable(3) < sortable(20) // true
 */
export function sortable(value: number, options: { readonly descending?: boolean } = {}): string {
  if (Number.isNaN(value)) throw new RangeError('NaN has no place in an order');
  view.setFloat64(0, value === 0 ? 0 : value); // -0 and 0 are one place
  const negative = view.getUint8(0) >= 0x80;
  const flip = negative !== (options.descending ?? false);
  const high = negative ? view.getUint32(0) : view.getUint32(0) | 0x8000_0000;
  const low = view.getUint32(4);
  return flip ? hex(~high) + hex(~low) : hex(high) + hex(low);
}

/**
 * Text in code point order. Letters, digits, `-`, `_`, `@` and most punctuation stay as they are, so that
 * plain names are their own keys; `.` becomes `.0`, `/` becomes `.1`, blanks and control characters `!XX`,
 * and all beyond ASCII `~XXXXXX`. Never throws.
 * @example sortableText('ann') // 'ann'; sortableText('a/b') // 'a.1b'
 */
export function sortableText(text: string): string {
  let sorted = '';
  for (const character of text) sorted += escaped(character);
  return sorted;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '.') return '.0';
  if (character === '/') return '.1';
  if (code <= 0x21) return `!${code.toString(16).padStart(2, '0')}`;
  if (code >= 0x7e) return `~${code.toString(16).padStart(6, '0')}`;
  return character;
}

const view = new DataView(new ArrayBuffer(8)); // written again by every call before it is read

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');

/** Epoch milliseconds as the API writes times: ISO-8601, UTC, with milliseconds. Never reads the clock. */
export function isoTime(at: number): string {
  const day = Math.floor(at / dayMs);
  if (day !== knownDay) {
    knownDate = new Date(at).toISOString().slice(0, -13); // throws what Date throws for a time it cannot hold
    knownDay = day;
  }
  const ms = Math.floor(at) - day * dayMs;
  return (
    `${knownDate}${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:` +
    `${two(Math.floor(ms / 1_000) % 60)}.${String(ms % 1_000).padStart(3, '0')}Z`
  );
}

// Nearly all times of a day's work lie within that day, and making the date is four fifths of the cost.
let knownDay = NaN;
let knownDate = '';
const dayMs = 86_400_000;
const pairs = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));
const two = (n: number): string => pairs[n] as string;

/** The same for a time that may be absent. */
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));
