import type { Random } from '../crash/random.js';
import type { Schema } from './document.js';

/**
 * Valid values from a schema. Members that mean something to the gateway (an employee, an engine, a cron
 * line) are taken from words that are true in the home under test; the rest is made up by type and bounds.
 */
export interface Sampler {
  value(schema: Schema, name?: string): unknown;
}

export type Words = (name: string, random: Random) => unknown;

export function sampler(random: Random, resolve: (schema: Schema) => Schema, words: Words): Sampler {
  function value(given: Schema, name = '', depth = 0): unknown {
    const schema = resolve(given);
    const alternatives = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
    if (alternatives)
      return value(random.chance(0.8) ? (alternatives[0] ?? {}) : random.pick(alternatives), name, depth);
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum'])) return random.pick(schema['enum']);
    const known = words(name, random);
    if (known !== undefined) return known;
    const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
    if (type === 'object') return object(schema, depth);
    if (type === 'array')
      return depth > 4
        ? []
        : Array.from({ length: random.between(Number(schema['minItems'] ?? 0), 3) }, () =>
            value((schema['items'] ?? {}) as Schema, name.replace(/s$/, ''), depth + 1),
          );
    if (type === 'string') return text(schema);
    if (type === 'integer' || type === 'number') return number(schema, type === 'integer');
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'null') return null;
    return random.pick(['x', 1, true, null, { a: 1 }]);
  }

  function object(schema: Schema, depth: number): Record<string, unknown> {
    const required = new Set(schema['required'] as readonly string[] | undefined);
    const made: Record<string, unknown> = {};
    for (const [name, member] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
      if (required.has(name) || random.chance(rarely.has(name) ? 0.05 : depth === 0 ? 0.4 : 0.6))
        made[name] = value(member, name, depth + 1);
    }
    return made;
  }

  function text(schema: Schema): string {
    const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern'], 'u') : undefined;
    const least = Number(schema['minLength'] ?? 0);
    const most = Number(schema['maxLength'] ?? 2_000);
    const fits = plain.filter(
      (word) => word.length >= least && word.length <= most && (pattern === undefined || pattern.test(word)),
    );
    return fits.length === 0 ? 'x'.repeat(least) : random.pick(fits);
  }

  function number(schema: Schema, whole: boolean): number {
    const least = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0);
    const made = random.between(least, Math.min(Number(schema['maximum'] ?? 100), least + 20));
    return whole ? made : made + 0.5;
  }

  return { value };
}

/** Members that make a request do something else altogether, or that only sometimes belong. */
const rarely: ReadonlySet<string> = new Set([
  'idempotencyKey',
  'expectedVersion',
  'model',
  'effort',
  'effortLevel',
  'attachments',
  'cwd',
  'worktree',
  'parent',
  'parentSessionId',
  'parentId',
  'workItemId',
  'missed',
  'url',
  'path',
]);

const plain: readonly string[] = [
  'Water the plants',
  'tea',
  'a',
  'x y z',
  'Grüße, 世界 👋',
  '1',
  '5',
  '20',
  '2026-01-02',
  '2026-01-02T03:04:05Z',
  '2026-01-02T03:04:05.678Z',
  '2030-01-02T03:04:05.000Z',
  '/',
  'line one\nline two',
  'UPPER',
  'work-item',
  'session',
  'true',
  '',
];
