import * as dagre from '@dagrejs/dagre';
import type { Point } from './drawing.js';

/**
 * What is used of dagre, with its types. Those it comes with name their files without an ending, which only a
 * bundler follows: read as Node reads them, its `Graph` and `layout` have no type at all.
 */
export interface LayoutGraph {
  setGraph(label: Readonly<Record<string, string | number>>): void;
  setNode(id: string, size: Size): void;
  setEdge(from: string, to: string, label: LayoutLabel, name: string): void;
  /** After the layout: how large all of it is. */
  graph(): Size;
  /** After the layout: where its centre is. */
  node(id: string): Placed;
  /** After the layout: its way, and where its label is. */
  edge(from: string, to: string, name: string): Point & { readonly points: readonly Point[] };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A box with its centre. */
export interface Placed extends Point, Size {}

interface LayoutLabel extends Size {
  readonly weight?: number;
  readonly labelpos?: 'c';
}

/** Dagre's graph; more than one edge may lead from one node to another. */
export const Graph = dagre.Graph as unknown as new (options: { readonly multigraph: true }) => LayoutGraph;

/** Gives every node and edge of a graph its place, in the graph itself. */
export const layout = dagre.layout as unknown as (graph: LayoutGraph) => void;
