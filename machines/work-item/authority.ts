import { isPerson, type Caller } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import { factsOf, ownerOf, type WorkItemContext, type WorkItemFacts } from './context.js';

/**
 * Who stands how to a work item, and the matrix of who may decide its approvals. Owners come first: whoever owns an
 * item, or works for its owner's session, never decides about it, whatever else they are.
 */

export type Standing = 'operator' | 'system' | 'owner' | 'routed manager' | 'root' | 'executive' | 'other';

type Asked = { readonly by: Caller; readonly facts?: WorkItemFacts };

/** The state of an approval as the region of the machine names it. */
export type ApprovalState = 'none' | 'pending' | 'approved' | 'rejected';

export function standing(context: WorkItemContext, asked: Asked): Standing {
  const { by } = asked;
  if (by.type === 'system') return 'system';
  if (isPerson(by) || by.type !== 'session') return 'operator';
  const facts = factsOf(asked);
  if (isOwner(context, by)) return 'owner';
  if (isRoot(facts, by)) return 'root';
  if (by.employee !== null && by.employee === routedTo(context, facts)) return 'routed manager';
  return by.employee !== null && facts.executives.includes(by.employee) ? 'executive' : 'other';
}

type Cell = 'yes' | 'OWN_APPROVAL' | 'NOT_ROUTED' | 'NO_PENDING_APPROVAL';
type Column = 'none' | 'manager' | 'root' | 'escalated' | 'decided';

/** Rows: the caller. Columns: nothing pending · routed to a manager · routed to the root · escalated · decided already. */
export const matrix: Readonly<Record<Standing, Readonly<Record<Column, Cell>>>> = {
  operator: { none: 'NO_PENDING_APPROVAL', manager: 'NOT_ROUTED', root: 'yes', escalated: 'yes', decided: 'NO_PENDING_APPROVAL' },
  system: { none: 'NO_PENDING_APPROVAL', manager: 'yes', root: 'yes', escalated: 'yes', decided: 'NO_PENDING_APPROVAL' },
  owner: { none: 'OWN_APPROVAL', manager: 'OWN_APPROVAL', root: 'OWN_APPROVAL', escalated: 'OWN_APPROVAL', decided: 'OWN_APPROVAL' },
  'routed manager': { none: 'NO_PENDING_APPROVAL', manager: 'yes', root: 'NOT_ROUTED', escalated: 'yes', decided: 'NO_PENDING_APPROVAL' },
  root: { none: 'NO_PENDING_APPROVAL', manager: 'yes', root: 'yes', escalated: 'yes', decided: 'NO_PENDING_APPROVAL' },
  executive: { none: 'NOT_ROUTED', manager: 'NOT_ROUTED', root: 'NOT_ROUTED', escalated: 'yes', decided: 'NO_PENDING_APPROVAL' },
  other: { none: 'NOT_ROUTED', manager: 'NOT_ROUTED', root: 'NOT_ROUTED', escalated: 'NOT_ROUTED', decided: 'NOT_ROUTED' },
};

export function mayDecide(context: WorkItemContext, state: ApprovalState, asked: Asked): Refusal | undefined {
  return answer(matrix[standing(context, asked)][columnOf(context, state, factsOf(asked))], context, state);
}

/** The routed manager or the root escalates; the operator only where it holds the root's authority; the kernel by time. */
export function mayEscalate(context: WorkItemContext, state: ApprovalState, asked: Asked): Refusal | undefined {
  const who = standing(context, asked);
  const column = columnOf(context, state, factsOf(asked));
  if (who === 'executive' && column !== 'none' && column !== 'decided') return answer('NOT_ROUTED', context, state);
  return answer(matrix[who][column], context, state);
}

/** The owner, or somebody who works below a session of the owner's. */
export function isOwner(context: WorkItemContext, by: Caller): boolean {
  if (by.type !== 'session') return false;
  const owner = ownerOf(context);
  if (owner !== null && by.employee === owner) return true;
  const own = ownerSessions(context);
  return own.includes(by.id) || by.ancestors.some((id) => own.includes(id));
}

/** A session that works on it, or works below one that does. */
export const isAttempt = (context: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' && context.attempts.some(({ sessionId }) => sessionId === by.id || by.ancestors.includes(sessionId));

export const isCreator = (context: WorkItemContext, by: Caller): boolean => by.type === 'session' && context.creator.sessionId === by.id;

const isRoot = (facts: WorkItemFacts, by: Caller): boolean => by.type === 'session' && by.employee !== null && by.employee === facts.root;

/** Stands somewhere above the owner, or is the root. */
export const isAbove = (facts: WorkItemFacts, by: Caller): boolean =>
  isRoot(facts, by) || (by.type === 'session' && by.employee !== null && facts.managers.includes(by.employee));

/** Sessions that act for the owner: all attempts, and the creating one where it owns the item itself. */
function ownerSessions(context: WorkItemContext): readonly string[] {
  const attempts = context.attempts.map(({ sessionId }) => sessionId);
  const creatorOwns = context.assignee === null && context.firstAttemptEmployee === null && context.creator.sessionId !== null;
  return creatorOwns && context.creator.sessionId !== null ? [...attempts, context.creator.sessionId] : attempts;
}

/** To whom it is, or would be, routed. */
const routedTo = (context: WorkItemContext, facts: WorkItemFacts): string | null => context.approval?.target ?? facts.managers[0] ?? null;

function columnOf(context: WorkItemContext, state: ApprovalState, facts: WorkItemFacts): Column {
  if (state === 'none' || context.approval === null) return 'none';
  if (state !== 'pending') return 'decided';
  if (context.approval.escalatedAt !== null) return 'escalated';
  const { target, targetKind } = context.approval;
  return targetKind !== 'employee' || target === null || target === facts.root ? 'root' : 'manager';
}

function answer(cell: Cell, context: WorkItemContext, state: ApprovalState): Refusal | undefined {
  const approval = context.approval;
  switch (cell) {
    case 'yes': return undefined;
    case 'OWN_APPROVAL': return refuse(cell, { workItemId: context.id });
    case 'NOT_ROUTED': return refuse(cell, { workItemId: context.id, approvalTarget: approval?.target ?? null },
      approval?.target ? `The approval of ${context.id} is routed to ${approval.target}. They, or the root, must decide or escalate it.` : undefined);
    case 'NO_PENDING_APPROVAL': return approval === null || state === 'none'
      ? refuse(cell, { workItemId: context.id, ...(context.withdrawn ? { approvalState: context.withdrawn, approvalDecidedBy: null } : {}) },
        `Work item ${context.id} has no pending approval${context.withdrawn ? `: the last request was ${context.withdrawn} before anybody decided` : ''}.`)
      : refuse(cell, { workItemId: context.id, approvalState: state, approvalDecidedBy: approval.decidedBy }, `The approval of ${context.id} was ${state} already, by ${approval.decidedBy ?? 'somebody'}.`);
  }
}
