import * as z from 'zod';
import { liveKeys } from './live-keys.js';
import { configSchema } from './config.js';
import { connectorTypes } from './connector-settings.js';
import { engineFamilies } from './engine-settings.js';
import { commandEngine } from './engine-settings.js';
import { ownEngines } from './engines-section.js';

/**
 * Every key of config.yaml with its type, its default and its sentence, read from the schemas that parse: neither
 * the documentation nor the command line can lag behind. `<name>` stands for a name of the operator's choice, and
 * `[slack]` for an instance of that type in a list.
 */
export interface ConfigKey {
  readonly key: string;
  /** `integer 0 to 65535`, `one of off, home`, `list of texts` … */
  readonly type: string;
  /** Absent: none, or it has to be given. */
  readonly standard: unknown;
  readonly isRequired: boolean;
  readonly about: string;
  /** When a change of it holds: at once, after `POST /api/connectors/reload`, or after a restart. */
  readonly holds: 'at once' | 'after a reload' | 'after a restart';
}

/** @example configKeys().find(({ key }) => key === 'gateway.port')?.standard // 7420 */
export function configKeys(): readonly ConfigKey[] {
  return [
    ...keysOf(configSchema, ''),
    ...Object.entries(ownEngines).flatMap(([name, schema]) => keysOf(schema, `engines.${name}`)),
    ...keysOf(commandEngine, 'engines.<name>'),
    ...Object.entries(engineFamilies).flatMap(([family, { valueType }]) =>
      keysOf(valueType, `engines.${family}.<name>`),
    ),
    ...Object.entries(connectorTypes).flatMap(([type, schema]) =>
      keysOf(schema, `connectors.instances[${type}]`),
    ),
  ];
}

/** The names that may stand at a place of config.yaml; undefined where any may, or none. */
export function namesAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  const words = path.map(String);
  const keys = configKeys().map(({ key }) => key.replaceAll(/\[(?!\])/g, '.[').split('.'));
  const names = keys.flatMap((key) =>
    key.length > words.length && words.every((word, at) => fits(word, key[at] ?? '', words[at - 1]))
      ? [key[words.length] ?? '']
      : [],
  );
  const known = [...new Set(names)].filter((name) => !name.startsWith('<') && !name.startsWith('['));
  return known.length === 0 ? undefined : known;
}

const fits = (word: string, part: string, before: string | undefined): boolean =>
  part === word ||
  (part === '<name>' && !(before === 'engines' && isEngineName(word))) ||
  part.startsWith('[');

const isEngineName = (word: string): boolean =>
  Object.hasOwn(ownEngines, word) || Object.hasOwn(engineFamilies, word);

function keysOf(schema: z.ZodType, at: string): readonly ConfigKey[] {
  const shape = shapeOf(schema);
  if (shape === undefined) return [keyOf(schema, at)];
  return Object.entries(shape).flatMap(([name, member]) => {
    const key = at === '' ? name : `${at}.${name}`;
    const inner = defOf(member).type === 'array' ? undefined : optionalShape(member);
    return inner === undefined
      ? [...keysOf(member, key), ...elementsOf(member, key)]
      : [
          keyOf(member, key),
          ...Object.entries(inner).flatMap(([name, one]) => keysOf(one, `${key}.${name}`)),
        ];
  });
}

function keyOf(schema: z.ZodType, key: string): ConfigKey {
  const given = schema.safeParse(undefined);
  const section = key.split('.').slice(0, 2).join('.');
  return {
    key,
    type: typeOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema),
    standard: given.success ? given.data : undefined,
    isRequired: !given.success,
    about: schema.description ?? innermost(schema).description ?? '',
    holds: liveKeys.includes(section)
      ? 'at once'
      : key.startsWith('connectors.')
        ? 'after a reload'
        : 'after a restart',
  };
}

/** The members of each thing in a list of things. */
function elementsOf(schema: z.ZodType, key: string): readonly ConfigKey[] {
  const { element } = defOf(innermost(schema));
  const shape = element && shapeOf(element);
  return shape === undefined
    ? []
    : Object.entries(shape).flatMap(([name, member]) => keysOf(member, `${key}[].${name}`));
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

/** Of an object that may be left out altogether, or be null. */
function optionalShape(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const { type } = defOf(schema);
  if (!['default', 'nullable', 'optional'].includes(type)) return undefined;
  const { type: inner, shape } = defOf(innermost(schema));
  return inner === 'object' ? shape : undefined;
}

function innermost(schema: z.ZodType): z.ZodType {
  const { innerType } = defOf(schema);
  return innerType === undefined ? schema : innermost(innerType);
}

/** What JSON Schema says of a value, as far as a line shows it. */
interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly JsonSchema[];
}

function typeOf(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.const !== undefined) return String(schema.const);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return `${schema.type}${bounds(schema)}`;
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'array':
      return `list of ${typeOf(schema.items ?? {})}`;
    case 'object':
      return schema.properties === undefined
        ? `map of ${typeof schema.additionalProperties === 'object' ? typeOf(schema.additionalProperties) : 'values'}`
        : `{${Object.keys(schema.properties).join(', ')}}`;
    default:
      return schema.type ?? 'value';
  }
}

function bounds({ minimum, maximum }: JsonSchema): string {
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (isBounded) return ` ${minimum ?? '…'} to ${maximum}`;
  return minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? ` from ${minimum}` : '';
}

/** zod's own description of a schema, as far as we look at it. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly innerType?: z.ZodType;
}
// Zod types each kind of schema apart; here any may come
const defOf = (schema: z.ZodType): Definition => schema.def as Definition;
