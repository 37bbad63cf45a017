import { expect } from 'chai';
import { setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import { faultyStore } from '../../../lib/store/faulty.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { keys, prefix } from '../../../lib/store/keys.js';
import { openHouse } from '../../fixtures/house.js';

/**
 * Numbers that the kernel keeps for a kind: right in one batch with what they count, or not changed at all.
 */
const machine = setup({ types: {} as { context: { id: string }; events: { type: 'flip' } } }).createMachine({
  id: 'lamp',
  context: ({ input }) => input as { id: string },
  initial: 'off',
  states: { off: { on: { flip: 'on' } }, on: { on: { flip: 'off' } } },
});
const lamp: Kind<typeof machine> = {
  kind: 'lamp',
  version: 1,
  machine,
  view: (snapshot) => snapshot.value,
  totals: (snapshot) => [snapshot.value, 'lamps'],
};

const ending = setup({ types: { events: {} as { type: 'end' } } }).createMachine({
  id: 'mortal',
  initial: 'alive',
  states: { alive: { on: { end: 'dead' } }, dead: { type: 'final' } },
});
const mortal: Kind<typeof ending> = {
  kind: 'mortal',
  version: 1,
  machine: ending,
  view: (snapshot) => snapshot.value,
  totals: () => ['mortals'],
  forgetAfterMs: 60_000,
};

describe('counts', () => {
  it('follow every actor, at once and under load, and stand in rows for the next start', async () => {
    const store = memoryStore();
    const supervisor = await createSupervisor({ kinds: [lamp], store });
    await Promise.all(Array.from({ length: 50 }, (_, n) => supervisor.spawn('lamp', { id: `l${n}` })));
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => supervisor.ask('lamp', `l${n}`, { type: 'flip' })),
    );
    expect(Object.fromEntries(supervisor.totals('lamp'))).to.deep.equal({ off: 20, lamps: 50, on: 30 });
    const rows = Object.fromEntries(await store.page(prefix('n/lamp/')));
    expect(rows).to.deep.equal({
      [keys.count('lamp', 'off')]: '20',
      [keys.count('lamp', 'on')]: '30',
      [keys.count('lamp', 'lamps')]: '50',
    });
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => supervisor.ask('lamp', `l${n}`, { type: 'flip' })),
    );
    expect(Object.fromEntries(supervisor.totals('lamp'))).to.deep.equal({ off: 50, lamps: 50 });
    expect(await store.get(keys.count('lamp', 'on'))).to.equal(undefined);
    await supervisor.stop();
  });

  it('are read back at the next start', async () => {
    const store = memoryStore();
    await store.write({
      first: 1,
      last: 0,
      chain: store.head.chain,
      ops: [
        [keys.count('lamp', 'on'), '7'],
        [keys.count('lamp', 'a/b'), '2'],
      ],
    });
    const supervisor = await createSupervisor({ kinds: [lamp], store });
    expect(Object.fromEntries(supervisor.totals('lamp'))).to.deep.equal({ on: 7, 'a/b': 2 });
    await supervisor.spawn('lamp', { id: 'one' });
    await supervisor.ask('lamp', 'one', { type: 'flip' });
    expect(supervisor.totals('lamp').get('on')).to.equal(8);
    await supervisor.stop();
  });

  it('are read back however many names there are', async () => {
    const store = memoryStore();
    const ops = Array.from({ length: 2_500 }, (_, n) => [keys.count('lamp', `name-${n}`), '3'] as const);
    await store.write({ first: 1, last: 0, chain: store.head.chain, ops });
    const supervisor = await createSupervisor({ kinds: [lamp], store });
    expect(supervisor.totals('lamp').size).to.equal(2_500);
    await supervisor.stop();
  });

  it('do not change when an ended actor could not be forgotten', async () => {
    const house = await openHouse([mortal as unknown as Kind]);
    for (const id of ['one', 'two']) await house.supervisor.spawn('mortal', { id });
    await house.supervisor.ask('mortal', 'one', { type: 'end' });
    await house.environment.sleep(59_000);
    house.store.fail({ mode: 'before' });
    await house.environment.advance(10_000);
    expect(house.supervisor.totals('mortal').get('mortals')).to.equal(2);
    house.store.fail(undefined);
    await house.environment.advance(10_000);
    expect(await house.supervisor.get('mortal', 'one')).to.equal(undefined);
    expect(house.supervisor.totals('mortal').get('mortals')).to.equal(1);
    await house.stop();
  });

  it('change nothing where the write failed, and count what survived a lost answer', async () => {
    const store = faultyStore(memoryStore());
    const supervisor = await createSupervisor({ kinds: [lamp], store });
    await supervisor.spawn('lamp', { id: 'one' });
    for (const [mode, after] of [
      ['before', 1],
      ['after', 2],
    ] as const) {
      store.fail({ failAt: 1, mode });
      const outcome = await supervisor.spawn('lamp', { id: `lost ${mode}`.replace(' ', '-') }).then(
        () => 'answered',
        () => 'failed',
      );
      expect([outcome, supervisor.totals('lamp').get('off')]).to.deep.equal(['failed', after]);
    }
    store.fail(undefined);
    await supervisor.spawn('lamp', { id: 'three' });
    expect(Object.fromEntries(supervisor.totals('lamp'))).to.deep.equal({ off: 3, lamps: 3 });
    expect(await store.get(keys.count('lamp', 'off'))).to.equal('3');
    await supervisor.stop();
  });
});
