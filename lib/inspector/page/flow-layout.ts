import { Graph, layout } from '@dagrejs/dagre';
import type { Point } from '../chart/drawing.js';

/**
 * Places for the nodes of a workflow or a run, from left to right, by dagre. Comes as a file of its own when the first
 * is drawn.
 */
export interface Places {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<
    string,
    { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
  >;
  readonly edges: readonly { readonly points: readonly Point[]; readonly style: string }[];
}

/** What follows what. */
export interface Flow {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly {
    readonly from: string;
    readonly to: string;
    readonly kind: string;
    readonly lane: string | null;
  }[];
}

/** Edges from or to a node that is not there are left out. */
export function layOutFlow({ nodes, edges }: Flow): Places {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 26, ranksep: 56, marginx: 20, marginy: 20 });
  for (const { id } of nodes) graph.setNode(id, { width: nodeWidth, height: nodeHeight });
  const known = new Set(nodes.map(({ id }) => id));
  edges.forEach(({ from, to, kind, lane }, n) => {
    if (known.has(from) && known.has(to)) graph.setEdge(from, to, { style: lane ?? kind }, `e${n}`);
  });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const placeOf = (id: string) => {
    const { x, y } = graph.node(id) as Point;
    return { x: x - nodeWidth / 2, y: y - nodeHeight / 2, width: nodeWidth, height: nodeHeight };
  };
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodes: new Map(nodes.map(({ id }) => [id, placeOf(id)])),
    edges: graph.edges().map((edge) => {
      const { points, style } = graph.edge(edge) as { points: Point[]; style: string };
      return { points, style };
    }),
  };
}

const nodeWidth = 184;
const nodeHeight = 54;
