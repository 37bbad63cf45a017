import {
  assign,
  emit,
  enqueueActions,
  raise,
  setup,
  stateIn,
  and,
  type DoneActorEvent,
  type ErrorActorEvent,
} from 'xstate';
import { system } from '../caller.js';
import { publish, effect, stampOf, decidesFor, type OutputOf, type Decision } from '../outputs.js';
import {
  firstContext,
  limits,
  type ConnectionInput,
  type ConnectorContext,
  type ConnectorEvent,
  type ConnectorEventOf,
  type ConnectorInput,
  type ConnectorRows,
  type DeliveryInput,
  type DeliveryOutput,
} from './context.js';
import {
  accept,
  decideDelivery,
  deliveryInput,
  forgetOver,
  halt,
  settle,
  take,
  untilOver,
} from './deliveries.js';

const decides = decidesFor<ConnectorContext, ConnectorEvent, OutputOf<ConnectorRows>>();

/**
 * A connector: a named channel to people (chat, mail, a signed webhook).
 *
 * **What lives.** Two regions. `link` is the connection to the far side: opened and probed in `starting`,
 * held in `running`. `outbox` sends one message at a time, in the order of their acceptance.
 *
 * **What can happen.** A link that cannot be opened, or breaks, is an `error` with a reason, and is tried
 * again after a growing pause. A message is accepted only while the link runs, the answer of a session also
 * while it is being opened; it then survives a break of the link, waits for the next opening, and ends as
 * `sent`, `failed` or `unknown`. After a crash in the middle of a sending the at-most-once effect
 * answers `unknown`: the far side may have it. Of what is `unknown` or `failed` a person says what becomes of it: it
 * arrived, it is sent again under the same id, or it is given up. A failed one that no one decides on goes after a day.
 *
 * **What can never happen.** A message sent twice by us, unless a person says so, and then once. An accepted message
 * without an end: stopping the connector fails what waits, visibly. A secret in here: the effect holds the settings.
 */
const connector = setup({
  types: {} as {
    context: ConnectorContext;
    events: ConnectorEvent;
    input: ConnectorInput;
    emitted: OutputOf<ConnectorRows>;
  },
  actors: {
    /** At least once. Resolves (`open`) when the far side answered; lives (`hold`) while the link does. */
    connection: effect<void, ConnectionInput>(),
    /** At most once. One message to the far side. */
    delivery: effect<DeliveryOutput, DeliveryInput>(),
  },
  delays: {
    /** 1 s, 2 s, 4 s … 5 min. */
    backoff: ({ context }) => Math.min(300_000, 1_000 * 2 ** Math.max(0, context.failures - 1)),
    /** After this long without a break earlier failures are forgotten. */
    steady: 60_000,
  },
  guards: {
    /** An answer that was promised waits for the link; every other caller gets the refusal at once. */
    mayWait: ({ event }) => event.by.type === 'system',
    wanted: ({ context }) => context.wanted,
    hasNext: ({ context }) => context.queue.length > 0,
    /** Nothing is sent from a connector that was stopped. */
    sendsNothing: ({ event }) => event.type === 'delivery.settle' && event.choice !== 'send-again',
  },
  actions: {
    accept: decides('delivery.request', accept),
    decideDelivery: decides('delivery.settle', decideDelivery),
    take: decides(take),
    settle: decides((context, _event, { output, at }: { output: DeliveryOutput; at: number }) =>
      settle(context, output, at),
    ),
    halt: decides((context, event) => halt(context, event.at)),
    forgetOver: decides((context, event) => forgetOver(context, event.at)),
    /** One timer, for the message that failed first. */
    watchOver: enqueueActions(({ context, event, enqueue }) => {
      const delay = untilOver(context, stampOf(event).at);
      if (delay === undefined) enqueue.cancel('over');
      else enqueue.raise({ type: 'unsettled.over' } as ConnectorEvent, { id: 'over', delay });
    }),
    fail: decides((context, _event, { reason, at }: { reason: string; at: number }) =>
      fail(context, reason, at),
    ),
    reload: decides('connector.reload', reload),
    publishStatus: emit(({ context: { name, detail } }, { status }: { status: string }) =>
      publish('connector:updated', { connector: name, status, detail }),
    ),
    want: assign({ wanted: true }),
    recovered: assign({ detail: null }),
    forgetFailures: assign({ failures: 0, failingSince: null }),
    raiseOpened: raise(({ event }) => ({
      type: 'link.opened',
      at: stampOf(event).at,
      by: system('connector'),
    })),
  },
});

const settled = ({
  event,
}: {
  event: DoneActorEvent<DeliveryOutput>;
}): { output: DeliveryOutput; at: number } => ({ output: event.output, at: stampOf(event).at });
/** The effect failed: how far the message came is unknown. */
const lost = ({ event }: { event: ErrorActorEvent }): { output: DeliveryOutput; at: number } => ({
  output: { outcome: 'unknown', reason: reasonOf(event.error) },
  at: stampOf(event).at,
});
const broken = ({ event }: { event: ErrorActorEvent }): { reason: string; at: number } => ({
  reason: reasonOf(event.error),
  at: stampOf(event).at,
});
/** What is to be sent again waits for the link. */
const decided = { actions: ['decideDelivery', 'watchOver'] } as const;
const waits = { guard: 'mayWait', actions: 'accept' } as const;

/**
 * The statechart of a connector.
 * @example const chart = connectorMachine.root.states;
 */
export const connectorMachine = connector.createMachine({
  id: 'connector',
  type: 'parallel',
  context: ({ input }) => firstContext(input),
  on: { 'unsettled.over': { actions: ['forgetOver', 'watchOver'] } },
  states: {
    link: {
      initial: 'stopped',
      on: {
        'connector.stop': { target: '.stopped', actions: ['halt', 'watchOver'] },
        // No reenter: it would leave and reset the outbox, too
        'connector.reload': { target: '.starting', actions: ['reload', 'watchOver'] },
      },
      states: {
        stopped: {
          entry: { type: 'publishStatus', params: { status: 'stopped' } },
          // At its creation only: stopping it takes `wanted` away
          always: { guard: 'wanted', target: 'starting' },
          on: {
            'connector.start': { target: 'starting', actions: 'want' },
            'connector.stop': {},
            'delivery.settle': { guard: 'sendsNothing', ...decided },
          },
        },
        starting: {
          invoke: {
            id: 'opening',
            src: 'connection',
            input: ({ context }) => ({
              name: context.name,
              connectorType: context.connectorType,
              mode: 'open',
            }),
            onDone: { target: 'running' },
            onError: { target: 'error', actions: { type: 'fail', params: broken } },
          },
          on: { 'connector.start': {}, 'delivery.request': waits, 'delivery.settle': decided },
        },
        running: {
          entry: ['recovered', { type: 'publishStatus', params: { status: 'running' } }, 'raiseOpened'],
          invoke: {
            id: 'holding',
            src: 'connection',
            input: ({ context }) => ({
              name: context.name,
              connectorType: context.connectorType,
              mode: 'hold',
            }),
            onDone: {
              target: 'error',
              actions: {
                type: 'fail',
                params: ({ event }) => ({
                  reason: 'The far side closed the connection.',
                  at: stampOf(event).at,
                }),
              },
            },
            onError: { target: 'error', actions: { type: 'fail', params: broken } },
          },
          after: { steady: { actions: 'forgetFailures' } },
          on: {
            'connector.start': {},
            'delivery.request': { actions: ['accept', 'raiseOpened'] },
            'delivery.settle': { actions: ['decideDelivery', 'watchOver', 'raiseOpened'] },
          },
        },
        error: {
          entry: { type: 'publishStatus', params: { status: 'error' } },
          after: { backoff: { target: 'starting' } },
          on: {
            'connector.start': { target: 'starting', actions: 'want' },
            'delivery.request': waits,
            'delivery.settle': decided,
          },
        },
      },
    },
    outbox: {
      initial: 'quiet',
      states: {
        quiet: { on: { 'link.opened': { guard: 'hasNext', target: 'sending' } } },
        sending: {
          entry: 'take',
          invoke: {
            id: 'delivery',
            src: 'delivery',
            input: ({ context }) => deliveryInput(context),
            onDone: [
              {
                guard: and(['hasNext', stateIn({ link: 'running' })]),
                target: 'sending',
                reenter: true,
                actions: [{ type: 'settle', params: settled }, 'watchOver'],
              },
              { target: 'quiet', actions: [{ type: 'settle', params: settled }, 'watchOver'] },
            ],
            onError: [
              {
                guard: and(['hasNext', stateIn({ link: 'running' })]),
                target: 'sending',
                reenter: true,
                actions: [{ type: 'settle', params: lost }, 'watchOver'],
              },
              { target: 'quiet', actions: [{ type: 'settle', params: lost }, 'watchOver'] },
            ],
          },
        },
      },
    },
  },
});

function fail(context: ConnectorContext, reason: string, at: number): Decision<ConnectorContext> {
  const { failures } = context;
  const failingSince = context.failingSince ?? at;
  return { set: { detail: reason, failures: Math.min(failures + 1, 32), failingSince, updatedAt: at } };
}

function reload(
  context: ConnectorContext,
  event: ConnectorEventOf<'connector.reload'>,
): Decision<ConnectorContext> {
  return {
    set: {
      wanted: true,
      connectorType: event.connectorType ?? context.connectorType,
      failures: 0,
      failingSince: null,
      detail: null,
      updatedAt: event.at,
      capabilities: event.capabilities ?? context.capabilities,
      employee: event.employee === undefined ? context.employee : event.employee,
    },
  };
}

function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  return (
    typeof message === 'string' && message !== '' ? message : 'The connection failed without a reason.'
  ).slice(0, limits.reasonCharsMax);
}
