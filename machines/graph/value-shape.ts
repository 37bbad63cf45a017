import type { Json } from '../outputs.js';

/**
 * Shapes of values: the part of JSON Schema that can be checked in time linear in the value, without code
 * made of text and without patterns. Inputs of runs and outputs of steps are described with it.
 */
export interface ValueShape {
  readonly type?: ValueType | readonly ValueType[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly properties?: Readonly<Record<string, ValueShape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: ValueShape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}
export type ValueType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

export const valueShapeLimits = { depthMax: 8, membersMax: 256, faultsMax: 32 } as const;

const valueTypes: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const counts = new Set(['minLength', 'maxLength', 'minItems', 'maxItems']);

/** What is wrong with a shape, each with the path to it; empty: it can be used. Never throws. */
export function shapeFaults(shape: unknown, path = '', depth = 0): readonly string[] {
  const at = path === '' ? 'the shape' : path;
  if (!isRecord(shape)) return [`${at} must be an object`];
  if (depth > valueShapeLimits.depthMax) return [`${at} is nested deeper than ${valueShapeLimits.depthMax}`];
  const faults = Object.entries(shape).flatMap(([name, value]): readonly string[] => {
    const below = path === '' ? name : `${path}.${name}`;
    switch (name) {
      case 'type':
        return (
          Array.isArray(value)
            ? value.length > 0 && value.every((one) => valueTypes.includes(one))
            : valueTypes.includes(value)
        )
          ? []
          : [`${below} is none of ${valueTypes.join(', ')}`];
      case 'title':
      case 'description':
      case '$schema':
        return typeof value === 'string' ? [] : [`${below} must be a text`];
      case 'default':
      case 'const':
        return [];
      case 'enum':
        return Array.isArray(value) && value.length > 0 && value.length <= valueShapeLimits.membersMax
          ? []
          : [`${below} must be a list of values`];
      case 'required':
        return Array.isArray(value) &&
          value.length <= valueShapeLimits.membersMax &&
          value.every((one) => typeof one === 'string')
          ? []
          : [`${below} must be a list of names`];
      case 'additionalProperties':
        return typeof value === 'boolean' ? [] : [`${below} must be true or false`];
      case 'items':
        return shapeFaults(value, below, depth + 1);
      case 'properties':
        return propertiesFaults(value, below, depth);
      case 'minimum':
      case 'maximum':
        return typeof value === 'number' && Number.isFinite(value) ? [] : [`${below} must be a number`];
      default:
        return counts.has(name)
          ? Number.isSafeInteger(value) && (value as number) >= 0
            ? []
            : [`${below} must be a whole number`]
          : [`${below.slice(0, 128)} is not supported here`];
    }
  });
  return faults.slice(0, valueShapeLimits.faultsMax);
}

function propertiesFaults(value: unknown, path: string, depth: number): readonly string[] {
  if (!isRecord(value)) return [`${path} must be an object`];
  const entries = Object.entries(value);
  if (entries.length > valueShapeLimits.membersMax)
    return [`${path} has more than ${valueShapeLimits.membersMax} members`];
  return entries.flatMap(([name, shape]) =>
    name === '__proto__'
      ? [`${path} may not name __proto__`]
      : shapeFaults(shape, `${path}.${name.slice(0, 64)}`, depth + 1),
  );
}

/**
 * Why a value does not fit a shape, each with the path to the value; empty: it fits. `misfits({required:
 * ['to']}, {})` → `['to is required']`.
 */
export function misfits(shape: ValueShape, value: Json | undefined, path = ''): readonly string[] {
  const at = path === '' ? 'the value' : path;
  const types = shape.type === undefined ? [] : [shape.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(type, value)))
    return [`${at} must be ${types.join(' or ')}`];
  const faults: string[] = [];
  if (shape.const !== undefined && !same(shape.const, value))
    faults.push(`${at} must be ${JSON.stringify(shape.const).slice(0, 128)}`);
  if (shape.enum !== undefined && !shape.enum.some((one) => same(one, value)))
    faults.push(`${at} must be one of ${JSON.stringify(shape.enum).slice(0, 256)}`);
  if (typeof value === 'number') faults.push(...outside(value, shape.minimum, shape.maximum, at, ''));
  if (typeof value === 'string')
    faults.push(...outside(value.length, shape.minLength, shape.maxLength, at, ' characters'));
  if (Array.isArray(value)) {
    faults.push(...outside(value.length, shape.minItems, shape.maxItems, at, ' items'));
    for (const [index, item] of (value as readonly Json[]).entries()) {
      if (shape.items === undefined || faults.length >= valueShapeLimits.faultsMax) break;
      faults.push(...misfits(shape.items, item, below(path, String(index))));
    }
  } else if (isRecord(value)) {
    for (const name of shape.required ?? [])
      if (!Object.hasOwn(value, name)) faults.push(`${below(path, name)} is required`);
    for (const [name, item] of Object.entries(value)) {
      if (faults.length >= valueShapeLimits.faultsMax) break;
      const known =
        shape.properties !== undefined && Object.hasOwn(shape.properties, name)
          ? shape.properties[name]
          : undefined;
      if (known !== undefined) faults.push(...misfits(known, item as Json, below(path, name)));
      else if (shape.additionalProperties === false) faults.push(`${below(path, name)} is not expected`);
    }
  }
  return faults.slice(0, valueShapeLimits.faultsMax);
}

function outside(
  found: number,
  least: number | undefined,
  most: number | undefined,
  at: string,
  unit: string,
): readonly string[] {
  const verb = unit === '' ? 'be' : 'have';
  if (least !== undefined && found < least) return [`${at} must ${verb} at least ${least}${unit}`];
  return most !== undefined && found > most ? [`${at} must ${verb} at most ${most}${unit}`] : [];
}

function isOf(type: ValueType, value: Json | undefined): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Equal as JSON; the order of members does not matter. */
function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left))
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => same(item, right[index]))
    );
  if (!isRecord(left) || !isRecord(right) || Object.keys(left).length !== Object.keys(right).length)
    return false;
  return Object.entries(left).every(
    ([name, value]) => Object.hasOwn(right, name) && same(value, right[name]),
  );
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
