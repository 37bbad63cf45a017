/**
 * Durable actors inside a program of your own: a parcel on its way, kept in a folder.
 *
 *     node embed.js /var/lib/parcels
 *
 * Run it again with the same folder: the parcel is where it was, and its deadline still counts.
 */
import { assign, emit, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore, refuse } from 'troupe';
import { levelStore } from 'troupe/level';
import { publish } from 'troupe/machines';

// A machine decides and never does: no clock, no I/O. Its `after` becomes a durable timer.
const machine = setup({
  types: {
    context: {} as { id: string; stops: string[] },
    input: {} as { id: string },
    events: {} as { type: 'parcel.scan'; place: string } | { type: 'parcel.hand-over' },
  },
  delays: { patience: 14 * 24 * 3_600_000 },
}).createMachine({
  id: 'parcel',
  context: ({ input }) => ({ id: input.id, stops: [] }),
  initial: 'travelling',
  states: {
    travelling: {
      on: {
        'parcel.scan': {
          actions: assign({ stops: ({ context, event }) => [...context.stops, event.place].slice(-20) }),
        },
        'parcel.hand-over': 'delivered',
      },
      after: { patience: 'lost' },
    },
    lost: { on: { 'parcel.scan': 'travelling' } },
    delivered: {
      type: 'final',
      entry: emit(({ context }) => publish('parcel:delivered', { id: context.id })),
    },
  },
});

// The rule "no hand-over before the first scan" is a refusal: an answer, not an exception, and nothing is
// written.
const parcel = defineKind({
  kind: 'parcel',
  version: 1,
  machine,
  policy: (snapshot, event) =>
    event.type === 'parcel.hand-over' && snapshot.context.stops.length === 0
      ? refuse('CONFLICT', {}, 'A parcel that was never seen cannot be handed over.')
      : undefined,
  view: (snapshot) => ({ state: snapshot.value, stops: snapshot.context.stops }),
});

const folder = process.argv[2];
const supervisor = await createSupervisor({
  kinds: [parcel],
  store: folder === undefined ? memoryStore() : await levelStore({ directory: folder }),
});

if ((await supervisor.get('parcel', 'p1')) === undefined) await supervisor.spawn('parcel', { id: 'p1' });

for (const event of [{ type: 'parcel.hand-over' }, { type: 'parcel.scan', place: 'Leipzig' }] as const) {
  const answer = await supervisor.ask('parcel', 'p1', event);
  console.log(event.type, isRefusal(answer) ? `refused: ${answer.message}` : JSON.stringify(answer.view));
}

for (const entry of await supervisor.history({ kind: 'parcel', id: 'p1' })) {
  console.log(`${entry.position} ${JSON.stringify(entry.event)} → ${JSON.stringify(entry.to)}`);
}

await supervisor.stop();
