import type { WorkflowDefinition, WorkflowNode } from './definition.js';

/** A graph as Mermaid text, for people who look at the evidence: `mermaidOf(definition)`. */
export function mermaidOf({ title, nodes, edges }: WorkflowDefinition): string {
  const names = new Map(nodes.map(({ id }, index) => [id, `n${index}`]));
  return [
    '---',
    `title: ${quoted(title)}`,
    '---',
    'flowchart LR',
    ...nodes.map((node) => `  ${names.get(node.id) ?? ''}${shapeOf(node)}`),
    ...edges.map((edge) => {
      const arrow =
        edge.kind === 'loop' || edge.lane === 'error' ? '-.->' : edge.kind === 'handoff' ? '==>' : '-->';
      const words = [
        edge.label,
        edge.lane,
        edge.maxRounds === null ? null : `at most ${edge.maxRounds}×`,
        ...edge.when.map(
          ({ path, op, value }) => `${path} ${op}${value === undefined ? '' : ` ${String(value)}`}`,
        ),
      ];
      const label = words.filter((word) => word !== null).join(', ');
      return (
        `  ${names.get(edge.from) ?? ''} ${arrow}${label === '' ? '' : `|${quoted(label)}|`} ` +
        `${names.get(edge.to) ?? ''}`
      );
    }),
    '',
  ].join('\n');
}

function shapeOf(node: WorkflowNode): string {
  const label = quoted(node.label);
  switch (node.type) {
    case 'trigger':
      return `([${label}])`;
    case 'end':
    case 'fail':
      return `((${label}))`;
    case 'switch':
    case 'merge':
      return `{${label}}`;
    case 'gate':
      return `{{${label}}}`;
    default:
      return `[${label}]`;
  }
}

/** Nothing that someone wrote may become part of the drawing's own language. */
const quoted = (text: string): string =>
  `"${text.replace(/[^\p{L}\p{N} .,:;!?×+*/=_()-]/gu, ' ').slice(0, 200)}"`;
