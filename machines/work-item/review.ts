import { callerName, type Caller } from '../caller.js';
import { excerpt } from '../text.js';
import type { Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import type { Attempt, Review, WorkItemContext, WorkItemEventOf, WorkItemFacts } from './context.js';
import { closed, type WorkStatus } from './edges.js';
import { record, type LedgerEntry } from './ledger.js';
import { unknownEmployee } from './refusals.js';

/**
 * The review of an item by the verifier whom its policy names. An attempt that succeeds makes a review due;
 * someone opens one session for it, or says why there is none; that session may send the item back or call
 * it done. One review a round, so that there are never more than `maxRounds` of them without a person.
 */

/**
 * The verifier's name; null: there is none. An engine without an employee is kept for the one who reviews, and
 * asked by no one.
 */
export const verifierOf = ({ verifyPolicy }: WorkItemContext): string | null =>
  verifyPolicy === null || verifyPolicy.mode === 'trust' ? null : (verifyPolicy.verifier?.employee ?? null);

/** The review that an attempt's success makes due; undefined: none, or this round had its own. */
export function dueReview(context: WorkItemContext): Review | undefined {
  const employee = verifierOf(context);
  const last = context.review ?? null;
  if (employee === null || (last !== null && last.refused === undefined && last.round >= context.rounds))
    return undefined;
  return { round: context.rounds, employee, sessionId: null };
}

/** The session that reviews this round. */
export const isReviewer = ({ review, rounds }: WorkItemContext, by: Caller): boolean =>
  by.type === 'session' && review != null && review.sessionId === by.id && review.round === rounds;

/** What a reviewer may do with an item in review; what others may not becomes no right of theirs. */
export const mayJudge = (context: WorkItemContext, by: Caller, from: WorkStatus, to: WorkStatus): boolean =>
  from === 'in_review' && (to === 'executing' || to === 'done') && isReviewer(context, by);

/** No one reviews their own work. */
export const hasWorkedOn = (
  { assignee, attempts, firstAttemptEmployee }: WorkItemContext,
  employee: string,
): boolean =>
  assignee === employee ||
  firstAttemptEmployee === employee ||
  attempts.some((attempt) => attempt.employee === employee);

/**
 * The verifier whom a policy names is an employee, and not the one who works on the item: asked when either is
 * named, so that no review fails for it later.
 */
export function mayVerify(
  item: Pick<WorkItemContext, 'verifyPolicy' | 'assignee'>,
  { verifier: named }: Pick<WorkItemFacts, 'verifier'>,
  attempts: readonly Pick<Attempt, 'employee'>[] = [],
): Refusal | undefined {
  const employee = item.verifyPolicy?.verifier?.employee;
  if (employee === undefined) return undefined;
  if (named?.known === false) return unknownEmployee(employee, named.suggestion);
  return employee === item.assignee || attempts.some((attempt) => attempt.employee === employee)
    ? refuse(
        'SELF_REVIEW',
        { path: 'verifyPolicy.verifier.employee', employee },
        `${employee} works on this item and cannot review it: name another verifier or assign another employee.`,
      )
    : undefined;
}

export const isDue = (work: WorkStatus, { review }: WorkItemContext, round?: number): boolean =>
  work === 'in_review' &&
  review != null &&
  review.sessionId === null &&
  review.refused === undefined &&
  (round === undefined || review.round === round);

/** The lists by which reviews are found: items that may need one, and those that do now. */
export function reviewIndex(
  work: WorkStatus,
  context: WorkItemContext,
): readonly { readonly index: string; readonly key: string }[] {
  if (verifierOf(context) === null || closed.includes(work)) return [];
  return [
    { index: 'verifier', key: context.id },
    ...(isDue(work, context) ? [{ index: 'review', key: context.id }] : []),
  ];
}

export function openReview(
  context: WorkItemContext,
  event: WorkItemEventOf<'review.opened'>,
): Decision<WorkItemContext> {
  const { review } = context;
  if (review == null) return {};
  return noted(
    context,
    event,
    'review-opened',
    { ...review, sessionId: event.sessionId },
    { sessionId: event.sessionId },
  );
}

/** The reviewer's session came to its end and the item is still in review: a person decides. */
export function endReview(
  context: WorkItemContext,
  event: WorkItemEventOf<'review.ended'>,
): Decision<WorkItemContext> {
  const { review } = context;
  if (review == null) return {};
  const reason = excerpt(
    `${review.employee} ended without a verdict. ${event.summary}`.trim(),
    reasonCharsMax,
  );
  return noted(context, event, 'review-ended', { ...review, refused: reason }, { reason });
}

/** The review of this round is that session's, and it has not ended before. */
export const isOpen = ({ review, rounds }: WorkItemContext, sessionId: string): boolean =>
  review != null && review.sessionId === sessionId && review.round === rounds && review.refused === undefined;

export function refuseReview(
  context: WorkItemContext,
  event: WorkItemEventOf<'review.refused'>,
): Decision<WorkItemContext> {
  const { review } = context;
  const reason = event.reason.slice(0, reasonCharsMax);
  return review == null
    ? {}
    : noted(context, event, 'review-refused', { ...review, refused: reason }, { reason });
}

const reasonCharsMax = 300;

function noted(
  context: WorkItemContext,
  event: { readonly at: number; readonly by: Caller },
  action: string,
  review: Review,
  more: Readonly<Record<string, string>>,
): Decision<WorkItemContext> {
  const entry: LedgerEntry = {
    kind: 'note',
    at: event.at,
    actor: callerName(event.by),
    detail: { action, employee: review.employee, round: review.round, ...more },
  };
  const { set, outputs } = record(context, action, event.at, [entry]);
  return { set: { ...set, review }, outputs };
}
