import { assign, cancel, emit, enqueueActions, setup } from 'xstate';
import { defineKind } from '../../../actors/define-kind.js';
import type { Json, OutputOf } from '../../../machines/outputs.js';
import { writeRow } from '../../../machines/outputs.js';
import { refuse } from '../../../machines/refusals.js';

/**
 * The journal of one durable execution (`createDurable` of XState 6), for hosts that drive it themselves: an actor
 * whose rows are what has happened to the execution, in the order in which it did.
 *
 * - What comes from outside or takes its time is an *occurrence*: an event for the root, the end of an actor's async
 *   work, a timer that is due. Each is committed first and applied afterwards, live as in a replay.
 * - What the execution did is *noted* under a name of its own, so that a replay does not do it again.
 *
 * It can never happen that an occurrence is applied before it is on disk, or that two replays see another order.
 */
export type Entry =
  | { readonly type: 'event'; readonly event: Json }
  | { readonly type: 'ended'; readonly session: string; readonly outcome: Outcome }
  | { readonly type: 'timer'; readonly session: string; readonly timer: string }
  | { readonly type: 'noted'; readonly name: string; readonly outcome: Outcome };

/** What a piece of work came to: its output, or its error as data. */
export type Outcome = {
  readonly output?: Json;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
};

/** `event.send` is for everyone; the others are the adapter's. */
export type ExecutionEvent =
  | {
      readonly type: 'event.send';
      readonly event: { readonly type: string; readonly [member: string]: Json };
    }
  | { readonly type: 'actor.ended'; readonly session: string; readonly outcome: Outcome }
  | { readonly type: 'work.noted'; readonly name: string; readonly outcome: Outcome }
  | {
      readonly type: 'timer.set';
      readonly name: string;
      readonly session: string;
      readonly timer: string;
      readonly delayMs: number;
    }
  | {
      readonly type: 'timer.cancelled';
      readonly name: string;
      readonly session: string;
      readonly timer: string;
    }
  | { readonly type: 'timer.due'; readonly session: string; readonly timer: string }
  | { readonly type: 'execution.ended'; readonly outcome: Outcome };

/** Of which logic it is: another version of a machine would not do the same in a replay. */
export interface ExecutedLogic {
  readonly id: string;
  readonly version: string | null;
}

interface Context {
  readonly logic: ExecutedLogic;
  readonly entries: number;
  readonly outcome: Outcome | null;
}

const nothing: Outcome = {};

function entryOf(event: ExecutionEvent): Entry {
  switch (event.type) {
    case 'event.send':
      return { type: 'event', event: event.event };
    case 'actor.ended':
      return { type: 'ended', session: event.session, outcome: event.outcome };
    case 'timer.due':
      return { type: 'timer', session: event.session, timer: event.timer };
    case 'timer.set':
    case 'timer.cancelled':
      return { type: 'noted', name: event.name, outcome: nothing };
    case 'work.noted':
      return { type: 'noted', name: event.name, outcome: event.outcome };
    case 'execution.ended':
      return { type: 'noted', name: 'end', outcome: event.outcome };
  }
}

const timerId = ({ session, timer }: { readonly session: string; readonly timer: string }): string =>
  `${session} ${timer}`;

const machine = setup({
  types: {
    context: {} as Context,
    events: {} as ExecutionEvent,
    input: {} as { readonly logic: ExecutedLogic },
    emitted: {} as OutputOf<{ entries: Json }>,
  },
  actions: {
    write: emit(({ context, event }) =>
      writeRow<'entries', Json>('entries', context.entries + 1, { ...entryOf(event) }),
    ),
    count: assign({ entries: ({ context }) => context.entries + 1 }),
  },
}).createMachine({
  id: 'execution',
  context: ({ input }) => ({ logic: input.logic, entries: 0, outcome: null }),
  initial: 'running',
  output: ({ context }) => context.outcome,
  states: {
    running: {
      on: {
        'event.send': { actions: ['write', 'count'] },
        'actor.ended': { actions: ['write', 'count'] },
        'work.noted': { actions: ['write', 'count'] },
        'timer.due': { actions: ['write', 'count'] },
        'timer.set': {
          actions: [
            'write',
            'count',
            enqueueActions(({ enqueue, event: { session, timer, delayMs } }) =>
              enqueue.raise(
                { type: 'timer.due', session, timer },
                { id: timerId({ session, timer }), delay: delayMs },
              ),
            ),
          ],
        },
        'timer.cancelled': { actions: ['write', 'count', cancel(({ event }) => timerId(event))] },
        'execution.ended': {
          target: 'ended',
          actions: ['write', 'count', assign({ outcome: ({ event }) => event.outcome })],
        },
      },
    },
    ended: { type: 'final' },
  },
});

/**
 * The kind of the executions that `executionAdapter` keeps: give it to `createSupervisor` among the others. What
 * is for an execution is sent as `event.send`; its view has `state` (`running`, `ended`), the `outcome`, the
 * number of `entries` and the `logic`. Refuses
 * `BAD_REQUEST` for an event without a type, or with one of XState's own.
 *
 * @example
 *   const supervisor = await createSupervisor({ kinds: [executionKind], store });
 *   await supervisor.ask('execution', 'order-1', { type: 'event.send', event: { type: 'pay', amount: 3 } });
 */
export const executionKind = defineKind({
  kind: 'execution',
  version: 1,
  machine,
  policy: (_snapshot, event) =>
    event.type === 'event.send' && !/^(?!xstate\.)./.test(String(event.event?.type ?? ''))
      ? refuse('BAD_REQUEST', {}, 'The event needs a type that is not one of XState\'s own ("xstate.…").')
      : undefined,
  view: ({ value, context: { logic, entries, outcome } }) => ({ state: value, logic, entries, outcome }),
});
