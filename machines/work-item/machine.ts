import { firstContext } from './context.js';
import { edges, type WorkStatus } from './edges.js';
import { workItem } from './setup.js';

/**
 * A work item (Todo): recorded work, who owns it, and whether it needs an approval.
 *
 * **What lives.** Two regions side by side. `work` holds the status; it moves along the one table of
 * edges.ts. `approval` holds the latest request for a person's or manager's word. The ledger (rows of
 * `events`) records everything that happened; requests and comments are rows too.
 *
 * **What can happen.** People and agents move it by hand; sessions that work on it drive it at once (running:
 * executing; success: in review, or done where work is trusted; failure: blocked). Where a verifier is named,
 * an attempt's success asks for their review, once a round. Review sends it back, one round at a time, to the
 * session that did the work, until the ceiling; then it is escalated. A review that ends without a verdict
 * leaves it to a person. A decision in review ends the review: the approval region decides and
 * raises it for the work region. A request runs out at its deadline and escalates by itself when there is no answer. A
 * due date that passes on open work is recorded once.
 *
 * **What can never happen.** A move outside the table, no matter who asks. An agent that takes an item out of
 * `escalated`, `done` or `cancelled`. An attempt that declares its own work done, an owner who decides their
 * own approval. An attempt that overwrites what was declared by hand. More rounds than the ceiling. A closed
 * item without `closedAt`, an open one with it. An unassigned item in `assigned`, an assigned one in
 * `backlog`.
 *
 * Who may do what is policy.ts; this chart says when. Its names are explained in setup.ts.
 */

/** What an open status takes beside moves. */
const open = (work: WorkStatus) => ({
  ...common(work),
  ...parent,
  'item.assign': { actions: { type: 'assign' as const, params: { work } } },
  'item.archive': {
    target: 'cancelled' as const,
    actions: [{ type: 'archive' as const, params: { work } }, 'raiseArchived' as const],
  },
});

/** What every status takes: edits, and attempts that only leave a mark. */
const common = (work: WorkStatus) => ({
  'item.edit': { actions: [{ type: 'edit' as const, params: { work } }, 'resetDue' as const] },
  'attempt.started': { actions: { type: 'link' as const, params: {} } },
  'attempt.ended': { actions: { type: 'unlink' as const, params: {} } },
});

/** What is not archived takes sub-tasks. */
const parent = { 'child.created': { actions: 'adopt' as const } };

/** Whatever became of the last request, there may be a new one. */
const asks = {
  guard: 'notArchived' as const,
  target: 'pending' as const,
  actions: { type: 'request' as const, params: { replaces: false } },
};

/**
 * By hand, along the table. `cancelled` is reached by archiving only, `executing` from review is a bounce.
 */
const moves = (from: WorkStatus) => [
  { guard: { type: 'stays' as const, params: { work: from } } },
  ...edges[from]
    .filter((to) => to !== 'cancelled' && !(from === 'in_review' && to === 'executing'))
    .map((to) => ({
      guard: { type: 'goes' as const, params: { to } },
      target: to,
      actions: { type: 'move' as const, params: { from, to } },
    })),
];

/** A session that begins makes an item executing. */
const starts = (work: WorkStatus) => ({
  guard: { type: 'undeclared' as const },
  target: 'executing' as const,
  actions: { type: 'link' as const, params: { work } },
});

const leads = (to: WorkStatus) => ({
  guard: { type: 'leads' as const, params: { to } },
  target: to,
  actions: { type: 'unlink' as const, params: { to } },
});

const bounces = [
  { guard: 'bounces' as const, target: 'executing' as const, actions: 'bounce' as const },
  { guard: 'exhausts' as const, target: 'escalated' as const, actions: 'exhaust' as const },
];

/**
 * The statechart of a work item.
 * @example const chart = workItemMachine.root.states;
 */
export const workItemMachine = workItem.createMachine({
  id: 'work-item',
  type: 'parallel',
  context: ({ input }) => firstContext(input),
  entry: ['created', 'startDue'],
  on: {
    'item.comment': { actions: 'comment' },
    'comment.edit': { actions: 'editComment' },
    'comment.delete': { actions: 'deleteComment' },
    'item.label': { actions: 'label' },
    'relation.add': { actions: 'relate' },
    'relation.remove': { actions: 'unrelate' },
    'attempt.reported': { actions: 'report' },
    'item.due': { actions: 'recordDue' },
    'review.ended': {} /* it came with a verdict, or its round is over */,
  },
  states: {
    work: {
      initial: 'backlog',
      states: {
        backlog: {
          // At creation only: later, assigning moves it, too
          always: { guard: 'hasAssignee', target: 'assigned' },
          on: {
            ...open('backlog'),
            'item.move': moves('backlog'),
            'item.assign': {
              target: 'assigned',
              actions: { type: 'assign', params: { work: 'backlog' } },
            },
            'item.edit': [
              {
                guard: 'editAssigns',
                target: 'assigned',
                actions: [{ type: 'edit', params: { work: 'backlog' } }, 'resetDue'],
              },
              common('backlog')['item.edit'],
            ],
            'attempt.started': starts('backlog'),
          },
        },
        assigned: {
          on: {
            ...open('assigned'),
            'item.move': moves('assigned'),
            'item.edit': { guard: 'keepsAssignee', ...common('assigned')['item.edit'] },
            'attempt.started': starts('assigned'),
          },
        },
        executing: {
          on: {
            ...open('executing'),
            'item.move': moves('executing'),
            'attempt.ended': [
              leads('done'),
              leads('in_review'),
              leads('blocked'),
              common('executing')['attempt.ended'],
            ],
          },
        },
        in_review: {
          on: {
            ...open('in_review'),
            'item.move': [...bounces, ...moves('in_review')],
            'approval.given': { target: 'done', actions: 'complete' },
            'approval.refused': bounces,
            'review.opened': { guard: 'reviewDue', actions: 'openReview' },
            'review.refused': { guard: 'reviewDue', actions: 'refuseReview' },
            'review.ended': { guard: 'withoutVerdict', actions: 'endReview' },
            'attempt.started': [starts('in_review'), common('in_review')['attempt.started']],
          },
        },
        blocked: {
          on: {
            ...open('blocked'),
            'item.move': moves('blocked'),
            'attempt.started': [starts('blocked'), common('blocked')['attempt.started']],
          },
        },
        escalated: {
          on: {
            ...common('escalated'),
            ...parent,
            'item.archive': open('escalated')['item.archive'],
            'item.move': moves('escalated'),
          },
        },
        done: { on: { ...common('done'), ...parent, 'item.move': moves('done') } },
        cancelled: {
          on: {
            ...common('cancelled'),
            'item.move': moves('cancelled'),
            'item.archive': {} /* archived already: allowed, and nothing happens */,
          },
        },
      },
    },
    approval: {
      initial: 'none',
      states: {
        none: { on: { 'approval.request': asks } },
        pending: {
          entry: 'startExpiry',
          exit: 'endExpiry',
          after: { escalation: { actions: 'escalateByTime' } },
          on: {
            'approval.request': [
              {
                guard: 'asksNew',
                target: 'pending',
                reenter: true,
                actions: { type: 'request', params: { replaces: true } },
              },
              // The same again: allowed, and nothing happens
              {},
            ],
            'approval.decide': [
              {
                guard: { type: 'decision', params: { is: 'approve' } },
                target: 'approved',
                actions: ['decide', 'raiseGiven'],
              },
              {
                guard: { type: 'decision', params: { is: 'reject' } },
                target: 'rejected',
                actions: ['decide', 'raiseRefused'],
              },
            ],
            'approval.escalate': { actions: 'escalate' },
            'approval.expired': { target: 'none', actions: 'expire' },
            'item.archived': { target: 'none', actions: 'withdraw' },
          },
        },
        approved: { on: { 'approval.request': asks } },
        rejected: { on: { 'approval.request': asks } },
      },
    },
  },
});
