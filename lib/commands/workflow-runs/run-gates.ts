import { rootOf, rosterOf } from '../../../actors/work-item/facts.js';
import type { Caller } from '../../../machines/caller.js';
import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { AskedGate, RunView } from '../../../machines/workflow-run/view.js';
import type { App } from '../app.js';

/** The gate at which a run is parked, as the API shows it, and whether its caller may decide it. */

/** What is routed to the root, the operator may decide, too. */
export function rootName(app: App): string | null {
  const roster = rosterOf(app.roster?.());
  return roster === undefined ? null : rootOf(roster);
}

export function presentGate(
  view: RunView,
  parked: NonNullable<RunView['parked']>,
  definition: WorkflowDefinition | undefined,
  capability: Capability | null,
  root: string | null,
): Json {
  const node = definition?.nodes.find(({ id }) => id === parked.nodeId);
  const gates =
    node?.type === 'gate' ? [node.gate] : node?.type === 'step' ? node.gates : (definition?.runGates ?? []);
  const gate = gates.find(({ id }) => id === parked.gateId);
  return {
    scope: node?.type === 'gate' ? 'gateNode' : node?.type === 'step' ? 'stepGate' : 'runGate',
    nodeId: parked.nodeId,
    gateKey: parked.gateKey,
    kind: parked.kind,
    evaluator: parked.kind === 'approval' ? 'human-approval' : parked.kind,
    ref: gate?.approvalRef ?? gate?.glob ?? gate?.flag ?? null,
    description: gate?.description ?? '',
    at: parked.at,
    approval: {
      ...approvalOf(view, parked, root),
      state: 'pending',
      decidedBy: null,
      decidedAt: null,
      canDecide: capability?.canDecide ?? false,
    },
  };
}

/** Who asked whom, and since when. */
export function approvalOf(
  { requester, startedBy }: RunView,
  { target, targetKind, at, escalatedAt }: AskedGate,
  root: string | null,
): { readonly [member: string]: Json } {
  return {
    requesterEmployee: requester.employee,
    requestedBy: startedBy,
    requestedAt: at,
    target,
    targetKind,
    entitledEmployees: target === null ? [] : [target],
    operatorEntitled:
      targetKind === 'virtual' || escalatedAt !== null || (target !== null && target === root),
    escalation: escalatedAt === null ? null : { target: null, targetKind: 'virtual', at: escalatedAt },
    escalatedAt,
  };
}

export interface Capability {
  readonly canDecide: boolean;
  readonly target: string | null;
  readonly needsYou: boolean;
  readonly escalated: boolean;
  readonly [member: string]: Json;
}

/** May this caller decide the gate now? The kind's own policy answers, rehearsed. */
export async function capabilityOf(
  { supervisor }: App,
  { runId, parked }: RunView,
  by: Caller,
): Promise<Capability | null> {
  if (parked === null) return null;
  const answer = await supervisor.ask(
    'workflow-run',
    runId,
    { type: 'gate.resolve', gateKey: parked.gateKey, decision: 'approve' },
    { by, dryRun: true },
  );
  const canDecide = !isRefusal(answer);
  return { canDecide, target: parked.target, needsYou: canDecide, escalated: parked.escalatedAt !== null };
}
