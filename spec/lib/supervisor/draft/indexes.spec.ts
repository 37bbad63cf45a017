import { expect } from 'chai';
import { setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { keys, prefix } from '../../../../lib/store/keys.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import { haltedPlace } from '../../../../lib/supervisor/inspection-answers.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import { activeStates, stateNames } from '../../../../machines/state-names.js';
import { openHouse } from '../../../fixtures/house.js';

/**
 * Who stands where, and since when: one row per innermost state, right in the commit that moves the actor.
 */
const machine = setup({
  types: {} as {
    context: { id: string; n: number };
    events: { type: 'flip' } | { type: 'paint' } | { type: 'stay' } | { type: 'break' };
  },
  guards: {
    broken: () => {
      throw new Error('it broke');
    },
  },
}).createMachine({
  id: 'lamp',
  type: 'parallel',
  context: ({ input }) => ({ ...(input as { id: string }), n: 0 }),
  states: {
    power: { initial: 'off', states: { off: { on: { flip: 'on' } }, on: { on: { flip: 'off' } } } },
    paint: { initial: 'red', on: { stay: {} }, states: { red: { on: { paint: 'blue' } }, blue: {} } },
  },
  on: { break: { guard: 'broken' } },
});
const lamp: Kind<typeof machine> = {
  kind: 'lamp',
  version: 1,
  machine,
  view: ({ value }) => value,
  supervision: { intensity: 0 },
};

describe('places', () => {
  it('name the innermost states of any value', () => {
    expect(stateNames('running')).to.deep.equal(['running']);
    expect(
      stateNames({ work: 'executing', approval: 'none', deep: { a: { b: 'c' } }, bare: {} }),
    ).to.deep.equal(['approval.none', 'bare', 'deep.a.b.c', 'work.executing']);
    expect(activeStates({ work: { executing: 'fast' } })).to.deep.equal([
      'work',
      'work.executing',
      'work.executing.fast',
    ]);
  });

  it('follow each region for itself, keep the time of a region that did not move, and are tallied', async () => {
    const house = await openHouse([lamp as unknown as Kind]);
    for (const id of ['a', 'b', 'c']) await house.supervisor.spawn('lamp', { id });
    const fresh = house.environment.clock.now();
    await house.environment.advance(1000);
    await house.supervisor.ask('lamp', 'b', { type: 'flip' });
    await house.environment.advance(1000);
    await house.supervisor.ask('lamp', 'a', { type: 'flip' });
    await house.supervisor.ask('lamp', 'a', { type: 'stay' });
    const { inspection } = house.supervisor;
    expect(inspection.counts('lamp')).to.deep.equal({
      total: 3,
      halted: 0,
      states: { 'paint.red': 3, 'power.off': 1, 'power.on': 2 },
    });
    const on = await inspection.places('lamp', 'power.on', { limit: 10 });
    expect(on.map(({ id, since }) => [id, since - fresh])).to.deep.equal([
      ['b', 1000],
      ['a', 2000],
    ]);
    expect(
      (await inspection.places('lamp', 'power.on', { limit: 10, after: on[0]?.place ?? '' })).map(
        ({ id }) => id,
      ),
    ).to.deep.equal(['a']);
    expect(
      (await inspection.places('lamp', 'paint.red', { limit: 2 })).map(({ id, since }) => [
        id,
        since - fresh,
      ]),
    ).to.deep.equal([
      ['a', 0],
      ['b', 0],
    ]);
    const [stored] = await inspection.stored([{ kind: 'lamp', id: 'a' }]);
    expect(stored?.places).to.deep.equal({ 'paint.red': fresh, 'power.on': fresh + 2000 });
    await house.stop();
  });

  it('show who is halted until a person resumes it', async () => {
    const house = await openHouse([lamp as unknown as Kind]);
    await house.supervisor.spawn('lamp', { id: 'a' });
    await house.supervisor.ask('lamp', 'a', { type: 'break' }).catch(() => undefined);
    const { inspection } = house.supervisor;
    expect(inspection.counts('lamp')).to.deep.equal({
      total: 1,
      halted: 1,
      states: { 'paint.red': 1, 'power.off': 1 },
    });
    expect((await inspection.places('lamp', haltedPlace, { limit: 10 })).map(({ id }) => id)).to.deep.equal([
      'a',
    ]);
    expect(
      inspection.failing('lamp').map(({ id, failures, error }) => [id, failures, error.split('\n').at(-1)]),
    ).to.deep.equal([['a', 1, 'it broke']]);
    await house.supervisor.resume({ kind: 'lamp', id: 'a' }, { type: 'operator' });
    expect(inspection.counts('lamp').halted).to.equal(0);
    expect(await inspection.places('lamp', haltedPlace, { limit: 10 })).to.deep.equal([]);
    expect(inspection.failing('lamp')).to.deep.equal([]);
    await house.stop();
  });

  it('are made once for a store that was written before there were any', async () => {
    const store = memoryStore();
    const first = await openHouse([lamp as unknown as Kind], { inner: store });
    for (const id of ['a', 'b']) await first.supervisor.spawn('lamp', { id });
    await first.supervisor.ask('lamp', 'b', { type: 'flip' });
    const expected = first.supervisor.inspection.counts('lamp');
    first.mortal.die();
    // As an earlier version left it: no rows, no tallies, no places in the records, no marker.
    const rows = [
      ...(await store.page(prefix('s/'))),
      ...(await store.page(prefix('n/lamp~places/'))),
      ...(await store.page(prefix(keys.meta('kernel/totals')))),
    ];
    const records = (await store.page(prefix('a/'))).map(([key, text]) => {
      const { places: _places, ...rest } = JSON.parse(text) as { places: unknown };
      return [key, JSON.stringify(rest)] as const;
    });
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: [...rows.map(([key]) => [key, null] as const), ...records],
    });
    const supervisor = await createSupervisor({ kinds: [lamp as unknown as Kind], store });
    expect(supervisor.inspection.counts('lamp')).to.deep.equal(expected);
    await supervisor.ask('lamp', 'a', { type: 'flip' });
    expect(supervisor.inspection.counts('lamp').states).to.deep.equal({ 'paint.red': 2, 'power.on': 2 });
    expect((await store.page(prefix('s/'))).length).to.equal(4);
    await supervisor.stop();
  });
});
