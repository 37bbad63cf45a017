import { isTrusted, type Caller } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { limits, type WorkItemContext, type WorkItemEventOf } from './context.js';
import { hasWorkedOn } from './review.js';

/** Who reports on attempts at a work item, and who opens its reviews. */

export function mayReport(
  event: WorkItemEventOf<'attempt.started' | 'attempt.ended' | 'review.ended'>,
  by: Caller,
): Refusal | undefined {
  const self = by.type === 'session' && by.id === event.sessionId;
  return isTrusted(by) || self
    ? undefined
    : refuse('FORBIDDEN', { sessionId: event.sessionId }, 'Only the session itself reports on its attempt.');
}

export function mayHandOff(
  context: WorkItemContext,
  event: WorkItemEventOf<'attempt.reported'>,
  by: Caller,
): Refusal | undefined {
  const self = by.type === 'session' && by.id === event.sessionId;
  if (!self && !isTrusted(by))
    return refuse(
      'FORBIDDEN',
      { sessionId: event.sessionId },
      'Only the session itself reports on its attempt.',
    );
  if (!context.attempts.some(({ sessionId }) => sessionId === event.sessionId))
    return refuse(
      'CONFLICT',
      { sessionId: event.sessionId },
      'This session has made no attempt at the work item.',
    );
  const { summary, changedFiles, verification, retryNotes } = event;
  const bytes = jsonBytes(JSON.stringify({ summary, changedFiles, verification, retryNotes }));
  return bytes > limits.handoffBytesMax
    ? refuse('PAYLOAD_TOO_LARGE', { bytesMax: limits.handoffBytesMax })
    : undefined;
}

/** The gateway itself, for a verifier who has not worked on the item. */
export function mayReview(
  context: WorkItemContext,
  event: WorkItemEventOf<'review.opened' | 'review.refused'>,
  by: Caller,
): Refusal | undefined {
  if (by.type !== 'system')
    return refuse('UNKNOWN_EVENT', { type: event.type }, 'Only the gateway may open reviews.');
  const { review } = context;
  // One that is open or refused already is not due: the chart's to refuse
  const isOpen = review?.sessionId === null && review.refused === undefined;
  return event.type === 'review.opened' && isOpen && hasWorkedOn(context, review.employee)
    ? refuse(
        'SELF_REVIEW',
        { workItemId: context.id },
        `${review.employee} has worked on ${context.id} and cannot review their own work.`,
      )
    : undefined;
}
