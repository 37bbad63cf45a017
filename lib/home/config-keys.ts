import type * as z from 'zod';
import { configSchema } from './config.js';

/**
 * Every key of config.yaml with its default and its sentence, read from the schema that parses: the
 * documentation cannot lag behind.
 */
export interface ConfigKey {
  readonly key: string;
  readonly standard: unknown;
  readonly about: string;
}

export function configKeys(): readonly ConfigKey[] {
  return keysOf(configSchema, '');
}

function keysOf(schema: z.ZodType, at: string): readonly ConfigKey[] {
  const shape = shapeOf(schema);
  if (shape === undefined)
    return [{ key: at, standard: standardOf(schema), about: schema.description ?? '' }];
  return Object.entries(shape).flatMap(([name, member]) =>
    keysOf(member, at === '' ? name : `${at}.${name}`),
  );
}

/** The members of an object, whatever is wrapped around it. Lists and unions are leaves. */
function shapeOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const definition = defOf(schema);
  if (definition.type === 'object') return definition.shape;
  if (definition.type === 'pipe') {
    const { in: before, out: after } = definition;
    return (after && shapeOf(after)) ?? (before && shapeOf(before));
  }
  return definition.type === 'prefault' && definition.innerType ? shapeOf(definition.innerType) : undefined;
}

function standardOf(schema: z.ZodType): unknown {
  const result = schema.safeParse(undefined);
  return result.success ? result.data : undefined;
}

/** zod's own description of a schema, as far as we look at it. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly innerType?: z.ZodType;
}
// Zod types each kind of schema apart; here any may come
const defOf = (schema: z.ZodType): Definition => schema.def as Definition;
