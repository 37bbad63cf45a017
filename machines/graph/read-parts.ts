import type { Json } from '../ground.js';
import { parseCondition, type Condition, type Patterns } from './conditions.js';
import { definitionLimits as limits, type Gate, type LoopPolicy, type Trigger, type WorkflowEdge } from './definition.js';
import { listAt, maybeTextAt, note, numberAt, recordAt, textAt, timeAt, within, wordAt, isRaw, type Place, type Raw, type Reading } from './reader.js';
import { scheduleFault } from '../cron-time.js';
import { shapeFaults, type ValueShape } from './value-shape.js';

/** The parts of a definition that nodes and edges share: gates, conditions, shapes, triggers, loops, edges. */
export const idPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const forbiddenIds = new Set(['__proto__', 'constructor', 'prototype']);
const isId = (id: string): boolean => idPattern.test(id) && !forbiddenIds.has(id);
const like = 'begin with a letter, a digit or _, and hold letters, digits, dots, dashes and _ only (at most 128)';

export function idAt(reading: Reading, raw: Raw, member: string, place: Place, standard?: string): string {
  const id = textAt(reading, raw, member, place, { charsMax: limits.idCharsMax, ...(standard === undefined ? {} : { standard }) });
  if (id !== '' && !isId(id)) note(reading, 'bad-id', `the id "${id.slice(0, 64)}" must ${like}`, within(place, member));
  return id;
}

function conditionsAt(reading: Reading, raw: Raw, member: string, place: Place, options: { readonly isNode: (id: string) => boolean; readonly patterns?: Patterns | undefined }): readonly Condition[] {
  const given = isRaw(raw[member]) ? { [member]: [raw[member]] } : raw; // a single condition may stand alone
  return listAt(reading, given, member, place, limits.conditionsMax, 'too-many-conditions').flatMap((one, index) => {
    const read = parseCondition(one, { isNode: options.isNode, ...(options.patterns === undefined ? {} : { patterns: options.patterns }) });
    if (read.faults === undefined) return [read.condition];
    for (const { code, message } of read.faults) note(reading, code === 'unknown-condition-step' ? code : 'bad-edge-condition', `${place.ref === '' ? '' : `"${place.ref}": `}${message}`, { ref: place.ref || member, path: `${within(place, member).path}[${index}]` });
    return [unreadable];
  });
}

/** Stands for a condition with faults, so that the rest of the graph is judged as if it were there. */
const unreadable: Condition = { path: 'run.id', op: 'exists' };

export function shapeAt(reading: Reading, raw: Raw, member: string, place: Place): ValueShape | null {
  const shape = raw[member];
  if (shape === undefined || shape === null) return null;
  const faults = shapeFaults(shape);
  for (const fault of faults) note(reading, 'bad-shape', `${member}: ${fault}`, within(place, member));
  return faults.length === 0 ? (shape as ValueShape) : null; // checked one line above
}

const gateMembers = ['id', 'kind', 'glob', 'flag', 'approvalRef', 'description', 'timeoutMinutes', 'timeoutMs'];

export function readGate(reading: Reading, value: unknown, place: Place, id: string): Gate {
  const raw = recordAt(reading, value, place, gateMembers);
  if (raw['kind'] === undefined) note(reading, 'gate-missing-field', `the gate of "${place.ref}" needs kind: approval, artifact or flag`, within(place, 'kind'));
  const kind = wordAt(reading, raw, 'kind', place, ['approval', 'artifact', 'flag'], 'approval', 'bad-gate-kind');
  const own = { approval: 'approvalRef', artifact: 'glob', flag: 'flag' }[kind];
  const named = (member: string): string | null => {
    if (member === own && kind !== 'approval') return textAt(reading, raw, member, place, { charsMax: 512, code: 'gate-missing-field' });
    return maybeTextAt(reading, raw, member, place, { charsMax: 512 });
  };
  const [glob, flag] = [named('glob'), named('flag')];
  if (glob !== null && glob.split('*').length > 9) note(reading, 'bad-field', 'a glob may hold at most 8 stars', within(place, 'glob'));
  const timeoutMs = timeoutAt(reading, raw, place, kind === 'approval' ? null : limits.gateTimeoutMs);
  return {
    id: raw['id'] === undefined || raw['id'] === null ? id : idAt(reading, raw, 'id', place), kind, glob, flag, approvalRef: named('approvalRef') ?? (kind === 'approval' ? id : null),
    description: textAt(reading, raw, 'description', place, { charsMax: 2_000, standard: '' }), timeoutMs,
  };
}

export const gatesAt = (reading: Reading, raw: Raw, member: string, place: Place, owner: string): readonly Gate[] =>
  listAt(reading, raw, member, place, limits.gatesMax).map((one, index) => readGate(reading, one, { ref: place.ref || owner, path: `${within(place, member).path}[${index}]` }, `${owner}-gate-${index + 1}`));

/** A deadline, written in minutes or in milliseconds. */
export function timeoutAt<Standard extends number | null>(reading: Reading, raw: Raw, place: Place, standard: Standard): number | Standard {
  const minutes = numberAt(reading, raw, 'timeoutMinutes', place, { min: 0.001, max: limits.minutesMax, standard: null, whole: false });
  return numberAt(reading, raw, 'timeoutMs', place, { min: 1, max: limits.minutesMax * 60_000, standard: minutes === null ? standard : Math.max(1, Math.round(minutes * 60_000)) });
}

export function readTrigger(reading: Reading, value: unknown, place: Place): Trigger {
  if (value === undefined || value === null || value === 'manual') return { kind: 'manual' };
  const raw = recordAt(reading, value, place, ['kind', 'cron', 'timezone', 'until', 'toStatus', 'fromStatus', 'filter']);
  switch (wordAt(reading, raw, 'kind', place, ['manual', 'schedule', 'todo-status-change'], 'manual', 'bad-trigger-kind')) {
    case 'manual': return { kind: 'manual' };
    case 'schedule': return readSchedule(reading, raw, place);
    case 'todo-status-change': {
      const filter = raw['filter'] === undefined || raw['filter'] === null ? {} : recordAt(reading, raw['filter'], within(place, 'filter'), ['source', 'department', 'assignee']);
      const word = (from: Raw, member: string): string | null => maybeTextAt(reading, from, member, place, { charsMax: 200 });
      const statuses = ['backlog', 'assigned', 'executing', 'in_review', 'blocked', 'escalated', 'done', 'cancelled'];
      if (raw['toStatus'] === undefined) note(reading, 'trigger-missing-field', 'a todo-status-change needs toStatus', within(place, 'toStatus'));
      return {
        kind: 'todo-status-change', toStatus: wordAt(reading, raw, 'toStatus', place, statuses, 'done'), fromStatus: raw['fromStatus'] == null ? null : wordAt(reading, raw, 'fromStatus', place, statuses, 'executing'),
        filter: { source: word(filter, 'source'), department: word(filter, 'department'), assignee: word(filter, 'assignee') },
      };
    }
  }
}

function readSchedule(reading: Reading, raw: Raw, place: Place): Trigger {
  const cron = textAt(reading, raw, 'cron', place, { charsMax: 200, code: 'bad-schedule' });
  const timezone = textAt(reading, raw, 'timezone', place, { charsMax: 64, standard: 'UTC', code: 'bad-schedule' });
  const fault = cron === '' ? undefined : scheduleFault(cron, timezone); // its absence was noted above
  if (fault !== undefined) note(reading, 'bad-schedule', fault.message, within(place, fault.path === 'schedule' ? 'cron' : 'timezone'));
  return { kind: 'schedule', cron, timezone, until: timeAt(reading, raw, 'until', place, 'bad-schedule') };
}

export function readLoop(reading: Reading, value: unknown, place: Place, { isNode, patterns }: { readonly isNode: (id: string) => boolean; readonly patterns?: Patterns | undefined }): LoopPolicy | null {
  if (value === undefined || value === null) return null;
  const raw = recordAt(reading, value, place, ['maxRoundsPerRun', 'stopWhen', 'maxRuns', 'until']);
  return {
    maxRoundsPerRun: numberAt(reading, raw, 'maxRoundsPerRun', place, { min: 1, max: limits.roundsMax, standard: null, code: 'bad-loop' }),
    stopWhen: conditionsAt(reading, raw, 'stopWhen', place, { isNode, patterns }),
    maxRuns: numberAt(reading, raw, 'maxRuns', place, { min: 1, max: 1_000_000, standard: null, code: 'bad-loop' }),
    until: timeAt(reading, raw, 'until', place, 'bad-loop'),
  };
}

const edgeMembers = ['id', 'from', 'to', 'kind', 'lane', 'label', 'when', 'maxRounds'];

export function readEdge(reading: Reading, value: unknown, index: number, options: { readonly isNode: (id: string) => boolean; readonly roundsMax: number | null; readonly patterns?: Patterns | undefined }): WorkflowEdge {
  const path = `edges[${index}]`;
  const given = isRaw(value) && typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : null;
  const place: Place = { ref: given ?? path, path };
  const raw = recordAt(reading, value, place, edgeMembers);
  const [from, to] = [textAt(reading, raw, 'from', place, { charsMax: limits.idCharsMax }), textAt(reading, raw, 'to', place, { charsMax: limits.idCharsMax })];
  const kind = wordAt(reading, raw, 'kind', place, ['sequence', 'handoff', 'loop'], 'sequence', 'bad-edge-kind');
  const lane = raw['lane'] === undefined || raw['lane'] === null ? null : wordAt(reading, raw, 'lane', place, ['error'], 'error', 'bad-lane');
  const rounds = numberAt(reading, raw, 'maxRounds', place, { min: 1, max: limits.roundsMax, standard: null, code: 'bad-loop' });
  if (rounds !== null && kind !== 'loop') note(reading, 'bad-loop', `edge "${place.ref}" is no loop and takes no maxRounds`, within(place, 'maxRounds'));
  return {
    id: idAt(reading, raw, 'id', place, `e${index + 1}`), from, to, kind, lane, label: maybeTextAt(reading, raw, 'label', place, { charsMax: limits.titleCharsMax }),
    when: conditionsAt(reading, raw, 'when', place, options), maxRounds: kind === 'loop' ? rounds ?? options.roundsMax : null,
  };
}

/** JSON of any kind, of at most `charsMax` characters when written. */
export function jsonAt(reading: Reading, raw: Raw, member: string, place: Place, charsMax = 16_384): Json {
  const value = raw[member];
  if (value === undefined) return null;
  const size = sizeOf(value);
  if (size <= charsMax) return value as Json; // what was measured is JSON: everything else is infinite
  note(reading, 'too-long', `${member} of "${place.ref}" is larger than ${charsMax} characters, nested deeper than 16, or no JSON`, within(place, member));
  return null;
}

function sizeOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length + 2;
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return 8;
  if (typeof value !== 'object' || depth > 16) return Number.POSITIVE_INFINITY;
  return Object.entries(value).reduce((size, [name, item]) => size + name.length + 3 + (item === undefined ? 0 : sizeOf(item, depth + 1)), 2);
}
