import { assertEvent, emit, enqueueActions, setup, type DoneActorEvent, type ErrorActorEvent } from 'xstate';
import { perform } from '../deed.js';
import { announce, effect, stampOf, type Wish } from '../ground.js';
import { firstContext } from './birth.js';
import type { SessionContext, SessionEvent, SessionInput, TurnInput, TurnOutput } from './context.js';
import { insertMedia } from './media.js';
import { interrupts, sessionPolicy } from './policy.js';
import { cancelQueued, clearQueue, hearChild, noteChild, pauseQueue, post, postUrgently, queueReady } from './queue.js';
import { archive, erase, reset } from './care.js';
import { settle } from './ending.js';
import { askPermission, decidePermission, expirePermission, pending, pendingPermission, permissionTimer, withdrawPermissions } from './permissions.js';
import { takeOver } from './transcript.js';
import { begin, dispatch, endTurn, hearNative, hearPartial, open, patch, postpone, stop, turnInput } from './turns.js';

/**
 * A session: a lasting conversation with one agent.
 *
 * **What lives.** A queue of messages and at most one turn. A turn takes the head of the queue (a message; or callbacks
 * in a row; or all that people wrote since they interrupted) and hands it to an engine. What was said is rows of
 * `messages`; the machine keeps only how many there are.
 *
 * **What can happen.** A resting session (`idle error interrupted stopped`) whose queue is ready begins the next turn at
 * once, so no resting state with a ready queue can ever be observed. `running` ends by itself (`idle`, `error`,
 * `interrupted`, or `waiting` for a provider's limit, after which the same turn is tried again), is left for a newer
 * message of a person, or is stopped. Deadline and silence of the engine are the business of the effect's hand: both
 * arrive here as an outcome. After a crash the hand tells the honest outcome `interrupted`, and the queue goes on.
 *
 * **What can never happen.** Two turns at once. A message that was accepted and then vanished: each has a queue row
 * that ends as completed, interrupted or cancelled. A parent or a work item that hears of one end twice (`engaged`).
 * A turn beside a process that may still live: then the queue stays paused until a person looks. A tool that waits for
 * a person after its turn is over: leaving `running` withdraws what was asked.
 */
const session = setup({
  types: {} as { context: SessionContext; events: SessionEvent; input: SessionInput; emitted: Wish },
  actors: {
    /** Fenced: one turn of one engine. A crash in the middle ends as `interrupted`, never as a second run. */
    'engine-turn': effect<TurnOutput, TurnInput>(),
  },
  delays: {
    /** Until the provider's limit is over. */
    untilReset: ({ context, event }) => Math.max(0, (context.resetAt ?? 0) - stampOf(event).at),
  },
  guards: {
    allowed: ({ context, event }) => sessionPolicy(context, event) === undefined,
    interrupting: ({ context, event }) => sessionPolicy(context, event) === undefined && interrupts(context, event),
    queueReady: ({ context }) => queueReady(context),
    retriable: ({ context, event }) => sessionPolicy(context, event) === undefined && context.queue.length > 0,
    bornUnavailable: ({ context }) => context.turns === 0 && context.queue.length === 0 && context.attemptOutcome === 'failed',
    rateLimited: (_, { output }: Ended) => output.outcome === 'rate-limited',
    unconfirmed: (_, { output }: Ended) => output.unconfirmedPid !== undefined,
    succeeded: (_, { output }: Ended) => output.outcome === 'succeeded',
    interrupted: (_, { output }: Ended) => output.outcome === 'interrupted',
  },
  actions: {
    open: enqueueActions(({ context, enqueue }, input: SessionInput) => perform(enqueue, open(context, input))),
    dispatch: enqueueActions(({ context, event, enqueue }) => perform(enqueue, dispatch(context, stampOf(event).at ?? context.createdAt))),
    endTurn: enqueueActions(({ context, enqueue }, { output, at }: Ended) => perform(enqueue, endTurn(context, output, at))),
    postpone: enqueueActions(({ context, enqueue }, { output, at }: Ended) => perform(enqueue, postpone(context, output, at))),
    settle: enqueueActions(({ context, enqueue }, { output }: Ended) =>
      perform(enqueue, settle(context, output.outcome === 'rate-limited' ? 'interrupted' : output.outcome, output.text))),
    tellResumed: emit(({ context }) => announce('session:resumed', { sessionId: context.id })),
    tellResumedIfCut: enqueueActions(({ context, enqueue }, { output }: Ended) => {
      if (output.outcome === 'interrupted') enqueue.emit(announce('session:resumed', { sessionId: context.id }));
    }),
    pause: enqueueActions(({ context, enqueue }) => perform(enqueue, pauseQueue(context, true))),
    resume: enqueueActions(({ context, enqueue }) => perform(enqueue, pauseQueue(context, false))),
    post: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'message.post'); perform(enqueue, post(context, event)); }),
    postUrgently: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'message.post'); perform(enqueue, postUrgently(context, event)); }),
    hearChild: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'child.finished'); perform(enqueue, hearChild(context, event)); }),
    noteChild: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'child.finished'); perform(enqueue, noteChild(context, event)); }),
    stop: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'session.stop'); perform(enqueue, stop(context, event)); }),
    cancelQueued: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'queue.cancel'); perform(enqueue, cancelQueued(context, event)); }),
    clearQueue: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'queue.clear'); perform(enqueue, clearQueue(context, event)); }),
    begin: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'turn.began'); perform(enqueue, begin(context, event)); }),
    hearNative: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'turn.native'); perform(enqueue, hearNative(context, event)); }),
    hearPartial: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'turn.partial'); perform(enqueue, hearPartial(context, event)); }),
    archive: enqueueActions(({ context, event, enqueue }) => perform(enqueue, archive(context, stampOf(event).at))),
    unarchive: enqueueActions(({ context, enqueue }) => perform(enqueue, archive(context, null))),
    reset: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'session.reset'); perform(enqueue, reset(context, event)); }),
    erase: enqueueActions(({ context, enqueue }) => perform(enqueue, erase(context))),
    askPermission: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'permission.asked');
      perform(enqueue, askPermission(context, event));
      enqueue.raise({ type: 'permission.expired', permissionId: event.permissionId } as SessionEvent, { id: permissionTimer(event.permissionId), delay: event.waitMs }); // the kernel stamps it when it fires
    }),
    decidePermission: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'permission.decided');
      if (pendingPermission(context, event.permissionId) === undefined) return;
      perform(enqueue, decidePermission(context, event));
      enqueue.cancel(permissionTimer(event.permissionId));
      enqueue.sendTo('turn', { type: 'permission.answered', permissionId: event.permissionId, decision: event.decision, note: event.note ?? null, always: event.always === true } as never); // to the hand, which hears any event
    }),
    expirePermission: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'permission.expired');
      perform(enqueue, expirePermission(context, event));
      enqueue.sendTo('turn', { type: 'permission.answered', permissionId: event.permissionId, decision: 'deny', note: 'Nobody decided in time.' } as never); // as above
    }),
    withdrawPermissions: enqueueActions(({ context, event, enqueue }) => {
      for (const { id } of pending(context)) enqueue.cancel(permissionTimer(id));
      perform(enqueue, withdrawPermissions(context, stampOf(event).at));
    }),
    insertMedia: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'media.insert'); perform(enqueue, insertMedia(context, event)); }),
    takeOver: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'transcript.found'); perform(enqueue, takeOver(context, event)); }),
    patch: enqueueActions(({ context, event, enqueue }) => { assertEvent(event, 'session.patch'); perform(enqueue, patch(context, event)); }),
  },
});

export interface Ended { readonly output: TurnOutput; readonly at: number }

const told = ({ event }: { event: DoneActorEvent<TurnOutput> }): Ended => ({ output: event.output, at: stampOf(event).at });

/** The hand itself failed: our fault, and still an end of the turn that a person must be able to read. */
const failed = ({ event }: { event: ErrorActorEvent }): Ended => {
  const message = (event.error as { message?: unknown } | null)?.message;
  const error = typeof message === 'string' && message !== '' ? message : 'The engine failed.';
  return { output: { outcome: 'failed', text: '', error }, at: stampOf(event).at };
};

/** Where nothing runs. A queue that is ready does not let it rest. */
const resting = session.createStateConfig({
  always: { guard: 'queueReady', target: 'running' },
  on: {
    'message.post': { guard: 'allowed', actions: 'post' },
    'child.finished': { guard: 'allowed', actions: 'hearChild' },
  },
});

export const sessionMachine = session.createMachine({
  id: 'session',
  context: ({ input }) => firstContext(input),
  initial: 'idle',
  entry: { type: 'open', params: ({ event }) => bornWith(event) },
  on: {
    'session.stop': { guard: 'allowed', target: '.stopped', actions: 'stop' },
    'session.patch': { guard: 'allowed', actions: 'patch' },
    'session.archive': { guard: 'allowed', actions: 'archive' },
    'session.unarchive': { guard: 'allowed', actions: 'unarchive' },
    'session.reset': { guard: 'allowed', target: '.idle', actions: 'reset' },
    'session.delete': { guard: 'allowed', target: '.deleted', actions: 'erase' },
    'media.insert': { guard: 'allowed', actions: 'insertMedia' },
    'transcript.found': { guard: 'allowed', actions: 'takeOver' },
    'queue.cancel': { guard: 'allowed', actions: 'cancelQueued' },
    'queue.clear': { guard: 'allowed', actions: 'clearQueue' },
    'queue.pause': { guard: 'allowed', actions: 'pause' },
    'queue.resume': { guard: 'allowed', actions: 'resume' },
    'turn.began': { guard: 'allowed', actions: 'begin' },
    'turn.native': { guard: 'allowed', actions: 'hearNative' },
    'turn.partial': { guard: 'allowed', actions: 'hearPartial' },
  },
  states: {
    idle: { ...resting, always: [{ guard: 'bornUnavailable', target: 'error' }, { guard: 'queueReady', target: 'running' }] },
    running: {
      entry: 'dispatch',
      exit: 'withdrawPermissions',
      invoke: {
        id: 'turn',
        src: 'engine-turn',
        input: ({ context }) => turnInput(context),
        onDone: [
          { guard: { type: 'unconfirmed', params: told }, target: 'interrupted', actions: [{ type: 'endTurn', params: told }, 'pause', { type: 'settle', params: told }] },
          { guard: { type: 'rateLimited', params: told }, target: 'waiting', actions: { type: 'postpone', params: told } },
          { guard: 'queueReady', target: 'running', reenter: true, actions: [{ type: 'endTurn', params: told }, { type: 'tellResumedIfCut', params: told }] },
          { guard: { type: 'succeeded', params: told }, target: 'idle', actions: [{ type: 'endTurn', params: told }, { type: 'settle', params: told }] },
          { guard: { type: 'interrupted', params: told }, target: 'interrupted', actions: [{ type: 'endTurn', params: told }, { type: 'settle', params: told }] },
          { target: 'error', actions: [{ type: 'endTurn', params: told }, { type: 'settle', params: told }] },
        ],
        onError: [
          { guard: 'queueReady', target: 'running', reenter: true, actions: { type: 'endTurn', params: failed } },
          { target: 'error', actions: [{ type: 'endTurn', params: failed }, { type: 'settle', params: failed }] },
        ],
      },
      on: {
        'message.post': [
          { guard: 'interrupting', target: 'running', reenter: true, actions: 'postUrgently' },
          { guard: 'allowed', actions: 'post' },
        ],
        'child.finished': { guard: 'allowed', actions: 'hearChild' },
        'permission.asked': { guard: 'allowed', actions: 'askPermission' },
        'permission.decided': { guard: 'allowed', actions: 'decidePermission' },
        'permission.expired': { guard: 'allowed', actions: 'expirePermission' },
      },
    },
    waiting: {
      after: { untilReset: [{ guard: 'queueReady', target: 'running' }, { target: 'idle' }] },
      on: {
        'message.post': { guard: 'allowed', actions: 'post' },
        'child.finished': { guard: 'allowed', actions: 'hearChild' },
        'queue.resume': { guard: 'retriable', target: 'running', actions: 'resume' }, // a person need not wait
      },
    },
    error: resting,
    interrupted: { ...resting, always: { guard: 'queueReady', target: 'running', actions: 'tellResumed' } },
    stopped: {
      always: { guard: 'queueReady', target: 'running', actions: 'tellResumed' },
      on: {
        'message.post': { guard: 'allowed', actions: 'post' },
        'child.finished': { guard: 'allowed', actions: 'noteChild' },
        'session.stop': {}, // stopped already: allowed, and nothing happens
      },
    },
    deleted: { type: 'final' },
  },
});

const bornWith = (event: { type: string }): SessionInput => (event as unknown as { input: SessionInput }).input; // entry of the root runs on XState's init event, which its types do not show
