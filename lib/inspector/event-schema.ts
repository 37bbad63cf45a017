import type { Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { EventSchema } from './answers.js';

/**
 * What an event that a kind opens to people takes, as JSON Schema, for forms: what the kind's own schema says of
 * each member where its library can say it (zod 4, arktype and others of the Standard JSON Schema), else its bare
 * type. What is sent is judged as always; a form only helps to write it.
 */
export function eventSchema(kind: Kind, type: string): EventSchema {
  const shape = kind.operatorEvents?.[type] ?? {};
  const { properties = {}, required = [] } = ownSchema(kind, type) ?? {};
  return {
    properties: Object.fromEntries(
      Object.entries(shape).map(([name, wanted]) => [
        name,
        properties[name] ?? { type: wanted.replace('?', '') },
      ]),
    ),
    required: Object.entries(shape).flatMap(([name, wanted]) =>
      !wanted.endsWith('?') || required.includes(name) ? name : [],
    ),
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function ownSchema({ schemas }: Kind, type: string): ObjectSchema | undefined {
  const events = schemas?.events ?? {};
  const schema = Object.hasOwn(events, type) ? events[type] : undefined;
  const { jsonSchema } = (schema?.['~standard'] ?? {}) as {
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => object };
  };
  try {
    return jsonSchema?.input({ target: 'draft-2020-12' });
  } catch {
    return undefined; // a member that no JSON Schema can say, as a date: the bare types are left
  }
}
