import { definitionLimits as limits, type ActionActor, type StepActor } from './definition.js';
import {
  isRaw,
  maybeTextAt,
  note,
  recordAt,
  textAt,
  within,
  wordAt,
  type Place,
  type Raw,
  type Reading,
} from './reader.js';
import { fieldsAt, jsonAt, textsAt } from './read-values.js';

/** Who or what does a step, as written → as it runs. */
const actorKinds = ['employee', 'engine', 'noop', 'connector-send', 'http', 'work-item', 'workflow'] as const;
const actorMembers: Readonly<Record<(typeof actorKinds)[number], readonly string[]>> = {
  employee: ['ref'],
  engine: ['ref'],
  noop: [],
  'connector-send': ['connector', 'channel', 'text', 'thread'],
  http: ['method', 'url', 'headers', 'body'],
  'work-item': ['operation', 'id', 'fields'],
  workflow: ['workflowId', 'input'],
};

export function readActor(reading: Reading, value: unknown, place: Place): StepActor {
  if (!isRaw(value)) {
    note(
      reading,
      'step-missing-actor',
      `step "${place.ref}" needs an actor: {kind: ${actorKinds.join(' | ')}}`,
      place,
    );
    return { kind: 'noop' };
  }
  const kind = actorKinds.find((known) => known === value['kind']);
  if (kind === undefined) {
    note(
      reading,
      'bad-actor-kind',
      `the actor of step "${place.ref}" must be of kind ${actorKinds.join(', ')}`,
      within(place, 'kind'),
    );
    return { kind: 'noop' };
  }
  const raw = recordAt(reading, value, place, ['kind', ...actorMembers[kind]]);
  if (kind === 'employee' || kind === 'engine')
    return {
      kind,
      ref: textAt(reading, raw, 'ref', place, { charsMax: limits.titleCharsMax, code: 'actor-missing-ref' }),
    };
  return readAction(reading, raw, kind, place);
}

function readAction(reading: Reading, raw: Raw, kind: ActionActor['kind'], place: Place): ActionActor {
  const text = (member: string, charsMax: number): string =>
    textAt(reading, raw, member, place, { charsMax, code: 'actor-missing-field' });
  switch (kind) {
    case 'noop':
      return { kind };
    case 'connector-send':
      return {
        kind,
        connector: text('connector', 200),
        channel: text('channel', 500),
        text: text('text', 32_000),
        thread: maybeTextAt(reading, raw, 'thread', place, { charsMax: 500 }),
      };
    case 'http': {
      const url = textAt(reading, raw, 'url', place, {
        charsMax: 2_000,
        code: 'bad-url',
        pattern: /^(?:https?:\/\/[^\s/{}]|\{\{)/,
        like: 'begin with http:// or https://',
      });
      return {
        kind,
        method: wordAt(reading, raw, 'method', place, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], 'GET'),
        url,
        headers: textsAt(reading, raw, 'headers', place),
        body: jsonAt(reading, raw, 'body', place),
      };
    }
    case 'workflow':
      return {
        kind,
        workflowId: text('workflowId', limits.idCharsMax),
        input: fieldsAt(reading, raw, 'input', place),
      };
    case 'work-item': {
      const operation = wordAt(
        reading,
        raw,
        'operation',
        place,
        ['create', 'status', 'assign', 'comment', 'archive'],
        'create',
        'bad-operation',
      );
      const fields = fieldsAt(reading, raw, 'fields', place);
      const needed = {
        create: 'title',
        status: 'status',
        assign: 'assignee',
        comment: 'text',
        archive: undefined,
      }[operation];
      if (needed !== undefined && (typeof fields[needed] !== 'string' || fields[needed] === ''))
        note(
          reading,
          'actor-missing-field',
          `the operation ${operation} of step "${place.ref}" needs fields.${needed}`,
          within(place, 'fields'),
        );
      return { kind, operation, id: operation === 'create' ? null : text('id', 500), fields };
    }
  }
}
