import { definitionLimits as limits, type Gate } from './definition.js';
import {
  listAt,
  maybeTextAt,
  note,
  numberAt,
  recordAt,
  textAt,
  within,
  wordAt,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';
import { shapeFaults, type ValueShape } from './value-shape.js';

/** The parts of a definition that nodes and edges share: ids, shapes of values, gates, deadlines. */
export const idPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const forbiddenIds = new Set(['__proto__', 'constructor', 'prototype']);
const isId = (id: string): boolean => idPattern.test(id) && !forbiddenIds.has(id);
const like =
  'begin with a letter, a digit or _, and hold letters, digits, dots, dashes and _ only (at most 128)';

export function idAt(reading: Reading, raw: Raw, member: string, place: Place, standard?: string): string {
  const id = textAt(reading, raw, member, place, {
    charsMax: limits.idCharsMax,
    ...(standard === undefined ? {} : { standard }),
  });
  if (id !== '' && !isId(id))
    note(reading, 'bad-id', `the id "${id.slice(0, 64)}" must ${like}`, within(place, member));
  return id;
}

export function shapeAt(reading: Reading, raw: Raw, member: string, place: Place): ValueShape | null {
  const shape = raw[member];
  if (shape === undefined || shape === null) return null;
  const faults = shapeFaults(shape);
  for (const fault of faults) note(reading, 'bad-shape', `${member}: ${fault}`, within(place, member));
  return faults.length === 0 ? (shape as ValueShape) : null; // checked one line above
}

const gateMembers = [
  'id',
  'kind',
  'glob',
  'flag',
  'approvalRef',
  'description',
  'timeoutMinutes',
  'timeoutMs',
];

export function readGate(reading: Reading, value: unknown, place: Place, id: string): Gate {
  const raw = recordAt(reading, value, place, gateMembers);
  if (raw['kind'] === undefined)
    note(
      reading,
      'gate-missing-field',
      `the gate of "${place.ref}" needs kind: approval, artifact or flag`,
      within(place, 'kind'),
    );
  const kind = wordAt(
    reading,
    raw,
    'kind',
    place,
    ['approval', 'artifact', 'flag'],
    'approval',
    'bad-gate-kind',
  );
  const own = { approval: 'approvalRef', artifact: 'glob', flag: 'flag' }[kind];
  const named = (member: string): string | null => {
    if (member === own && kind !== 'approval')
      return textAt(reading, raw, member, place, { charsMax: 512, code: 'gate-missing-field' });
    return maybeTextAt(reading, raw, member, place, { charsMax: 512 });
  };
  const [glob, flag] = [named('glob'), named('flag')];
  if (glob !== null && glob.split('*').length > 9)
    note(reading, 'bad-field', 'a glob may hold at most 8 stars', within(place, 'glob'));
  const timeoutMs = timeoutAt(reading, raw, place, kind === 'approval' ? null : limits.gateTimeoutMs);
  return {
    id: raw['id'] === undefined || raw['id'] === null ? id : idAt(reading, raw, 'id', place),
    kind,
    glob,
    flag,
    approvalRef: named('approvalRef') ?? (kind === 'approval' ? id : null),
    description: textAt(reading, raw, 'description', place, { charsMax: 2_000, standard: '' }),
    timeoutMs,
  };
}

export const gatesAt = (
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  owner: string,
): readonly Gate[] =>
  listAt(reading, raw, member, place, limits.gatesMax).map((one, index) =>
    readGate(
      reading,
      one,
      { ref: place.ref || owner, path: `${within(place, member).path}[${index}]` },
      `${owner}-gate-${index + 1}`,
    ),
  );

/** A deadline, written in minutes or in milliseconds. */
export function timeoutAt<Standard extends number | null>(
  reading: Reading,
  raw: Raw,
  place: Place,
  standard: Standard,
): number | Standard {
  const minutes = numberAt(reading, raw, 'timeoutMinutes', place, {
    min: 0.001,
    max: limits.minutesMax,
    standard: null,
    whole: false,
  });
  return numberAt(reading, raw, 'timeoutMs', place, {
    min: 1,
    max: limits.minutesMax * 60_000,
    standard: minutes === null ? standard : Math.max(1, Math.round(minutes * 60_000)),
  });
}
