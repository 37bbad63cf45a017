import { refuse, type NotInState, type Refusal } from '../refusals.js';
import type { WorkItemContext, WorkItemEvent } from './context.js';
import { edges, type WorkItemState, type WorkStatus } from './edges.js';

/** What work items are refused with, where more than one rule does so, and what their chart does not take now. */

export const notOwner = (context: WorkItemContext): Refusal =>
  refuse(
    'NOT_OWNER',
    { workItemId: context.id },
    `Work item ${context.id} is not yours: only its owner, its attempts, its creator and the managers ` +
      'above may do this.',
  );

export const personOnly = (context: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  refuse(
    'PERSON_REQUIRED',
    { workItemId: context.id, from, to },
    `Only a person may move ${context.id} from ${from} to ${to}. Ask for an approval, or comment.`,
  );

export const unknownEmployee = (name: string, suggestion: string | null): Refusal =>
  refuse(
    'UNKNOWN_EMPLOYEE',
    { employee: name, suggestion },
    `Unknown employee "${name}".${suggestion === null ? '' : ` Did you mean "${suggestion}"?`} GET ` +
      '/api/org lists them.',
  );

/**
 * What an event would have done that the chart of a work item does not take now, and under which code it is refused; in
 * which states it is taken, the chart says. Never throws.
 * @example
 *   const notInState = ({ value, context }: SnapshotFrom<typeof workItemMachine>, event: WorkItemEvent) =>
 *     workItemNotInState(value, context, event);
 */
export function workItemNotInState(
  { work, approval }: WorkItemState,
  context: WorkItemContext,
  event: WorkItemEvent,
): Refusal | NotInState | undefined {
  const workItemId = context.id;
  const details = { workItemId, status: work };
  switch (event.type) {
    case 'item.move':
      return illegalMove(context, work, event.status);
    case 'item.edit':
      return refuse('ASSIGNEE_REQUIRED', { workItemId });
    case 'item.assign':
      return work === 'escalated'
        ? { details, action: 'be assigned', remedy: 'A person must move it first.' }
        : { code: 'TERMINAL', details, action: 'be assigned' };
    case 'item.archive':
      return { code: 'TERMINAL', details, action: 'be archived', remedy: 'It stays as evidence.' };
    case 'child.created':
      return { code: 'TERMINAL', details, action: 'get sub-tasks' };
    case 'approval.request':
      return { code: 'TERMINAL', details, action: 'be put up for approval' };
    case 'approval.decide':
      return nothingPending(context, approval, 'be approved or rejected');
    case 'approval.escalate':
      return nothingPending(context, approval, 'have its approval escalated');
    case 'review.opened':
    case 'review.refused':
      return { details: { workItemId }, action: 'be reviewed' };
    default:
      return undefined;
  }
}

/** Along which edges an item moves is a table; only where it has an assignee it can be `assigned`. */
export const illegalMove = ({ id }: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  edges[from].includes(to)
    ? refuse('ASSIGNEE_REQUIRED', { workItemId: id })
    : refuse(
        'ILLEGAL_TRANSITION',
        { workItemId: id, from, to, legal: edges[from] },
        `Work item ${id} cannot go from ${from} to ${to}; it can go to ${edges[from].join(', ')}.`,
      );

function nothingPending(
  { id, approval, withdrawn }: WorkItemContext,
  state: WorkItemState['approval'],
  action: string,
): NotInState {
  const code = 'NO_PENDING_APPROVAL';
  if (approval === null || state === 'none')
    return {
      code,
      details: {
        workItemId: id,
        ...(withdrawn ? { approvalState: withdrawn, approvalDecidedBy: null } : {}),
      },
      action,
      ...(withdrawn && { remedy: `The last request was ${withdrawn} before a decision.` }),
    };
  return {
    code,
    details: { workItemId: id, approvalState: state, approvalDecidedBy: approval.decidedBy },
    action,
    remedy: `It was already ${state}, by ${approval.decidedBy ?? 'another approver'}.`,
  };
}
