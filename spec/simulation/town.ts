import { assign, emit, raise, setup, spawnChild } from 'xstate';
import type { HandContext, Kind } from '../../actors/contracts.js';
import { defineKind } from '../../lib/supervisor/define-kind.js';
import type { SystemWorld } from '../../lib/world.js';
import { effect, tell } from '../../machines/ground.js';

/**
 * A small town of actors that use every durable thing the kernel has: steps, messages, timers, keyed and fenced
 * effects, children, lists. Each writes down the name of every deed that reached it, so that an audit can count.
 */
export interface Outside {
  /** The clock of the present life. */
  world: SystemWorld;
  /** Nobody acts in a process that is dead. */
  alive(): boolean;
  /** What effects did to the world outside, by their key. */
  readonly acts: Map<string, number>;
}

type Named = { readonly id: string };
const noted = <Event extends Named>(list: readonly string[], event: Event): readonly string[] => [...list, event.id];

const book = setup({
  types: { context: {} as { deeds: readonly string[] }, events: {} as { type: 'add' } & Named },
}).createMachine({ id: 'book', context: { deeds: [] }, on: { add: { actions: assign({ deeds: ({ context, event }) => noted(context.deeds, event) }) } } });

const post = setup({
  types: { context: {} as { deeds: readonly string[] }, events: {} as { type: 'forward'; to: string } & Named },
}).createMachine({
  id: 'post', context: { deeds: [] },
  on: { forward: { actions: [
    assign({ deeds: ({ context, event }) => noted(context.deeds, event) }),
    emit(({ event }) => tell({ kind: 'book', id: event.to }, { type: 'add', id: `mail:${event.id}` })),
    emit(({ event }) => tell({ kind: 'book', id: event.to }, { type: 'add', id: `copy:${event.id}` })),
  ] } },
});

const bell = setup({
  types: { context: {} as { deeds: readonly string[]; rang: readonly string[] }, events: {} as ({ type: 'later'; ms: number } & Named) | ({ type: 'ring' } & Named) },
  delays: { given: ({ event }) => (event as { ms: number }).ms },
}).createMachine({
  id: 'bell', context: { deeds: [], rang: [] },
  on: {
    later: { actions: [assign({ deeds: ({ context, event }) => noted(context.deeds, event) }), raise(({ event }) => ({ type: 'ring' as const, id: event.id }), { delay: 'given' })] },
    ring: { actions: assign({ rang: ({ context, event }) => noted(context.rang, event) }) },
  },
});

type ShopEvent = { type: 'order' } & Named;
const shop = setup({
  types: { context: {} as { deeds: readonly string[]; queue: readonly string[]; outcomes: readonly string[] }, events: {} as ShopEvent },
  actors: { work: effect<string, { id: string }>() },
}).createMachine({
  id: 'shop', context: { deeds: [], queue: [], outcomes: [] }, initial: 'idle',
  on: { order: { actions: assign({ deeds: ({ context, event }) => noted(context.deeds, event), queue: ({ context, event }) => noted(context.queue, event) }) } },
  states: {
    idle: { always: { guard: ({ context }) => context.queue.length > 0, target: 'working' } },
    working: { invoke: {
      src: 'work', input: ({ context }) => ({ id: context.queue[0] ?? '' }),
      onDone: { target: 'idle', actions: assign({ outcomes: ({ context, event }) => [...context.outcomes, `${context.queue[0]}=${event.output}`], queue: ({ context }) => context.queue.slice(1) }) },
      onError: { target: 'idle', actions: assign({ outcomes: ({ context }) => [...context.outcomes, `${context.queue[0]}=failed`], queue: ({ context }) => context.queue.slice(1) }) },
    } },
  },
});

const nest = setup({
  types: { context: {} as { deeds: readonly string[]; hatched: readonly string[] }, events: {} as { type: 'hatch' } & Named },
  actors: { egg: effect<{ id: string }, { name: string }>() },
}).createMachine({
  id: 'nest', context: { deeds: [], hatched: [] },
  on: {
    hatch: { actions: [assign({ deeds: ({ context, event }: { context: { deeds: readonly string[] }; event: Named }) => noted(context.deeds, event) } as never), spawnChild('egg', { id: ({ event }: { event: Named }) => event.id, input: ({ event }: { event: Named }) => ({ name: event.id }) } as never)] },
    'xstate.done.actor.*': { actions: assign({ hatched: ({ context, event }) => [...context.hatched, (event as unknown as { output: { id: string } }).output.id] }) },
  } as never, // XState's types do not know the end events of spawned children
});

const egg = setup({
  types: { context: {} as { name: string }, input: {} as { name: string }, output: {} as { id: string } }, delays: { brood: 700 },
}).createMachine({
  id: 'egg', context: ({ input }) => ({ name: input.name }), initial: 'warm',
  states: { warm: { after: { brood: 'hatched' } }, hatched: { type: 'final' } }, output: ({ context }) => ({ id: context.name }),
});

const wait = (world: SystemWorld, ms: number): Promise<void> => new Promise((resolve) => { world.timeout(ms, resolve); });

export function townKinds(outside: Outside): Kind[] {
  const act = (key: string, alive: () => boolean): void => {
    if (alive()) outside.acts.set(key, (outside.acts.get(key) ?? 0) + 1);
  };
  const view = (snapshot: { context: unknown; value: unknown }): never => ({ ...snapshot.context as object, value: snapshot.value }) as never;
  const index = (snapshot: { context: { deeds: readonly string[] } }) => [{ index: 'all', key: String(snapshot.context.deeds.length).padStart(4, '0'), row: snapshot.context.deeds.length }];
  const keyed = { fence: false, async run(_input: unknown, { key }: HandContext) {
    const { world, alive } = outside;
    await wait(world, 150);
    act(key, alive);
    await wait(world, 150);
    return 'done';
  } } as const;
  const fenced = { fence: true, async run(_input: unknown, { key, note }: HandContext) {
    const { world, alive } = outside;
    await wait(world, 100);
    await note({ about: key });
    act(key, alive);
    await wait(world, 200);
    return 'done';
  }, async recover() { return 'unknown'; } } as const;
  const kind = (name: string, machine: unknown, extra: object): Kind => defineKind({ kind: name, version: 1, machine, view, ...extra } as never) as Kind;
  return [
    kind('book', book, { index }), kind('post', post, { index }), kind('bell', bell, { index }),
    kind('shop', shop, { index, hands: { work: keyed } }), kind('smithy', shop, { index, hands: { work: fenced } }),
    kind('nest', nest, { index, childKinds: { egg: 'egg' } }), kind('egg', egg, {}),
  ];
}
