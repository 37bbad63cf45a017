import { callerName } from '../caller.js';
import { writeRow, sendToActor, type WriteRow, type SendTo, type Decision } from '../outputs.js';
import { isoTime, isoTimeOrNull } from '../sortable.js';
import type { Approval, TargetKind, WorkItemContext, WorkItemEventOf } from './context.js';
import { factsOf } from './authority.js';
import { decider, record, type LedgerEntry } from './ledger.js';

/**
 * What happens to requests for approval. Each is a row of `approvals`; its state lives on there when the item
 * has gone on.
 */

type Item = Decision<WorkItemContext>;
type RowState = 'pending' | 'approved' | 'rejected' | 'superseded' | 'expired' | 'cancelled';

/**
 * A request, routed: to whom it names, else to the owner's manager, else to the root. It replaces one that is
 * pending.
 */
export function request(
  context: WorkItemContext,
  event: WorkItemEventOf<'approval.request'>,
  replaces: boolean,
): Item {
  const { target, targetKind } = routed(event);
  const approval: Approval = {
    n: context.approvals + 1,
    requestId: event.requestId,
    request: event.request.trim(),
    target,
    targetKind,
    requestedBy: callerName(event.by),
    requestedAt: event.at,
    expiresAt: event.expiresAt ?? null,
    escalatedAt: null,
    decidedBy: null,
    decidedAt: null,
    ...(event.gate ? { gate: event.gate } : {}),
  };
  const superseded = replaces && context.approval ? [row(context.approval, 'superseded')] : [];
  const entry: LedgerEntry = {
    kind: 'approval_requested',
    at: event.at,
    actor: decider(event.by),
    detail: { requestId: event.requestId, target, targetKind },
  };
  const { set, outputs } = record(context, 'approval-requested', event.at, [entry]);
  return {
    set: { ...set, approval, approvals: approval.n, ...(context.withdrawn ? { withdrawn: null } : {}) },
    outputs: [...superseded, row(approval, 'pending'), ...outputs],
  };
}

/** The same text to the same target again asks for nothing new. */
export function sameRequest(context: WorkItemContext, event: WorkItemEventOf<'approval.request'>): boolean {
  const pending = context.approval;
  return (
    pending !== null &&
    pending.request === event.request.trim() &&
    pending.target === routed(event).target &&
    pending.expiresAt === (event.expiresAt ?? null)
  );
}

export function decide(context: WorkItemContext, event: WorkItemEventOf<'approval.decide'>): Item {
  const decided: Approval = { ...pendingOf(context), decidedBy: decider(event.by), decidedAt: event.at };
  const state = event.decision === 'approve' ? 'approved' : 'rejected';
  const note = event.note?.trim() || undefined;
  const entry: LedgerEntry = {
    kind: 'approval_decided',
    at: event.at,
    actor: decider(event.by),
    detail: { requestId: decided.requestId, decision: event.decision, ...(note ? { note } : {}) },
  };
  const { set, outputs } = record(context, 'approval-decided', event.at, [entry]);
  return {
    set: { ...set, approval: decided },
    outputs: [row(decided, state, note), ...outputs, ...delivered(context, decided, state, note)],
  };
}

/**
 * The word reaches the session that waits for it: whose request it was, else the one that worked on it last.
 */
function delivered(
  context: WorkItemContext,
  approval: Approval,
  state: 'approved' | 'rejected' | 'expired',
  note?: string,
): readonly SendTo[] {
  const id = /^session:(.+)$/.exec(approval.requestedBy)?.[1] ?? context.attempts.at(-1)?.sessionId;
  if (id === undefined) return [];
  const who = approval.decidedBy === null ? 'no decision in time' : `by ${approval.decidedBy}`;
  const content =
    `The approval of work item ${context.id} was ${state} (${who}).\nAsked: ` +
    `${approval.request.slice(0, 500)}${note === undefined ? '' : `\nNote: ${note}`}`;
  const meta = {
    kind: 'approval',
    workItemId: context.id,
    requestId: approval.requestId,
    state,
    decidedBy: approval.decidedBy,
    note: note ?? null,
  };
  return [
    sendToActor(
      { kind: 'session', id },
      {
        type: 'message.post',
        message: {
          id: `${context.id}:approval-${approval.n}:${state}`,
          content,
          role: 'notification',
          kind: 'callback',
          meta,
        },
      },
    ),
  ];
}

/** By hand, or by time so that nothing stays stuck on a silent manager. A second time changes nothing. */
export function escalate(
  context: WorkItemContext,
  by: { readonly at: number; readonly actor: string; readonly reason?: string | undefined },
): Item {
  const pending = pendingOf(context);
  if (pending.escalatedAt !== null) return {};
  const escalated: Approval = { ...pending, escalatedAt: by.at };
  const entry: LedgerEntry = {
    kind: 'note',
    at: by.at,
    actor: by.actor,
    detail: { approvalEscalated: true, requestId: pending.requestId, reason: by.reason?.trim() || null },
  };
  const { set, outputs } = record(context, 'approval-escalated', by.at, [entry]);
  return { set: { ...set, approval: escalated }, outputs: [row(escalated, 'pending'), ...outputs] };
}

/** It ran out, or its item was archived: it is no longer to be decided. */
export function withdraw(context: WorkItemContext, state: 'expired' | 'cancelled', at: number): Item {
  const gone = pendingOf(context);
  const entry: LedgerEntry = {
    kind: 'note',
    at,
    actor: 'system',
    detail: { approval: state, requestId: gone.requestId },
  };
  const { set, outputs } = record(context, `approval-${state}`, at, [entry]);
  return {
    set: { ...set, approval: null, withdrawn: state },
    outputs: [row(gone, state), ...outputs, ...(state === 'expired' ? delivered(context, gone, state) : [])],
  };
}

function routed(event: WorkItemEventOf<'approval.request'>): {
  readonly target: string | null;
  readonly targetKind: TargetKind;
} {
  if (event.target !== null) return { target: event.target, targetKind: event.targetKind ?? 'employee' };
  const facts = factsOf(event);
  const target = facts.managers[0] ?? facts.root;
  return target === null ? { target: null, targetKind: 'virtual' } : { target, targetKind: 'employee' };
}

function pendingOf(context: WorkItemContext): Approval {
  // The machine never gets here: a fault, not a refusal
  if (context.approval === null) throw new Error(`work item ${context.id} has no approval`);
  return context.approval;
}

function row(approval: Approval, state: RowState, note?: string): WriteRow {
  return writeRow('approvals', approval.n, {
    requestId: approval.requestId,
    request: approval.request,
    target: approval.target,
    targetKind: approval.targetKind,
    state,
    requestedBy: approval.requestedBy,
    requestedAt: isoTime(approval.requestedAt),
    expiresAt: isoTimeOrNull(approval.expiresAt),
    escalatedAt: isoTimeOrNull(approval.escalatedAt),
    decidedBy: approval.decidedBy,
    decidedAt: isoTimeOrNull(approval.decidedAt),
    note: note ?? null,
  });
}
