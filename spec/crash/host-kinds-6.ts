import * as xstate from 'xstate6';
import * as durable from 'xstate6/durable';
import type { Kind } from '../../actors/contracts.js';
import { xstate6 } from '../../lib/entries/xstate6.js';
import { writeRow, type Json } from '../../machines/outputs.js';

/** The same as XState 6 writes it: timers in a row, async work in two steps, a child. */
const { setup, types, createAsyncLogic } = xstate;
const v6 = xstate6({ ...xstate, ...durable });

interface Input {
  readonly tag: string;
  readonly at: number;
}
const stampOf = (event: object): number => (event as { readonly at: number }).at;

/** Rings three times, 100 ms apart. */
const alarm = setup({
  schemas: {
    context: types<{ tag: string; due: number; rings: number }>(),
    input: types<Input>(),
  },
}).createMachine({
  id: 'alarm6',
  context: ({ input }) => ({ tag: input.tag, due: input.at + 100, rings: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      after: {
        100: ({ context, event }, enq) => {
          const at = stampOf(event);
          enq.emit(writeRow('rings', context.rings + 1, { due: context.due, at }) as never);
          const next = { ...context, rings: context.rings + 1, due: at + 100 };
          return { target: next.rings === 3 ? 'done' : 'waiting', reenter: true, context: next };
        },
      },
    },
    done: { type: 'final' },
  },
});

/** Two calls of the far side, each a step with a key of its own. */
const payer = (call: (key: string, tag: string) => Promise<Json>) =>
  setup({
    schemas: { context: types<{ tag: string; outcome: Json }>(), input: types<Input>() },
    actors: {
      far: createAsyncLogic({
        run: async ({ input }: { input: { tag: string } }, enq) => {
          const first = await enq.step('first', () => call(`${input.tag}/first`, `${input.tag}/first`));
          const second = await enq.step('second', () => call(`${input.tag}/second`, `${input.tag}/second`));
          return [first, second];
        },
      }),
    },
  }).createMachine({
    id: 'payer6',
    context: ({ input }) => ({ tag: input.tag, outcome: null }),
    initial: 'calling',
    states: {
      calling: {
        invoke: {
          src: 'far',
          input: ({ context }) => ({ tag: context.tag }),
          onDone: ({ context, event }) => ({
            target: 'done',
            context: { ...context, outcome: event.output as Json },
          }),
          onError: ({ context, event }) => ({
            target: 'done',
            context: { ...context, outcome: String((event.error as Error).message) },
          }),
        },
      },
      done: { type: 'final' },
    },
  });

const chore = setup({
  schemas: { context: types<{ tag: string }>(), input: types<Input>() },
}).createMachine({
  id: 'chore6',
  context: ({ input }) => ({ tag: input.tag }),
  initial: 'away',
  output: ({ context }) => ({ tag: context.tag }),
  states: { away: { after: { 150: { target: 'back' } } }, back: { type: 'final' } },
});

/** Sends a child on a chore and counts its returns. */
const boss = setup({
  schemas: { context: types<{ tag: string; returns: number }>(), input: types<Input>() },
  actors: { chore: chore as unknown as xstate.AnyActorLogic }, // a machine is none under exactOptionalPropertyTypes
}).createMachine({
  id: 'boss6',
  context: ({ input }) => ({ tag: input.tag, returns: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      invoke: {
        id: 'chore',
        src: 'chore',
        input: ({ context }: { context: { tag: string } }) => ({ tag: context.tag }),
        onDone: ({ context }: { context: { tag: string; returns: number } }) => ({
          target: 'rested',
          context: { ...context, returns: context.returns + 1 },
        }),
      },
    },
    rested: {},
  },
});

export function hostKinds6(call: (key: string, tag: string) => Promise<Json>): readonly Kind[] {
  const view = (snapshot: { readonly value: unknown; readonly context: unknown }): Json => ({
    state: snapshot.value as Json,
    ...(snapshot.context as Record<string, Json>),
  });
  return [
    v6.defineKind({ kind: 'alarm6', version: 1, machine: alarm, view }),
    v6.defineKind({ kind: 'payer6', version: 1, machine: payer(call), view }),
    v6.defineKind({ kind: 'boss6', version: 1, machine: boss, childKinds: { chore: 'chore6' }, view }),
    v6.defineKind({ kind: 'chore6', version: 1, machine: chore, view }),
  ] as unknown as readonly Kind[]; // a list of kinds forgets the type of each one's machine
}
