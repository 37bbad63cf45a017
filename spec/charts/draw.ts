import type { Drawn } from './catalogue.js';
import { childrenOf, edgesOf, nodesOf, pathOf, type Edge, type StateNode } from './edges.js';

/**
 * A machine as a picture (beside it, see `pages.ts`), a Mermaid stateDiagram-v2 and a table of its events,
 * drawn from the live definition.
 */
export function draw({ name, version, machine, file }: Drawn): string {
  return [
    `## ${name}`,
    '',
    `Version ${version} · [${file.replace('machines/', '')}](${file.replace('machines/', '')})`,
    '',
    `![Statechart of ${name}](charts/${name}.svg)`,
    '',
    '<details><summary>As text</summary>',
    '',
    '```mermaid',
    'stateDiagram-v2',
    ...body(machine.root, 1),
    '```',
    '',
    '</details>',
    '',
    '| in | event | if | goes to | does |',
    '|---|---|---|---|---|',
    ...table(machine.root),
    '',
  ].join('\n');
}

function body(node: StateNode, depth: number): readonly string[] {
  const pad = '  '.repeat(depth);
  const children = childrenOf(node);
  const lines = children.flatMap((child, place) => [
    ...(node.type === 'parallel' && place > 0 ? [`${pad}--`] : []),
    ...(childrenOf(child).length > 0
      ? [`${pad}state ${idOf(child)} {`, ...body(child, depth + 1), `${pad}}`]
      : []),
    ...(node.type === 'parallel' ? [] : arrows(child).map((line) => pad + line)),
    ...notes(child).map((line) => pad + line),
  ]);
  if (node.type === 'parallel')
    return depth === 1
      ? [`${pad}state ${idOf(node)} {`, ...lines.map((line) => `  ${line}`), `${pad}}`]
      : lines;
  const start = node.initial?.target?.[0];
  return [
    ...(start ? [`${pad}[*] --> ${idOf(start as StateNode)}`] : []),
    ...lines,
    ...everywhere(node).map((line) => pad + line),
    ...children.filter((child) => child.type === 'final').map((child) => `${pad}${idOf(child)} --> [*]`),
  ];
}

/** What may happen in every state of a region, drawn from one placeholder instead of from each. */
function everywhere(node: StateNode): readonly string[] {
  const anywhere = `${idOf(node)}_any`;
  const lines = joined(edgesOf(node)).map(([to, label]) => `${anywhere} --> ${to} : ${label}`);
  return lines.length === 0 ? [] : [`state "any of these" as ${anywhere}`, ...lines];
}

const arrows = (node: StateNode): readonly string[] =>
  joined(edgesOf(node)).map(([to, label]) => `${idOf(node)} --> ${to} : ${label}`);

/** One arrow per target; its label names every event that leads there. */
function joined(edges: readonly Edge[]): readonly (readonly [to: string, label: string])[] {
  const labels = new Map<string, string[]>();
  for (const edge of edges)
    for (const to of edge.to) labels.set(to, [...(labels.get(to) ?? []), labelOf(edge)]);
  return [...labels].map(([to, words]) => [idOfPath(to), [...new Set(words)].join('<br>')]);
}

function labelOf({ event, condition }: Edge): string {
  const bare = condition?.split('(')[0] ?? null; // "goes(to = done)" says what the arrow shows already
  return condition === null || bare === 'allowed' || bare === 'goes' ? event : `${event} [${condition}]`;
}

function notes(node: StateNode): readonly string[] {
  if (node.invoke.length === 0) return [];
  return [`note right of ${idOf(node)} : does ${node.invoke.map(({ src }) => String(src)).join(', ')}`];
}

function table(root: StateNode): readonly string[] {
  return nodesOf(root).flatMap((node) =>
    grouped(edgesOf(node)).map((edge) => {
      const cells = [
        pathOf(node) || 'anywhere',
        edge.event,
        edge.condition ?? '',
        edge.to.join(', ') || 'stays',
        edge.actions.join(', '),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  );
}

/** The many rows of a hand-made move become one that lists where it may go. */
function grouped(edges: readonly Edge[]): readonly Edge[] {
  const moves = edges.filter((edge) => edge.condition?.startsWith('goes('));
  const first = moves[0];
  if (!first) return edges;
  const one: Edge = { ...first, condition: 'goes', to: moves.flatMap(({ to }) => to) };
  return edges.flatMap((edge) => (edge === first ? [one] : moves.includes(edge) ? [] : [edge]));
}

const idOf = (node: StateNode): string => idOfPath(pathOf(node) || node.key);
const idOfPath = (path: string): string => path.replaceAll(/[^A-Za-z0-9]+/g, '_');
