import { sendToActor, type Output, type Decision } from '../outputs.js';
import { isoTime } from '../sortable.js';
import { limits } from './context.js';
import { gateKeyOf } from './gates.js';
import { gatesOf, openKey, type GateRules } from './graph.js';
import { receipt, type StepContext, type StepEvent } from './step-context.js';
import type { ParkedGate } from './step-run.js';

/**
 * A step at its gates: places where it waits for someone or something, for a week if need be. An approval
 * waits for a person or a manager; an artifact or a flag opens by itself as soon as an outcome names it, and
 * anyone who may decide an approval may open it by hand. No one at all: the gate escalates, and at its deadline
 * it is rejected. Where the run has a work item, that shows an approval as its own; both are decided together.
 */
type StepDecision = Decision<StepContext>;

/** The next of its gates that is not open yet. */
export function closedGate({ run, node, step }: StepContext): number | undefined {
  const gates = gatesOf(node);
  for (let place = step.gate === undefined ? 0 : step.gate.place + 1; place < gates.length; place += 1)
    if (run.truths[openKey(node.id, gates[place] as GateRules)] !== true) return place;
  return undefined;
}

/** Those before the next closed one, or all: a receipt for each. */
export function pastGates(context: StepContext): {
  readonly receipts: number;
  readonly outputs: readonly Output[];
} {
  const { node, run, at, step, receipts } = context;
  const gates = gatesOf(node);
  const from = step.gate === undefined ? 0 : step.gate.place + 1;
  if (gates.length <= from) return { receipts, outputs: [] };
  const open = gates.slice(from, closedGate(context) ?? Infinity);
  return {
    receipts: receipts + open.length,
    outputs: open.map((gate, n) =>
      receipt(context, receipts + n + 1, {
        gateId: gate.id,
        status: 'checkpoint',
        attempt: 1,
        round: run.rounds,
        at: isoTime(at),
        settledAt: isoTime(at),
        detail: `${gate.kind} "${gate.wants ?? ''}" is there`,
      }),
    ),
  };
}

export function park(context: StepContext): StepDecision {
  const { node, run, at } = context;
  const place = closedGate(context) ?? 0;
  const rules = gatesOf(node)[place] as GateRules;
  const row = context.receipts + 1;
  const gate: ParkedGate = {
    place,
    nodeId: node.id,
    gateId: rules.id,
    kind: rules.kind,
    at,
    ...routed(context, rules),
    escalatedAt: null,
    requestedBy: run.startedBy,
  };
  return {
    set: { receipts: row, step: { round: run.rounds, attempt: 1, row, at, gate } },
    outputs: [
      receipt(context, row, {
        gateId: rules.id,
        status: 'parked',
        attempt: 1,
        round: run.rounds,
        at: isoTime(at),
        detail: rules.asks,
      }),
      ...show(context, gate, rules),
    ],
  };
}

/** To the employee whom the definition names, else to the requester's manager, else to the root. */
function routed({ facts }: StepContext, { approver }: GateRules): Pick<ParkedGate, 'target' | 'targetKind'> {
  const named = approver !== null && facts?.approvers.includes(approver) === true ? approver : null;
  const target = named ?? facts?.managers[0] ?? facts?.root ?? null;
  return { target, targetKind: target === null ? 'virtual' : 'employee' };
}

/** The run's work item shows the gate. */
function show(
  { run: { workItemId, id: runId, title, rounds } }: StepContext,
  { kind, nodeId, gateId, target, targetKind }: ParkedGate,
  rules: GateRules,
): readonly Output[] {
  if (workItemId === null || kind !== 'approval') return [];
  const gateKey = gateKeyOf(nodeId, gateId, rounds);
  return [
    sendToActor(
      { kind: 'work-item', id: workItemId },
      {
        type: 'approval.request',
        requestId: `${runId}:${gateKey}`,
        request: `${rules.asks || rules.id} (workflow "${title}", run ${runId})`,
        target,
        targetKind,
        gate: { runId, gateKey },
      },
    ),
  ];
}

/** The run has ended before the gate was decided. */
export const hideGate = (context: StepContext, event: StepEvent): StepDecision =>
  event.type === 'step.cancel' ? { outputs: hide(context, 'reject', event.why.slice(0, 300)) } : {};

/** The work item hears that the run has gone on without its word. It may not even show the gate yet. */
function hide(
  { run: { workItemId, id }, step }: Pick<StepContext, 'run' | 'step'>,
  decision: 'approve' | 'reject',
  note: string | undefined,
): readonly Output[] {
  const { gate, round } = step;
  if (workItemId === null || gate?.kind !== 'approval') return [];
  return [
    sendToActor(
      { kind: 'work-item', id: workItemId },
      {
        type: 'approval.decide',
        decision,
        ...(note === undefined ? {} : { note }),
        resolves: id,
        gateKey: gateKeyOf(gate.nodeId, gate.gateId, round),
      },
    ),
  ];
}

/** The gate is open: by someone's word, or because what it waits for has come. */
export function leaveGate(context: StepContext, event: StepEvent): StepDecision {
  if (event.type !== 'gate.open') return {};
  return {
    outputs: [
      ...(event.mirrored === true ? [] : hide(context, 'approve', event.note)),
      decided(context, 'checkpoint', event.detail),
    ],
  };
}

/** Rejected, or no decision in time: the run has failed. */
export function rejectGate(context: StepContext, event: StepEvent): StepDecision {
  const { node, step } = context;
  const word = event.type === 'gate.reject' ? event : overdue;
  return {
    set: {
      step: { round: step.round, attempt: step.attempt, row: step.row, at: step.at },
      end: {
        status: 'failed',
        attempt: 1,
        outcome: null,
        follow: null,
        settled: false,
        error: { code: 'GATE_REJECTED', message: word.detail, ref: node.id },
      },
    },
    outputs: [
      ...(word.mirrored === true ? [] : hide(context, 'reject', word.note)),
      decided(context, 'failed', word.detail),
    ],
  };
}
const overdue = { detail: 'no decision in time', note: 'No decision in time.', mirrored: false };

const decided = (context: StepContext, status: 'checkpoint' | 'failed', detail: string): Output =>
  receipt(context, context.step.row, {
    gateId: context.step.gate?.gateId,
    status,
    attempt: 1,
    round: context.step.round,
    at: isoTime(context.step.at),
    settledAt: isoTime(context.at),
    detail: detail.slice(0, limits.errorCharsMax),
  });

/** Anyone who stands above may decide now. By itself: no one has answered. */
export function escalate({ run, step, at }: StepContext, event: StepEvent): StepDecision {
  if (step.gate === undefined) return {};
  return {
    set: { step: { ...step, gate: { ...step.gate, escalatedAt: at } } },
    outputs:
      run.workItemId === null || event.type === 'gate.escalate'
        ? []
        : [
            sendToActor(
              { kind: 'work-item', id: run.workItemId },
              { type: 'approval.escalate', reason: 'The gate that it mirrors was escalated.' },
            ),
          ],
  };
}

/** All that a gate node does is to be passed; its receipt is that of its gate. */
export function openNode(context: StepContext): StepDecision {
  const { run, step, at } = context;
  const { receipts, outputs } = pastGates(context);
  return {
    set: {
      receipts,
      step: { round: run.rounds, attempt: 1, row: step.row || receipts, at },
      end: { status: 'checkpoint', attempt: 1, outcome: null, follow: 'edges', settled: true },
    },
    outputs,
  };
}
