/**
 * Walks over graphs of ids and arrows: layers, circles, what can be reached. Linear, without recursion, for
 * any graph.
 */
export interface Arrow {
  readonly from: string;
  readonly to: string;
}

/**
 * Nodes by the longest way that leads to them. What lies in or behind a circle stands in a last layer of its
 * own.
 */
export function layersOf(ids: readonly string[], arrows: readonly Arrow[]): readonly (readonly string[])[] {
  const known = new Set(ids);
  const inner = arrows.filter(({ from, to }) => known.has(from) && known.has(to));
  const waiting = new Map([...known].map((id) => [id, 0]));
  for (const { to } of inner) waiting.set(to, (waiting.get(to) ?? 0) + 1);
  const next = successors(inner);
  const layers: string[][] = [];
  let layer = [...known].filter((id) => waiting.get(id) === 0);
  const done = new Set<string>();
  while (layer.length > 0) {
    layers.push(layer);
    const following: string[] = [];
    for (const id of layer) {
      done.add(id);
      for (const to of next.get(id) ?? []) {
        const left = (waiting.get(to) ?? 0) - 1;
        waiting.set(to, left);
        if (left === 0) following.push(to);
      }
    }
    layer = following;
  }
  const rest = [...known].filter((id) => !done.has(id));
  return rest.length === 0 ? layers : [...layers, rest];
}

/** What can be reached from these, themselves included. */
export function reachable(starts: Iterable<string>, arrows: readonly Arrow[]): ReadonlySet<string> {
  const next = successors(arrows);
  const found = new Set(starts);
  // A Set gives what is added while it is walked
  for (const id of found) for (const to of next.get(id) ?? []) found.add(to);
  return found;
}

/**
 * Circles: each a list of the ids that can all reach each other, in the order of `ids`. Arrows to themselves
 * count.
 */
export function circlesOf(ids: readonly string[], arrows: readonly Arrow[]): readonly (readonly string[])[] {
  // Only what is left when everything without a way in, and then everything without a way out, is taken away.
  const core = trimmed(
    trimmed(new Set(ids), arrows),
    arrows.map(({ from, to }) => ({ from: to, to: from })),
  );
  const inner = arrows.filter(({ from, to }) => core.has(from) && core.has(to));
  const backward = inner.map(({ from, to }) => ({ from: to, to: from }));
  const seen = new Set<string>();
  return [...core].flatMap((id) => {
    if (seen.has(id)) return [];
    const after = reachable([id], inner);
    const before = reachable([id], backward);
    const circle = [...core].filter((other) => after.has(other) && before.has(other));
    for (const other of circle) seen.add(other);
    return circle.length > 1 || inner.some(({ from, to }) => from === id && to === id) ? [circle] : [];
  });
}

function trimmed(ids: ReadonlySet<string>, arrows: readonly Arrow[]): ReadonlySet<string> {
  const layers = layersOf([...ids], arrows);
  const inner = arrows.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const last = new Set(layers.at(-1) ?? []);
  return inner.some(({ from, to }) => last.has(from) && last.has(to)) ? last : new Set();
}

function successors(arrows: readonly Arrow[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  return next;
}
