import {
  definitionLimits as limits,
  type RetryCause,
  type StepNode,
  type StepOptions,
  type WorkflowNode,
} from './definition.js';
import { readActor } from './read-actor.js';
import { gatesAt, idAt, readGate, shapeAt, timeoutAt } from './read-parts.js';
import { readTrigger } from './read-trigger.js';
import { textsAt } from './read-values.js';
import {
  flagAt,
  isRaw,
  listAt,
  maybeTextAt,
  note,
  numberAt,
  recordAt,
  startReading,
  textAt,
  timeAt,
  within,
  wordAt,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';

/** One node of a graph, as written → as it runs. */
const nodeTypes = ['trigger', 'step', 'gate', 'switch', 'fail', 'wait', 'merge', 'end'] as const;
const base = ['id', 'type', 'label', 'position'];
const membersOf: Readonly<Record<(typeof nodeTypes)[number], readonly string[]>> = {
  trigger: [...base, 'trigger'],
  step: [...base, 'actor', 'role', 'instructions', 'cadence', 'gates', 'optional', 'output', 'options'],
  gate: [...base, 'gate'],
  switch: [...base, 'switchMode'],
  fail: [...base, 'failMessage'],
  wait: [...base, 'waitMinutes', 'waitUntil'],
  merge: [...base, 'mode'],
  end: [...base, 'result'],
};

/** A node, or undefined where there is nothing like one. */
export function readNode(reading: Reading, value: unknown, index: number): WorkflowNode | undefined {
  const path = `nodes[${index}]`;
  if (!isRaw(value)) {
    note(reading, 'bad-field', `${path} must be an object`, { ref: path, path });
    return undefined;
  }
  const place: Place = {
    ref: typeof value['id'] === 'string' && value['id'] !== '' ? value['id'] : path,
    path,
  };
  const type = nodeTypes.find((known) => known === value['type']);
  if (type === undefined) {
    note(
      reading,
      'bad-node-type',
      `the type of "${place.ref.slice(0, 128)}" must be one of ${nodeTypes.join(', ')}`,
      within(place, 'type'),
    );
    return typeof value['id'] === 'string' ? placeholder(value['id']) : undefined;
  }
  const raw = recordAt(reading, value, place, membersOf[type]);
  const id = idAt(reading, raw, 'id', place);
  const common = {
    id,
    label: textAt(reading, raw, 'label', place, { charsMax: limits.titleCharsMax, standard: id }),
    position: positionAt(reading, raw, place),
  };
  switch (type) {
    case 'trigger':
      return { ...common, type, trigger: readTrigger(reading, raw['trigger'], within(place, 'trigger')) };
    case 'step':
      return { ...common, type, ...readStep(reading, raw, place) };
    case 'gate':
      return { ...common, type, gate: readGate(reading, raw['gate'], within(place, 'gate'), id) };
    case 'switch':
      return {
        ...common,
        type,
        switchMode: wordAt(
          reading,
          raw,
          'switchMode',
          place,
          ['firstMatch', 'allMatches'],
          'firstMatch',
          'bad-switch-mode',
        ),
      };
    case 'fail':
      return {
        ...common,
        type,
        failMessage: textAt(reading, raw, 'failMessage', place, {
          charsMax: limits.failMessageCharsMax,
          standard: `The run came to "${common.label}".`,
        }),
      };
    case 'merge':
      return {
        ...common,
        type,
        mode: wordAt(reading, raw, 'mode', place, ['all', 'any'], 'all', 'bad-merge-mode'),
      };
    case 'end':
      return { ...common, type, result: textsAt(reading, raw, 'result', place) };
    case 'wait': {
      const waitMinutes = numberAt(reading, raw, 'waitMinutes', place, {
        min: 0.001,
        max: limits.minutesMax,
        standard: null,
        whole: false,
        code: 'bad-wait',
      });
      const waitUntil = timeAt(reading, raw, 'waitUntil', place, 'bad-wait');
      if ((raw['waitMinutes'] == null) === (raw['waitUntil'] == null))
        note(
          reading,
          'bad-wait',
          `wait node "${id}" needs either waitMinutes or waitUntil, or nothing ever wakes it`,
          place,
        );
      return { ...common, type, waitMinutes, waitUntil };
    }
  }
}

/** So that the edges of a node of unknown type are not told to lead nowhere. */
const placeholder = (id: string): WorkflowNode => ({
  id,
  label: id,
  position: { x: 0, y: 0 },
  type: 'step',
  ...readStep(startReading(), { actor: { kind: 'noop' } }, { ref: id, path: id }),
});

function positionAt(reading: Reading, raw: Raw, place: Place): { readonly x: number; readonly y: number } {
  if (raw['position'] === undefined || raw['position'] === null) return { x: 0, y: 0 };
  const position = recordAt(reading, raw['position'], within(place, 'position'), ['x', 'y']);
  const axis = (member: string): number =>
    numberAt(reading, position, member, within(place, 'position'), {
      min: -1e6,
      max: 1e6,
      standard: 0,
      whole: false,
    });
  return { x: axis('x'), y: axis('y') };
}

function readStep(
  reading: Reading,
  raw: Raw,
  place: Place,
): Omit<StepNode, 'id' | 'type' | 'label' | 'position'> {
  const actor = readActor(reading, raw['actor'], within(place, 'actor'));
  const instructions = textAt(reading, raw, 'instructions', place, {
    charsMax: limits.instructionsCharsMax,
    standard: '',
  });
  return {
    actor,
    instructions,
    role: maybeTextAt(reading, raw, 'role', place, { charsMax: limits.titleCharsMax }),
    cadence: maybeTextAt(reading, raw, 'cadence', place, { charsMax: limits.titleCharsMax }),
    gates: gatesAt(reading, raw, 'gates', place, place.ref),
    optional: flagAt(reading, raw, 'optional', place),
    output: shapeAt(reading, raw, 'output', place),
    options: readOptions(reading, raw['options'] ?? {}, within(place, 'options')),
  };
}

const efforts = ['low', 'medium', 'high', 'xhigh', 'max', 'minimal'] as const;
const retryCauses: readonly RetryCause[] = ['error', 'no-output', 'interrupted', 'timeout'];

function readOptions(reading: Reading, value: unknown, place: Place): StepOptions {
  const raw = recordAt(reading, value, place, [
    'model',
    'effort',
    'output',
    'retry',
    'onError',
    'timeoutMinutes',
    'timeoutMs',
    'session',
  ]);
  return {
    model: maybeTextAt(reading, raw, 'model', place, { charsMax: limits.titleCharsMax }),
    effort: raw['effort'] == null ? null : wordAt(reading, raw, 'effort', place, efforts, 'medium'),
    output: wordAt(reading, raw, 'output', place, ['handoff', 'full', 'none'], 'handoff'),
    retry: readRetry(reading, raw['retry'], within(place, 'retry')),
    onError: wordAt(
      reading,
      raw,
      'onError',
      place,
      ['fail-run', 'continue', 'error-edge'],
      'fail-run',
      'bad-on-error',
    ),
    timeoutMs: timeoutAt(reading, raw, place, limits.stepTimeoutMs),
    session: readSession(reading, raw['session'], within(place, 'session')),
  };
}

function readRetry(reading: Reading, value: unknown, place: Place): StepOptions['retry'] {
  if (value === undefined || value === null) return { maxAttempts: 2, on: ['interrupted'], delayMs: 0 };
  const raw = recordAt(reading, value, place, ['maxAttempts', 'on', 'delayMs']);
  const on = listAt(reading, raw, 'on', place, retryCauses.length).flatMap((cause) => {
    const known = retryCauses.find((word) => word === cause);
    if (known === undefined)
      note(
        reading,
        'bad-retry',
        `retry.on of "${place.ref}" may hold ${retryCauses.join(', ')}`,
        within(place, 'on'),
      );
    return known === undefined ? [] : [known];
  });
  return {
    maxAttempts: numberAt(reading, raw, 'maxAttempts', place, {
      min: 1,
      max: limits.attemptsMax,
      standard: 2,
      code: 'bad-retry',
    }),
    on: raw['on'] == null ? retryCauses : [...new Set(on)],
    delayMs: numberAt(reading, raw, 'delayMs', place, {
      min: 0,
      max: limits.retryDelayMsMax,
      standard: 0,
      code: 'bad-retry',
    }),
  };
}

function readSession(reading: Reading, value: unknown, place: Place): StepOptions['session'] {
  if (value === undefined || value === null) return { mode: 'fresh', sessionId: null };
  const raw = recordAt(reading, value, place, ['mode', 'sessionId']);
  const mode = wordAt(
    reading,
    raw,
    'mode',
    place,
    ['fresh', 'workflow', 'existing'],
    'fresh',
    'bad-session-mode',
  );
  const sessionId = maybeTextAt(reading, raw, 'sessionId', place, { charsMax: 200 });
  if (mode === 'existing' && sessionId === null)
    note(
      reading,
      'session-missing-id',
      `step "${place.ref}" goes on in an existing session and must name its sessionId`,
      within(place, 'sessionId'),
    );
  return { mode, sessionId };
}
