import { createHash } from 'node:crypto';
import type { Kind } from '../../actors/contracts.js';
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

/** Whether the text of a member is structure, which a replay cannot do without. By declaration of its kind. */
export type Keeps = (member: string) => boolean;

/** `redacted` wins over `keptInBundles`; what a kind does not declare is private. */
export const keptBy = ({ redacted, keptInBundles }: Pick<Kind, 'redacted' | 'keptInBundles'>): Keeps => {
  const kept = new Set(keptInBundles);
  for (const member of redacted ?? []) kept.delete(member);
  return (member) => kept.has(member);
};

/** An event as it may be given away. What the kernel stamps on it is no one's text. */
export function blankedEvent<Event extends Readonly<Record<string, Json | undefined>>>(
  event: Event,
  keeps: Keeps,
): Event {
  const { input } = event;
  const isCreation = event['type'] === 'kernel.created' && typeof input === 'object' && input !== null;
  return {
    ...(blanked(event, keeps) as Event),
    ...stampOf(event, ['type', 'actorId', ...stamp]),
    ...(isCreation && {
      input: { ...(blanked(input, keeps) as object), ...stampOf(input, ['id', ...stamp]) },
    }),
  };
}

const stamp = ['at', 'by', 'onBehalfOf'];
const stampOf = (event: object, members: readonly string[]): object =>
  Object.fromEntries(Object.entries(event).filter(([member]) => members.includes(member)));

/** A stored state as it may be given away: where it stands is structure, its context and output are not. */
export function blankedState(state: Json, keeps: Keeps): Json {
  const { '~': envelope, ...plain } = state as Readonly<Record<string, Json>>;
  if (envelope !== undefined) {
    const { json = null, ...types } = envelope as Readonly<Record<string, Json>>;
    return { '~': { ...types, json: blankedState(json, keeps) } };
  }
  const { context, output } = plain;
  return {
    ...plain,
    ...(context !== undefined && { context: blanked(context, keeps) }),
    ...(output !== undefined && { output: blanked(output, keeps) }),
  };
}

/**
 * Every text blanked out but those of the members that are kept; numbers, times and names of members stay. A text
 * that the log holds as hash and length becomes what the text itself would become.
 */
export function blanked(value: Json | undefined, keeps: Keeps, member = ''): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return keeps(member) ? keptText(value, keeps) : blankedText(value);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((element: Json) => blanked(element, keeps, member));
  const hashed = value as { readonly sha256?: Json; readonly chars?: Json };
  if (
    typeof hashed.sha256 === 'string' &&
    typeof hashed.chars === 'number' &&
    Object.keys(value).length === 2
  )
    return blankOf(hashed.sha256, hashed.chars);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      keeps(member) ? name : blankedName(name),
      blanked(inner as Json, keeps, name),
    ]),
  );
}

const blankedText = (text: string): string => (isoTime.test(text) ? text : blank(text));
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * The name of a member is structure; a key that could not be one (an address, a path, a sentence) is a text, and
 * becomes what a machine makes of that text as a key.
 */
const blankedName = (name: string): string => (plainName.test(name) ? name : blank(name));
const plainName = /^[A-Za-z_$~][\w$-]{0,63}$|^\d{1,9}$/;

/** A member may hold JSON: what is kept is its structure alone. */
function keptText(text: string, keeps: Keeps): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(blanked(JSON.parse(text) as Json, keeps));
  } catch {
    return text;
  }
}

/**
 * `recorded` with the replay's text wherever that may come from a blank: only hashes of it are given away, and
 * those must be what a replay can come to. Everything else is left as it was recorded, so that a difference
 * shows.
 */
export function maskedLike(
  recorded: Json | undefined,
  replayed: Json | undefined,
  keeps: Keeps,
  member = '',
): Json {
  if (typeof recorded === 'string')
    return typeof replayed === 'string' && (replayed.includes(mark) || !keeps(member)) ? replayed : recorded;
  if (typeof recorded !== 'object' || recorded === null) return recorded ?? null;
  if (Array.isArray(recorded))
    return recorded.map((element: Json, n) =>
      maskedLike(
        element,
        Array.isArray(replayed) ? (replayed as readonly Json[])[n] : undefined,
        keeps,
        member,
      ),
    );
  const other = (typeof replayed === 'object' && replayed !== null ? replayed : {}) as Readonly<
    Record<string, Json>
  >;
  return Object.fromEntries(
    Object.entries(recorded).map(([key, inner]) => {
      const name = key in other || !(blankedName(key) in other) ? key : blankedName(key);
      return [name, maskedLike(inner as Json, other[name], keeps, key)];
    }),
  );
}
