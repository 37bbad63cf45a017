import { assign, setup, type DoneActorEvent, type ErrorActorEvent } from 'xstate';
import { fromKernel, isTrusted, type Authority } from '../caller.js';
import { effect, stampOf, decidesFor, type OutputOf } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  firstContext,
  type NoticeInput,
  type NoticeOutput,
  type NotifierContext,
  type NotifierEvent,
  type NotifierInput,
  type NotifierRows,
} from './context.js';
import {
  changeNotices,
  dropPast,
  failJob,
  jobInput,
  nextDueAt,
  nextJob,
  settleJob,
  stopNotices,
  takeJob,
} from './notices.js';

const decides = decidesFor<NotifierContext, NotifierEvent, OutputOf<NotifierRows>>();

/**
 * A notifier: carries what waits for a person to one destination.
 *
 * **What lives.** A notice for each thing that waits: held back for a moment, sent, and over. A message names one or
 * several of them and is sent one at a time.
 *
 * **What can happen.** A thing that ends before it is due is never sent. What is due together is sent together. A
 * message that could not be sent is tried again after a growing pause, for as long as something in it waits. When a
 * thing ends, its message is edited to say how. After a crash a message that was on its way is sent again under
 * its key: at least once.
 *
 * **What can never happen.** Two notices of one thing for as long as it waits. A decision: it is made where the thing
 * is. A secret in here: the effect holds the settings.
 */
const notifier = setup({
  types: {} as {
    context: NotifierContext;
    events: NotifierEvent;
    input: NotifierInput;
    emitted: OutputOf<NotifierRows>;
  },
  actors: {
    /** At least once. One message to the destination. */
    message: effect<NoticeOutput, NoticeInput>(),
  },
  delays: {
    /** Until the first of those that are held back is due. */
    due: ({ context, event }) =>
      Math.max(0, (nextDueAt(context, stampOf(event).at) ?? 0) - stampOf(event).at),
    /** 1 s, 2 s, 4 s … 5 min. */
    backoff: ({ context }) => Math.min(300_000, 1_000 * 2 ** Math.max(0, context.failures - 1)),
  },
  guards: {
    hasJob: ({ context, event }) => nextJob(context, stampOf(event).at) !== undefined,
    hasHeld: ({ context, event }) => nextDueAt(context, stampOf(event).at) !== undefined,
    arrived: (_, { output }: { output: NoticeOutput }) => output.outcome === 'sent',
  },
  actions: {
    change: decides('notices.changed', changeNotices),
    take: decides((context, event) => takeJob(context, stampOf(event).at)),
    settle: decides((context, _event, { output, at }: { output: NoticeOutput; at: number }) =>
      settleJob(context, output, at),
    ),
    fail: decides((context, _event, { reason, at }: { reason: string; at: number }) =>
      failJob(context, reason, at),
    ),
    /** What no one waits for any more is not sent late. */
    letGo: decides((context) => (context.current?.type === 'send' ? dropPast(context) : {})),
    stop: decides((context, event) => stopNotices(context, stampOf(event).at)),
    aim: assign(({ context, event }) =>
      event.type === 'notifier.start'
        ? { ...context, destination: event.destination, updatedAt: event.at }
        : context,
    ),
  },
});

const settled = ({
  event,
}: {
  event: DoneActorEvent<NoticeOutput>;
}): { output: NoticeOutput; at: number } => ({ output: event.output, at: stampOf(event).at });
const broken = ({ event }: { event: ErrorActorEvent }): { reason: string; at: number } => ({
  reason: reasonOf(event.error),
  at: stampOf(event).at,
});
const stops = { 'notifier.stop': { target: 'stopped', actions: 'stop' } } as const;

/**
 * The statechart of a notifier.
 * @example const chart = notifierMachine.root.states;
 */
export const notifierMachine = notifier.createMachine({
  id: 'notifier',
  context: ({ input }) => firstContext(input),
  initial: 'idle',
  on: { 'notifier.start': { actions: 'aim' }, 'notifier.retry': {} },
  states: {
    idle: {
      always: [
        { guard: 'hasJob', target: 'sending' },
        { guard: 'hasHeld', target: 'holding' },
      ],
      on: { ...stops, 'notices.changed': { target: 'idle', reenter: true, actions: 'change' } },
    },
    holding: {
      after: { due: { target: 'idle' } },
      on: { ...stops, 'notices.changed': { target: 'idle', actions: 'change' } },
    },
    sending: {
      entry: 'take',
      invoke: {
        id: 'message',
        src: 'message',
        input: ({ context }) => jobInput(context),
        onDone: [
          {
            guard: { type: 'arrived', params: settled },
            target: 'idle',
            actions: { type: 'settle', params: settled },
          },
          { target: 'pausing', actions: { type: 'settle', params: settled } },
        ],
        onError: { target: 'pausing', actions: { type: 'fail', params: broken } },
      },
      on: { ...stops, 'notices.changed': { actions: 'change' } },
    },
    pausing: {
      after: { backoff: { target: 'idle' } },
      on: {
        ...stops,
        'notices.changed': { actions: ['change', 'letGo'] },
        'notifier.retry': { target: 'idle' },
      },
    },
    stopped: {
      on: {
        'notices.changed': {},
        'notifier.stop': {},
        'notifier.start': { target: 'idle', actions: 'aim' },
      },
    },
  },
});

/**
 * Who may do what with a notifier: what it carries comes from the gateway alone, a person may hurry it. Answers the
 * refusal, or undefined for yes; never throws.
 * @example const refused = notifierPolicy(event, authorityOf(event));
 */
export function notifierPolicy(event: NotifierEvent, { by, onBehalfOf }: Authority): Refusal | undefined {
  switch (event.type) {
    case 'notices.changed':
    case 'notifier.start':
    case 'notifier.stop':
      return by.type === 'system'
        ? undefined
        : refuse('FORBIDDEN', {}, 'What is notified comes from the gateway alone.');
    case 'notifier.retry':
      return isTrusted(onBehalfOf)
        ? undefined
        : refuse('FORBIDDEN', {}, 'Agents may not send notifications again.');
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  return typeof message === 'string' && message !== '' ? message : 'It could not be sent, without a reason.';
}
