import type { Condition } from './conditions.js';
import type { Gate, WorkflowDefinition, WorkflowEdge, WorkflowNode } from './definition.js';
import { circlesOf, reachable } from './order.js';
import { note, type Reading, type GraphFault } from './reader.js';

/**
 * Can a run get stuck? Every node must be reachable, every node that is no end must have a way out, and every
 * way back must have a ceiling. Steps, waits and gates have deadlines or people in their normal form; what is
 * left is the graph. Each finding names the node.
 */
export function livenessFaults(reading: Reading, { nodes, edges, runGates }: WorkflowDefinition): void {
  const ids = nodes.map(({ id }) => id);
  const known = new Set(ids);
  const whole = edges.filter(({ from, to }) => known.has(from) && known.has(to));
  const forward = whole.filter(({ kind }) => kind !== 'loop');
  const start = nodes.filter(({ type }) => type === 'trigger').map(({ id }) => id);
  const reached = reachable(start, forward);
  for (const node of nodes)
    if (start.length > 0 && !reached.has(node.id))
      note(reading, 'unreachable-node', `nothing leads from the trigger to "${node.id}"`, { ref: node.id });
  for (const circle of circlesOf(
    ids,
    forward.filter(({ from, to }) => from !== to),
  )) {
    note(
      reading,
      'non-loop-cycle',
      `the nodes ${circle
        .slice(0, 12)
        .map((id) => `"${id}"`)
        .join(', ')} wait for each other; make the edge that leads back a loop with a ceiling`,
      { ref: circle[0] ?? '' },
    );
  }
  for (const edge of whole) if (edge.kind === 'loop') loopFaults(reading, edge, forward);
  if (!isDraft({ nodes })) for (const node of nodes) exitFaults(reading, node, whole, { forward, nodes });
  for (const gate of runGates) if (gate.kind !== 'approval') neverOpens(reading, gate, gate.id);
}

function loopFaults(reading: Reading, edge: WorkflowEdge, forward: readonly WorkflowEdge[]): void {
  if (edge.maxRounds === null)
    note(
      reading,
      'loop-without-ceiling',
      `the loop "${edge.id}" from "${edge.from}" back to "${edge.to}" has no ceiling: set its maxRounds, ` +
        'or loop.maxRoundsPerRun',
      { ref: edge.from },
    );
  if (edge.from !== edge.to && !reachable([edge.to], forward).has(edge.from))
    note(
      reading,
      'loop-not-back',
      `the loop "${edge.id}" does not lead back: "${edge.from}" does not come after "${edge.to}"`,
      { ref: edge.id },
    );
}

/** Types at which a branch may not end. */
const passages: ReadonlySet<WorkflowNode['type']> = new Set(['trigger', 'switch', 'merge', 'wait']);

function exitFaults(
  reading: Reading,
  node: WorkflowNode,
  edges: readonly WorkflowEdge[],
  graph: { readonly forward: readonly WorkflowEdge[]; readonly nodes: readonly WorkflowNode[] },
): void {
  const out = edges.filter(({ from, lane }) => from === node.id && lane === null);
  if (passages.has(node.type) && !out.some(({ kind }) => kind !== 'loop')) {
    note(reading, 'dead-end', `the ${node.type} "${node.id}" has no way out: nothing comes after it`, {
      ref: node.id,
    });
  } else if (node.type === 'switch' && !covers(out.filter(({ kind }) => kind !== 'loop'))) {
    note(
      reading,
      'switch-without-default',
      `the switch "${node.id}" has no way out when none of its conditions holds: add an edge without conditions`,
      { ref: node.id },
    );
  }
  if (node.type === 'merge' && graph.forward.filter(({ to }) => to === node.id).length < 2)
    note(
      reading,
      'merge-of-one',
      `the merge "${node.id}" has fewer than two ways in, so there is nothing to merge`,
      { ref: node.id },
    );
  const gates = (node.type === 'gate' ? [node.gate] : node.type === 'step' ? node.gates : []).filter(
    ({ kind }) => kind !== 'approval',
  );
  if (gates.length === 0) return;
  const before = reachable(
    [node.id],
    graph.forward.map(({ from, to }) => ({ from: to, to: from })),
  );
  if (graph.nodes.some(({ id, type }) => type === 'step' && id !== node.id && before.has(id))) return;
  for (const gate of gates) neverOpens(reading, gate, node.id);
}

/** No one before it can leave what it waits for. */
const neverOpens = (reading: Reading, gate: Gate, ref: string): void =>
  note(
    reading,
    'gate-never-opens',
    `the gate "${gate.id}" waits for ${gate.kind === 'flag' ? 'a flag' : 'an artifact'} of a step, and ` +
      'no step comes before it',
    { ref },
  );

/**
 * Whatever happens, one edge is taken: one without conditions, or two of which one is the contrary of the
 * other.
 */
function covers(edges: readonly WorkflowEdge[]): boolean {
  if (edges.some(({ when }) => when.length === 0)) return true;
  const single = edges.flatMap(({ when: [first, ...others] }) =>
    first === undefined || others.length > 0 ? [] : [first],
  );
  return single.some((one) => single.some((other) => contrary(one, other)));
}

function contrary(one: Condition, other: Condition): boolean {
  if (one.path !== other.path) return false;
  if (one.op === 'exists') return other.op === 'absent';
  return one.op === 'eq' && other.op === 'ne' && one.value === other.value;
}

/**
 * A trigger alone is a draft: editors save it before its first step is drawn. It is sound as far as it goes, and
 * no run of it can start.
 */
export const isDraft = ({ nodes }: Pick<WorkflowDefinition, 'nodes'>): boolean =>
  nodes.length === 1 && nodes[0]?.type === 'trigger';

/** Why a definition without steps cannot run. */
export const noSteps: GraphFault = { code: 'no-steps', message: 'The workflow has no steps.' };
