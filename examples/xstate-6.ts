/**
 * A machine of XState 6 as a durable actor: its async logic and its named actions run after the commit, and the steps
 * of the former are on disk as they end. XState 6 is an alpha; the program brings its own copy.
 *
 *     node xstate-6.js
 */
import * as xstate from 'xstate6';
import * as durable from 'xstate6/durable';
import { createSupervisor, isRefusal, memoryStore } from 'troupe';
import { xstate6 } from 'troupe/xstate6';

const { setup, types, createAsyncLogic } = xstate;
const { defineKind } = xstate6({ ...xstate, ...durable });

const machine = setup({
  schemas: {
    context: types<{ order: string; receipt: string | null }>(),
    input: types<{ order: string }>(),
    events: { pay: types<{ amount: number }>() },
  },
  actions: { thank: (order: string) => console.log(`thank you for the ${order}`) },
  actors: {
    charge: createAsyncLogic({
      run: async ({ input }: { input: { order: string; amount: number } }, enq) => {
        const payment = await enq.step('charge', async () => `charged ${input.amount}`);
        return enq.step('receipt', async () => `${input.order}: ${payment}`);
      },
    }),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ order: input.order, receipt: null }),
  initial: 'placed',
  states: {
    placed: { on: { pay: { target: 'paying' } }, after: { 259_200_000: { target: 'cancelled' } } },
    paying: {
      invoke: {
        src: 'charge',
        input: ({ context, event }) => ({
          order: context.order,
          amount: (event as { amount: number }).amount,
        }),
        onDone: ({ context, event, actions }, enq) => {
          enq(actions.thank, context.order);
          return { target: 'paid', context: { receipt: event.output } };
        },
      },
    },
    paid: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

const order = defineKind({ kind: 'order', version: 1, machine, view: ({ context }) => context });
const supervisor = await createSupervisor({ kinds: [order], store: memoryStore() });
await supervisor.spawn('order', { id: 'o1', input: { order: 'lamp' } });
const paid = await supervisor.ask(
  'order',
  'o1',
  { type: 'pay', amount: 3 },
  { until: ({ status }) => status === 'done' },
);
if (!isRefusal(paid)) console.log(paid.view.receipt);
await supervisor.stop();
