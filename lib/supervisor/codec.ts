import superjson from 'superjson';
import type { Persisted } from '../../actors/contracts.js';

/**
 * Snapshots as text. The built-in machines keep plain JSON; a host's Dates, Maps, Sets and undefineds go through
 * superjson, marked by a leading `~` so that the plain path never pays for them. Reads only what this store wrote.
 */
export function encodeState(persisted: Persisted): string {
  return isPlain(persisted.context) && (persisted.output === undefined || isPlain(persisted.output))
    ? JSON.stringify(persisted)
    : JSON.stringify({ '~': superjson.serialize(persisted) });
}

export function decodeState(state: unknown): Persisted {
  return decode(state) as Persisted;
}

/** What changed between two snapshots, as text: by the same rule. */
export function encodeChange(change: Readonly<Record<string, unknown>>): string {
  return isPlain(change) ? JSON.stringify(change) : JSON.stringify({ '~': superjson.serialize(change) });
}

/** Back from what `encodeState` or `encodeChange` wrote, parsed. */
export function decode(state: unknown): unknown {
  const marked = state as { '~'?: Parameters<typeof superjson.deserialize>[0] };
  return marked['~'] === undefined ? state : superjson.deserialize(marked['~']);
}

/** Survives JSON unchanged: only nulls, booleans, finite numbers, strings, arrays and plain objects. `absent`: members that are undefined may be dropped. */
export function isPlain(value: unknown, absent = false): boolean {
  switch (typeof value) {
    case 'string': case 'boolean': return true;
    case 'number': return Number.isFinite(value) && (value !== 0 || 1 / value > 0); // JSON has no -0
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every((element) => isPlain(element, absent));
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) return false;
      for (const member in value) {
        const inner = (value as Record<string, unknown>)[member];
        if (!(absent && inner === undefined) && !isPlain(inner, absent)) return false;
      }
      return true;
    }
    default: return false;
  }
}
