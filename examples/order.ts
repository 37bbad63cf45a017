/**
 * An order: paid, then shipped. Who does not pay in time is cancelled; where shipping fails the money goes back
 * (compensation). Each step is on disk before the next begins, and an effect that a crash cut off is done again
 * with the same key, by which the far side can tell twins apart.
 *
 *     node order.js
 */
import { setup } from 'xstate';
import { createSupervisor, defineKind, memoryStore } from 'troupe';
import { effect } from 'troupe/machines';

type Work = { order: string; patienceMs: number };

const machine = setup({
  types: { context: {} as Work, input: {} as Work, events: {} as { type: 'pay' } },
  actors: { ship: effect<null, Work>(), refund: effect<null, Work>() },
  delays: { patience: ({ context }) => context.patienceMs }, // a durable timer
}).createMachine({
  context: ({ input }) => input,
  initial: 'placed',
  states: {
    placed: { on: { pay: 'shipping' }, after: { patience: 'cancelled' } },
    shipping: {
      invoke: { src: 'ship', input: ({ context }) => context, onDone: 'shipped', onError: 'refunding' },
    },
    refunding: { invoke: { src: 'refund', input: ({ context }) => context, onDone: 'refunded' } },
    shipped: { type: 'final' },
    refunded: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

const order = defineKind({
  kind: 'order',
  version: 1,
  machine,
  view: (snapshot) => snapshot.value,
  effects: {
    ship: {
      guarantee: 'at-least-once',
      async run({ order: id }, { key }) {
        console.log(`ship ${id} (${key})`);
        if (id === 'vase') throw new Error('It broke.');
        return null;
      },
    },
    refund: {
      guarantee: 'at-least-once',
      async run({ order: id }, { key }) {
        console.log(`refund ${id} (${key})`);
        return null;
      },
    },
  },
});

const supervisor = await createSupervisor({ kinds: [order], store: memoryStore() });
const threeDays = 3 * 24 * 3_600_000;
for (const [id, patienceMs] of Object.entries({ book: threeDays, vase: threeDays, lamp: 50 }))
  await supervisor.spawn('order', { id, input: { order: id, patienceMs } });
for (const id of ['book', 'vase']) await supervisor.ask('order', id, { type: 'pay' });
for (const id of ['book', 'vase', 'lamp'])
  for await (const { to } of supervisor.watch({ since: 0, kinds: ['order'], ids: [id] }))
    if (['shipped', 'refunded', 'cancelled'].includes(String(to))) {
      console.log(id, to);
      break;
    }
await supervisor.stop();
