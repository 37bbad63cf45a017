/**
 * Strings that sort as the values do, for the keys of lists: ASCII, and never a `/`, which separates the
 * parts of a key. Stores compare keys byte by byte, so whatever a list is ordered by must first become such a
 * string.
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
