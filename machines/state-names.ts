import type { Json } from './ground.js';

/**
 * The innermost states of an XState value, by path: `stateNames('running')` is `['running']`, and
 * `stateNames({work: 'executing', approval: 'none'})` is `['approval.none', 'work.executing']`. Sorted.
 */
export function stateNames(value: Json): readonly string[] {
  if (typeof value === 'string') return [value];
  return leaves(value, '').sort();
}

function leaves(value: Json | undefined, above: string): string[] {
  if (typeof value === 'string') return [`${above}${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const deeper = leaves(inner as Json, `${above}${key}.`);
    return deeper.length === 0 ? [`${above}${key}`] : deeper; // a region that stands in no state of its own
  });
}

/** Every state that is active, the outer ones too: `activeStates({work: 'executing'})` is `['work', 'work.executing']`. */
export function activeStates(value: Json): readonly string[] {
  return [...new Set(stateNames(value).flatMap((name) => name.split('.').map((_, depth, parts) => parts.slice(0, depth + 1).join('.'))))].sort();
}
