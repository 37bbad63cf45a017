/**
 * Reading what a person or an agent wrote, without ever giving up: each reader answers a usable value and
 * notes what was wrong with what it found, so that all errors of a definition are told at once.
 */

/**
 * One thing that is wrong. `ref` is the id of the node, edge or gate (or the member of the definition) that
 * it is about; `path` is the exact place.
 */
export interface GraphFault {
  /** For programs. */
  readonly code: string;
  /** A sentence: what is wrong and what may stand there. */
  readonly message: string;
  /** Id of the node or edge. */
  readonly ref?: string;
  /** Where in the document: `nodes.3.prompt`. */
  readonly path?: string;
}

export interface Reading {
  readonly faults: GraphFault[];
  /** Faults that did not fit the list. */
  dropped: number;
}

/** Where in a definition: the thing that a fault is about, and the way to the value. */
export interface Place {
  readonly ref: string;
  readonly path: string;
}
export type Raw = Readonly<Record<string, unknown>>;

export const faultsMax = 400;

export const startReading = (): Reading => ({ faults: [], dropped: 0 });

export function note(reading: Reading, code: string, message: string, place?: Partial<Place>): void {
  if (reading.faults.length >= faultsMax) {
    reading.dropped += 1;
    return;
  }
  const { ref, path } = place ?? {};
  reading.faults.push({
    code,
    message: message.slice(0, 600),
    ...(ref ? { ref: ref.slice(0, 160) } : {}),
    ...(path ? { path: path.slice(0, 300) } : {}),
  });
}

export const within = (place: Place, member: string): Place => ({
  ref: place.ref === '' ? member : place.ref,
  path: place.path === '' ? member : `${place.path}.${member}`,
});

export const isRaw = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How a patch names what it may not touch: see `merged`. */
const fixedIn = /^patch\.[a-zA-Z]+$/;

/** An object with none but these members. */
export function recordAt(reading: Reading, value: unknown, place: Place, members: readonly string[]): Raw {
  if (!isRaw(value)) {
    note(reading, 'bad-field', `${nameOf(place)} must be an object`, place);
    return {};
  }
  for (const name of Object.keys(value)) {
    if (fixedIn.test(name))
      note(
        reading,
        'unknown-field',
        `${name.slice('patch.'.length)} of a definition cannot be changed`,
        within(place, name),
      );
    else if (!members.includes(name))
      note(
        reading,
        'unknown-field',
        `${nameOf(place)} has no member "${name.slice(0, 64)}"; it may have ${members.join(', ')}`,
        within(place, name.slice(0, 64)),
      );
  }
  return value;
}

interface TextRules {
  readonly charsMax: number;
  readonly standard?: string;
  readonly code?: string;
  readonly pattern?: RegExp;
  readonly like?: string;
}

/** A text. Without `standard` it must be there and not be blank. */
export function textAt(reading: Reading, raw: Raw, member: string, place: Place, rules: TextRules): string {
  const value = raw[member];
  const at = within(place, member);
  if (
    value === undefined ||
    value === null ||
    (rules.standard === undefined && typeof value === 'string' && value.trim() === '')
  ) {
    if (rules.standard === undefined)
      note(reading, rules.code ?? 'missing-field', `${nameOf(place)} needs ${member}`, at);
    return rules.standard ?? '';
  }
  if (typeof value !== 'string') {
    note(reading, rules.code ?? 'bad-field', `${member} of ${nameOf(place)} must be a text`, at);
    return rules.standard ?? '';
  }
  if (value.length > rules.charsMax)
    note(
      reading,
      'too-long',
      `${member} of ${nameOf(place)} has ${value.length} characters; at most ${rules.charsMax} are allowed`,
      at,
    );
  else if (rules.pattern !== undefined && !rules.pattern.test(value))
    note(
      reading,
      rules.code ?? 'bad-field',
      `${member} of ${nameOf(place)} must ${rules.like ?? 'have another form'}`,
      at,
    );
  return value.slice(0, rules.charsMax);
}

/** A text or nothing. */
export const maybeTextAt = (
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  rules: TextRules,
): string | null =>
  raw[member] === undefined || raw[member] === null ? null : textAt(reading, raw, member, place, rules);

/** One of a few words. */
export function wordAt<const Word extends string>(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  words: readonly Word[],
  standard: Word,
  code = 'bad-field',
): Word {
  const value = raw[member];
  if (value === undefined || value === null) return standard;
  const word = words.find((known) => known === value);
  if (word === undefined)
    note(
      reading,
      code,
      `${member} of ${nameOf(place)} must be one of ${words.join(', ')}`,
      within(place, member),
    );
  return word ?? standard;
}

/** A number within bounds, or `standard`. */
export function numberAt<Standard extends number | null>(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  rules: {
    readonly min: number;
    readonly max: number;
    readonly standard: Standard;
    readonly whole?: boolean;
    readonly code?: string;
  },
): number | Standard {
  const value = raw[member];
  if (value === undefined || value === null) return rules.standard;
  if (
    typeof value === 'number' &&
    value >= rules.min &&
    value <= rules.max &&
    (rules.whole === false || Number.isInteger(value))
  )
    return value;
  note(
    reading,
    rules.code ?? 'bad-field',
    `${member} of ${nameOf(place)} must be a ${rules.whole === false ? '' : 'whole '}number from ` +
      `${rules.min} to ${rules.max}`,
    within(place, member),
  );
  return rules.standard;
}

export function flagAt(reading: Reading, raw: Raw, member: string, place: Place): boolean {
  const value = raw[member];
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    note(reading, 'bad-field', `${member} of ${nameOf(place)} must be true or false`, within(place, member));
  return value === true;
}

/** A list; what is beyond `max` is noted and left out. */
export function listAt(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  max: number,
  code = 'too-many',
): readonly unknown[] {
  const value = raw[member];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    note(reading, 'bad-field', `${member} of ${nameOf(place)} must be a list`, within(place, member));
    return [];
  }
  if (value.length > max)
    note(
      reading,
      code,
      `${nameOf(place)} has ${value.length} ${member}; at most ${max} are allowed`,
      within(place, member),
    );
  return value.slice(0, max);
}

/** A time: ISO-8601 with a zone, or nothing. */
export function timeAt(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  code = 'bad-field',
): string | null {
  const written = maybeTextAt(reading, raw, member, place, { charsMax: 64, code });
  if (written === null) return null;
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/.test(written)
    ? Date.parse(written)
    : Number.NaN;
  if (Number.isNaN(at))
    note(
      reading,
      code,
      `${member} of ${nameOf(place)} must be a time like 2026-01-31T09:00:00Z`,
      within(place, member),
    );
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** How a place is spoken of: `node "a"`, or the definition itself. */
export const nameOf = ({ ref, path }: Place): string =>
  ref === '' ? 'the definition' : ref === path ? ref : `"${ref.slice(0, 128)}"`;
