import type { WorkflowEdge, WorkflowNode } from './definition.js';
import { layersOf } from './order.js';

/**
 * Where nodes are drawn: in layers from left to right, each in the middle of those that lead to it. Sweeping
 * twice in each direction takes most crossings away; the same graph is always drawn the same.
 */
export function layeredLayout(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
  const forward = edges.filter(({ kind, from, to }) => kind !== 'loop' && from !== to);
  const layers = layersOf(
    nodes.map(({ id }) => id),
    forward,
  ).map((layer) => [...layer]);
  const into = neighbours(forward, 'to', 'from');
  const outOf = neighbours(forward, 'from', 'to');
  for (let sweep = 0; sweep < 2; sweep += 1) {
    for (let depth = 1; depth < layers.length; depth += 1) arrange(layers, depth, depth - 1, into);
    for (let depth = layers.length - 2; depth >= 0; depth -= 1) arrange(layers, depth, depth + 1, outOf);
  }
  const tallest = Math.max(0, ...layers.map((layer) => layer.length));
  const places = new Map<string, { x: number; y: number }>();
  layers.forEach((layer, depth) =>
    layer.forEach((id, row) =>
      places.set(id, {
        x: depth * columnWidth,
        y: Math.round((row + (tallest - layer.length) / 2) * rowHeight),
      }),
    ),
  );
  return places;
}

const columnWidth = 260;
const rowHeight = 120;

/**
 * Order a layer by the middle of its neighbours in the layer beside it; those without any keep their place.
 */
function arrange(
  layers: string[][],
  depth: number,
  beside: number,
  neighboursOf: ReadonlyMap<string, readonly string[]>,
): void {
  const rows = new Map((layers[beside] ?? []).map((id, row) => [id, row]));
  const layer = layers[depth] ?? [];
  const weight = new Map(
    layer.map((id, row) => {
      const found = (neighboursOf.get(id) ?? []).flatMap((other) => rows.get(other) ?? []);
      return [
        id,
        found.length === 0 ? row : found.reduce((sum, one) => sum + one, 0) / found.length,
      ] as const;
    }),
  );
  layers[depth] = [...layer].sort((one, other) => (weight.get(one) ?? 0) - (weight.get(other) ?? 0));
}

function neighbours(
  edges: readonly WorkflowEdge[],
  key: 'from' | 'to',
  value: 'from' | 'to',
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const edge of edges) found.set(edge[key], [...(found.get(edge[key]) ?? []), edge[value]]);
  return found;
}
