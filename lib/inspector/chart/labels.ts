import type { Line } from './drawing.js';
import type { ChartEdge, ChartState } from './definition.js';

/** What is written on arrows and in boxes: short, in the words of the machine, each thing once. */
const wordsMax = 44;
const linesMax = 5;
const statesMax = 4;

/**
 * `message.post [queueReady]`, `always [is(status = failed)]`. Guards that only say "anyone who may" or what the
 * arrow shows already are left out.
 */
export function labelOf({ event, condition }: ChartEdge): string {
  return condition === null || tacit.has(condition.split('(')[0] ?? '') ? event : `${event} [${condition}]`;
}

const tacit: ReadonlySet<string> = new Set(['goes']);

/** The lines of an arrow that stands for several transitions. */
export function arrowLines(edges: readonly ChartEdge[]): readonly string[] {
  return bounded([...new Set(edges.map(labelOf))].map(cut), 'more');
}

/** What a state does and takes where it stands. */
export function linesOf(state: ChartState, { stays, loops, moves }: Takes): readonly Line[] {
  const lines: Line[] = state.invokes.map(({ src }) => ({
    text: `⚙ ${cut(src)}`,
    about: 'invoke',
    edges: [],
  }));
  const actions = (when: string, names: readonly string[]): void => {
    const own = names.filter((name) => !name.startsWith('xstate.'));
    if (own.length > 0) lines.push({ text: cut(`${when} / ${own.join(', ')}`), about: 'action', edges: [] });
  };
  actions('entry', state.entry);
  actions('exit', state.exit);
  for (const [label, edges] of grouped(moves, labelOf)) {
    const targets = edges.flatMap(({ to }) => to).map(lastPart);
    const rows = chunks(targets, statesMax).map((part, n) =>
      n === 0 ? `${label} → ${part.join(', ')}` : `    ${part.join(', ')}`,
    );
    for (const text of rows) lines.push({ text, about: 'event', edges: edges.map(({ id }) => id) });
  }
  for (const [label, edges] of grouped(loops, labelOf))
    lines.push({ text: cut(`↻ ${label}`), about: 'event', edges: edges.map(({ id }) => id) });
  for (const [label, edges] of grouped(stays, labelOf)) {
    const does = [...new Set(edges.flatMap(({ actions: names }) => names))].filter(
      (name) => !name.startsWith('xstate.'),
    );
    lines.push({
      text: cut(does.length === 0 ? label : `${label} / ${does.join(', ')}`),
      about: 'event',
      edges: edges.map(({ id }) => id),
    });
  }
  return lines;
}

/**
 * `loops` lead from a state into itself; `moves` are events that lead to so many states that arrows would be
 * a thicket.
 */
export interface Takes {
  readonly stays: readonly ChartEdge[];
  readonly loops: readonly ChartEdge[];
  readonly moves: readonly ChartEdge[];
}

function grouped(
  edges: readonly ChartEdge[],
  by: (edge: ChartEdge) => string,
): ReadonlyMap<string, readonly ChartEdge[]> {
  const groups = new Map<string, ChartEdge[]>();
  for (const edge of edges) groups.set(by(edge), [...(groups.get(by(edge)) ?? []), edge]);
  return groups;
}

function bounded(lines: readonly string[], rest: string): readonly string[] {
  return lines.length <= linesMax
    ? lines
    : [...lines.slice(0, linesMax - 1), `+ ${lines.length - linesMax + 1} ${rest}`];
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}

const cut = (text: string): string => (text.length <= wordsMax ? text : `${text.slice(0, wordsMax - 1)}…`);
const lastPart = (path: string): string => path.split('.').at(-1) ?? path;
