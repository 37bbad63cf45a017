// A counter: names, events, inputs, views and refusals come from its definition.
import { assign, setup } from 'xstate';
import { createSupervisor, defineKind, isRefusal, memoryStore, refuse } from 'troupe';

const machine = setup({
  types: {
    context: {} as { total: number },
    events: {} as { type: 'add'; n: number } | { type: 'reset' },
    input: {} as { start: number },
  },
}).createMachine({
  context: ({ input }) => ({ total: input.start }),
  initial: 'open',
  states: {
    open: {
      on: {
        add: { actions: assign({ total: ({ context, event }) => context.total + event.n }) },
        reset: { actions: assign({ total: 0 }) },
      },
    },
  },
});
const counter = defineKind({
  kind: 'counter',
  version: 1,
  machine,
  refusals: { TOO_MUCH: { status: 409, message: 'A counter counts to a hundred.' } },
  policy: ({ context }, event) =>
    event.type === 'add' && context.total + event.n > 100 ? refuse('TOO_MUCH') : undefined,
  view: (snapshot) => ({ state: snapshot.value, total: snapshot.context.total }),
  index: ({ context }) => [{ index: 'totals', key: String(context.total), row: { total: context.total } }],
});
const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore() });
await supervisor.spawn('counter', { id: 'c1', input: { start: 1 } });
const answer = await supervisor.ask(
  'counter',
  'c1',
  { type: 'add', n: 2 },
  { until: ({ view }) => view.total > 2 },
);
if (isRefusal(answer)) {
  const known: boolean = answer.code === 'TOO_MUCH' || answer.code === 'NOT_FOUND';
  // @ts-expect-error no such code
  console.log(known, answer.code === 'TO_MUCH');
  throw new Error(answer.message);
}
const total: number = answer.view.total;
const state: 'open' = answer.value;
const name: 'counter' = answer.kind;
const [first] = (await supervisor.list('counter', { index: 'totals' })).items;
const listed: number | undefined = first?.row.total;
console.log(total, state, name, listed);

// @ts-expect-error no such kind
void supervisor.ask('countr', 'c1', { type: 'add', n: 2 });
// @ts-expect-error no such event
void supervisor.ask('counter', 'c1', { type: 'ad', n: 2 });
// @ts-expect-error wrong payload
void supervisor.ask('counter', 'c1', { type: 'add', n: 'two' });
// @ts-expect-error missing payload
void supervisor.ask('counter', 'c1', { type: 'add' });
// @ts-expect-error the kernel stamps the time
void supervisor.ask('counter', 'c1', { type: 'add', n: 1, at: 0 });
// @ts-expect-error wrong input
void supervisor.spawn('counter', { id: 'c2', input: { strt: 'x' } });
// @ts-expect-error missing input
void supervisor.spawn('counter', { id: 'c2' });
// @ts-expect-error the id has a place of its own
void supervisor.spawn('counter', { input: { start: 1, id: 'c3' } });
// @ts-expect-error no such member of the view
console.log((await supervisor.get('counter', 'c1'))?.view.totl);
// @ts-expect-error no such list
void supervisor.list('counter', { index: 'total' });
const policy = () => refuse('TOO_MUCH');
const refusals = { OTHER: { status: 409, message: 'Something else.' } };
// @ts-expect-error a code that is used and not declared
defineKind({ kind: 'counter', version: 1, machine, view: () => null, refusals, policy });
// @ts-expect-error an event that the machine does not take
defineKind({ kind: 'counter', version: 1, machine, view: () => null, startsWork: ['ad'] });
await supervisor.stop();
