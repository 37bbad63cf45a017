import { assign, setup } from 'xstate';
import type { Effect, Kind } from '../../../actors/contracts.js';
import { defineKind } from '../../../actors/define-kind.js';
import { effect, type Json } from '../../../machines/outputs.js';

/** What the cluster counts: a tally, and jobs whose effect may not begin twice. */
const tally = setup({
  types: {} as {
    context: { n: number };
    /** `epoch`: of the owner that took it in. */
    events: { type: 'add'; epoch: number };
  },
}).createMachine({
  id: 'tally',
  context: { n: 0 },
  on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
});

const job = setup({
  types: {} as { context: { outcome: Json }; events: { type: 'none' } },
  actors: { act: effect<Json, Json>() },
}).createMachine({
  id: 'job',
  context: { outcome: null },
  initial: 'working',
  states: {
    working: {
      invoke: {
        src: 'act',
        input: null,
        onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
        onError: { target: 'done', actions: assign({ outcome: 'failed' }) },
      },
    },
    done: { type: 'final' },
  },
});

export function clusterKinds(act: Effect<Json, Json>): readonly Kind[] {
  return [
    defineKind({ kind: 'tally', version: 1, machine: tally, view: ({ context }) => ({ n: context.n }) }),
    defineKind({
      kind: 'job',
      version: 1,
      machine: job,
      effects: { act },
      view: ({ value, context }) => ({ state: value as string, outcome: context.outcome }),
    }),
  ] as unknown as readonly Kind[]; // a list of kinds forgets the type of each one's machine
}
