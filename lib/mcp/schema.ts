import { z } from 'zod';
import type { Tool } from './tool.js';

/** What a route reads, as its own zod schemas say. */
export interface Reads {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a tool's arguments, taken from the schemas that the route parses with. Models get plain
 * schemas: named parts inlined, `null` left out where absence says the same, numbers of the query as numbers.
 */
export function inputSchema(
  tool: Tool,
  reads: Reads,
): { type: 'object'; properties: Record<string, object>; required?: string[] } {
  const known = { ...propertiesOf(reads.query, true), ...propertiesOf(reads.body, false) };
  const properties: Record<string, object> = {};
  const shown = tool.args.filter(({ fixed }) => !fixed);
  for (const { name, member, standard } of shown) {
    const schema =
      member === null || tool.path.split('/').includes(`:${member}`) ? { type: 'string' } : known[member];
    if (schema)
      properties[name] = {
        ...schema,
        ...(standard !== undefined && {
          default: schema['type'] === 'integer' ? Number(standard) : standard,
        }),
      };
  }
  const required = shown.filter((arg) => arg.required && properties[arg.name]).map(({ name }) => name);
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** The members that the route reads from its query. */
export const queryMembersOf = (reads: Reads): string[] =>
  reads.query instanceof z.ZodObject ? Object.keys(reads.query.shape) : [];

/** Arguments of the table that the route does not read: a slip in one of the two. */
export function strayArguments(tool: Tool, reads: Reads): string[] {
  const known = { ...propertiesOf(reads.query, true), ...propertiesOf(reads.body, false) };
  return tool.args.flatMap(({ name, member }) =>
    member === null || tool.path.split('/').includes(`:${member}`) || known[member] ? [] : [name],
  );
}

function propertiesOf(schema: z.ZodType | undefined, isQuery: boolean): Record<string, Schema> {
  if (!schema) return {};
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as {
    properties?: Record<string, Schema>;
    $defs?: Record<string, Schema>;
  };
  return Object.fromEntries(
    Object.entries(made.properties ?? {}).map(([name, property]) => {
      const plain = simplified(property, made.$defs ?? {}) as Schema;
      return [name, isQuery ? numbered(plain) : plain];
    }),
  );
}

/**
 * Named parts in their place, without the alternatives that only say `null`. Bounded: the shapes of routes do
 * not nest deep.
 */
function simplified(value: unknown, definitions: Record<string, Schema>, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > 12) return value;
  if (Array.isArray(value)) return value.map((item) => simplified(item, definitions, depth + 1));
  const {
    $ref,
    anyOf,
    id: _id,
    $schema: _dialect,
    $defs: _definitions,
    ...rest
  } = value as Record<string, unknown>;
  if (typeof $ref === 'string')
    return simplified(
      { ...definitions[$ref.slice($ref.lastIndexOf('/') + 1)], ...rest },
      definitions,
      depth + 1,
    );
  const choices = Array.isArray(anyOf) ? (anyOf as Schema[]).filter(({ type }) => type !== 'null') : [];
  const [only] = choices;
  if (choices.length === 1 && only) return simplified({ ...only, ...rest }, definitions, depth + 1);
  const members = { ...rest, ...(choices.length > 1 && { anyOf: choices }) };
  return Object.fromEntries(
    Object.entries(members).map(([name, inside]) => [name, simplified(inside, definitions, depth + 1)]),
  );
}

/** A query is text on the wire; `^\d{1,9}$` is how a route says "whole number". */
function numbered(schema: Schema): Schema {
  const { pattern, type: _type, ...rest } = schema;
  return typeof pattern === 'string' && pattern.startsWith('^\\d{1,')
    ? { type: 'integer', minimum: 0, ...rest }
    : schema;
}
