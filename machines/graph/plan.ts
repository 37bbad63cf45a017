import { isSessionActor, type Gate, type StepNode, type WorkflowDefinition } from './definition.js';
import { layersOf } from './order.js';

/**
 * How a definition would run: what a person sees before anything is saved, and in which order things become
 * possible.
 */
export type ExecutionPlan = ReturnType<typeof executionPlan>;

/**
 * The waves in which a definition would run. Never throws.
 * @example const { waves } = executionPlan(definition);
 */
export function executionPlan(definition: WorkflowDefinition) {
  const { nodes, edges, runGates } = definition;
  const forward = edges.filter(({ kind, from, to }) => kind !== 'loop' && from !== to);
  const waves = layersOf(
    nodes.map(({ id }) => id),
    forward,
  );
  const order = waves.flat();
  const steps = nodes.filter((node): node is StepNode => node.type === 'step');
  const byId = new Map(steps.map((step) => [step.id, step]));
  const trigger = nodes.find((node) => node.type === 'trigger');
  const kind = trigger?.type === 'trigger' ? trigger.trigger.kind : 'manual';
  const only = (type: string): readonly string[] =>
    nodes.filter((node) => node.type === type).map(({ id }) => id);
  const gateNodes = nodes.flatMap((node) =>
    node.type === 'gate' ? [{ nodeId: node.id, label: node.label, gate: node.gate }] : [],
  );
  const allGates: readonly Gate[] = [
    ...runGates,
    ...gateNodes.map(({ gate }) => gate),
    ...steps.flatMap(({ gates }) => gates),
  ];
  return {
    workflowId: definition.id,
    title: definition.title,
    version: definition.version,
    trigger: { kind, declaresCronJobId: kind === 'schedule' ? `workflow:${definition.id}` : null },
    steps: order.flatMap((id) => stepOf(byId.get(id))),
    stepOrder: order.filter((id) => byId.has(id)),
    /** Nodes that can become ready together, if every branch takes as long. */
    waves,
    gateNodes,
    runGates,
    hasApprovalGate: allGates.some((gate) => gate.kind === 'approval'),
    loop: definition.loop,
    loops: edges.flatMap(({ id, kind, from, to, maxRounds }) =>
      kind === 'loop' ? [{ edgeId: id, from, to, maxRounds }] : [],
    ),
    concurrency: definition.concurrency,
    switchNodes: only('switch'),
    failNodes: only('fail'),
    waitNodes: only('wait'),
    mergeNodes: only('merge'),
    endNodes: only('end'),
    inEdges: Object.fromEntries(
      nodes.map(({ id }) => [id, edges.filter(({ to }) => to === id).map((edge) => edge.id)]),
    ),
    predecessors: Object.fromEntries(
      nodes.map(({ id }) => [
        id,
        [...new Set(forward.filter(({ to }) => to === id).map(({ from }) => from))],
      ]),
    ),
  };
}

function stepOf(step: StepNode | undefined) {
  if (step === undefined) return [];
  const { id, label, optional, actor, gates } = step;
  return [
    {
      nodeId: id,
      label,
      optional,
      spawn: {
        actorKind: actor.kind,
        actorRef: isSessionActor(actor)
          ? actor.ref
          : actor.kind === 'workflow'
            ? actor.workflowId
            : actor.kind === 'connector-send'
              ? actor.connector
              : null,
      },
      gates,
      parksOnApproval: gates.some((gate) => gate.kind === 'approval'),
    },
  ];
}
