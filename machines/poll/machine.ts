import { assertEvent, enqueueActions, setup } from 'xstate';
import { authorityOf, callerName } from '../caller.js';
import { publish, effect, stampOf, type Output } from '../outputs.js';
import {
  asked,
  firstContext,
  type Checked,
  type Fired,
  type Occurrence,
  type PollContext,
  type PollContract,
  type PollEvent,
  type PollFields,
  type PollInput,
} from './context.js';
import { pollPolicy, type PollState } from './policy.js';

/**
 * A binding that looks for its event: again and again it runs a program, and what that prints may start a
 * workflow.
 *
 * **What lives.** The contract (program, arguments, files by their hashes, interval, bounds), whether a
 * person has approved exactly that, and what the last look came to.
 *
 * **What can happen.** A person approves, rejects, or takes it away; taking it away ends the program that
 * runs. While it is active it looks, waits, looks again; looks that fail make the pauses longer. What a look
 * found is stored before the run is started, and the run is started under its name, so that a crash neither
 * loses nor doubles it. A file of the contract that has changed asks for a new approval.
 *
 * **What can never happen.** A program that nobody approved, or another one than was approved. Two looks at
 * once. An agent that has any of it done.
 */
export interface CheckInput {
  readonly name: string;
  readonly contract: PollContract;
  readonly contractHash: string;
}
export type FireInput = Pick<PollFields, 'event' | 'targetWorkflowId' | 'filter'> & {
  readonly name: string;
  readonly occurrence: Occurrence;
};

const hourMs = 3_600_000;
const triesMax = 6;
const failed = new Set(['nonzero', 'invalid-json', 'timeout', 'output-too-large', 'error', 'refused']);

/** Doubled by every failure in a row, up to an hour. */
function pauseMs({ contract, failures }: PollContext): number {
  const interval = contract.intervalSeconds * 1000;
  return Math.max(interval, Math.min(hourMs, interval * 2 ** Math.min(failures, 12)));
}

const told = (context: PollContext, action: string): Output =>
  publish('company:changed', {
    entity: 'workflow-trigger',
    action,
    id: context.id,
    workflowId: context.targetWorkflowId,
  });

function came(
  context: PollContext,
  at: number,
  { outcome, reason }: { readonly outcome: string; readonly reason?: string },
): Partial<PollContext> {
  return {
    lastCheckedAt: at,
    lastOutcome: outcome,
    lastReason: reason?.slice(0, 500) ?? null,
    failures: failed.has(outcome) ? context.failures + 1 : 0,
    occurrence: null,
    tries: 0,
  };
}

const poll = setup({
  types: {} as { context: PollContext; events: PollEvent; input: PollInput; emitted: Output },
  actors: {
    /** Fenced: runs the program of the contract. */
    check: effect<Checked, CheckInput>(),
    /** Keyed by the occurrence: starts the run, or finds it started. */
    fire: effect<Fired, FireInput>(),
  },
  delays: {
    interval: ({ context }) => pauseMs(context),
    retry: ({ context }) => 1000 * 2 ** context.tries,
  },
  guards: {
    allowed: ({ context, event }, { state }: { state: PollState }) =>
      pollPolicy(state, context, event, authorityOf(event)) === undefined,
    approves: ({ context, event }, { state }: { state: PollState }) =>
      event.type === 'activation.decide' &&
      event.decision === 'approve' &&
      pollPolicy(state, context, event, authorityOf(event)) === undefined,
    rejects: ({ context, event }, { state }: { state: PollState }) =>
      event.type === 'activation.decide' &&
      event.decision === 'reject' &&
      pollPolicy(state, context, event, authorityOf(event)) === undefined,
    found: (_, { checked }: { checked: Checked }) => checked.outcome === 'fire',
    revoked: (_, { checked }: { checked: Checked }) =>
      checked.outcome === 'revoked' && checked.measured !== undefined,
    triedEnough: ({ context }) => context.tries + 1 >= triesMax,
  },
  actions: {
    tell: enqueueActions(({ context, enqueue }, { action }: { action: string }) =>
      enqueue.emit(told(context, action)),
    ),
    decide: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'activation.decide');
      const decision = event.decision === 'approve' ? ('approved' as const) : ('rejected' as const);
      enqueue.assign({
        approval: {
          ...context.approval,
          decision,
          decidedBy: callerName(event.by),
          decidedAt: event.at,
          note: event.note ?? null,
        },
        updatedAt: event.at,
        failures: 0,
        occurrence: null,
        tries: 0,
      });
    }),
    escalate: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'activation.escalate');
      enqueue.assign({
        approval: { ...context.approval, escalatedAt: event.at, reason: event.reason ?? null },
        updatedAt: event.at,
      });
    }),
    look: enqueueActions(({ context, enqueue }) => enqueue.assign({ checks: context.checks + 1 })),
    hold: enqueueActions(({ context, event, enqueue }, { checked }: { checked: Checked }) =>
      enqueue.assign({
        lastCheckedAt: stampOf(event).at,
        tries: 0,
        occurrence: {
          payload: checked.payload ?? {},
          fireRef: checked.fireRef ?? null,
          ref: `${context.id}@${context.revision}#${context.checks}`,
        },
      }),
    ),
    note: enqueueActions(({ context, event, enqueue }, { checked }: { checked: Checked }) =>
      enqueue.assign(came(context, stampOf(event).at, checked)),
    ),
    revoke: enqueueActions(({ context, event, enqueue }, { checked }: { checked: Checked }) => {
      const { at } = stampOf(event);
      enqueue.assign({
        ...came(context, at, checked),
        ...checked.measured,
        approval: asked(at),
        updatedAt: at,
      });
    }),
    fired: enqueueActions(({ context, event, enqueue }, { result }: { result: Fired }) => {
      const { at } = stampOf(event);
      enqueue.assign({
        ...came(context, at, result),
        ...(result.outcome === 'fired'
          ? { fired: context.fired + 1, lastFiredAt: at, lastRunId: result.runId ?? null }
          : {}),
      });
    }),
    tryAgain: enqueueActions(({ context, enqueue }) => enqueue.assign({ tries: context.tries + 1 })),
    forget: enqueueActions(({ event, enqueue }) =>
      enqueue.assign({ occurrence: null, updatedAt: stampOf(event).at }),
    ),
    rewrite: enqueueActions(({ context, event, enqueue }) => {
      assertEvent(event, 'binding.revive');
      enqueue.assign(
        firstContext(event.binding, {
          id: context.id,
          at: event.at,
          by: event.by,
          revision: context.revision + 1,
        }),
      );
    }),
  },
});

const at = <State extends PollState>(state: State) => ({ state });
const reasonOf = (error: unknown): string =>
  (error as { message?: string } | undefined)?.message ?? String(error);

export const pollMachine = poll.createMachine({
  id: 'poll',
  context: ({ input }) => firstContext(input, input),
  initial: 'pending',
  states: {
    pending: {
      entry: { type: 'tell', params: { action: 'trigger-waits-for-approval' } },
      on: {
        'activation.decide': [
          {
            guard: { type: 'approves', params: at('pending') },
            target: '#poll.active.checking',
            actions: 'decide',
          },
          { guard: { type: 'rejects', params: at('pending') }, target: 'disabled', actions: 'decide' },
        ],
        'activation.escalate': {
          guard: { type: 'allowed', params: at('pending') },
          actions: ['escalate', { type: 'tell', params: { action: 'trigger-approval-escalated' } }],
        },
        'binding.delete': { guard: { type: 'allowed', params: at('pending') }, target: 'deleted' },
      },
    },
    active: {
      entry: { type: 'tell', params: { action: 'trigger-activated' } },
      initial: 'checking',
      on: {
        'activation.decide': {
          guard: { type: 'rejects', params: at('active') },
          target: 'disabled',
          actions: 'decide',
        },
        'binding.delete': { guard: { type: 'allowed', params: at('active') }, target: 'deleted' },
      },
      states: {
        checking: {
          entry: 'look',
          invoke: {
            id: 'check',
            src: 'check',
            input: ({ context: { id, contract, contractHash } }) => ({ name: id, contract, contractHash }),
            onDone: [
              {
                guard: { type: 'found', params: ({ event }) => ({ checked: event.output }) },
                target: 'firing',
                actions: { type: 'hold', params: ({ event }) => ({ checked: event.output }) },
              },
              {
                guard: { type: 'revoked', params: ({ event }) => ({ checked: event.output }) },
                target: '#poll.pending',
                actions: { type: 'revoke', params: ({ event }) => ({ checked: event.output }) },
              },
              {
                target: 'waiting',
                actions: { type: 'note', params: ({ event }) => ({ checked: event.output }) },
              },
            ],
            onError: {
              target: 'waiting',
              actions: {
                type: 'note',
                params: ({ event }) => ({ checked: { outcome: 'error', reason: reasonOf(event.error) } }),
              },
            },
          },
        },
        firing: {
          invoke: {
            id: 'fire',
            src: 'fire',
            input: ({ context: { id, event, targetWorkflowId, filter, occurrence } }) => ({
              name: id,
              event,
              targetWorkflowId,
              filter,
              occurrence: occurrence as Occurrence,
            }),
            onDone: {
              target: 'waiting',
              actions: [
                { type: 'fired', params: ({ event }) => ({ result: event.output }) },
                { type: 'tell', params: { action: 'trigger-fired' } },
              ],
            },
            onError: [
              {
                guard: 'triedEnough',
                target: 'waiting',
                actions: {
                  type: 'note',
                  params: ({ event }) => ({ checked: { outcome: 'error', reason: reasonOf(event.error) } }),
                },
              },
              { target: 'retrying', actions: 'tryAgain' },
            ],
          },
        },
        retrying: { after: { retry: 'firing' } },
        waiting: { after: { interval: 'checking' } },
      },
    },
    disabled: {
      entry: { type: 'tell', params: { action: 'trigger-disabled' } },
      on: {
        'activation.decide': {
          guard: { type: 'approves', params: at('disabled') },
          target: '#poll.active.checking',
          actions: 'decide',
        },
        'binding.delete': { guard: { type: 'allowed', params: at('disabled') }, target: 'deleted' },
      },
    },
    deleted: {
      entry: ['forget', { type: 'tell', params: { action: 'trigger-deleted' } }],
      on: {
        'binding.revive': {
          guard: { type: 'allowed', params: at('deleted') },
          target: 'pending',
          actions: 'rewrite',
        },
      },
    },
  },
});
