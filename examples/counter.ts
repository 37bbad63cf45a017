/**
 * A durable counter: each run adds one and prints how often it ran. Kill it when you like: what was answered is
 * kept.
 *
 *     node counter.js /var/lib/counter
 */
import { assign, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal } from 'troupe';
import { levelStore } from 'troupe/level';

const machine = setup({
  types: { context: {} as { total: number }, events: {} as { type: 'add'; n: number } },
}).createMachine({
  context: { total: 0 },
  on: { add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) } },
});
const counter = defineKind({
  kind: 'counter',
  version: 1,
  machine,
  view: (snapshot) => snapshot.context.total,
});

const supervisor = await createSupervisor({
  kinds: [counter],
  store: await levelStore({ directory: process.argv[2] ?? 'counter' }),
});
if ((await supervisor.get('counter', 'runs')) === undefined)
  await supervisor.spawn('counter', { id: 'runs' });
const answer = await supervisor.ask('counter', 'runs', { type: 'add', n: 1 }); // resolves once it is on disk
console.log(isRefusal(answer) ? answer.message : `ran ${answer.view} times`);
await supervisor.stop();
