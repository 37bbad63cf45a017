import type { Json } from '../outputs.js';
import { isRaw, note, within, type Place, type Raw, type Reading } from './reader.js';

/** Values of any shape inside a definition: what an action takes, what an end gives back. */
/** JSON of any kind, of at most `charsMax` characters when written. */
export function jsonAt(reading: Reading, raw: Raw, member: string, place: Place, charsMax = 16_384): Json {
  const value = raw[member];
  if (value === undefined) return null;
  const size = sizeOf(value);
  if (size <= charsMax) return value as Json; // what was measured is JSON: everything else is infinite
  note(
    reading,
    'too-long',
    `${member} of "${place.ref}" is larger than ${charsMax} characters, nested deeper than 16, or not JSON`,
    within(place, member),
  );
  return null;
}

function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return 8;
  if (typeof value !== 'object' || depth > 16) return Number.POSITIVE_INFINITY;
  return Object.entries(value).reduce(
    (size, [name, item]) => size + name.length + 3 + (item === undefined ? 0 : sizeOf(item, depth + 1)),
    2,
  );
}

/** An object of JSON values. */
export function fieldsAt(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
): Readonly<Record<string, Json>> {
  if (raw[member] === undefined || raw[member] === null) return {};
  if (!isRaw(raw[member]))
    note(reading, 'bad-field', `${member} of "${place.ref}" must be an object`, within(place, member));
  const value = jsonAt(reading, raw, member, place);
  return isRaw(value) ? (value as Readonly<Record<string, Json>>) : {};
}

/** An object of at most 32 texts. */
export function textsAt(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
): Readonly<Record<string, string>> {
  const entries = Object.entries(fieldsAt(reading, raw, member, place)).filter(
    ([name]) => name !== '__proto__',
  );
  if (entries.length > 32)
    note(reading, 'too-many', `${member} of "${place.ref}" has more than 32 members`, within(place, member));
  return Object.fromEntries(
    entries.slice(0, 32).flatMap(([name, text]) => {
      if (typeof text === 'string' && text.length <= 2_000 && name.length <= 128) return [[name, text]];
      note(
        reading,
        'bad-field',
        `${member}.${name.slice(0, 64)} of "${place.ref}" must be a text of at most 2000 characters`,
        within(place, member),
      );
      return [];
    }),
  );
}
