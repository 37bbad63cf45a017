import superjson from 'superjson';
import type { Persisted } from '../../../actors/contracts.js';
import type { Json } from '../../../machines/outputs.js';
import { deeperThan } from '../../../machines/text.js';

/**
 * Snapshots as text. The built-in machines keep plain JSON; a host's Dates, Maps, Sets and undefineds go
 * through superjson, marked by a leading `~` so that the plain path never pays for them. What is marked is
 * decoded once more and compared before anybody relies on it: a snapshot that could not be read back fails the
 * event that made it, not the next start. Reads only what this store wrote.
 */
export function encodeState(persisted: Persisted): string {
  return isPlain(persisted.context) && (persisted.output === undefined || isPlain(persisted.output))
    ? JSON.stringify(persisted)
    : envelope(persisted);
}

export function decodeState(state: unknown): Persisted {
  return decode(state) as Persisted;
}

/** What changed between two snapshots, as text: by the same rule. */
export function encodeChange(change: Readonly<Record<string, unknown>>): string {
  return isPlain(change) ? JSON.stringify(change) : envelope(change);
}

/** Back from what `encodeState` or `encodeChange` wrote, parsed. */
export function decode(state: unknown): unknown {
  const marked = (state as { '~'?: Envelope })['~'];
  if (marked === undefined) return state;
  const value: unknown = superjson.deserialize(marked);
  return marked.escaped === true ? unescaped(value) : value;
}

/**
 * The text of what is carried as JSON: messages, rows, inputs and outputs of effects, frames. Throws where JSON
 * would lose what is there, with the member's path, which begins with `name`.
 */
export function jsonText(value: unknown, name: string): string {
  assertJson(value, name);
  return JSON.stringify(value);
}

/** Throws where `jsonText` would. */
export function assertJson(value: unknown, name: string): void {
  if (isPlain(value, true)) return;
  if (value === undefined) throw new TypeError(`${name} is undefined, which cannot be stored`);
  assertCarried(value, name);
}

/** No compiler may have seen the host. A promise that no one awaits would end the process where it rejects. */
export function assertAtOnce<Answer>(
  answer: Answer,
  otherwise: string,
): asserts answer is Exclude<Answer, Promise<unknown>> {
  if (!(answer instanceof Promise)) return;
  answer.catch(() => undefined);
  throw new TypeError(otherwise);
}

/** The very value that will be read back from that text. Nothing (undefined) is null. */
export const carried = (value: unknown, name: string): Json =>
  value === undefined ? null : (JSON.parse(jsonText(value, name)) as Json);

/** What an effect returns becomes part of an event, and events are data. */
export function carriedOutcome(output: unknown): Json | undefined {
  if (output === undefined) return undefined;
  // No snapshot could hold it
  if (deeperThan(output, outcomeDepthMax))
    throw new RangeError(`The outcome is nested deeper than ${outcomeDepthMax}.`);
  const text = jsonText(output, 'output');
  // No commit could hold it, and the actor would wait for ever
  if (text.length > outcomeCharsMax)
    throw new RangeError(
      `The outcome has ${text.length} characters, more than ${outcomeCharsMax}: store it elsewhere and answer where.`,
    );
  return JSON.parse(text) as Json;
}

const outcomeDepthMax = 200;
const outcomeCharsMax = 16 << 20;

/**
 * Plain JSON of a caller's, without the objects that the caller keeps hold of: what is changed there later must
 * not change what is committed here. Flat ones cost nothing.
 */
export function ownCopy<Value extends object>(value: Value): Value {
  let copy: Record<string, unknown> | undefined;
  for (const member in value) {
    const inner: unknown = value[member];
    if (typeof inner === 'object' && inner !== null)
      setOwn((copy ??= { ...value } as Record<string, unknown>), member, deepCopy(inner));
  }
  return (copy as Value | undefined) ?? value;
}

function deepCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(deepCopy);
  const copy = { ...value } as Record<string, unknown>;
  for (const member in copy) setOwn(copy, member, deepCopy(copy[member]));
  return copy;
}

/** The value itself where nothing of it would be lost, for what no one changes any more. */
export const asCarried = <Value>(value: Value, name: string): Value =>
  isPlain(value) ? value : (carried(value, name) as Value);

/** As superjson makes it. `escaped`: names of members that it refuses stand there in other words. */
type Envelope = Parameters<typeof superjson.deserialize>[0] & { readonly escaped?: true };

function envelope(value: object): string {
  const stored = storable(value);
  const risky = isRisky(stored);
  const wire = superjson.serialize(risky ? escaped(stored) : stored);
  const text = JSON.stringify({ '~': risky ? { ...wire, escaped: true } : wire });
  const lost = differenceAt(stored, decode(JSON.parse(text)));
  if (lost === undefined) return text;
  throw new TypeError(`${lost} does not survive storage; use plain JSON instead`);
}

/**
 * Survives JSON unchanged: only nulls, booleans, finite numbers, strings, arrays and plain objects. `absent`:
 * members that are undefined may be dropped. Not what refers to itself or is nested without end.
 */
export function isPlain(value: unknown, absent = false): boolean {
  try {
    return plain(value, absent);
  } catch (error) {
    if (error instanceof RangeError) return false; // the stack ended before the value did
    throw error;
  }
}

function plain(value: unknown, absent: boolean): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && (value !== 0 || 1 / value > 0); // JSON has no -0
    case 'object': {
      if (value === null) return true;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (Array.isArray(value)) {
        // What `match` answers is an array with named members, which JSON would lose
        if (prototype !== Array.prototype || 'index' in value) return false;
        for (const element of value) if (!plain(element, absent)) return false;
        return true;
      }
      if (prototype !== Object.prototype && prototype !== null) return false;
      for (const member in value) {
        const inner = (value as Record<string, unknown>)[member];
        if (!(absent && inner === undefined) && !plain(inner, absent)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

/**
 * What may be stored, and what is told of what may not: the member's path. Only values that are not plain JSON
 * come here.
 */

/** Deeper than this, a value is refused: whatever walks through it later would fall off its stack. */
const depthMax = 500;

/**
 * A snapshot (or a part of one) as superjson can bring it back, actor references as XState writes them down.
 * Throws a TypeError with the path of the first member that cannot be stored.
 */
export const storable = (value: unknown): unknown => walk(value, '', [], true);

/**
 * Throws, with the path, where JSON would carry something quite else than what is there: functions, symbols,
 * BigInts, Maps, Sets, Buffers, instances of classes, what refers to itself. Dates and URLs go as text, numbers
 * that are not finite as null, members that are undefined not at all, as JSON has it.
 */
export function assertCarried(value: unknown, path: string): void {
  walk(value, path, [], false);
}

/** Classes that superjson brings back, each as the very same class. */
const keptClasses: readonly object[] = [
  Date,
  URL,
  RegExp,
  Error,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
].map(({ prototype }) => prototype as object);
const carriedClasses: readonly object[] = [Date.prototype, URL.prototype];

function walk(value: unknown, path: string, above: readonly unknown[], rich: boolean): unknown {
  if (typeof value === 'function' || typeof value === 'symbol' || (typeof value === 'bigint' && !rich))
    throw unfit(value, path);
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) throw new TypeError(`${nameOf(path)} refers to itself`);
  if (above.length > depthMax) throw new TypeError(`${nameOf(path)} is nested deeper than ${depthMax}`);
  if (rich && isActorReference(value)) return { xstate$$type: 1, id: value.id };
  const within = [...above, value];
  const inside = (inner: unknown, at: number | string): unknown =>
    walk(inner, typeof at === 'number' ? `${path}[${at}]` : joined(path, at), within, rich);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Array.prototype) return changed(value as unknown[], inside) ?? value;
  if (prototype === Object.prototype || prototype === null) {
    const members = Object.keys(value);
    const walked = changed(Object.values(value) as unknown[], (inner, n) => inside(inner, members[n]!));
    return walked === undefined ? value : Object.fromEntries(members.map((member, n) => [member, walked[n]]));
  }
  if (rich && prototype === Map.prototype) {
    const walked = changed([...(value as Map<unknown, unknown>)].flat(1), (inner, n) =>
      inside(inner, n >> 1),
    );
    return walked === undefined ? value : new Map(pairs(walked));
  }
  if (rich && prototype === Set.prototype) {
    const walked = changed([...(value as Set<unknown>)], inside);
    return walked === undefined ? value : new Set(walked);
  }
  if (value instanceof Date && Number.isNaN(value.getTime())) throw unfit(value, path);
  if (!(rich ? keptClasses : carriedClasses).some((known) => known === prototype)) throw unfit(value, path);
  return value;
}

/** The elements as `inside` leaves them; undefined where it leaves them all as they are. */
function changed(
  elements: readonly unknown[],
  inside: (inner: unknown, n: number) => unknown,
): unknown[] | undefined {
  const walked = elements.map(inside);
  return walked.every((inner, n) => Object.is(inner, elements[n])) ? undefined : walked;
}

const pairs = (flat: readonly unknown[]): [unknown, unknown][] =>
  flat.flatMap((key, n) => (n % 2 === 0 ? [[key, flat[n + 1]] as [unknown, unknown]] : []));

function unfit(value: unknown, path: string): TypeError {
  if (value instanceof Promise) value.catch(() => undefined); // no one will await it
  const what =
    typeof value === 'object'
      ? value instanceof Date
        ? 'an invalid Date'
        : `an instance of ${(value as { constructor?: { name?: string } }).constructor?.name ?? 'a class'}`
      : `a ${typeof value}`;
  return new TypeError(`${nameOf(path)} is ${what}, which cannot be stored; use plain JSON instead`);
}

const nameOf = (path: string): string => (path === '' ? 'the value' : path);
const joined = (path: string, member: string): string => (path === '' ? member : `${path}.${member}`);

/** As XState itself tells one, wherever it stands in a context. */
export function isActorReference(value: object): value is { readonly id: string } {
  return 'sessionId' in value && 'send' in value && 'ref' in value;
}

/** The path of the first member in which two values differ; undefined where they are alike. */
export function differenceAt(one: unknown, other: unknown, path = ''): string | undefined {
  if (Object.is(one, other)) return undefined;
  if (!isObject(one) || !isObject(other) || plainPrototype(one) !== plainPrototype(other))
    return nameOf(path);
  if (isCollection(one) && isCollection(other)) return differenceAt([...one], [...other], path);
  if (one instanceof Date || one instanceof RegExp || one instanceof URL) {
    const text = (value: object): string => (value instanceof Date ? value.toJSON() : String(value));
    return text(one) === text(other) ? undefined : nameOf(path);
  }
  const inner = (member: string, always = false): string | undefined => {
    const at = Array.isArray(one) && /^\d+$/.test(member) ? `${path}[${member}]` : joined(path, member);
    return always || (member in one && member in other)
      ? differenceAt(one[member], other[member], at)
      : nameOf(at);
  };
  if (one instanceof Error) {
    const hidden = firstOf(['name', 'message', 'cause'], (member) => inner(member, true));
    if (hidden !== undefined) return hidden;
  }
  return firstOf([...new Set([...Object.keys(one), ...Object.keys(other)])], (member) =>
    inner(member, one instanceof Error && member === 'name'),
  );
}

const isCollection = (value: object): value is Iterable<unknown> =>
  value instanceof Map || value instanceof Set;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
/** What was made without a prototype is read back as an ordinary object. */
const plainPrototype = (value: object): unknown => Object.getPrototypeOf(value) ?? Object.prototype;

function firstOf(members: readonly string[], find: (member: string) => string | undefined) {
  for (const member of members) {
    const found = find(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** superjson refuses these names outright, wherever they stand. An agent may well send one. */
const refused = /^(?:__proto__|constructor|prototype)$/;
const refusedOrEscaped = /^~*(?:__proto__|constructor|prototype)$/;
const escapedName = /^~+(?:__proto__|constructor|prototype)$/;

/** Does a member have a name that superjson refuses? */
export function isRisky(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (value instanceof Map || value instanceof Set) return [...value].some(isRisky);
  return Object.keys(value).some((member) => refused.test(member) || isRisky(value[member]));
}

/** The same value with such names in other words, and back. */
export const escaped = (value: unknown): unknown =>
  renamed(value, (member) => (refusedOrEscaped.test(member) ? `~${member}` : member));
export const unescaped = (value: unknown): unknown =>
  renamed(value, (member) => (escapedName.test(member) ? member.slice(1) : member));

function renamed(value: unknown, name: (member: string) => string): unknown {
  const inside = (inner: unknown): unknown => renamed(inner, name);
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map(inside);
  if (value instanceof Map) return new Map([...value].map(([key, inner]) => [inside(key), inside(inner)]));
  if (value instanceof Set) return new Set([...value].map(inside));
  if (plainPrototype(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [name(member), inside(inner)]));
}

/**
 * Records whose members are named by machines and callers: a name like `constructor` must not find what every
 * object inherits, and `__proto__` must not change what it inherits.
 */
export function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function setOwn<Value>(record: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}
