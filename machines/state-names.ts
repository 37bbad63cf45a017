import type { Json } from './outputs.js';

/**
 * The innermost states of an XState value, by path: `stateNames('running')` is `['running']`, and
 * `stateNames({work: 'executing', approval: 'none'})` is `['approval.none', 'work.executing']`. Sorted.
 */
export function stateNames(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return leaves(value, '').sort();
}

function leaves(value: Json | undefined, above: string, found: string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return found;
  const regions = value as Record<string, Json>; // the value of a state is never a list
  for (const key in regions) {
    const inner = regions[key];
    const before = found.length;
    if (typeof inner === 'string') found.push(`${above}${key}.${inner}`);
    else leaves(inner, `${above}${key}.`, found);
    if (found.length === before) found.push(`${above}${key}`); // a region that stands in no state of its own
  }
  return found;
}

/**
 * Every state that is active, the outer ones too: `activeStates({work: 'executing'})` is `['work',
 * 'work.executing']`.
 */
export function activeStates(value: Json): readonly string[] {
  return [
    ...new Set(
      stateNames(value).flatMap((name) =>
        name.split('.').map((_, depth, parts) => parts.slice(0, depth + 1).join('.')),
      ),
    ),
  ].sort();
}

/** An event that XState named for itself, by its state alone: `0.flight.booking done`, `light.red ends`. */
export const spoken = (event: string): string =>
  event.replace(/^\d+\.(?:.*\.)?([^.]+ (?:done|failed))$/, '$1').replace(/^.*\.([^.]+ ends)$/, '$1');
