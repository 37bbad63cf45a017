// A machine of XState 6: its events, input, context and effects carry to the calls as those of 5 do.
import * as xstate from 'xstate6';
import * as durable from 'xstate6/durable';
import { createSupervisor, isRefusal, memoryStore, refuse, type EffectContext } from 'troupe';
import { writeRow, type WriteRow } from 'troupe/machines';
import { executionKind, xstate6 } from 'troupe/xstate6';

const { setup, types, createAsyncLogic } = xstate;
const { defineKind, executionAdapter } = xstate6({ ...xstate, ...durable });
const machine = setup({
  schemas: {
    context: types<{ total: number; receipt: string | null }>(),
    input: types<{ start: number }>(),
    events: { add: types<{ n: number }>(), charge: types<{}>() },
  },
  actions: { ring: (times: number) => console.log(times) },
  actors: {
    charge: createAsyncLogic({
      run: async ({ input }: { input: { cents: number } }, enq) =>
        enq.step('charge', async () => `charged ${input.cents}`),
    }),
  },
}).createMachine({
  id: 'till',
  context: ({ input }) => ({ total: input.start, receipt: null }),
  initial: 'open',
  states: {
    open: {
      on: {
        add: ({ context, event, actions }, enq) => {
          enq(actions.ring, 1);
          return { context: { ...context, total: context.total + event.n } };
        },
        charge: { target: 'charging' },
      },
    },
    charging: {
      invoke: {
        src: 'charge',
        input: ({ context }) => ({ cents: context.total }),
        onDone: ({ context, event }) => ({ target: 'paid', context: { ...context, receipt: event.output } }),
      },
    },
    paid: { type: 'final' },
  },
});
const till = defineKind({
  kind: 'till',
  version: 1,
  machine,
  view: ({ context, value }) => ({ total: context.total, receipt: context.receipt, state: value }),
  effects: {
    ring: {
      guarantee: 'at-least-once',
      run: async ([times], { key, step }: EffectContext) => step('ring', () => `${times.toFixed()} ${key}`),
    },
  },
});
const lamp = defineKind({
  kind: 'lamp',
  version: 1,
  machine: xstate.createMachine({
    id: 'lamp',
    context: {},
    initial: 'off',
    states: { off: { on: { press: { target: 'on' } } }, on: { on: { press: { target: 'off' } } } },
  }),
  view: ({ value }) => ({ state: value }),
});
interface Loan {
  readonly reader: string;
}
const library = setup({
  schemas: {
    context: types<{ lent: number }>(),
    input: types<{ title: string }>(),
    events: { lend: types<{ reader: string }>(), back: types<{}>() },
    emitted: { 'kernel.write-row': types<Omit<WriteRow<'loans', Loan>, 'type'>>() },
  },
}).createMachine({
  id: 'book',
  context: () => ({ lent: 0 }),
  initial: 'shelved',
  states: {
    shelved: {
      on: {
        lend: ({ context, event }, enq) => {
          enq.emit(writeRow('loans', context.lent, { reader: event.reader }));
          return { target: 'lent', context: { lent: context.lent + 1 } };
        },
      },
    },
    lent: { on: { back: { target: 'shelved' } } },
  },
});
const common = { kind: 'book', version: 1, machine: library } as const;
const book = defineKind({
  ...common,
  refusals: { LENT: { status: 409, message: 'It is lent.' } },
  policy: ({ context }, event) => (event.type === 'lend' && context.lent > 3 ? refuse('LENT') : undefined),
  view: ({ context, value }) => ({ state: value, lent: context.lent }),
  index: ({ context }) => [{ index: 'counts', key: String(context.lent), row: { lent: context.lent } }],
});
const supervisor = await createSupervisor({ kinds: [till, lamp, book, executionKind], store: memoryStore() });
await supervisor.spawn('till', { id: 't1', input: { start: 1 } });
const answer = await supervisor.ask(
  'till',
  't1',
  { type: 'add', n: 2 },
  { until: ({ view }) => view.total > 2 },
);
if (isRefusal(answer)) throw new Error(answer.message);
const total: number = answer.view.total;
console.log(total);

const adapter = await executionAdapter(supervisor, { id: 'e1', logic: machine });
// A machine of this alpha is no AnyActorLogic under exactOptionalPropertyTypes
const execution = durable.createDurable(machine as unknown as xstate.AnyActorLogic, adapter);
void execution.run({ start: 1 }).catch(console.log);
await supervisor.ask('execution', 'e1', { type: 'event.send', event: { type: 'add', n: 1 } });

// @ts-expect-error no such event
void supervisor.ask('till', 't1', { type: 'ad', n: 2 });
// @ts-expect-error wrong payload
void supervisor.ask('till', 't1', { type: 'add', n: 'two' });
// @ts-expect-error missing payload
void supervisor.ask('till', 't1', { type: 'add' });
// @ts-expect-error wrong input
void supervisor.spawn('till', { id: 't2', input: { strt: 1 } });
// @ts-expect-error missing input
void supervisor.spawn('till', { id: 't2' });
// @ts-expect-error no such member of the view
console.log(answer.view.totl);
const lit = await supervisor.spawn('lamp', { id: 'l1' });
if (isRefusal(lit)) throw new Error(lit.message);
console.log(lit.value === 'on', lit.view.state === 'off');
// @ts-expect-error no such state
console.log(lit.value === 'onn');
// @ts-expect-error no such state where the view shows it
console.log(lit.view.state === 'of');
// @ts-expect-error no such state of a handle's snapshot
console.log(supervisor.handle('lamp', 'l1').getSnapshot()?.value === 'offf');
// @ts-expect-error no such member of the context
defineKind({ kind: 'till', version: 1, machine, view: ({ context }) => context.totl });
// @ts-expect-error an event that the machine does not take
defineKind({ kind: 'till', version: 1, machine, view: () => null, startsWork: ['ad'] });
const ring = { guarantee: 'at-least-once', run: async () => null } as const;
// @ts-expect-error no action and no async logic has this name
attempt(() => defineKind({ kind: 'till', version: 1, machine, view: () => null, effects: { rings: ring } }));
// @ts-expect-error a machine of XState 5 has a kind of its own
attempt(() => defineKind({ kind: 'till', version: 1, machine: {}, view: () => null }));
// @ts-expect-error the journal takes events for the execution, and what is the adapter's
void supervisor.ask('execution', 'e1', { type: 'event.sned', event: { type: 'add', n: 1 } });

await supervisor.spawn('book', { id: 'b1', input: { title: 'Momo' } });
const lent = await supervisor.ask('book', 'b1', { type: 'lend', reader: 'ann' });
if (isRefusal(lent)) {
  // @ts-expect-error no such code
  throw new Error(lent.code === 'LNT' ? 'misspelt' : lent.code);
}
const value: 'shelved' | 'lent' = lent.value;
// @ts-expect-error no such state of a machine with setup
console.log(value, lent.value === 'shelvd');
// @ts-expect-error a view's member is of another type
const count: string = lent.view.lent;
const [row] = await supervisor.rows({ kind: 'book', id: 'b1' }, 'loans');
const reader: string | undefined = row?.row.reader;
// @ts-expect-error a row's member is of another type
const wrong: number | undefined = row?.row.reader;
// @ts-expect-error no such collection
await supervisor.rows({ kind: 'book', id: 'b1' }, 'lones');
// @ts-expect-error no such list
await supervisor.list('book', { index: 'count' });
// @ts-expect-error no such member of a list's row
console.log(count, reader, wrong, (await supervisor.list('book', { index: 'counts' })).items[0]?.row.lnt);
const policy = () => refuse('LENT');
const refusals = { OTHER: { status: 409, message: 'Something else.' } };
// @ts-expect-error a code that is used and not declared
defineKind({ ...common, refusals, policy, view: () => null });
// @ts-expect-error a policy answers nothing or a refusal
defineKind({ ...common, policy: () => true, view: () => null });
// @ts-expect-error a view is stored: a date would come out as a string
defineKind({ ...common, view: () => new Date() });
// @ts-expect-error a handle's event has its members
supervisor.handle('book', 'b1').send({ type: 'lend' });
void supervisor.transact({
  name: 'return',
  actors: [{ kind: 'book', id: 'b1' }],
  run(tx) {
    // @ts-expect-error no such event in a transaction
    tx.send({ kind: 'book', id: 'b1' }, { type: 'bakc' });
    // @ts-expect-error no such member of the view in a transaction
    return tx.read({ kind: 'book', id: 'b1' })?.view.lnet ?? 0;
  },
});
await supervisor.stop();

/** What is wrong at run time, too, throws there. */
function attempt(define: () => unknown): void {
  try {
    define();
  } catch (error) {
    console.log((error as Error).name);
  }
}
