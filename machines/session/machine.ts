import { cancel, emit, enqueueActions, sendTo, setup } from 'xstate';
import { publish, effect, stampOf, decidesFor, applyDecision, type OutputOf } from '../outputs.js';
import type { SessionRows } from './rows.js';
import { ended, failed, settleEnded, type TurnEnd } from './completion.js';
import type {
  SessionContext,
  SessionEvent,
  SessionEventOf,
  SessionInput,
  TurnInput,
  TurnOutput,
} from './context.js';
import { firstContext, inputOf } from './first-context.js';
import { record } from './activity.js';
import { insertCard } from './delegation-card.js';
import { sweepOutput } from './sweep-output.js';
import { archive, erase, eraseContents, reset, settleSettings } from './lifecycle.js';
import {
  askPermission,
  decidePermission,
  expirePermission,
  pending,
  permissionAnswer,
  permissionTimer,
  policyOf,
  setPermissions,
  withdrawPermissions,
} from './permissions.js';
import { interrupts } from './policy.js';
import {
  cancelQueued,
  clearQueue,
  moveQueued,
  noteChild,
  pauseQueue,
  post,
  postUrgently,
  queueChild,
  queueReady,
} from './queue.js';
import { announceCut, goesOn, resume, resumeCut } from './resume.js';
import { fallSilent, hear, silenceDelay, silenceTimer } from './silence.js';
import { takeOver, insertMedia, takeIn } from './transcript.js';
import {
  begin,
  dispatch,
  endTurn,
  keepPartial,
  nameNative,
  open,
  patch,
  postpone,
  stop,
  turnInput,
} from './turns.js';

type SessionOutput = OutputOf<SessionRows>;

const decides = decidesFor<SessionContext, SessionEvent, SessionOutput>();

/**
 * A session: a lasting conversation with one agent.
 *
 * **What lives.** A queue of messages and at most one turn. A turn takes the head of the queue (a message; or
 * callbacks in a row; or all that people wrote since they interrupted) and hands it to an engine. What was
 * said is rows of `messages`; the machine keeps only how many there are.
 *
 * **What can happen.** A `resting` session (`idle error interrupted stopped`) whose queue is ready begins the
 * next turn at once, so no resting state with a ready queue can ever be observed. `running` ends by itself
 * (`idle`, `error`, `interrupted`, or `waiting` for a provider's limit, after which the same turn is tried
 * again), is left for a newer message of a person, or is stopped. The deadline is the business of the effect and
 * arrives here as an outcome; silence is known here (silence.ts). After a crash the effect reports the honest
 * outcome `interrupted`, and the queue goes on, first with the turn itself where that is resumed (resume.ts). What is
 * done with a whole session (archive, reset, delete) is done while it rests; a reset also ends the wait for a limit.
 *
 * **What can never happen.** Two turns at once. A message that was accepted and then vanished: each has a
 * queue row that ends as completed, interrupted or cancelled. A parent or a work item that hears of one end
 * twice (`engaged`). A turn beside a process that may still live: then the queue stays paused until a person
 * looks. A tool that waits for a person after its turn is over: leaving `running` withdraws what was asked.
 *
 * Who may do what is policy.ts; this chart says when.
 */
const session = setup({
  types: {} as { context: SessionContext; events: SessionEvent; input: SessionInput; emitted: SessionOutput },
  actors: {
    /** Fenced: one turn of one engine. A crash in the middle ends as `interrupted`, never as a second run. */
    'engine-turn': effect<TurnOutput, TurnInput>(),
  },
  delays: {
    /** Until the provider's limit is over. */
    untilReset: ({ context, event }) => Math.max(0, (context.resetAt ?? 0) - stampOf(event).at),
  },
  guards: {
    interrupting: ({ context, event }) => interrupts(context, event),
    queueReady: ({ context }) => queueReady(context),
    queueEmpty: ({ context }) => context.queue.length === 0,
    retriable: ({ context }) => context.queue.length > 0,
    createdUnavailable: ({ context }) =>
      context.turns === 0 && context.queue.length === 0 && context.attemptOutcome === 'failed',
    rateLimited: (_, { output }: TurnEnd) => output.outcome === 'rate-limited',
    unconfirmed: (_, { output }: TurnEnd) => output.unconfirmedPid !== undefined,
    goesOn: ({ context }, { output }: TurnEnd) => goesOn(context, output),
    succeeded: (_, { output }: TurnEnd) => output.outcome === 'succeeded',
    interrupted: (_, { output }: TurnEnd) => output.outcome === 'interrupted',
  },
  actions: {
    open: decides((context, _event, input: SessionInput) => open(context, input)),
    dispatch: decides((context, event) => dispatch(context, stampOf(event).at ?? context.createdAt)),
    endTurn: decides((context, _event, { output, at }: TurnEnd) => endTurn(context, output, at)),
    postpone: decides((context, _event, { output, at }: TurnEnd) => postpone(context, output, at)),
    settle: decides((context, _event, { output }: TurnEnd) => settleEnded(context, output)),
    resumeCut: decides((context, _event, { at }: TurnEnd) => resumeCut(context, at)),
    resumeTurn: decides('session.resume', resume),
    announceResumed: emit(({ context }) => publish('session:resumed', { sessionId: context.id })),
    announceResumedIfCut: decides((context, _event, { output }: TurnEnd) => announceCut(context, output)),
    pause: decides((context) => pauseQueue(context, true)),
    resume: decides((context) => pauseQueue(context, false)),
    post: decides('message.post', post),
    postUrgently: decides('message.post', postUrgently),
    queueChild: decides('child.finished', queueChild),
    noteChild: decides('child.finished', noteChild),
    stop: decides('session.stop', stop),
    cancelQueued: decides('queue.cancel', cancelQueued),
    moveQueued: decides('queue.move', moveQueued),
    clearQueue: decides('queue.clear', clearQueue),
    begin: decides('turn.began', begin),
    hear: decides('turn.heard', hear),
    fallSilent: decides('turn.silent', fallSilent),
    startSilenceTimer: enqueueActions(({ context, event, enqueue }) => {
      const delay = silenceDelay(context, event);
      const silent = { type: 'turn.silent', turnId: context.turn?.id } as SessionEvent; // stamped when it fires
      if (delay !== undefined) enqueue.raise(silent, { id: silenceTimer, delay });
    }),
    cancelSilenceTimer: cancel(silenceTimer),
    endSilent: sendTo('turn', { type: 'silence.over' } as never), // to the effect, which hears any event
    settleSettings: decides('settings.judged', settleSettings),
    nameNative: decides('turn.native', nameNative),
    keepPartial: decides('turn.partial', keepPartial),
    record: decides('turn.recorded', record),
    sweepOutput: decides('output.swept', sweepOutput),
    archive: decides('session.archive', (context, event) => archive(context, event.at)),
    unarchive: decides('session.unarchive', (context) => archive(context, null)),
    reset: decides('session.reset', reset),
    erase: decides('session.delete', erase),
    eraseContents: decides('session.erase', eraseContents),
    patch: decides('session.patch', patch),
    insertMedia: decides('media.insert', insertMedia),
    insertCard: decides('delegation.dispatched', insertCard),
    takeOver: decides('transcript.found', takeOver),
    takeIn: decides('history.imported', takeIn),
    askPermission: decides('permission.asked', askPermission),
    decidePermission: decides('permission.decided', decidePermission),
    expirePermission: decides('permission.expired', expirePermission),
    // One timer for each permission: its name is not known before the event.
    startPermissionTimer: enqueueActions(({ event, enqueue }) => {
      const { permissionId, waitMs } = event as SessionEventOf<'permission.asked'>;
      enqueue.raise({ type: 'permission.expired', permissionId } as SessionEvent, {
        id: permissionTimer(permissionId),
        delay: waitMs,
      }); // the kernel stamps it when it fires
    }),
    cancelPermissionTimer: cancel(({ event }) =>
      permissionTimer((event as SessionEventOf<'permission.decided'>).permissionId),
    ),
    setPermissions: decides('permissions.set', setPermissions),
    // The turn that runs goes by what holds now, not by what held when it began
    sendPolicy: enqueueActions(({ context, event, enqueue }) => {
      if (event.type === 'permission.decided' && event.always !== true) return;
      enqueue.sendTo('turn', { type: 'policy.changed', toolPolicy: policyOf(context) } as never);
    }),
    answerTurn: sendTo('turn', ({ event }) => permissionAnswer(event) as never), // as above
    withdrawPermissions: enqueueActions(({ context, event, enqueue }) => {
      for (const { id } of pending(context)) enqueue.cancel(permissionTimer(id));
      applyDecision(enqueue, withdrawPermissions(context, stampOf(event).at));
    }),
  },
});

/**
 * The statechart of a session.
 * @example const chart = sessionMachine.root.states;
 */
export const sessionMachine = session.createMachine({
  id: 'session',
  context: ({ input }) => firstContext(input),
  initial: 'resting',
  entry: { type: 'open', params: ({ event }) => inputOf(event) },
  on: {
    'session.stop': { target: '.resting.stopped', actions: 'stop' },
    'session.patch': { actions: 'patch' },
    'permissions.set': { actions: 'setPermissions' },
    'session.unarchive': { actions: 'unarchive' },
    'media.insert': { actions: 'insertMedia' },
    'delegation.dispatched': { actions: 'insertCard' },
    'queue.cancel': { actions: 'cancelQueued' },
    'queue.move': { actions: 'moveQueued' },
    'queue.clear': { actions: 'clearQueue' },
    'queue.pause': { actions: 'pause' },
    'queue.resume': { actions: 'resume' },
    // A turn that was left still reports
    'turn.began': { actions: 'begin' },
    'turn.native': { actions: 'nameNative' },
    'settings.judged': { actions: 'settleSettings' },
    'turn.partial': { actions: 'keepPartial' },
    'turn.recorded': { actions: 'record' },
    'output.swept': { actions: 'sweepOutput' },
  },
  states: {
    resting: {
      description: 'Nothing runs. A queue that is ready does not let it rest.',
      initial: 'idle',
      always: { guard: 'queueReady', target: 'running' },
      on: {
        'message.post': { actions: 'post' },
        'child.finished': { actions: 'queueChild' },
        'session.archive': { actions: 'archive' },
        'session.reset': { target: '.idle', actions: 'reset' },
        'session.delete': { target: 'deleted', actions: 'erase' },
        'session.erase': { actions: 'eraseContents' },
        'transcript.found': { guard: 'queueEmpty', actions: 'takeOver' },
        'history.imported': { actions: 'takeIn' },
      },
      states: {
        idle: { always: { guard: 'createdUnavailable', target: 'error' } },
        error: {},
        interrupted: {
          on: { 'session.resume': { actions: 'resumeTurn' } },
          always: { guard: 'queueReady', target: '#session.running', actions: 'announceResumed' },
        },
        stopped: {
          always: { guard: 'queueReady', target: '#session.running', actions: 'announceResumed' },
          on: {
            'child.finished': { actions: 'noteChild' },
            'session.stop': {}, // stopped already: allowed, and nothing happens
          },
        },
      },
    },
    running: {
      entry: 'dispatch',
      exit: ['withdrawPermissions', 'cancelSilenceTimer'],
      invoke: {
        id: 'turn',
        src: 'engine-turn',
        input: ({ context }) => turnInput(context),
        onDone: [
          {
            guard: { type: 'unconfirmed', params: ended },
            target: 'resting.interrupted',
            actions: [{ type: 'endTurn', params: ended }, 'pause', { type: 'settle', params: ended }],
          },
          {
            guard: { type: 'rateLimited', params: ended },
            target: 'waiting',
            actions: { type: 'postpone', params: ended },
          },
          {
            guard: { type: 'goesOn', params: ended },
            target: 'running',
            reenter: true,
            actions: [
              { type: 'endTurn', params: ended },
              { type: 'resumeCut', params: ended },
              'announceResumed',
            ],
          },
          {
            guard: 'queueReady',
            target: 'running',
            reenter: true,
            actions: [
              { type: 'endTurn', params: ended },
              { type: 'announceResumedIfCut', params: ended },
            ],
          },
          {
            guard: { type: 'succeeded', params: ended },
            target: 'resting.idle',
            actions: [
              { type: 'endTurn', params: ended },
              { type: 'settle', params: ended },
            ],
          },
          {
            guard: { type: 'interrupted', params: ended },
            target: 'resting.interrupted',
            actions: [
              { type: 'endTurn', params: ended },
              { type: 'settle', params: ended },
            ],
          },
          {
            target: 'resting.error',
            actions: [
              { type: 'endTurn', params: ended },
              { type: 'settle', params: ended },
            ],
          },
        ],
        onError: [
          {
            guard: 'queueReady',
            target: 'running',
            reenter: true,
            actions: { type: 'endTurn', params: failed },
          },
          {
            target: 'resting.error',
            actions: [
              { type: 'endTurn', params: failed },
              { type: 'settle', params: failed },
            ],
          },
        ],
      },
      on: {
        'message.post': [
          { guard: 'interrupting', target: 'running', reenter: true, actions: 'postUrgently' },
          { actions: 'post' },
        ],
        'child.finished': { actions: 'queueChild' },
        'turn.began': { actions: ['begin', 'startSilenceTimer'] },
        'turn.heard': { actions: ['hear', 'startSilenceTimer'] },
        'turn.silent': { actions: ['fallSilent', 'startSilenceTimer', 'endSilent'] },
        'permission.asked': { actions: ['askPermission', 'startPermissionTimer'] },
        'permission.decided': {
          actions: ['decidePermission', 'cancelPermissionTimer', 'sendPolicy', 'answerTurn'],
        },
        'permissions.set': { actions: ['setPermissions', 'sendPolicy'] },
        'permission.expired': { actions: ['expirePermission', 'answerTurn'] },
      },
    },
    waiting: {
      after: { untilReset: [{ guard: 'queueReady', target: 'running' }, { target: 'resting.idle' }] },
      on: {
        'message.post': { actions: 'post' },
        'child.finished': { actions: 'queueChild' },
        'session.reset': { target: 'resting.idle', actions: 'reset' },
        // A person need not wait
        'queue.resume': { guard: 'retriable', target: 'running', actions: 'resume' },
      },
    },
    deleted: { type: 'final' },
  },
});
