import type { Json } from '../ground.js';
import type { RunContext, RunFacts } from './context.js';
import { graphOf } from './graph.js';
import { isActive, isOver } from './pass.js';

/** What "why" asks of a run: the events that a caller might send now, and who or what it waits for. */

export interface RunMove { readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>; readonly to?: string; readonly needs?: readonly string[] }

export function runMoves(context: RunContext): readonly RunMove[] {
  if (isOver(context.status)) return [];
  const pending = graphOf(context).nodes.find((node) => node.kind === 'step' && context.spots[node.id] === undefined);
  return [
    ...Object.keys(context.gates).flatMap((gateKey): RunMove[] => [
      { event: { type: 'gate.resolve', gateKey, decision: 'approve' }, to: 'running' },
      { event: { type: 'gate.resolve', gateKey, decision: 'reject' }, to: 'failed' },
      { event: { type: 'gate.escalate', gateKey } },
    ]),
    { event: { type: 'run.cancel' }, to: 'cancelled' },
    ...(pending === undefined ? [] : [{ event: { type: 'step.edit', nodeId: pending.id, prompt: '(text)' }, needs: ['nodeId', 'prompt'] }]),
  ];
}

/** Gates with who may open them (`operator`: people), and nodes at which something is under way. */
export function runAwaits(context: RunContext, facts: RunFacts | null | undefined): Json {
  return {
    room: context.queued,
    gates: Object.entries(context.gates).map(([gateKey, { kind, target, targetKind, escalatedAt }]) => {
      const root = facts?.root ?? null;
      const people = escalatedAt !== null || targetKind === 'virtual' || target === null || target === root;
      const names = [target, root, ...(escalatedAt === null ? [] : facts?.executives ?? [])].filter((name): name is string => name !== null);
      return { gateKey, kind, target, escalated: escalatedAt !== null, keyHolders: [...new Set([...(people ? ['operator'] : []), ...names])].filter((name) => name !== context.requester.employee) };
    }),
    underWay: Object.entries(context.spots).filter(([, spot]) => isActive(spot) && spot.status !== 'parked')
      .map(([nodeId, { status, attempt, round, worker }]) => ({ nodeId, status, attempt, round, ...(worker === undefined ? {} : { worker: { ...worker } }) })),
  };
}
