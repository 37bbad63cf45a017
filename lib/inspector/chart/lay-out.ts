import { endsApart } from './apart.js';
import { Graph, layout, type LayoutGraph } from './dagre.js';
import type { Chart, ChartEdge, ChartState } from './definition.js';
import { docked } from './docking.js';
import { type, widthOf, type Arrow, type Box, type Drawing, type Line, type Point } from './drawing.js';
import { linesOf, wordsOf, type Takes, type Words } from './labels.js';
import { reaching } from './reach.js';
import { inRows, type Room } from './regions.js';

/**
 * Places for a chart: every state that has states inside is laid out for itself, from the inside out, and is
 * one box to what is around it. Pure and the same every time; runs in a browser as well as here. `room` is how much is
 * seen at once: parallel regions stand so that most of them is. `layOut(chart, {width: 1134, height: 520})`
 */
export function layOut(chart: Chart, room?: Room): Drawing {
  const sorted = sortEdges(chart, room);
  const root = blockOf(chart.root, sorted, 0);
  const boxes: Box[] = [];
  const arrows: Arrow[] = [];
  root.place(margin, margin, boxes, arrows);
  return {
    id: chart.id,
    width: Math.ceil(root.width + 2 * margin),
    height: Math.ceil(root.height + 2 * margin),
    boxes,
    arrows: endsApart(arrows, boxes),
  };
}

const margin = 8;
/** An event with more arrows than this between the states of one region is written into the boxes instead. */
const thicketArrows = 12;

interface Block {
  readonly width: number;
  readonly height: number;
  place(x: number, y: number, boxes: Box[], arrows: Arrow[]): void;
}

interface Sorted {
  /** By path of the state in which they are drawn: arrows between its children. */
  readonly arrows: ReadonlyMap<string, readonly Between[]>;
  /** What is written into the box of a state. */
  takes(path: string): Takes;
  readonly room: Room | undefined;
}

interface Between {
  readonly from: string;
  readonly to: string;
  /** The states in these at which it begins and ends; else these themselves. */
  readonly start: string;
  readonly end: string;
  readonly edge: ChartEdge;
}

function sortEdges({ root, edges }: Chart, room: Room | undefined): Sorted {
  const arrows = new Map<string, Between[]>();
  const stays = new Map<string, ChartEdge[]>();
  const loops = new Map<string, ChartEdge[]>();
  const moves = new Map<string, ChartEdge[]>();
  const drawn = edges.flatMap((edge) => edge.to.map((to) => ({ edge, to, ...meeting(edge.from, to) })));
  const arrowsOf = new Map<string, number>();
  for (const { edge, within, from, target } of drawn)
    if (from !== target) add(arrowsOf, `${within} ${edge.event}`);
  for (const edge of edges) if (edge.to.length === 0) push(stays, edge.from, edge);
  const parallels = new Set(parallelsOf(root));
  for (const { edge, to, within, from, target } of drawn) {
    if (from === target) push(loops, edge.from, edge);
    else if (parallels.has(within) || (arrowsOf.get(`${within} ${edge.event}`) ?? 0) > thicketArrows)
      push(moves, edge.from, { ...edge, to: [to] });
    else push(arrows, within, { from, to: target, start: edge.from, end: to, edge });
  }
  return {
    room,
    arrows,
    takes: (path) => ({
      stays: stays.get(path) ?? [],
      loops: loops.get(path) ?? [],
      moves: moves.get(path) ?? [],
    }),
  };
}

/** Between regions, and from around them into one, no arrow is drawn: it would cross what stands between. */
const parallelsOf = (state: ChartState): string[] => [
  ...(state.type === 'parallel' ? [state.path] : []),
  ...state.states.flatMap(parallelsOf),
];

/**
 * Where the arrow from one state to another is drawn, and between which two boxes there. A state's own arrow
 * into itself begins at `any`.
 */
function meeting(
  from: string,
  to: string,
): { readonly within: string; readonly from: string; readonly target: string } {
  const a = partsOf(from);
  const b = partsOf(to);
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared += 1;
  if (shared === a.length && shared === b.length && shared > 0) shared -= 1; // itself: a loop beside its box
  if (shared === b.length) shared = Math.max(0, b.length - 1); // to a state around it
  const within = a.slice(0, shared).join('.');
  return {
    within,
    from: a.length > shared ? a.slice(0, shared + 1).join('.') : anyOf(within),
    target: b.slice(0, shared + 1).join('.'),
  };
}

function blockOf(state: ChartState, sorted: Sorted, depth: number): Block {
  if (state.states.length === 0) return leaf(state, linesOf(state, sorted.takes(state.path)), depth);
  return state.type === 'parallel' ? regions(state, sorted, depth) : compound(state, sorted, depth);
}

function leaf(state: ChartState, lines: readonly Line[], depth: number): Block {
  const shape = state.type === 'final' ? 'final' : state.type === 'history' ? 'history' : 'atomic';
  const title = shape === 'history' ? `H  ${state.key}` : state.key;
  return boxed(state.path, shape, title, lines, depth);
}

function boxed(
  path: string,
  shape: Box['shape'],
  title: string,
  lines: readonly Line[],
  depth: number,
): Block {
  const width = Math.max(64, widthOf(title, 'title'), ...widthsOf(lines)) + 2 * type.pad;
  const height = type.titleHeight + (lines.length === 0 ? 6 : lines.length * type.lineHeight + 12);
  return {
    width,
    height,
    place: (x, y, boxes) => void boxes.push({ path, shape, x, y, width, height, title, lines, depth }),
  };
}

/** Parallel regions stand side by side and below each other, as there is room. */
function regions(state: ChartState, sorted: Sorted, depth: number): Block {
  const header = headerOf(state, sorted);
  const inner = state.states.map((region) => blockOf(region, sorted, depth + 1));
  const rows = inRows(inner, sorted.room);
  const width = Math.max(rows.width, header.width) + 2 * type.pad;
  const height = rows.height + header.height + type.pad;
  return {
    width,
    height,
    place(x, y, boxes, arrows) {
      boxes.push({
        path: state.path,
        shape: depth === 0 ? 'root' : 'parallel',
        x,
        y,
        width,
        height,
        title: state.key,
        lines: header.lines,
        depth,
      });
      rows.places.forEach((at, n) =>
        inner[n]?.place(x + type.pad + at.x, y + header.height + at.y, boxes, arrows),
      );
    },
  };
}

function headerOf(
  state: ChartState,
  sorted: Sorted,
): { readonly lines: readonly Line[]; readonly width: number; readonly height: number } {
  const lines = linesOf(state, sorted.takes(state.path));
  return {
    lines,
    width: Math.max(widthOf(state.key, 'title'), ...widthsOf(lines)),
    height: type.headerHeight + (lines.length === 0 ? 0 : lines.length * type.lineHeight + 6),
  };
}

/** States and arrows between them, by dagre. What may happen anywhere inside stands in a box of its own. */
function compound(state: ChartState, sorted: Sorted, depth: number): Block {
  const blocks = new Map(state.states.map((child) => [child.path, blockOf(child, sorted, depth + 1)]));
  const between = sorted.arrows.get(state.path) ?? [];
  const everywhere = linesOf({ ...state, invokes: [], entry: [], exit: [] }, sorted.takes(state.path));
  const any = anyOf(state.path);
  if (everywhere.length > 0 || between.some(({ from }) => from === any))
    blocks.set(any, boxed(state.path, 'any', 'anywhere', everywhere, depth + 1));
  const own = linesOf(state, { stays: [], loops: [], moves: [] });
  const header = type.headerHeight + (own.length === 0 ? 0 : own.length * type.lineHeight + 4);

  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 34, edgesep: 18, ranksep: 34, marginx: 14, marginy: 10 });
  for (const [id, { width, height }] of blocks) graph.setNode(id, { width, height });
  if (state.initial !== null) {
    graph.setNode(dot, { width: 10, height: 10 });
    graph.setEdge(
      dot,
      meeting(state.path, state.initial).target,
      { width: 0, height: 0, weight: 4 },
      'initial',
    );
  }
  const bundles = bundled(between);
  bundles.forEach(({ from, to, words: { lines } }, n) => {
    graph.setEdge(
      from,
      to,
      {
        width: Math.max(...lines.map((line) => widthOf(line, 'line'))) + 8,
        height: lines.length * type.lineHeight + 4,
        labelpos: 'c',
      },
      `b${n}`,
    );
  });
  layout(graph);
  const size = graph.graph();
  const width = Math.max(
    size.width,
    widthOf(state.key, 'title') + 2 * type.pad,
    ...widthsOf(own).map((line) => line + 2 * type.pad),
  );
  const height = size.height + header;

  return {
    width,
    height,
    place(x, y, boxes, arrows) {
      boxes.push({
        path: state.path,
        shape: depth === 0 ? 'root' : 'compound',
        x,
        y,
        width,
        height,
        title: state.key,
        lines: own,
        depth,
      });
      const left = x + (width - size.width) / 2;
      const top = y + header;
      for (const [id, block] of blocks) {
        const node = graph.node(id);
        block.place(left + node.x - block.width / 2, top + node.y - block.height / 2, boxes, arrows);
      }
      const shifted = (points: readonly Point[]): Point[] =>
        points.map((point) => ({ x: left + point.x, y: top + point.y }));
      if (state.initial !== null)
        arrows.push({
          edges: [],
          from: '',
          to: state.initial,
          points: shifted(pointsOf(graph, dot, meeting(state.path, state.initial).target, 'initial')),
          label: null,
        });
      const drawn = bundles.map(({ from, to, start, end, edges, words }, n): Arrow => {
        // Dagre adds the place to the label that it was given
        const at = graph.edge(from, to, `b${n}`);
        const points = docked(
          pointsOf(graph, from, to, `b${n}`),
          graph.node(from),
          graph.node(to),
          [...blocks.keys()].map((id) => graph.node(id)),
        );
        return {
          edges,
          from: from === any ? state.path : start,
          to: end,
          points: shifted(points),
          label: { x: left + at.x, y: top + at.y, ...words },
        };
      });
      arrows.push(...reaching(drawn, boxes, arrows));
    },
  };
}

const dot = '#initial';
const widthsOf = (lines: readonly Line[]): number[] => lines.map(({ text }) => widthOf(text, 'line'));
const anyOf = (path: string): string => `${path}#any`;
const partsOf = (path: string): readonly string[] => (path === '' ? [] : path.split('.'));
const pointsOf = (graph: LayoutGraph, from: string, to: string, name: string): readonly Point[] =>
  graph.edge(from, to, name).points;

/** One arrow for all that leads from one box to another. */
function bundled(between: readonly Between[]): readonly {
  readonly from: string;
  readonly to: string;
  readonly start: string;
  readonly end: string;
  readonly edges: readonly string[];
  readonly words: Words;
}[] {
  const bundles = new Map<string, Between[]>();
  for (const one of between) push(bundles, `${one.from} ${one.to} ${one.start} ${one.end}`, one);
  return [...bundles.values()].map((all) => {
    const [{ from, to, start, end }] = all as [Between];
    return {
      from,
      to,
      start,
      end,
      edges: all.map(({ edge }) => edge.id),
      words: wordsOf(all.map(({ edge }) => edge)),
    };
  });
}

function push<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [item]);
  else list.push(item);
}

const add = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1);
