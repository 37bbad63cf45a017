import type { Json } from '../outputs.js';
import { isActive, statusOf, type RunFacts } from './context.js';
import { parkedGates } from './gates.js';
import { graphOf } from './graph.js';
import { isOver, runStatus } from './step-run.js';
import type { RunSnapshot } from './view.js';

/** What "why" asks of a run: the events that a caller might send now, and who or what it waits for. */

export interface RunMove {
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  readonly to?: string;
  readonly needs?: readonly string[];
}

export function runMoves({ value, context }: RunSnapshot): readonly RunMove[] {
  if (isOver(runStatus(value))) return [];
  const pending = graphOf(context).nodes.find(
    (node) => node.kind === 'step' && context.steps[node.id] === undefined,
  );
  return [
    ...parkedGates(context.steps).flatMap(([gateKey]): RunMove[] => [
      { event: { type: 'gate.resolve', gateKey, decision: 'approve' }, to: 'running' },
      { event: { type: 'gate.resolve', gateKey, decision: 'reject' }, to: 'failed' },
      { event: { type: 'gate.escalate', gateKey } },
    ]),
    { event: { type: 'run.cancel' }, to: 'cancelled' },
    ...(pending === undefined
      ? []
      : [
          { event: { type: 'step.edit', nodeId: pending.id, prompt: '(text)' }, needs: ['nodeId', 'prompt'] },
        ]),
  ];
}

/** Gates with who may open them (`operator`: people), and nodes at which something is under way. */
export function runAwaits({ value, context }: RunSnapshot, facts: RunFacts | null | undefined): Json {
  return {
    room: value === 'queued',
    gates: parkedGates(context.steps).map(([gateKey, { kind, target, targetKind, escalatedAt }]) => {
      const root = facts?.root ?? null;
      const people = escalatedAt !== null || targetKind === 'virtual' || target === null || target === root;
      const names = [target, root, ...(escalatedAt === null ? [] : (facts?.executives ?? []))].filter(
        (name): name is string => name !== null,
      );
      return {
        gateKey,
        kind,
        target,
        escalated: escalatedAt !== null,
        keyHolders: [...new Set([...(people ? ['operator'] : []), ...names])].filter(
          (name) => name !== context.requester.employee,
        ),
      };
    }),
    underWay: Object.entries(context.steps)
      .filter(([, step]) => isActive(step) && step.state !== 'parked')
      .map(([nodeId, { state, attempt, round, worker }]) => ({
        nodeId,
        status: statusOf({ kind: 'step' }, state),
        attempt,
        round,
        ...(worker === undefined ? {} : { worker: { ...worker } }),
      })),
  };
}
