import { refuse, type Refusal } from '../refusals.js';
import type { WorkItemContext, WorkItemEvent } from './context.js';
import { edges, type WorkStatus, type WorkItemState } from './edges.js';

/**
 * Better words than the kernel's for what the chart of a work item does not take now. Undefined leaves the
 * kernel's own refusal; never throws.
 * @example
 *   const notInState = ({ value, context }: SnapshotFrom<typeof workItemMachine>, event: WorkItemEvent) =>
 *     workItemNotInState(value, context, event);
 */
export function workItemNotInState(
  { work, approval }: WorkItemState,
  context: WorkItemContext,
  event: WorkItemEvent,
): Refusal | undefined {
  const { id: workItemId } = context;
  switch (event.type) {
    case 'item.move':
      return edges[work].includes(event.status)
        ? refuse('ASSIGNEE_REQUIRED', { workItemId })
        : illegal(context, work, event.status);
    case 'item.edit':
      return refuse('ASSIGNEE_REQUIRED', { workItemId });
    case 'item.assign':
      return work === 'escalated'
        ? refuse(
            'CONFLICT',
            { workItemId, status: work },
            'The work item is escalated: a person must move it first.',
          )
        : refuse('TERMINAL', { workItemId, status: work });
    case 'item.archive':
      return refuse(
        'TERMINAL',
        { workItemId, status: work },
        'The work item is done and stays as evidence; it cannot be archived.',
      );
    case 'child.created':
    case 'approval.request':
      return refuse('TERMINAL', { workItemId, status: 'cancelled' });
    case 'approval.decide':
    case 'approval.escalate':
      return nothingPending(context, approval);
    case 'review.opened':
    case 'review.refused':
      return refuse('CONFLICT', { workItemId }, `Work item ${workItemId} is not awaiting a review.`);
    default:
      return undefined;
  }
}

const illegal = (context: WorkItemContext, from: WorkStatus, to: WorkStatus): Refusal =>
  refuse(
    'ILLEGAL_TRANSITION',
    { workItemId: context.id, from, to, legal: edges[from] },
    `Work item ${context.id} cannot go from ${from} to ${to}.`,
  );

const nothingPending = (
  { id, approval, withdrawn }: WorkItemContext,
  state: WorkItemState['approval'],
): Refusal =>
  approval === null || state === 'none'
    ? refuse(
        'NO_PENDING_APPROVAL',
        {
          workItemId: id,
          ...(withdrawn ? { approvalState: withdrawn, approvalDecidedBy: null } : {}),
        },
        `Work item ${id} has no pending approval` +
          `${withdrawn ? `: the last request was ${withdrawn} before a decision` : ''}.`,
      )
    : refuse(
        'NO_PENDING_APPROVAL',
        { workItemId: id, approvalState: state, approvalDecidedBy: approval.decidedBy },
        `The approval of ${id} was already ${state}, by ${approval.decidedBy ?? 'another approver'}.`,
      );
