/**
 * Is a value nested deeper than that? What is kept is walked through again and again, by code that would fall
 * off its stack a few thousand levels down; so whoever takes values from strangers asks this first. Looks no
 * further than `depth`.
 * @example deeperThan([[1]], 1) // true
 */
export function deeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const inside of Array.isArray(value) ? value : Object.values(value))
    if (deeperThan(inside, depth - 1)) return true;
  return false;
}

/** Of bodies, of what programs print and of what agents hand over. */
export const jsonDepthMax = 32;
