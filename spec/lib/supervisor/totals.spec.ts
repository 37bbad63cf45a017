import { expect } from 'chai';
import { setup } from 'xstate';
import type { Kind } from '../../../actors/contracts.js';
import { faultyStore } from '../../../lib/store/faulty.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { keys, prefix } from '../../../lib/store/keys.js';
import { openHouse, unclosable, type House } from '../../fixtures/house.js';

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
  const flip = (house: House, ids: readonly string[]): Promise<unknown> =>
    Promise.all(ids.map((id) => house.supervisor.ask('lamp', id, { type: 'flip' })));
  const lamps = (many: number): string[] => Array.from({ length: many }, (_, n) => `l${n}`);
  const totals = (house: House): object => Object.fromEntries(house.supervisor.totals('lamp'));
  const rowsOf = async (house: House): Promise<object> =>
    Object.fromEntries(await house.store.page(prefix('n/lamp/')));

  it('follow every actor, at once and under load, and stand in rows after the next start, crash or not', async () => {
    const house = await openHouse([lamp as unknown as Kind]);
    await Promise.all(lamps(50).map((id) => house.supervisor.spawn('lamp', { id })));
    await flip(house, lamps(30));
    for (const end of [() => house.crash(), () => house.restart(), () => house.crash()]) {
      expect(totals(house)).to.deep.equal({ off: 20, lamps: 50, on: 30 });
      await end();
      // Those of states are counted from the records only where no build has ever counted them
      expect(house.supervisor.totals('lamp~places').get('~all')).to.equal(50);
      expect(totals(house)).to.deep.equal({ off: 20, lamps: 50, on: 30 });
      expect(await rowsOf(house)).to.deep.equal({
        [keys.count('lamp', 'off')]: '20',
        [keys.count('lamp', 'on')]: '30',
        [keys.count('lamp', 'lamps')]: '50',
      });
      await flip(house, ['l0', 'l40']); // one comes, one goes
    }
    await flip(house, [...lamps(50).slice(1, 30), 'l40']);
    expect(totals(house)).to.deep.equal({ off: 50, lamps: 50 });
    await house.crash();
    expect(totals(house)).to.deep.equal({ off: 50, lamps: 50 });
    expect(await rowsOf(house)).to.not.have.property(keys.count('lamp', 'on'));
    await house.stop();
  });

  it('cost a lone event no row, and are counted in rows after a few hundred', async () => {
    const house = await openHouse([lamp as unknown as Kind]);
    for (const id of lamps(300)) await house.supervisor.spawn('lamp', { id });
    const told = Number((await rowsOf(house))[keys.count('lamp', 'lamps') as never]);
    expect(told).to.be.within(200, 299);
    const carried = (await house.store.page({ gt: keys.log(299), lt: 'l/\x7f' })).map(
      ([, text]) => (JSON.parse(text) as { totals: object }).totals,
    );
    expect(carried).to.deep.equal([{ 'lamp~places': { '~all': 1, off: 1 }, lamp: { off: 1, lamps: 1 } }]);
    expect(await house.log().then((log) => log.filter((entry) => 'totals' in entry))).to.deep.equal([]);
    await house.crash();
    expect([totals(house), await rowsOf(house)]).to.deep.equal([
      { off: 300, lamps: 300 },
      { [keys.count('lamp', 'off')]: '300', [keys.count('lamp', 'lamps')]: '300' },
    ]);
    await house.stop();
  });

  it('all stand in rows after a clean stop', async () => {
    const store = unclosable(memoryStore());
    const supervisor = await createSupervisor({ kinds: [lamp], store });
    for (const id of lamps(3)) await supervisor.spawn('lamp', { id });
    expect(await store.get(keys.count('lamp', 'off'))).to.equal(undefined);
    await supervisor.stop();
    expect(await store.get(keys.count('lamp', 'off'))).to.equal('3');
  });

  it('are right where entries that carried some are dropped or blanked', async () => {
    const house = await openHouse([lamp as unknown as Kind], { limits: { keepLogDays: 1 } });
    for (const id of lamps(10)) await house.supervisor.spawn('lamp', { id });
    await house.supervisor.retention.erase({ kind: 'lamp', id: 'l9' }, { type: 'operator' });
    await house.crash();
    expect(totals(house)).to.deep.equal({ off: 10, lamps: 10 });
    await flip(house, ['l1']);
    await house.environment.sleep(3 * 24 * 3600 * 1000);
    for (let turns = 0; turns < 200 && (await house.log()).length > 0; turns += 1)
      await house.environment.advance(60_000);
    expect(await house.log()).to.deep.equal([]);
    await house.crash();
    expect(totals(house)).to.deep.equal({ on: 1, off: 9, lamps: 10 });
    await house.stop();
  });

  it('begin at zero for a new version, whatever the last entries carried', async () => {
    const house = await openHouse([lamp as unknown as Kind]);
    for (const id of lamps(10)) await house.supervisor.spawn('lamp', { id });
    await house.crash([{ ...lamp, indexVersion: 2 } as unknown as Kind]);
    expect(totals(house)).to.deep.equal({});
    for (let turns = 0; turns < 20 && house.supervisor.status.reindexing.length > 0; turns += 1)
      await house.environment.advance(10_000);
    expect(totals(house)).to.deep.equal({ off: 10, lamps: 10 });
    await house.stop();
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
    const inner = unclosable(memoryStore());
    const store = faultyStore(inner);
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
    await supervisor.stop();
    const next = await createSupervisor({ kinds: [lamp], store: inner });
    expect(Object.fromEntries(next.totals('lamp'))).to.deep.equal({ off: 3, lamps: 3 });
    await next.stop();
  });
});
