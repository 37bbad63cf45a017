import { assertEvent, cancel, enqueueActions, raise, setup } from 'xstate';
import { callerName, system } from '../caller.js';
import { perform } from '../deed.js';
import { stampOf, type Wish } from '../ground.js';
import { adopt, comment, deleteComment, editComment, label, relate, unrelate } from './annotations.js';
import { decide, escalate, request, sameRequest, withdraw } from './approvals.js';
import { firstContext, type WorkItemContext, type WorkItemEvent, type WorkItemEventOf, type WorkItemInput } from './context.js';
import { edges, type WorkStatus } from './edges.js';
import { overdue, untilDue } from './due.js';
import { decider } from './ledger.js';
import { archive, assign, born, bounce, edit, exhaust, leadsTo, link, move, pass, report, roundsLeft, unlink, type Edge } from './moves.js';
import { workItemPolicy, type Standpoint } from './policy.js';
import { openReview, refuseReview } from './review.js';

/**
 * A work item (Todo): recorded work, who owns it, and whether somebody must allow it.
 *
 * **What lives.** Two regions side by side. `work` holds the status; it moves along the one table of edges.ts. `approval`
 * holds the latest request for a person's or manager's word. The ledger (rows of `events`) tells everything that
 * happened; requests and comments are rows too.
 *
 * **What can happen.** People and agents move it by hand; sessions that work on it drive it at once (running: executing;
 * success: in review, or done where work is trusted; failure: blocked). Where a verifier is named, an attempt's success
 * asks for their review, once a round. Review sends it back, one round at a time, until the ceiling; then it is escalated. A decision in review ends the review: the approval region decides and tells the
 * work region. A request runs out at its deadline and escalates by itself when nobody answers. A due date that passes on
 * open work is told once.
 *
 * **What can never happen.** A move outside the table, whoever asks. An agent that takes an item out of `escalated`,
 * `done` or `cancelled`. An attempt that declares its own work done, an owner who decides their own approval. An attempt
 * that overwrites what somebody declared. More rounds than the ceiling. A closed item without `closedAt`, an open one
 * with it. An unassigned item in `assigned`, an assigned one in `backlog`.
 */
const item = setup({
  types: {} as { context: WorkItemContext; events: WorkItemEvent; input: WorkItemInput; emitted: Wish },
  delays: {
    /** After this long without a word a pending approval escalates by itself. The kind may provide another. */
    escalation: 24 * 3600 * 1000,
  },
  guards: {
    allowed: ({ context, event }, where: Where) => allowed(context, event, where),
    goes: ({ context, event }, { from, to }: Edge) => event.type === 'item.move' && event.status === to && allowed(context, event, { work: from }),
    /** Asked for what is: allowed, taken, and nothing happens. */
    stays: ({ context, event }, { work }: At) => event.type === 'item.move' && event.status === work && allowed(context, event, { work }),
    /** Sent back, and a round is left. */
    bounces: ({ context, event }) => sendsBack(context, event) && roundsLeft(context),
    exhausts: ({ context, event }) => sendsBack(context, event) && !roundsLeft(context),
    hasAssignee: ({ context }) => context.assignee !== null,
    editAssigns: ({ context, event }) => event.type === 'item.edit' && typeof event.patch.assignee === 'string' && allowed(context, event, { work: 'backlog' }),
    undeclared: ({ context, event }) => !context.declared && allowed(context, event, {}),
    leads: ({ context, event }, { to }: { to: WorkStatus }) => event.type === 'attempt.ended' && allowed(context, event, {}) && leadsTo(context, event) === to,
    approves: ({ context, event }) => event.type === 'approval.decide' && event.decision === 'approve' && allowed(context, event, { approval: 'pending' }),
    rejects: ({ context, event }) => event.type === 'approval.decide' && event.decision === 'reject' && allowed(context, event, { approval: 'pending' }),
    asksNew: ({ context, event }) => event.type === 'approval.request' && !sameRequest(context, event) && allowed(context, event, { approval: 'pending' }),
  },
  actions: {
    born: enqueueActions(({ context, enqueue }) => {
      for (const wish of born(context)) enqueue.emit(wish);
      if (context.dueAt == null) return;
      const due = { type: 'item.due' } as WorkItemEventOf<'item.due'>; // the kernel stamps a delayed event when it fires
      enqueue.raise(due, { id: 'due', delay: Math.max(0, context.dueAt - context.createdAt) });
    }),
    move: enqueueActions(({ context, event, enqueue }, edge: Edge) => { assertEvent(event, 'item.move'); perform(enqueue, move(context, event, edge)); }),
    bounce: enqueueActions(({ context, event, enqueue }) => perform(enqueue, bounce(context, verdict(event)))),
    exhaust: enqueueActions(({ context, event, enqueue }) => perform(enqueue, exhaust(context, verdict(event)))),
    pass: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'approval.given'); perform(enqueue, pass(context, event)); }),
    archive: enqueueActions(({ context, event, enqueue }, { work }: At) => { assertEvent(event, 'item.archive'); perform(enqueue, archive(context, event, work)); }),
    assign: enqueueActions(({ context, event, enqueue }, { work }: At) => { assertEvent(event, 'item.assign'); perform(enqueue, assign(context, event, work)); }),
    edit: enqueueActions(({ context, event, enqueue }, { work }: At) => { assertEvent(event, 'item.edit'); perform(enqueue, edit(context, event, work)); }),
    link: enqueueActions(({ context, event, enqueue }, { work }: { work?: WorkStatus }) => { assertEvent(event, 'attempt.started'); perform(enqueue, link(context, event, work)); }),
    unlink: enqueueActions(({ context, event, enqueue }, { to }: { to?: WorkStatus }) => { assertEvent(event, 'attempt.ended'); perform(enqueue, unlink(context, event, to)); }),
    comment: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'item.comment'); perform(enqueue, comment(context, event)); }),
    editComment: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'comment.edit'); perform(enqueue, editComment(context, event)); }),
    deleteComment: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'comment.delete'); perform(enqueue, deleteComment(context, event)); }),
    label: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'item.label'); perform(enqueue, label(context, event)); }),
    relate: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'relation.add'); perform(enqueue, relate(context, event)); }),
    unrelate: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'relation.remove'); perform(enqueue, unrelate(context, event)); }),
    adopt: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'child.created'); perform(enqueue, adopt(context, event)); }),
    report: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'attempt.reported'); perform(enqueue, report(context, event)); }),
    openReview: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'review.opened'); perform(enqueue, openReview(context, event)); }),
    refuseReview: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'review.refused'); perform(enqueue, refuseReview(context, event)); }),
    request: enqueueActions(({ context, event, enqueue }, { replaces }: { replaces: boolean }) => { assertEvent(event, 'approval.request'); perform(enqueue, request(context, event, replaces)); }),
    decide: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'approval.decide'); perform(enqueue, decide(context, event)); }),
    escalate: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'approval.escalate'); perform(enqueue, escalate(context, { at: event.at, actor: decider(event.by), reason: event.reason })); }),
    escalateByTime: enqueueActions(({ context, event, enqueue }) => perform(enqueue, escalate(context, { at: stampOf(event).at, actor: 'system', reason: 'Nobody answered in time.' }))),
    expire: enqueueActions(({ context, event, enqueue }) => perform(enqueue, withdraw(context, 'expired', event.at))),
    withdraw: enqueueActions(({ context, event, enqueue }) => perform(enqueue, withdraw(context, 'cancelled', event.at))),
    startExpiry: enqueueActions(({ context, event, enqueue }) => {
      const due = context.approval?.expiresAt;
      const expired = { type: 'approval.expired' } as WorkItemEventOf<'approval.expired'>; // the kernel stamps a delayed event when it fires
      if (due !== undefined && due !== null) enqueue.raise(expired, { id: 'expiry', delay: Math.max(0, due - event.at) });
    }),
    endExpiry: cancel('expiry'),
    watchDue: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'item.edit');
      const delay = untilDue(context, event);
      if (delay === undefined) return;
      const due = { type: 'item.due' } as WorkItemEventOf<'item.due'>; // stamped when it fires, as above
      if (delay === null) enqueue.cancel('due');
      else enqueue.raise(due, { id: 'due', delay });
    }),
    tellDue: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'item.due'); perform(enqueue, overdue(context, event)); }),
    tellGiven: raise(({ event }) => ({ type: 'approval.given', ...told(event) })),
    tellRefused: raise(({ event }) => ({ type: 'approval.refused', ...told(event) })),
    tellArchived: raise(({ event }) => ({ type: 'item.archived', at: event.at, by: system('work-item') })),
  },
});

export interface At { readonly work: WorkStatus }
type Where = Partial<Standpoint>;

/** What an open status takes beside moves. */
const open = (work: WorkStatus) => ({
  ...common(work),
  'item.assign': { guard: { type: 'allowed' as const, params: { work } }, actions: { type: 'assign' as const, params: { work } } },
  'item.archive': { guard: { type: 'allowed' as const, params: { work } }, target: 'cancelled' as const, actions: [{ type: 'archive' as const, params: { work } }, 'tellArchived' as const] },
});

/** What every status takes: edits, and attempts that only leave a mark. */
const common = (work: WorkStatus) => ({
  'item.edit': { guard: { type: 'allowed' as const, params: { work } }, actions: [{ type: 'edit' as const, params: { work } }, 'watchDue' as const] },
  'attempt.started': { guard: { type: 'allowed' as const, params: {} }, actions: { type: 'link' as const, params: {} } },
  'attempt.ended': { guard: { type: 'allowed' as const, params: {} }, actions: { type: 'unlink' as const, params: {} } },
});

/** By hand, along the table. `cancelled` is reached by archiving only, `executing` from review is a bounce. */
const moves = (from: WorkStatus) => [
  { guard: { type: 'stays' as const, params: { work: from } } },
  ...edges[from]
    .filter((to) => to !== 'cancelled' && !(from === 'in_review' && to === 'executing'))
    .map((to) => ({ guard: { type: 'goes' as const, params: { from, to } }, target: to, actions: { type: 'move' as const, params: { from, to } } })),
];

/** A session that begins makes an item executing. */
const starts = (work: WorkStatus) => ({ guard: { type: 'undeclared' as const }, target: 'executing' as const, actions: { type: 'link' as const, params: { work } } });

const leads = (to: WorkStatus) => ({ guard: { type: 'leads' as const, params: { to } }, target: to, actions: { type: 'unlink' as const, params: { to } } });

const bounces = [
  { guard: 'bounces' as const, target: 'executing' as const, actions: 'bounce' as const },
  { guard: 'exhausts' as const, target: 'escalated' as const, actions: 'exhaust' as const },
];

export const workItemMachine = item.createMachine({
  id: 'work-item',
  type: 'parallel',
  context: ({ input }) => firstContext(input),
  entry: 'born',
  on: {
    'item.comment': { guard: { type: 'allowed', params: {} }, actions: 'comment' },
    'comment.edit': { guard: { type: 'allowed', params: {} }, actions: 'editComment' },
    'comment.delete': { guard: { type: 'allowed', params: {} }, actions: 'deleteComment' },
    'item.label': { guard: { type: 'allowed', params: {} }, actions: 'label' },
    'relation.add': { guard: { type: 'allowed', params: {} }, actions: 'relate' },
    'relation.remove': { guard: { type: 'allowed', params: {} }, actions: 'unrelate' },
    'child.created': { guard: { type: 'allowed', params: {} }, actions: 'adopt' },
    'attempt.reported': { guard: { type: 'allowed', params: {} }, actions: 'report' },
    'item.due': { guard: { type: 'allowed', params: {} }, actions: 'tellDue' },
  },
  states: {
    work: {
      initial: 'backlog',
      states: {
        backlog: {
          always: { guard: 'hasAssignee', target: 'assigned' }, // at birth only: later whoever assigns moves it, too
          on: {
            ...open('backlog'),
            'item.move': moves('backlog'),
            'item.assign': { guard: { type: 'allowed', params: { work: 'backlog' } }, target: 'assigned', actions: { type: 'assign', params: { work: 'backlog' } } },
            'item.edit': [
              { guard: 'editAssigns', target: 'assigned', actions: [{ type: 'edit', params: { work: 'backlog' } }, 'watchDue'] },
              common('backlog')['item.edit'],
            ],
            'attempt.started': starts('backlog'),
          },
        },
        assigned: { on: { ...open('assigned'), 'item.move': moves('assigned'), 'attempt.started': starts('assigned') } },
        executing: {
          on: {
            ...open('executing'),
            'item.move': moves('executing'),
            'attempt.ended': [leads('done'), leads('in_review'), leads('blocked'), common('executing')['attempt.ended']],
          },
        },
        in_review: {
          on: {
            ...open('in_review'),
            'item.move': [...bounces, ...moves('in_review')],
            'approval.given': { guard: { type: 'allowed', params: {} }, target: 'done', actions: 'pass' },
            'approval.refused': bounces,
            'review.opened': { guard: { type: 'allowed', params: { work: 'in_review' } }, actions: 'openReview' },
            'review.refused': { guard: { type: 'allowed', params: { work: 'in_review' } }, actions: 'refuseReview' },
            'attempt.started': [starts('in_review'), common('in_review')['attempt.started']],
          },
        },
        blocked: { on: { ...open('blocked'), 'item.move': moves('blocked'), 'attempt.started': [starts('blocked'), common('blocked')['attempt.started']] } },
        escalated: { on: { ...common('escalated'), 'item.archive': open('escalated')['item.archive'], 'item.move': moves('escalated') } },
        done: { on: { ...common('done'), 'item.move': moves('done') } },
        cancelled: { on: { ...common('cancelled'), 'item.move': moves('cancelled'), 'item.archive': {} /* archived already: allowed, and nothing happens */ } },
      },
    },
    approval: {
      initial: 'none',
      states: {
        none: { on: { 'approval.request': { guard: { type: 'allowed', params: { approval: 'none' } }, target: 'pending', actions: { type: 'request', params: { replaces: false } } } } },
        pending: {
          entry: 'startExpiry',
          exit: 'endExpiry',
          after: { escalation: { actions: 'escalateByTime' } },
          on: {
            'approval.request': [
              { guard: 'asksNew', target: 'pending', reenter: true, actions: { type: 'request', params: { replaces: true } } },
              { guard: { type: 'allowed', params: { approval: 'pending' } } }, // the same again: allowed, and nothing happens
            ],
            'approval.decide': [
              { guard: 'approves', target: 'approved', actions: ['decide', 'tellGiven'] },
              { guard: 'rejects', target: 'rejected', actions: ['decide', 'tellRefused'] },
            ],
            'approval.escalate': { guard: { type: 'allowed', params: { approval: 'pending' } }, actions: 'escalate' },
            'approval.expired': { guard: { type: 'allowed', params: { approval: 'pending' } }, target: 'none', actions: 'expire' },
            'item.archived': { guard: { type: 'allowed', params: { approval: 'pending' } }, target: 'none', actions: 'withdraw' },
          },
        },
        approved: { on: { 'approval.request': { guard: { type: 'allowed', params: { approval: 'approved' } }, target: 'pending', actions: { type: 'request', params: { replaces: false } } } } },
        rejected: { on: { 'approval.request': { guard: { type: 'allowed', params: { approval: 'rejected' } }, target: 'pending', actions: { type: 'request', params: { replaces: false } } } } },
      },
    },
  },
});

function allowed(context: WorkItemContext, event: WorkItemEvent, where: Where): boolean {
  return workItemPolicy({ work: 'backlog', approval: 'none', ...where }, context, event) === undefined;
}

function sendsBack(context: WorkItemContext, event: WorkItemEvent): boolean {
  if (event.type === 'item.move') return event.status === 'executing' && allowed(context, event, { work: 'in_review' });
  return event.type === 'approval.refused' && allowed(context, event, {});
}

function verdict(event: WorkItemEvent): { at: number; actor: string; note?: string | undefined; rejected: boolean } {
  if (event.type === 'approval.refused') return { at: event.at, actor: event.actor, note: event.note, rejected: true };
  assertEvent(event, 'item.move');
  return { at: event.at, actor: callerName(event.by), note: event.note, rejected: false };
}

function told(event: WorkItemEvent): { at: number; by: ReturnType<typeof system>; actor: string; note?: string } {
  assertEvent(event, 'approval.decide');
  return { at: event.at, by: system('work-item'), actor: decider(event.by), ...(event.note === undefined ? {} : { note: event.note }) };
}
