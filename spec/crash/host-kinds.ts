import { assign, emit, setup } from 'xstate';
import type { Effect, Kind } from '../../actors/contracts.js';
import { defineKind } from '../../actors/define-kind.js';
import { callerName } from '../../machines/caller.js';
import {
  effect,
  writeRow,
  stampOf,
  sendToActor,
  type Json,
  type Stamp,
  type Output,
} from '../../machines/outputs.js';

/**
 * Kinds that use what the gateway's own routes do not offer: timers in a row, keyed and fenced effects,
 * messages, children, plans.
 */
type Input = { readonly tag: string };

/** Rings three times, each time after `ms`; every ring is a row with its due time. */
const alarm = setup({
  types: {} as {
    context: { tag: string; ms: number; due: number; rings: number };
    events: { type: 'none' } & Stamp;
    input: Input & Stamp & { ms: number };
    emitted: Output;
  },
  delays: { interval: ({ context }) => context.ms },
}).createMachine({
  id: 'alarm',
  context: ({ input }) => ({ tag: input.tag, ms: input.ms, due: input.at + input.ms, rings: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      always: { guard: ({ context }) => context.rings === 3, target: 'done' },
      after: {
        interval: {
          target: 'waiting',
          reenter: true,
          actions: [
            emit(({ context, event }) =>
              writeRow('rings', context.rings + 1, { due: context.due, at: stampOf(event).at }),
            ),
            assign(({ context, event }) => ({
              rings: context.rings + 1,
              due: stampOf(event).at + context.ms,
            })),
          ],
        },
      },
    },
    done: { type: 'final' },
  },
});

/** One call of the far side, and what came of it. */
const call = (id: string) =>
  setup({
    types: {} as { context: { tag: string; outcome: Json }; events: { type: 'none' }; input: Input },
    actors: { far: effect<Json, Input>() },
  }).createMachine({
    id,
    context: ({ input }) => ({ tag: input.tag, outcome: null }),
    initial: 'calling',
    states: {
      calling: {
        invoke: {
          id: 'far',
          src: 'far',
          input: ({ context }) => ({ tag: context.tag }),
          onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
          onError: {
            target: 'done',
            actions: assign({
              outcome: ({ event }) => ({ failed: String((event.error as { message: string }).message) }),
            }),
          },
        },
      },
      done: { type: 'final' },
    },
  });

/** Passes words on to listeners, who keep each as a row. */
const teller = setup({
  types: {} as {
    context: { told: number };
    events: { type: 'say'; tag: string; to: string };
    emitted: Output;
  },
}).createMachine({
  id: 'teller',
  context: { told: 0 },
  on: {
    say: {
      actions: [
        assign({ told: ({ context }) => context.told + 1 }),
        emit(({ context, event }) =>
          sendToActor({ kind: 'listener', id: event.to }, { type: 'hear', tag: event.tag, n: context.told }),
        ),
      ],
    },
  },
});

const listener = setup({
  types: {} as {
    context: { heard: number };
    events: { type: 'hear'; tag: string; n: number } & Stamp;
    emitted: Output;
  },
}).createMachine({
  id: 'listener',
  context: { heard: 0 },
  on: {
    hear: {
      actions: [
        emit(({ context, event }) =>
          writeRow('heard', context.heard + 1, { tag: event.tag, n: event.n, from: callerName(event.by) }),
        ),
        assign({ heard: ({ context }) => context.heard + 1 }),
      ],
    },
  },
});

/** Holds an amount; what one gives another takes in the same commit. */
const account = setup({
  types: {} as {
    context: { balance: number; moves: number };
    events: { type: 'change'; amount: number; tag: string };
    emitted: Output;
  },
}).createMachine({
  id: 'account',
  context: { balance: 0, moves: 0 },
  on: {
    change: {
      actions: [
        emit(({ context, event }) =>
          writeRow('moves', context.moves + 1, { tag: event.tag, amount: event.amount }),
        ),
        assign(({ context, event }) => ({
          balance: context.balance + event.amount,
          moves: context.moves + 1,
        })),
      ],
    },
  },
});

/** Sends a child on a chore and counts its returns. */
const boss = setup({
  types: {} as { context: { tag: string; returns: number }; events: { type: 'none' }; input: Input },
  actors: { chore: effect<Json, Input>() },
}).createMachine({
  id: 'boss',
  context: ({ input }) => ({ tag: input.tag, returns: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      invoke: {
        id: 'chore',
        src: 'chore',
        input: ({ context }) => ({ tag: context.tag }),
        onDone: { target: 'rested', actions: assign({ returns: ({ context }) => context.returns + 1 }) },
      },
    },
    rested: {},
  },
});

const chore = setup({
  types: {} as { context: { tag: string }; events: { type: 'none' }; input: Input; output: Json },
}).createMachine({
  id: 'chore',
  context: ({ input }) => ({ tag: input.tag }),
  initial: 'away',
  output: ({ context }) => ({ tag: context.tag }),
  states: { away: { after: { 150: 'back' } }, back: { type: 'final' } },
});

export function hostKinds(writers: {
  readonly keyed: Effect<Input, Json>;
  readonly fenced: Effect<Input, Json>;
}): readonly Kind[] {
  const view = (snapshot: { readonly value: unknown; readonly context: unknown }): Json => ({
    state: snapshot.value as Json,
    ...(snapshot.context as Record<string, Json>),
  });
  return [
    defineKind({ kind: 'alarm', version: 1, machine: alarm, view }),
    defineKind({ kind: 'payer', version: 1, machine: call('payer'), effects: { far: writers.keyed }, view }),
    defineKind({
      kind: 'caller',
      version: 1,
      machine: call('caller'),
      effects: { far: writers.fenced },
      view,
    }),
    defineKind({ kind: 'teller', version: 1, machine: teller, view }),
    defineKind({ kind: 'listener', version: 1, machine: listener, view }),
    defineKind({ kind: 'account', version: 1, machine: account, view }),
    defineKind({ kind: 'boss', version: 1, machine: boss, childKinds: { chore: 'chore' }, view }),
    defineKind({ kind: 'chore', version: 1, machine: chore, view }),
  ] as unknown as readonly Kind[]; // a list of kinds forgets the type of each one's machine
}
