import { isPerson, isTrusted, type Caller } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import { factsOf, ownerOf, type WorkItemContext, type WorkItemFacts } from './context.js';
import type { ApprovalState } from './edges.js';

/**
 * The relation of a caller to a work item, and the matrix of who may decide its approvals. Owners come first:
 * who owns an item, or works for its owner's session, never decides about it, whatever else they are. All of it
 * is judged by the caller on whose behalf an event is sent.
 */

export type Relation = 'operator' | 'system' | 'owner' | 'routed manager' | 'root' | 'executive' | 'other';

export interface Asker {
  readonly onBehalfOf: Caller;
  readonly facts?: WorkItemFacts;
}

/**
 * What an asker is to a work item. Never throws.
 * @example const isManager = (context: WorkItemContext, asker: Authority) => relationTo(context, asker) === 'owner';
 */
export function relationTo(context: WorkItemContext, asker: Asker): Relation {
  const caller = asker.onBehalfOf;
  if (caller.type === 'system') return 'system';
  if (isPerson(caller) || caller.type !== 'session') return 'operator';
  const facts = factsOf(asker);
  if (isOwner(context, caller)) return 'owner';
  if (isRoot(facts, caller)) return 'root';
  if (caller.employee !== null && caller.employee === routedTo(context, facts)) return 'routed manager';
  return caller.employee !== null && facts.executives.includes(caller.employee) ? 'executive' : 'other';
}

/** Owner, attempt, creator, or a manager above: an agent's item. People and the kernel may always. */
export const ownsItem = (context: WorkItemContext, asker: Asker): boolean =>
  isTrusted(asker.onBehalfOf) ||
  isOwner(context, asker.onBehalfOf) ||
  isAttempt(context, asker.onBehalfOf) ||
  isCreator(context, asker.onBehalfOf) ||
  isAbove(factsOf(asker), asker.onBehalfOf);

type Cell = 'yes' | 'OWN_APPROVAL' | 'NOT_ROUTED' | 'NO_PENDING_APPROVAL';
type Column = 'none' | 'manager' | 'root' | 'escalated' | 'decided';

/**
 * Rows: the caller. Columns: nothing pending · routed to a manager · routed to the root · escalated · decided
 * already. `NO_PENDING_APPROVAL` is said by the chart, to those who would otherwise have the authority.
 * @example approvalMatrix.operator.manager // 'NOT_ROUTED'
 */
export const matrix: Readonly<Record<Relation, Readonly<Record<Column, Cell>>>> = {
  operator: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'NOT_ROUTED',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  system: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  owner: {
    none: 'OWN_APPROVAL',
    manager: 'OWN_APPROVAL',
    root: 'OWN_APPROVAL',
    escalated: 'OWN_APPROVAL',
    decided: 'OWN_APPROVAL',
  },
  'routed manager': {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'NOT_ROUTED',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  root: {
    none: 'NO_PENDING_APPROVAL',
    manager: 'yes',
    root: 'yes',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  executive: {
    none: 'NOT_ROUTED',
    manager: 'NOT_ROUTED',
    root: 'NOT_ROUTED',
    escalated: 'yes',
    decided: 'NO_PENDING_APPROVAL',
  },
  other: {
    none: 'NOT_ROUTED',
    manager: 'NOT_ROUTED',
    root: 'NOT_ROUTED',
    escalated: 'NOT_ROUTED',
    decided: 'NOT_ROUTED',
  },
};

/** Has this caller the authority to decide? Whether there is anything to decide is the chart's to say. */
export const mayDecide = (
  context: WorkItemContext,
  state: ApprovalState,
  asker: Asker,
): Refusal | undefined =>
  answer(matrix[relationTo(context, asker)][columnOf(context, state, factsOf(asker))], context);

/**
 * The routed manager or the root escalates; the operator only where it holds the root's authority; the kernel
 * by time.
 */
export function mayEscalate(
  context: WorkItemContext,
  state: ApprovalState,
  asker: Asker,
): Refusal | undefined {
  const relation = relationTo(context, asker);
  const column = columnOf(context, state, factsOf(asker));
  if (relation === 'executive' && column !== 'none' && column !== 'decided')
    return answer('NOT_ROUTED', context);
  return answer(matrix[relation][column], context);
}

/** The owner, or a session below one of the owner's. */
export function isOwner(context: WorkItemContext, by: Caller): boolean {
  if (by.type !== 'session') return false;
  const owner = ownerOf(context);
  if (owner !== null && by.employee === owner) return true;
  const own = ownerSessions(context);
  return own.includes(by.id) || by.ancestors.some((id) => own.includes(id));
}

/** A session that works on it, or works below one that does. */
export const isAttempt = (context: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' &&
  context.attempts.some(({ sessionId }) => sessionId === by.id || by.ancestors.includes(sessionId));

export const isCreator = (context: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' && context.creator.sessionId === by.id;

const isRoot = (facts: WorkItemFacts, by: Caller): boolean =>
  by.type === 'session' && by.employee !== null && by.employee === facts.root;

/** Stands somewhere above the owner, or is the root. */
export const isAbove = (facts: WorkItemFacts, by: Caller): boolean =>
  isRoot(facts, by) ||
  (by.type === 'session' && by.employee !== null && facts.managers.includes(by.employee));

/** Sessions that act for the owner: all attempts, and the creating one where it owns the item itself. */
function ownerSessions(context: WorkItemContext): readonly string[] {
  const attempts = context.attempts.map(({ sessionId }) => sessionId);
  const creatorOwns =
    context.assignee === null && context.firstAttemptEmployee === null && context.creator.sessionId !== null;
  return creatorOwns && context.creator.sessionId !== null
    ? [...attempts, context.creator.sessionId]
    : attempts;
}

/** To whom it is, or would be, routed. */
const routedTo = (context: WorkItemContext, facts: WorkItemFacts): string | null =>
  context.approval?.target ?? facts.managers[0] ?? null;

function columnOf(context: WorkItemContext, state: ApprovalState, facts: WorkItemFacts): Column {
  if (state === 'none' || context.approval === null) return 'none';
  if (state !== 'pending') return 'decided';
  if (context.approval.escalatedAt !== null) return 'escalated';
  const { target, targetKind } = context.approval;
  return targetKind !== 'employee' || target === null || target === facts.root ? 'root' : 'manager';
}

function answer(cell: Cell, context: WorkItemContext): Refusal | undefined {
  switch (cell) {
    case 'yes':
    case 'NO_PENDING_APPROVAL':
      return undefined;
    case 'OWN_APPROVAL':
      return refuse(cell, { workItemId: context.id });
    case 'NOT_ROUTED': {
      const target = context.approval?.target ?? null;
      return refuse(
        cell,
        { workItemId: context.id, approvalTarget: target },
        target === null
          ? undefined
          : `The approval of ${context.id} is routed to ${target}. They, or the root, must decide or escalate it.`,
      );
    }
  }
}
