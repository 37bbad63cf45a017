import type { Json } from '../outputs.js';
import { gateKeyOf } from './gates.js';
import { graphOf } from './graph.js';
import type { NodeStatus, ParkedGate, StepRun, StepState } from './step-run.js';

/**
 * From version 1 to 2: a run whose status and steps were members of its context becomes one whose state is
 * the chart's, and whose steps are machines. Effects, timers and messages that are on their way keep their
 * names, so that a run goes on where it was.
 */
export function stepsAsMachines<
  Persisted extends { readonly value: Json; readonly context: Record<string, Json> },
>(persisted: Persisted): Persisted {
  const { status, queued, spots, paths, gates, ...context } = persisted.context;
  const kinds = new Map(
    graphOf({ graph: String(context['graph']) }).nodes.map((node) => [
      node.id,
      node.kind === 'step' ? (`step ${node.rules.by}` as const) : node.kind,
    ]),
  );
  const steps = Object.entries((spots ?? {}) as unknown as Record<string, StepOfVersion1>).map(
    ([id, step]) => [
      id,
      stepOf(id, step, kinds.get(id) ?? 'step keyed', (gates ?? {}) as unknown as Record<string, OldGate>),
    ],
  );
  return {
    ...persisted,
    value: queued === true && status === 'running' ? 'queued' : (status ?? null),
    context: { ...context, steps: Object.fromEntries(steps) as Json, edgeStates: paths ?? '' },
  };
}

/** A step of version 1. */
type StepOfVersion1 = Omit<StepRun, 'state' | 'gate'> & {
  readonly status: NodeStatus;
  readonly gate?: number;
};
type OldGate = Omit<ParkedGate, 'place'>;

function stepOf(
  id: string,
  { status, gate: place, ...step }: StepOfVersion1,
  kind: string,
  gates: Readonly<Record<string, OldGate>>,
): StepRun {
  const state = stateOf(status, step, kind);
  if (state !== 'parked') return { state, ...step };
  const gate = Object.entries(gates).find(
    ([key, { nodeId, gateId }]) => nodeId === id && key === gateKeyOf(nodeId, gateId, step.round),
  )?.[1];
  return { state, ...step, ...(gate === undefined ? {} : { gate: { place: place ?? 0, ...gate } }) };
}

function stateOf(status: NodeStatus, { worker, costUsd }: Partial<StepRun>, kind: string): StepState {
  switch (status) {
    case 'running':
      if (worker === undefined) return kind === 'step fenced' ? 'running.acting' : 'running.calling';
      // its cost is known since its session first ended: what that said is being read, or it was asked again
      return costUsd === undefined ? 'running.working' : 'running.reading';
    case 'waiting':
      return kind === 'wait' ? 'waiting' : 'retrying';
    case 'parked':
    case 'failed':
    case 'skipped':
      return status;
    default:
      return 'succeeded';
  }
}
