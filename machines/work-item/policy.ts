import { fromKernel, type Authority } from '../caller.js';
import { refuse, type Refusal } from '../refusals.js';
import { mayChangeComment, mayComment, mayLabel, mayLink } from './annotation-policy.js';
import { mayDecideRequest, mayRequest, mayEscalate, ownsItem, type Asker } from './authority.js';
import { mayHandOff, mayReport, mayReview } from './attempt-policy.js';
import { limits, type WorkItemContext, type WorkItemEvent, type WorkItemInput } from './context.js';
import { fitFields, fitLabels } from './fields.js';
import { mayArchive, mayAssign, mayEdit, mayMove } from './move-policy.js';
import { notOwner, unknownEmployee } from './refusals.js';
import { mayVerify } from './review.js';
import type { WorkItemState } from './edges.js';

/**
 * Who may do what with a work item, and whether what an event carries fits: the only place that knows. When
 * it may happen is the statechart's to say; a rule looks at the state only where it makes a difference who
 * asks. Answers the refusal, or undefined for yes; never throws.
 * @example
 *   const policy = ({ value, context }: SnapshotFrom<typeof workItemMachine>, event: WorkItemEvent & Stamp) =>
 *     workItemPolicy(value, context, event, authorityOf(event));
 */
export function workItemPolicy(
  where: WorkItemState,
  context: WorkItemContext,
  event: WorkItemEvent,
  { by, onBehalfOf }: Authority,
): Refusal | undefined {
  const asker: Asker = event.facts === undefined ? { onBehalfOf } : { onBehalfOf, facts: event.facts };
  switch (event.type) {
    case 'item.move':
      return mayMove(where.work, context, event, asker);
    case 'item.assign':
      return mayAssign(where.work, context, event, asker);
    case 'item.archive':
      return mayArchive(where.work, context, event, asker);
    case 'item.edit':
      return mayEdit(context, event, asker);
    case 'item.comment':
      return mayComment(context, event, asker);
    case 'comment.edit':
    case 'comment.delete':
      return mayChangeComment(context, event, asker);
    case 'item.label':
      return mayLabel(context, event, asker);
    case 'relation.add':
    case 'relation.remove':
      return mayLink(context, event, asker);
    case 'child.created':
      return ownsItem(context, asker) ? undefined : notOwner(context);
    case 'approval.request':
      return mayRequest(context, event, asker);
    case 'approval.decide':
      return mayDecideRequest(context, where.approval, event, asker);
    case 'approval.escalate':
      return mayEscalate(context, where.approval, asker);
    case 'attempt.started':
    case 'attempt.ended':
    case 'review.ended':
      return mayReport(event, by);
    case 'attempt.reported':
      return mayHandOff(context, event, by);
    case 'review.opened':
    case 'review.refused':
      return mayReview(context, event, by);
    case 'item.due':
    case 'approval.expired':
    case 'approval.given':
    case 'approval.refused':
    case 'item.archived':
      return by.type === 'system'
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the work item itself sends this.');
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/**
 * May an item be created like this? Answers the refusal, or undefined for yes; never throws.
 * @example const validateInput = (input: WorkItemInput) => admitWorkItem(input);
 */
export function admitWorkItem(input: WorkItemInput): Refusal | undefined {
  if (typeof input.title !== 'string' || input.title.trim() === '')
    return refuse('BAD_REQUEST', { path: 'title' }, 'A title is required.');
  const named = input.facts?.named;
  if (input.assignee !== null && named?.known === false)
    return unknownEmployee(input.assignee, named.suggestion);
  if ((input.depth ?? 0) > limits.depthMax)
    return refuse(
      'BAD_REQUEST',
      { path: 'parentId', depthMax: limits.depthMax },
      `Sub-tasks nest at most ${limits.depthMax} deep.`,
    );
  return (
    trustsItself(input) ?? fitFields(input) ?? fitLabels(input.labels) ?? mayVerify(input, input.facts ?? {})
  );
}

/** Work that is trusted is done when its attempt says so: no agent says that of its own. */
function trustsItself({ by, onBehalfOf = by, assignee, verifyPolicy }: WorkItemInput): Refusal | undefined {
  if (onBehalfOf?.type !== 'session' || verifyPolicy?.mode !== 'trust') return undefined;
  return assignee === null || assignee === onBehalfOf.employee
    ? refuse(
        'PERSON_REQUIRED',
        { path: 'verifyPolicy.mode' },
        'An agent cannot have its own work trusted: another employee must review it.',
      )
    : undefined;
}
