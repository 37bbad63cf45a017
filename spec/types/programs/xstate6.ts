// A machine of XState 6: its events, input, context and effects carry to the calls as those of 5 do.
import * as xstate from 'xstate6';
import * as durable from 'xstate6/durable';
import { createSupervisor, isRefusal, memoryStore, type EffectContext } from 'troupe';
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
const supervisor = await createSupervisor({ kinds: [till, lamp, executionKind], store: memoryStore() });
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
await supervisor.stop();

/** What is wrong at run time, too, throws there. */
function attempt(define: () => unknown): void {
  try {
    define();
  } catch (error) {
    console.log((error as Error).name);
  }
}
