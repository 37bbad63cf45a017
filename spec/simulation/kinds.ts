import { assign, cancel, emit, raise, setup, spawnChild } from 'xstate';
import type { EffectContext, Kind, Persisted } from '../../actors/contracts.js';
import { defineKind } from '../../actors/define-kind.js';
import { effect, writeRow, sendToActor } from '../../machines/outputs.js';

/**
 * Kinds of actors that use every durable thing the kernel has: steps, rows, messages, timers, effects of both
 * guarantees, children, lists, totals, supervision, forgetting, versions. Each writes down the name of every
 * operation that reached it, so that a model can count them.
 */
interface Named {
  readonly id: string;
}
type Names = readonly string[];
const and = (list: Names, { id }: Named): Names => [...list, id];

/** The world outside, where effects act; it outlives every process. */
export interface Outside {
  /** How often each effect acted, by its key. */
  readonly acts: Map<string, number>;
  /** No one acts in a process that is dead. */
  alive(): boolean;
  wait(ms: number): Promise<void>;
}

const account = setup({
  types: { context: {} as { done: Names }, events: {} as { type: 'add' } & Named },
}).createMachine({
  id: 'account',
  context: { done: [] },
  on: {
    add: {
      actions: [
        assign({ done: ({ context, event }) => and(context.done, event) }),
        emit(({ context, event }) => writeRow('entries', context.done.length, { id: event.id })),
      ],
    },
  },
});

const relay = setup({
  types: {
    context: {} as { done: Names },
    events: {} as { type: 'pass'; to: string; hops: number } & Named,
  },
}).createMachine({
  id: 'relay',
  context: { done: [] },
  on: {
    pass: {
      actions: [
        assign({ done: ({ context, event }) => and(context.done, event) }),
        emit(({ event }) =>
          sendToActor({ kind: 'account', id: event.to }, { type: 'add', id: `m:${event.id}` }),
        ),
        emit(({ event }) =>
          event.hops > 0
            ? sendToActor(
                { kind: 'relay', id: event.to },
                { type: 'pass', id: `h:${event.id}`, to: event.to, hops: event.hops - 1 },
              )
            : sendToActor({ kind: 'account', id: event.to }, { type: 'add', id: `c:${event.id}` }),
        ),
      ],
    },
  },
});

type AlarmEvent =
  | ({ type: 'set' | 'name'; ms: number } & Named)
  | ({ type: 'ring' | 'ring-named' | 'unset' } & Named)
  | ({ type: 'snooze' } & Named);
const alarm = setup({
  types: {
    context: {} as { done: Names; rang: Names; named: Names; woke: Names; last: string | null },
    events: {} as AlarmEvent,
  },
  delays: { given: ({ event }) => (event as { ms: number }).ms, nap: 5_000 },
}).createMachine({
  id: 'alarm',
  context: { done: [], rang: [], named: [], woke: [], last: null },
  initial: 'awake',
  on: {
    set: {
      actions: [
        assign({ done: ({ context, event }) => and(context.done, event) }),
        raise(({ event }) => ({ type: 'ring' as const, id: event.id }), { delay: 'given' }),
      ],
    },
    name: {
      actions: [
        assign({ done: ({ context, event }) => and(context.done, event), last: ({ event }) => event.id }),
        raise(({ event }) => ({ type: 'ring-named' as const, id: event.id }), {
          delay: 'given',
          id: 'named',
        }),
      ],
    },
    unset: {
      actions: [
        assign({ done: ({ context, event }) => and(context.done, event), last: null }),
        cancel('named'),
      ],
    },
    ring: { actions: assign({ rang: ({ context, event }) => and(context.rang, event) }) },
    'ring-named': {
      actions: assign({ named: ({ context, event }) => and(context.named, event), last: null }),
    },
  },
  states: {
    awake: {
      on: {
        snooze: {
          target: 'asleep',
          actions: assign({ done: ({ context, event }) => and(context.done, event) }),
        },
      },
    },
    asleep: {
      after: {
        nap: {
          target: 'awake',
          actions: assign({ woke: ({ context }) => [...context.woke, String(context.woke.length)] }),
        },
      },
    },
  },
});

export type Behaviour = 'good' | 'throws' | 'silent' | 'slow';
type WorkerEvent = { type: 'order'; behaviour: Behaviour } & Named;
interface Order extends Named {
  readonly behaviour: Behaviour;
}
const worker = setup({
  types: {
    context: {} as { done: Names; queue: readonly Order[]; outcomes: Names },
    events: {} as WorkerEvent,
  },
  actors: { work: effect<string, Order>() },
  delays: { patience: 25_000 },
  actions: {
    finish: assign(({ context }, { outcome }: { outcome: string }) => ({
      outcomes: [...context.outcomes, `${context.queue[0]?.id}=${outcome}`],
      queue: context.queue.slice(1),
    })),
  },
}).createMachine({
  id: 'worker',
  context: { done: [], queue: [], outcomes: [] },
  initial: 'idle',
  on: {
    order: {
      actions: assign({
        done: ({ context, event }) => and(context.done, event),
        queue: ({ context, event }) => [...context.queue, { id: event.id, behaviour: event.behaviour }],
      }),
    },
  },
  states: {
    idle: { always: { guard: ({ context }) => context.queue.length > 0, target: 'working' } },
    working: {
      after: { patience: { target: 'idle', actions: { type: 'finish', params: { outcome: 'late' } } } },
      invoke: {
        src: 'work',
        input: ({ context }) => context.queue[0]!,
        onDone: {
          target: 'idle',
          actions: { type: 'finish', params: ({ event }) => ({ outcome: event.output }) },
        },
        onError: { target: 'idle', actions: { type: 'finish', params: { outcome: 'failed' } } },
      },
    },
  },
});

const parent = setup({
  types: { context: {} as { done: Names; ended: Names }, events: {} as { type: 'bear' } & Named },
  actors: { child: effect<{ id: string }, { name: string }>() },
}).createMachine({
  id: 'parent',
  context: { done: [], ended: [] },
  on: {
    bear: {
      actions: [
        assign({
          done: ({ context, event }: { context: { done: Names }; event: Named }) => and(context.done, event),
        } as never),
        spawnChild('child', {
          id: ({ event }: { event: Named }) => event.id,
          input: ({ event }: { event: Named }) => ({ name: event.id }),
        } as never),
      ],
    },
    'xstate.done.actor.*': {
      actions: assign({
        ended: ({ context, event }) => [
          ...context.ended,
          (event as unknown as { output: { id: string } }).output.id,
        ],
      }),
    },
  } as never, // XState's types do not know the end events of spawned children
});

const child = setup({
  types: { context: {} as { name: string }, input: {} as { name: string }, output: {} as { id: string } },
  delays: { life: 700 },
}).createMachine({
  id: 'child',
  context: ({ input }) => ({ name: input.name }),
  initial: 'living',
  states: { living: { after: { life: 'ended' } }, ended: { type: 'final' } },
  output: ({ context }) => ({ id: context.name }),
});

/** Breaks on what it is told to break on; `spin`, `bigint`, `buffer` and `inplace` must each fail alone. */
const brittle = setup({
  types: {
    context: {} as { done: Names; fragile: boolean; blob?: unknown },
    events: {} as
      | ({ type: 'touch' } & Named)
      | { type: 'carry'; value: object }
      | { type: 'crack' | 'repair' | 'spin' | 'bigint' | 'buffer' | 'inplace' },
  },
}).createMachine({
  id: 'brittle',
  context: { done: [], fragile: false },
  initial: 'still',
  on: {
    crack: { actions: assign({ fragile: true }) },
    repair: { actions: assign({ fragile: false }) },
    touch: {
      actions: assign({
        done: ({ context, event }) => {
          if (context.fragile) throw new TypeError('it breaks');
          return and(context.done, event);
        },
      }),
    },
    bigint: { actions: raise({ type: 'touch', id: 10n as unknown as string }, { delay: 50 }) },
    // Its members may be called what they like
    carry: { actions: assign({ blob: ({ event }) => ({ ...event.value, at: new Date(0) }) }) },
    buffer: { actions: assign({ blob: () => Buffer.from('a') }) },
    inplace: {
      actions: assign(({ context }) => {
        (context.done as string[]).push('in place');
        return {};
      }),
    },
    spin: '.spinning',
  },
  states: {
    still: {},
    spinning: { always: 'dizzy' },
    dizzy: { always: 'spinning' },
  },
});

const ticket = setup({
  types: { context: {} as { done: Names }, events: {} as { type: 'close' } },
}).createMachine({
  id: 'ticket',
  context: { done: [] },
  initial: 'open',
  states: { open: { on: { close: 'closed' } }, closed: { type: 'final' } },
});

/** The one who is outside at the moment: kinds are made once, histories come and go. */
let outside: Outside = { acts: new Map(), alive: () => false, wait: () => new Promise(() => undefined) };
export function goOutside(next: Outside): void {
  outside = next;
}

const made = new Map<1 | 2, readonly Kind[]>();
export function simulatedKinds(version: 1 | 2): readonly Kind[] {
  const known = made.get(version) ?? makeKinds(version);
  made.set(version, known);
  return known;
}

/** All kinds as of a version of the program: version 2 knows one more list and one more member of accounts. */
function makeKinds(version: 1 | 2): Kind[] {
  const view = (snapshot: { context: unknown; value: unknown }): never =>
    ({ ...(snapshot.context as object), value: snapshot.value }) as never;
  const index = ({ context }: { context: { done: Names } }) => [
    { index: 'all', key: String(context.done.length).padStart(4, '0'), row: context.done.length },
  ];
  const totals = ({ context }: { context: { done: Names } }) => [
    context.done.length % 2 === 0 ? 'even' : 'odd',
  ];
  const kind = (name: string, machine: unknown, extra: object): Kind =>
    defineKind({ kind: name, version: 1, machine, view, ...extra } as never) as Kind;
  const second =
    version === 1
      ? {}
      : {
          version: 2,
          index: (snapshot: { context: { done: Names } }) => [
            ...index(snapshot),
            { index: 'second', key: 'here', row: snapshot.context.done.length % 3 },
          ],
          migrate: {
            1: (old: Persisted): Persisted => ({ ...old, context: { ...old.context, second: true } }),
          },
        };
  return [
    kind('account', account, { index, totals, ...second }),
    kind('relay', relay, { index, totals }),
    kind('alarm', alarm, { index }),
    kind('worker', worker, { index, effects: { work: keyed } }),
    kind('guarded', worker, { index, effects: { work: fenced } }),
    kind('parent', parent, { index, childKinds: { child: 'child' } }),
    kind('child', child, {}),
    kind('brittle', brittle, { index, totals, supervision: { backoffMs: 1_500 } }),
    // Only the first version has it: its effects and messages wait for that version to come back.
    ...(version === 1 ? [kind('retired', worker, { effects: { work: keyed } })] : []),
    kind('ticket', ticket, { index, totals, forgetAfterMs: 60_000 }),
  ];
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('it was left'))));

const keyed = {
  guarantee: 'at-least-once',
  async run({ behaviour }: Order, { key, signal }: EffectContext) {
    const { acts, alive, wait } = outside;
    if (behaviour === 'silent') return never(signal);
    await wait(behaviour === 'slow' ? 20_000 : 100);
    if (alive()) acts.set(key, (acts.get(key) ?? 0) + 1);
    await wait(50);
    if (behaviour === 'throws') throw new TypeError('the far side refused');
    return 'done';
  },
} as const;

const fenced = {
  guarantee: 'at-most-once',
  async run({ behaviour }: Order, { key, checkpoint: note, signal }: EffectContext) {
    const { acts, alive, wait } = outside;
    // It takes its time to let go
    if (behaviour === 'silent')
      return never(signal).catch((error: unknown) => wait(3_000).then(() => Promise.reject(error as Error)));
    await wait(50);
    await note({ about: key });
    if (alive()) acts.set(key, (acts.get(key) ?? 0) + 1);
    await wait(behaviour === 'slow' ? 20_000 : 100);
    if (behaviour === 'throws') throw new TypeError('the far side refused');
    return 'done';
  },
  async recover() {
    return 'unknown';
  },
} as const;
