/**
 * The name that is at most two edits away from what was typed, for a slip of the finger: `nearest('prot',
 * ['host', 'port'])` → `'port'`
 */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = editsMax + 1;
  for (const name of known) {
    const count = edits(
      typed.toLowerCase().slice(0, nameCharsMax),
      name.toLowerCase().slice(0, nameCharsMax),
    );
    if (count < bestEdits) [best, bestEdits] = [name, count];
  }
  return best;
}

const editsMax = 2;
const nameCharsMax = 100;

/** Letters to insert, remove or replace (Levenshtein), row by row. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
