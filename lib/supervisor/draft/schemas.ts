import type { AnyEventObject } from 'xstate';
import type { Kind, StandardSchema } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { assertAtOnce, assertJson } from './codec.js';

/**
 * What a kind's schemas say of an event or an input, before its policy is asked. What a schema makes of it (a
 * default that was filled in, a member that was dropped) is what the machine sees and the log keeps.
 */
export function checkedEvent(kind: Kind, event: AnyEventObject): AnyEventObject | Refusal {
  const schemas = kind.schemas?.events;
  if (schemas === undefined || !Object.hasOwn(schemas, event.type)) return event;
  const { type, ...members } = event;
  const checked = check(schemas[type] as StandardSchema, members, `${kind.kind} "${type}"`);
  return 'refused' in checked ? checked.refused : { ...checked.value, type };
}

/** The input as a caller gives it: without the id and the stamp, which are not the caller's. */
export function checkedInput(kind: Kind, input: Json): Json | Refusal {
  const schema = kind.schemas?.input;
  if (schema === undefined) return input;
  const checked = check(schema, input, `${kind.kind} input`);
  return 'refused' in checked ? checked.refused : (checked.value as Json);
}

type Checked = { readonly refused: Refusal } | { readonly value: object };

function check(schema: StandardSchema, given: unknown, what: string): Checked {
  const result = schema['~standard'].validate(given);
  assertAtOnce(result, `the schema of ${what} is asynchronous; an event is decided at once`);
  if (result.issues === undefined) {
    assertJson(result.value, `what the schema of ${what} makes`);
    return { value: result.value as object };
  }
  const issues = result.issues.map(({ message, path = [] }) => ({ path: pathOf(path), message }));
  const { path = '', message = 'is invalid' } = issues[0] ?? {};
  return { refused: refuse('BAD_REQUEST', { path, issues }, path === '' ? message : `${path}: ${message}`) };
}

const pathOf = (path: readonly (PropertyKey | { readonly key: PropertyKey })[]): string =>
  path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
