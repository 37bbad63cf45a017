import { expect } from 'chai';
import { assign, setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { effect, type Json } from '../../../../machines/outputs.js';
import { openHouse, rejection, seen, type House } from '../../../fixtures/house.js';

/**
 * An assigner that changed its context in place changed the committed snapshot: without a word in the log, and
 * gone after the next crash.
 */
type Bag = {
  n: number;
  list: number[];
  deep: { inner: { n: number } };
  map: Map<string, { n: number }>;
  set: Set<number>;
  when: Date;
  kept?: unknown;
};
type Change = (context: Bag) => void;
const changes: Record<string, Change> = {
  member: (context) => (context.n += 1),
  more: (context) => ((context as unknown as Record<string, number>)['x'] = 1),
  less: (context) => delete (context as Partial<Bag>).n,
  list: (context) => context.list.push(1),
  sort: (context) => context.list.sort((a, b) => a - b),
  deep: (context) => (context.deep.inner.n += 1),
  map: (context) => context.map.set('b', { n: 1 }),
  inMap: (context) => ((context.map.get('a') as { n: number }).n += 1),
  set: (context) => context.set.add(2),
  clear: (context) => context.set.clear(),
  date: (context) => context.when.setTime(0),
};
const machine = setup({
  types: { context: {} as Bag, events: {} as { type: string; what: string; kept?: unknown } },
  actors: { deed: effect<Json, Json>() },
}).createMachine({
  id: 'bag',
  context: () => ({
    n: 0,
    list: [2, 1],
    deep: { inner: { n: 0 } },
    map: new Map([['a', { n: 0 }]]),
    set: new Set([1]),
    when: new Date(5),
  }),
  on: {
    change: {
      actions: assign(({ context, event }) => {
        changes[event.what]?.(context);
        return {};
      }),
    },
    throw: {
      actions: assign(({ context }) => {
        context.n += 1;
        throw new Error('after the change');
      }),
    },
    renew: {
      actions: assign({
        n: ({ context }) => context.n + 1,
        list: ({ context }) => [...context.list, 3].sort((a, b) => a - b),
        deep: ({ context }) => ({ ...context.deep, inner: { n: context.deep.inner.n + 1 } }),
        map: ({ context }) => new Map([...context.map, ['b', { n: 1 }]]),
        set: ({ context }) => new Set([...context.set, 2]),
        when: ({ context }) => new Date(context.when.getTime() + 1),
      }),
    },
    keep: { actions: assign({ kept: ({ event }) => event.kept }) },
    spawn: {
      actions: assign({
        kept: (({ spawn }: never) =>
          (spawn as (src: string, options: object) => unknown)('deed', { id: 'child' })) as never,
      }),
    },
  },
});
const kind: Kind<typeof machine> = {
  kind: 'bag',
  version: 1,
  machine,
  effects: { deed: { guarantee: 'at-least-once', run: () => new Promise<Json>(() => undefined) } },
  view: ({ context }) => ({ n: context.n, list: context.list, kept: context.kept as Json }),
};

describe('a context', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([kind as unknown as Kind]);
    await house.supervisor.spawn('bag', { id: 'b' });
  });
  afterEach(() => house.stop());
  const send = (type: string, more: object = {}) => house.supervisor.ask('bag', 'b', { type, ...more });
  const context = async () =>
    ((await house.supervisor.handle('bag', 'b').wake()) as { context: Bag }).context;

  for (const what of Object.keys(changes))
    it(`is not changed in place (${what}): the event fails and says what to do, and nothing has changed`, async () => {
      for (const slept of [false, true]) {
        if (slept) await house.crash();
        const before = structuredClone(await context());
        const error = await rejection(send('change', { what }));
        expect(error.message).to.match(/never mutate a context: assign a changed copy/);
        expect(await context()).to.deep.equal(before);
      }
    });

  it('is as before where an assigner throws after it has changed it', async () => {
    await rejection(send('throw'));
    expect(seen(await house.supervisor.get('bag', 'b'))).to.include({ n: 0 });
  });

  it('goes on with copies, of every sort', async () => {
    for (let n = 0; n < 3; n += 1) expect(await send('renew')).to.not.have.property('code');
    await house.crash();
    expect(await send('renew')).to.deep.include({
      view: { n: 4, list: [1, 2, 3, 3, 3, 3], kept: undefined },
    });
    expect(house.faults).to.deep.equal([]);
  });

  it('may hold actor references, which stay alive', async () => {
    expect(await send('spawn')).to.not.have.property('code');
    expect(Object.isFrozen((await context()).kept)).to.equal(false);
    expect(await send('renew')).to.not.have.property('code');
    await house.crash();
    expect(await send('renew')).to.not.have.property('code');
    expect(house.faults).to.deep.equal([]);
  });

  it('shares nothing with the callers whose events it keeps, nor do they feel that it is frozen', async () => {
    const kept = { list: [{ n: 1 }] };
    await send('keep', { kept });
    kept.list.push({ n: 2 });
    kept.list[0]!.n = 3;
    expect(seen(await house.supervisor.get('bag', 'b'))).to.deep.include({ kept: { list: [{ n: 1 }] } });
    await house.supervisor.transact({
      name: 'keep',
      actors: [{ kind: 'bag', id: 'b' }],
      run: (tx) => {
        tx.send({ kind: 'bag', id: 'b' }, { type: 'keep', kept });
        return null;
      },
    });
    kept.list.length = 0;
    expect(seen(await house.supervisor.get('bag', 'b'))).to.deep.include({
      kept: { list: [{ n: 3 }, { n: 2 }] },
    });
  });
});
