import superjson from 'superjson';
import type { Persisted } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import { setOwn } from './own-members.js';
import { assertCarried, differenceAt, escaped, isRisky, storable, unescaped } from './storable.js';

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

/** The very value that will be read back from that text. Nothing (undefined) is null. */
export const carried = (value: unknown, name: string): Json =>
  value === undefined ? null : (JSON.parse(jsonText(value, name)) as Json);

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

/** The value itself where nothing of it would be lost, for what nobody changes any more. */
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
