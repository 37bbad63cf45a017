import { cancel, enqueueActions, raise, setup } from 'xstate';
import { callerName, system } from '../caller.js';
import { stampOf, decidesFor, type OutputOf } from '../outputs.js';
import {
  adopt,
  comment,
  deleteComment,
  editComment,
  label,
  relate,
  unrelate,
  type WorkItemRows,
} from './annotations.js';
import { decide, escalate, request, sameRequest, withdraw } from './approvals.js';
import { leadsTo, link, report, unlink } from './attempts.js';
import type { WorkItemContext, WorkItemEvent, WorkItemEventOf, WorkItemInput } from './context.js';
import { overdue, untilDue } from './due.js';
import type { WorkStatus } from './edges.js';
import { decider } from './ledger.js';
import {
  archive,
  assign,
  bounce,
  complete,
  created,
  edit,
  exhaust,
  move,
  roundsLeft,
  type Verdict,
} from './moves.js';
import { endReview, isDue, isOpen, openReview, refuseReview } from './review.js';
import type { Edge } from './shift.js';

/** What the names in the chart of machine.ts mean: conditions, and what each action decides. */

const decides = decidesFor<WorkItemContext, WorkItemEvent, OutputOf<WorkItemRows>>();

export interface At {
  readonly work: WorkStatus;
}

export const workItem = setup({
  types: {} as {
    context: WorkItemContext;
    events: WorkItemEvent;
    input: WorkItemInput;
    emitted: OutputOf<WorkItemRows>;
  },
  delays: {
    /**
     * After this long without a word a pending approval escalates by itself. The kind may provide another.
     */
    escalation: 24 * 3600 * 1000,
  },
  guards: {
    /** `assigned` needs an assignee. */
    goes: ({ context, event }, { to }: { to: WorkStatus }) =>
      event.type === 'item.move' && event.status === to && (to !== 'assigned' || context.assignee !== null),
    /** Asked for what is: taken, and nothing happens. */
    stays: ({ event }, { work }: At) => event.type === 'item.move' && event.status === work,
    /** Sent back, and a round is left. */
    bounces: ({ context, event }) => sendsBack(event) && roundsLeft(context),
    exhausts: ({ context, event }) => sendsBack(event) && !roundsLeft(context),
    hasAssignee: ({ context }) => context.assignee !== null,
    editAssigns: ({ event }) => event.type === 'item.edit' && typeof event.patch.assignee === 'string',
    keepsAssignee: ({ event }) => event.type === 'item.edit' && event.patch.assignee !== null,
    undeclared: ({ context }) => !context.declared,
    leads: ({ context, event }, { to }: { to: WorkStatus }) =>
      event.type === 'attempt.ended' && leadsTo(context, event) === to,
    reviewDue: ({ context, event }) =>
      (event.type === 'review.opened' || event.type === 'review.refused') &&
      isDue('in_review', context, event.round),
    withoutVerdict: ({ context, event }) => event.type === 'review.ended' && isOpen(context, event.sessionId),
    decision: ({ event }, { is }: { is: 'approve' | 'reject' }) =>
      event.type === 'approval.decide' && event.decision === is,
    notArchived: ({ context }) => !context.archived,
    asksNew: ({ context, event }) => event.type === 'approval.request' && !sameRequest(context, event),
  },
  actions: {
    created: decides(created),
    move: decides('item.move', (context, event, edge: Edge) => move(context, event, edge)),
    bounce: decides((context, event) => bounce(context, verdictOf(event))),
    exhaust: decides((context, event) => exhaust(context, verdictOf(event))),
    complete: decides('approval.given', complete),
    archive: decides('item.archive', (context, event, { work }: At) => archive(context, event, work)),
    assign: decides('item.assign', (context, event, { work }: At) => assign(context, event, work)),
    edit: decides('item.edit', (context, event, { work }: At) => edit(context, event, work)),
    link: decides('attempt.started', (context, event, { work }: { work?: WorkStatus }) =>
      link(context, event, work),
    ),
    unlink: decides('attempt.ended', (context, event, { to }: { to?: WorkStatus }) =>
      unlink(context, event, to),
    ),
    report: decides('attempt.reported', report),
    openReview: decides('review.opened', openReview),
    refuseReview: decides('review.refused', refuseReview),
    endReview: decides('review.ended', endReview),
    comment: decides('item.comment', comment),
    editComment: decides('comment.edit', editComment),
    deleteComment: decides('comment.delete', deleteComment),
    label: decides('item.label', label),
    relate: decides('relation.add', relate),
    unrelate: decides('relation.remove', unrelate),
    adopt: decides('child.created', adopt),
    request: decides('approval.request', (context, event, { replaces }: { replaces: boolean }) =>
      request(context, event, replaces),
    ),
    decide: decides('approval.decide', decide),
    escalate: decides('approval.escalate', (context, event) =>
      escalate(context, { at: event.at, actor: decider(event.by), reason: event.reason }),
    ),
    escalateByTime: decides((context, event) =>
      escalate(context, { at: stampOf(event).at, actor: 'system', reason: 'No answer in time.' }),
    ),
    expire: decides('approval.expired', (context, event) => withdraw(context, 'expired', event.at)),
    withdraw: decides('item.archived', (context, event) => withdraw(context, 'cancelled', event.at)),
    recordDue: decides('item.due', overdue),
    // Timers that an item has only where it has such a date. The kernel stamps a delayed event when it fires.
    startDue: enqueueActions(({ context, enqueue }) => {
      if (context.dueAt == null) return;
      const delay = Math.max(0, context.dueAt - context.createdAt);
      enqueue.raise({ type: 'item.due' } as WorkItemEventOf<'item.due'>, { id: 'due', delay });
    }),
    resetDue: enqueueActions(({ context, event, enqueue }) => {
      const delay = untilDue(context, event as WorkItemEventOf<'item.edit'>);
      if (delay === null) enqueue.cancel('due');
      else if (delay !== undefined)
        enqueue.raise({ type: 'item.due' } as WorkItemEventOf<'item.due'>, { id: 'due', delay });
    }),
    startExpiry: enqueueActions(({ context, event, enqueue }) => {
      const expiresAt = context.approval?.expiresAt ?? null;
      if (expiresAt === null) return;
      const delay = Math.max(0, expiresAt - event.at);
      enqueue.raise({ type: 'approval.expired' } as WorkItemEventOf<'approval.expired'>, {
        id: 'expiry',
        delay,
      });
    }),
    endExpiry: cancel('expiry'),
    // What one region says to the other
    raiseGiven: raise(({ event }) => ({ type: 'approval.given', ...outcomeOf(event) })),
    raiseRefused: raise(({ event }) => ({ type: 'approval.refused', ...outcomeOf(event) })),
    raiseArchived: raise(({ event }) => ({ type: 'item.archived', at: event.at, by: system('work-item') })),
  },
});

const sendsBack = (event: WorkItemEvent): boolean =>
  event.type === 'item.move' ? event.status === 'executing' : event.type === 'approval.refused';

function verdictOf(event: WorkItemEvent): Verdict {
  if (event.type === 'approval.refused')
    return { at: event.at, actor: event.actor, note: event.note, rejected: true };
  const { at, by, note } = event as WorkItemEventOf<'item.move'>;
  return { at, actor: callerName(by), note, rejected: false };
}

function outcomeOf(event: WorkItemEvent): {
  at: number;
  by: ReturnType<typeof system>;
  actor: string;
  note?: string;
} {
  const { at, by, note } = event as WorkItemEventOf<'approval.decide'>;
  return { at, by: system('work-item'), actor: decider(by), ...(note === undefined ? {} : { note }) };
}
