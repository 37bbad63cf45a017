import { createHash } from 'node:crypto';
import type { Json } from '../../machines/outputs.js';

/**
 * What people wrote, blanked out: a text of the same length whose beginning tells only whether two texts were
 * the same. What a machine made of a text (its first line, a part of it) is known by the mark, wherever it
 * ended up.
 */
export const mark = '\u2592';

/** `blank('hello')` → five characters that begin with the mark. */
export const blank = (text: string): string => blankOf(digest(text), text.length);

export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

function blankOf(sha256: string, chars: number): string {
  if (chars === 0) return '';
  return `${mark}${sha256}`.padEnd(chars, mark).slice(0, chars);
}

/**
 * Texts of the log that stand there as hash and length already, and texts of members that are named, blanked
 * out alike.
 */
export function blanked(value: Json | undefined, isPrivate: Private): Json {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((element: Json) => blanked(element, isPrivate));
  const hashed = value as { readonly sha256?: Json; readonly chars?: Json };
  if (
    typeof hashed.sha256 === 'string' &&
    typeof hashed.chars === 'number' &&
    Object.keys(value).length === 2
  )
    return blankOf(hashed.sha256, hashed.chars);
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      typeof inner === 'string' && isPrivate(member) ? blank(inner) : blanked(inner as Json, isPrivate),
    ]),
  );
}

/**
 * `recorded` with the replay's text wherever that came from a blank: only hashes of it are given away, and
 * those must be what a replay can come to. Everything else is left as it was recorded, so that a difference
 * shows.
 */
export function maskedLike(recorded: Json | undefined, replayed: Json | undefined): Json {
  if (typeof recorded === 'string')
    return typeof replayed === 'string' && replayed.includes(mark) ? replayed : recorded;
  if (typeof recorded !== 'object' || recorded === null) return recorded ?? null;
  if (Array.isArray(recorded))
    return recorded.map((element: Json, n) =>
      maskedLike(element, Array.isArray(replayed) ? (replayed as readonly Json[])[n] : undefined),
    );
  const other = (typeof replayed === 'object' && replayed !== null ? replayed : {}) as Readonly<
    Record<string, Json>
  >;
  return Object.fromEntries(
    Object.entries(recorded).map(([member, inner]) => [member, maskedLike(inner as Json, other[member])]),
  );
}

/**
 * Does this member hold what people wrote, where they work, or a secret? By its name, or because its kind
 * says so.
 */
export type Private = (member: string) => boolean;

export const privateTo =
  (kind: { readonly redacted?: readonly string[] }): Private =>
  (member) =>
    kind.redacted?.includes(member) === true || privateNames.test(member);

const privateNames =
  /title|body|acceptance|content|text$|prompt|excerpt|note|reason|summary|message$|error|cwd|request$|description|url$|token$|secret|password|authorization|cookie|apikey|capability$/i;

/**
 * A state that nobody saw come about: what its texts were made of cannot be known. Whatever is more than a
 * word goes, under whatever name it stands.
 */
export function blankedState(value: Json, isPrivate: Private): Json {
  if (typeof value === 'string')
    return /\s/.test(value) || value.length > wordCharsMax ? blank(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: Json) => blankedState(element, isPrivate));
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => [
      member,
      typeof inner === 'string' && isPrivate(member) ? blank(inner) : blankedState(inner as Json, isPrivate),
    ]),
  );
}

const wordCharsMax = 100;
