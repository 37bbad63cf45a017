import type { ParkedGate } from './context.js';
import type { GateRules } from './graph.js';
import type { Pass } from './pass.js';

/** The work item of a run, where it has one, shows an approval gate as its own approval; both are decided together. */
export function mirror(pass: Pass, gateKey: string, { target, targetKind }: ParkedGate, gate: GateRules): void {
  const { workItemId, id: runId, title } = pass.now;
  if (workItemId === null) return;
  pass.tell({ kind: 'work-item', id: workItemId }, {
    type: 'approval.request', requestId: `${runId}:${gateKey}`, request: `${gate.asks || gate.id} (workflow "${title}", run ${runId})`, target, targetKind, gate: { runId, gateKey },
  });
}

/** The work item that shows a gate hears that the run has gone on without its word. It may not even show it yet. */
export function unmirror(pass: Pass, gateKey: string, decision: 'approve' | 'reject', note: string | undefined): void {
  const { workItemId, id } = pass.now;
  if (workItemId === null || pass.now.gates[gateKey]?.kind !== 'approval') return;
  pass.tell({ kind: 'work-item', id: workItemId }, { type: 'approval.decide', decision, ...(note === undefined ? {} : { note }), resolves: id, gateKey });
}

/** The gate that an event names; without a name the one that has waited longest. */
export function gateNamed(gates: Readonly<Record<string, ParkedGate>>, key: string | undefined): readonly [key: string, gate: ParkedGate] | undefined {
  if (key !== undefined) return Object.hasOwn(gates, key) ? [key, gates[key] as ParkedGate] : undefined;
  return Object.entries(gates).sort(([, one], [, other]) => one.at - other.at)[0];
}
