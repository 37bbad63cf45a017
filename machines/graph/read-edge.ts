import { parseCondition, type Condition, type Patterns } from './conditions.js';
import { definitionLimits as limits, type LoopPolicy, type WorkflowEdge } from './definition.js';
import {
  isRaw,
  listAt,
  maybeTextAt,
  note,
  numberAt,
  recordAt,
  textAt,
  timeAt,
  within,
  wordAt,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';
import { idAt } from './read-parts.js';

/** Edges with their conditions, and the loop policy of a whole definition. */
const edgeMembers = ['id', 'from', 'to', 'kind', 'lane', 'label', 'when', 'maxRounds'];

export function readEdge(
  reading: Reading,
  value: unknown,
  index: number,
  options: {
    readonly isNode: (id: string) => boolean;
    readonly roundsMax: number | null;
    readonly patterns?: Patterns | undefined;
  },
): WorkflowEdge {
  const path = `edges[${index}]`;
  const given = isRaw(value) && typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : null;
  const place: Place = { ref: given ?? path, path };
  const raw = recordAt(reading, value, place, edgeMembers);
  const [from, to] = [
    textAt(reading, raw, 'from', place, { charsMax: limits.idCharsMax }),
    textAt(reading, raw, 'to', place, { charsMax: limits.idCharsMax }),
  ];
  const kind = wordAt(
    reading,
    raw,
    'kind',
    place,
    ['sequence', 'handoff', 'loop'],
    'sequence',
    'bad-edge-kind',
  );
  const lane =
    raw['lane'] === undefined || raw['lane'] === null
      ? null
      : wordAt(reading, raw, 'lane', place, ['error'], 'error', 'bad-lane');
  const rounds = numberAt(reading, raw, 'maxRounds', place, {
    min: 1,
    max: limits.roundsMax,
    standard: null,
    code: 'bad-loop',
  });
  if (rounds !== null && kind !== 'loop')
    note(
      reading,
      'bad-loop',
      `edge "${place.ref}" is not a loop and cannot have maxRounds`,
      within(place, 'maxRounds'),
    );
  return {
    id: idAt(reading, raw, 'id', place, `e${index + 1}`),
    from,
    to,
    kind,
    lane,
    label: maybeTextAt(reading, raw, 'label', place, { charsMax: limits.titleCharsMax }),
    when: conditionsAt(reading, raw, 'when', place, options),
    maxRounds: kind === 'loop' ? (rounds ?? options.roundsMax) : null,
  };
}

export function readLoop(
  reading: Reading,
  value: unknown,
  place: Place,
  {
    isNode,
    patterns,
  }: { readonly isNode: (id: string) => boolean; readonly patterns?: Patterns | undefined },
): LoopPolicy | null {
  if (value === undefined || value === null) return null;
  const raw = recordAt(reading, value, place, ['maxRoundsPerRun', 'stopWhen', 'maxRuns', 'until']);
  return {
    maxRoundsPerRun: numberAt(reading, raw, 'maxRoundsPerRun', place, {
      min: 1,
      max: limits.roundsMax,
      standard: null,
      code: 'bad-loop',
    }),
    stopWhen: conditionsAt(reading, raw, 'stopWhen', place, { isNode, patterns }),
    maxRuns: numberAt(reading, raw, 'maxRuns', place, {
      min: 1,
      max: 1_000_000,
      standard: null,
      code: 'bad-loop',
    }),
    until: timeAt(reading, raw, 'until', place, 'bad-loop'),
  };
}

function conditionsAt(
  reading: Reading,
  raw: Raw,
  member: string,
  place: Place,
  options: { readonly isNode: (id: string) => boolean; readonly patterns?: Patterns | undefined },
): readonly Condition[] {
  const given = isRaw(raw[member]) ? { [member]: [raw[member]] } : raw; // a single condition may stand alone
  return listAt(reading, given, member, place, limits.conditionsMax, 'too-many-conditions').flatMap(
    (one, index) => {
      const read = parseCondition(one, {
        isNode: options.isNode,
        ...(options.patterns === undefined ? {} : { patterns: options.patterns }),
      });
      if (read.faults === undefined) return [read.condition];
      for (const { code, message } of read.faults)
        note(
          reading,
          code === 'unknown-condition-step' ? code : 'bad-edge-condition',
          `${place.ref === '' ? '' : `"${place.ref}": `}${message}`,
          { ref: place.ref || member, path: `${within(place, member).path}[${index}]` },
        );
      return [placeholder];
    },
  );
}

/** Stands for a condition with faults, so that the rest of the graph is judged as if it were there. */
const placeholder: Condition = { path: 'run.id', op: 'exists' };
