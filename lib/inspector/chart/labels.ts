import type { Line } from './drawing.js';
import { spoken } from '../../../machines/state-names.js';
import type { ChartEdge, ChartState } from './definition.js';

/** What is written on arrows and in boxes: short, in the words of the machine, each thing once. */
const wordsMax = 44;
const linesMax = 5;

/**
 * `message.post [queueReady]`, `always [is(status = failed)]`. Guards that only say "anyone who may" or what the
 * arrow shows already are left out.
 */
export function labelOf({ event, condition }: ChartEdge): string {
  const said = spoken(event);
  if (condition === null || tacit.has(condition.split('(')[0] ?? '')) return said;
  return `${said} [${/^(?:guard|inline)$/.test(condition) ? 'a function' : condition}]`;
}

const tacit: ReadonlySet<string> = new Set(['goes']);

/** What is written on an arrow that stands for several transitions, and all of it. */
export function wordsOf(edges: readonly ChartEdge[]): Words {
  const all = [...new Set(edges.map(labelOf))];
  const lines: string[] = [];
  for (const [n, label] of all.entries()) {
    const more = wrapped(label, '');
    const isLast = n === all.length - 1;
    if (n > 0 && lines.length + more.length > (isLast ? linesMax : linesMax - 1)) {
      lines.push(`+ ${all.length - n} more`);
      break;
    }
    lines.push(...more);
  }
  return { lines, whole: all.join('\n') };
}

export interface Words {
  readonly lines: readonly string[];
  readonly whole: string;
}

/** What a state does and takes where it stands. */
export function linesOf(state: ChartState, { stays, loops, moves }: Takes): readonly Line[] {
  const lines: Line[] = [];
  const write = (whole: string, about: Line['about'], edges: readonly ChartEdge[] = []): void => {
    for (const text of wrapped(whole, boxIndent))
      lines.push({ text, whole, about, edges: edges.map(({ id }) => id) });
  };
  const actions = (when: string, names: readonly string[]): void => {
    const own = names.filter((name) => !name.startsWith('xstate.'));
    if (own.length > 0) write(`${when} / ${own.join(', ')}`, 'action');
  };
  for (const { src } of state.invokes) write(`⚙ ${src}`, 'invoke');
  actions('entry', state.entry);
  actions('exit', state.exit);
  for (const [label, edges] of grouped(moves, labelOf)) {
    const targets = namesOf(
      edges.flatMap(({ to }) => to),
      state.path,
    );
    write(`${label} → ${targets.join(', ')}`, 'event', edges);
  }
  for (const [label, edges] of grouped(loops, labelOf)) write(`↻ ${label}`, 'event', edges);
  for (const [label, edges] of grouped(stays, labelOf)) {
    const does = [...new Set(edges.flatMap(({ actions: names }) => names))].filter(
      (name) => !name.startsWith('xstate.'),
    );
    write(does.length === 0 ? label : `${label} / ${does.join(', ')}`, 'event', edges);
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

/** Words, broken after commas and slashes and before guards where they are too long; what cannot be broken is cut. */
function wrapped(whole: string, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const part of whole.split(/(?<=, |\/ | (?=\[))/)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}${part}`.trimEnd().length <= wordsMax)
      lines[lines.length - 1] = last + part;
    else lines.push(last === undefined ? part : indent + part);
  }
  return lines.map((line) => cut(line.trimEnd()));
}

/** Spaces that no renderer drops. */
const boxIndent = '\u00a0'.repeat(4);

const cut = (text: string): string => (text.length <= wordsMax ? text : `${text.slice(0, wordsMax - 1)}…`);

/** The shortest names by which states differ: `a, b`, and where both are called so `left.on, right.on`. */
function namesOf(paths: readonly string[], within: string): readonly string[] {
  const short = paths.map((path) => path.split('.').at(-1) ?? path);
  const inner = (path: string): string =>
    path.startsWith(`${within}.`) ? path.slice(within.length + 1) : path;
  return new Set(short).size === new Set(paths).size ? short : paths.map(inner);
}
