import {
  definitionLimits as limits,
  type StepNode,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
} from './definition.js';
import { parsePath, pathsIn } from './paths.js';
import { note, type Reading } from './reader.js';

/**
 * What a graph must be to be one at all: ids used once, edges between nodes that may have them, names that
 * mean something.
 */
export function structureFaults(reading: Reading, definition: WorkflowDefinition): void {
  const { nodes, edges, runGates } = definition;
  if (nodes.length === 0)
    note(reading, 'no-nodes', 'a definition needs at least one node', { ref: 'nodes', path: 'nodes' });
  for (const id of twice(nodes.map((node) => node.id)))
    note(reading, 'duplicate-node', `the node id "${id}" is used more than once`, { ref: id });
  for (const id of twice(edges.map((edge) => edge.id)))
    note(reading, 'duplicate-edge', `the edge id "${id}" is used more than once`, { ref: id });
  for (const node of nodes.filter(({ type }) => type === 'trigger').slice(1))
    note(reading, 'many-triggers', `"${node.id}" is a second trigger; a definition has one`, {
      ref: node.id,
    });
  const gates = [
    ...runGates,
    ...nodes.flatMap((node) => (node.type === 'gate' ? [node.gate] : node.type === 'step' ? node.gates : [])),
  ];
  for (const id of twice(gates.map((gate) => gate.id)))
    note(reading, 'duplicate-gate', `the gate id "${id}" is used more than once`, { ref: id });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const edge of edges) edgeFaults(reading, edge, byId);
  for (const node of nodes) if (node.type === 'step') laneFaults(reading, node, edges);
  clockFaults(reading, definition);
}

/**
 * What wakes by the clock has a cron job, whose id is longer than its own: one that cannot have it would
 * never wake. A retired one need not.
 */
function clockFaults(reading: Reading, { id, status, nodes }: WorkflowDefinition): void {
  if (status === 'retired' || id.length <= limits.scheduledIdCharsMax) return;
  const clock = nodes.find((node) => node.type === 'trigger' && node.trigger.kind === 'schedule');
  if (clock !== undefined)
    note(
      reading,
      'schedule-id-too-long',
      `a workflow that wakes by the clock needs an id of at most ${limits.scheduledIdCharsMax} ` +
        `characters; this one has ${id.length}`,
      { ref: clock.id, path: 'id' },
    );
}

function edgeFaults(reading: Reading, edge: WorkflowEdge, byId: ReadonlyMap<string, WorkflowNode>): void {
  const { id, from, to, kind, lane } = edge;
  const say = (code: string, message: string): void => note(reading, code, message, { ref: id });
  const [source, target] = [byId.get(from), byId.get(to)];
  for (const [end, name, node] of [
    ['from', from, source],
    ['to', to, target],
  ] as const) {
    if (node === undefined && name !== '')
      say('dangling-edge', `edge "${id}" leads ${end} "${name}", which does not exist`);
  }
  if (target?.type === 'trigger')
    say('edge-into-trigger', `edge "${id}" leads into the trigger "${to}"; nothing comes before it`);
  if (source?.type === 'fail' || source?.type === 'end')
    say('edge-out-of-end', `edge "${id}" leads out of "${from}", where a branch ends`);
  if (from === to && kind !== 'loop' && from !== '')
    say('self-edge', `edge "${id}" leads from "${from}" to itself; only a loop may`);
  if (kind === 'handoff' && source !== undefined && source.type !== 'step')
    say('handoff-without-step', `edge "${id}" hands over what "${from}" made, which is not a step`);
  if (lane === 'error' && source !== undefined && source.type !== 'step')
    say(
      'error-edge-source',
      `edge "${id}" is an error lane, but only a step can fail, and "${from}" is a ${source.type}`,
    );
  if (lane === 'error' && source?.type === 'step' && source.options.onError !== 'error-edge')
    say(
      'error-edge-unused',
      `edge "${id}" is an error lane of "${from}", whose options.onError is not "error-edge"`,
    );
}

function laneFaults(reading: Reading, node: StepNode, edges: readonly WorkflowEdge[]): void {
  if (
    node.options.onError !== 'error-edge' ||
    edges.some(({ from, lane }) => from === node.id && lane === 'error')
  )
    return;
  note(
    reading,
    'error-edge-missing-lane',
    `step "${node.id}" sends its errors along an edge of lane "error", and there is none`,
    { ref: node.id },
  );
}

/**
 * Paths in texts and results must mean something. Braces that are no path at all are left to their authors.
 */
export function referenceFaults(reading: Reading, definition: WorkflowDefinition): void {
  const ids = new Set(definition.nodes.map(({ id }) => id));
  const isNode = (id: string): boolean => ids.has(id);
  const judge = (written: string, ref: string, code: string): void => {
    const path = parsePath(written, isNode);
    if (path === undefined)
      note(reading, code, `"${written.slice(0, 128)}" in "${ref}" is not a path`, { ref });
    else if (path.root === 'steps' && !isNode(path.nodeId))
      note(
        reading,
        code,
        `"${written.slice(0, 128)}" in "${ref}" names the node "${path.nodeId}", which does not exist`,
        { ref },
      );
  };
  for (const node of definition.nodes) {
    if (node.type === 'end')
      for (const path of Object.values(node.result)) judge(path, node.id, 'bad-result-path');
    if (node.type !== 'step') continue;
    if (node.actor.kind === 'workflow' && node.actor.workflowId === definition.id)
      note(reading, 'self-call', `step "${node.id}" runs its own workflow, without end`, { ref: node.id });
    const texts = textsOf([node.instructions, node.actor]);
    for (const text of texts)
      for (const path of pathsIn(text))
        if (/^(?:steps|run|trigger|input)\b/.test(path)) judge(path, node.id, 'bad-template');
  }
}

/** Every text in a value, at most 16 deep. */
function textsOf(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 16) return [];
  return Object.values(value).flatMap((item) => textsOf(item, depth + 1));
}

function twice(ids: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(ids.filter((id) => id !== '' && (seen.has(id) || !seen.add(id))))];
}
