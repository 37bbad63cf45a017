import { assertEvent, assign, emit, setup } from 'xstate';
import { callerName } from '../caller.js';
import { publish, effect, stampOf, type Output } from '../outputs.js';
import {
  requested,
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

/**
 * A binding that polls for its event: it runs a program at intervals, and what that prints may start a
 * workflow.
 *
 * **What lives.** The contract (program, arguments, files by their hashes, interval, bounds), whether a
 * person has approved exactly that, and the outcome of the last check.
 *
 * **What can happen.** A person approves, rejects or removes it; removing it ends the program that runs. While
 * it is active it checks, waits, checks again; failed checks make the pauses longer. What a check found is
 * stored before the run is started, and the run is started under its name, so that a crash neither loses nor
 * doubles it. A changed file of the contract needs a new approval.
 *
 * **What can never happen.** A program that was not approved, or another one than was approved. Two checks at
 * once. An agent that sets up, approves or removes one.
 */
export interface CheckInput {
  readonly name: string;
  readonly contract: PollContract;
  readonly contractHash: string;
}
export type FireInput = Pick<PollFields, 'event' | 'targetWorkflowId' | 'filter'> & {
  readonly name: string;
  /** Who set it up: what it finds starts a run that is their operation. */
  readonly createdBy: string;
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

/** What a check, or the run that it started, leaves behind. */
function checked(
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
    approves: ({ event }) => event.type === 'activation.decide' && event.decision === 'approve',
    rejects: ({ event }) => event.type === 'activation.decide' && event.decision === 'reject',
    found: (_, { check }: { check: Checked }) => check.outcome === 'fire',
    revoked: (_, { check }: { check: Checked }) =>
      check.outcome === 'revoked' && check.measured !== undefined,
    triedEnough: ({ context }) => context.tries + 1 >= triesMax,
  },
  actions: {
    publish: emit(({ context }, { action }: { action: string }) =>
      publish('company:changed', {
        entity: 'workflow-trigger',
        action,
        id: context.id,
        workflowId: context.targetWorkflowId,
      }),
    ),
    decide: assign(({ context, event }) => {
      assertEvent(event, 'activation.decide');
      const decision = event.decision === 'approve' ? ('approved' as const) : ('rejected' as const);
      return {
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
      };
    }),
    escalate: assign(({ context, event }) => {
      assertEvent(event, 'activation.escalate');
      return {
        approval: { ...context.approval, escalatedAt: event.at, reason: event.reason ?? null },
        updatedAt: event.at,
      };
    }),
    countCheck: assign(({ context }) => ({ checks: context.checks + 1 })),
    keepOccurrence: assign(({ context, event }, { check }: { check: Checked }) => ({
      lastCheckedAt: stampOf(event).at,
      tries: 0,
      occurrence: {
        payload: check.payload ?? {},
        fireRef: check.fireRef ?? null,
        ref: `${context.id}@${context.revision}#${context.checks}`,
      },
    })),
    recordCheck: assign(({ context, event }, { check }: { check: Checked }) =>
      checked(context, stampOf(event).at, check),
    ),
    revoke: assign(({ context, event }, { check }: { check: Checked }) => {
      const { at } = stampOf(event);
      return {
        ...checked(context, at, check),
        ...check.measured,
        approval: requested(at),
        updatedAt: at,
      };
    }),
    recordFire: assign(({ context, event }, { result }: { result: Fired }) => {
      const { at } = stampOf(event);
      return {
        ...checked(context, at, result),
        ...(result.outcome === 'fired'
          ? { fired: context.fired + 1, lastFiredAt: at, lastRunId: result.runId ?? null }
          : {}),
      };
    }),
    countTry: assign(({ context }) => ({ tries: context.tries + 1 })),
    dropOccurrence: assign(({ event }) => ({ occurrence: null, updatedAt: stampOf(event).at })),
    rewrite: assign(({ context, event }) => {
      assertEvent(event, 'binding.revive');
      return firstContext(event.binding, {
        id: context.id,
        at: event.at,
        by: event.by,
        revision: context.revision + 1,
      });
    }),
  },
});

const reasonOf = (error: unknown): string =>
  (error as { message?: string } | undefined)?.message ?? String(error);

export const pollMachine = poll.createMachine({
  id: 'poll',
  context: ({ input }) => firstContext(input, input),
  initial: 'pending',
  states: {
    pending: {
      entry: { type: 'publish', params: { action: 'trigger-waits-for-approval' } },
      on: {
        'activation.decide': [
          { guard: 'approves', target: '#poll.active.checking', actions: 'decide' },
          { guard: 'rejects', target: 'disabled', actions: 'decide' },
        ],
        'activation.escalate': {
          actions: ['escalate', { type: 'publish', params: { action: 'trigger-approval-escalated' } }],
        },
        'binding.delete': 'deleted',
      },
    },
    active: {
      entry: { type: 'publish', params: { action: 'trigger-activated' } },
      initial: 'checking',
      on: {
        'activation.decide': { guard: 'rejects', target: 'disabled', actions: 'decide' },
        'binding.delete': 'deleted',
      },
      states: {
        checking: {
          entry: 'countCheck',
          invoke: {
            id: 'check',
            src: 'check',
            input: ({ context: { id, contract, contractHash } }) => ({ name: id, contract, contractHash }),
            onDone: [
              {
                guard: { type: 'found', params: ({ event }) => ({ check: event.output }) },
                target: 'firing',
                actions: { type: 'keepOccurrence', params: ({ event }) => ({ check: event.output }) },
              },
              {
                guard: { type: 'revoked', params: ({ event }) => ({ check: event.output }) },
                target: '#poll.pending',
                actions: { type: 'revoke', params: ({ event }) => ({ check: event.output }) },
              },
              {
                target: 'waiting',
                actions: { type: 'recordCheck', params: ({ event }) => ({ check: event.output }) },
              },
            ],
            onError: {
              target: 'waiting',
              actions: {
                type: 'recordCheck',
                params: ({ event }) => ({ check: { outcome: 'error', reason: reasonOf(event.error) } }),
              },
            },
          },
        },
        firing: {
          invoke: {
            id: 'fire',
            src: 'fire',
            input: ({ context: { id, createdBy, event, targetWorkflowId, filter, occurrence } }) => ({
              name: id,
              createdBy,
              event,
              targetWorkflowId,
              filter,
              occurrence: occurrence as Occurrence,
            }),
            onDone: {
              target: 'waiting',
              actions: [
                { type: 'recordFire', params: ({ event }) => ({ result: event.output }) },
                { type: 'publish', params: { action: 'trigger-fired' } },
              ],
            },
            onError: [
              {
                guard: 'triedEnough',
                target: 'waiting',
                actions: {
                  type: 'recordCheck',
                  params: ({ event }) => ({ check: { outcome: 'error', reason: reasonOf(event.error) } }),
                },
              },
              { target: 'retrying', actions: 'countTry' },
            ],
          },
        },
        retrying: { after: { retry: 'firing' } },
        waiting: { after: { interval: 'checking' } },
      },
    },
    disabled: {
      entry: { type: 'publish', params: { action: 'trigger-disabled' } },
      on: {
        'activation.decide': { guard: 'approves', target: '#poll.active.checking', actions: 'decide' },
        'binding.delete': 'deleted',
      },
    },
    deleted: {
      entry: ['dropOccurrence', { type: 'publish', params: { action: 'trigger-deleted' } }],
      on: {
        'binding.revive': { target: 'pending', actions: 'rewrite' },
      },
    },
  },
});
