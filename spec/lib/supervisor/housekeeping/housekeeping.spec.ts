import { expect } from 'chai';
import { setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { keys } from '../../../../lib/store/keys.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import { testEnvironment } from '../../../../lib/testing/test-environment.js';
import { effect, type Json } from '../../../../machines/outputs.js';
import { counterKind, workerKind } from '../../../fixtures/kinds.js';
import { later, openHouse, unclosable, type House } from '../../../fixtures/house.js';

const day = 24 * 3600 * 1000;
const turn = 5_000;

describe('housekeeping', () => {
  let house: House;
  afterEach(() => house.stop());
  const count = (start: string): Promise<number> => house.mortal.count({ gte: start, lt: `${start}\x7f` });
  const rows = async (start: string): Promise<string[]> =>
    (await house.mortal.page({ gte: start, lt: `${start}\x7f`, limit: 1_000 })).map(([key]) => key);

  describe('of idempotency keys', () => {
    const keyed = (n: number) =>
      house.supervisor.transact({
        name: 'keyed',
        actors: [],
        run: () => ({ n }),
        idempotency: { key: `k${n}`, scope: 'me', hash: 'h' },
      });

    // a thousand went in a minute, and a thousand came in a second
    it('forgets as many as there are when their day is over, in one turn', async () => {
      house = await openHouse([counterKind()]);
      for (let n = 0; n < 5_500; n += 500)
        await Promise.all(Array.from({ length: 500 }, (_, more) => keyed(n + more)));
      expect([await count('k/'), await count('e/')]).to.deep.equal([5_500, 5_500]);
      await house.environment.sleep(day - turn);
      expect(await count('k/')).to.equal(5_500);
      await house.environment.sleep(turn + 1);
      await house.environment.advance(turn);
      for (let looks = 0; looks < 1_000 && (await rows('e/')).length > 0; looks += 1)
        await house.environment.settle();
      expect([await rows('k/'), await rows('e/')]).to.deep.equal([[], []]);
    });

    it('keeps those whose day is not over', async () => {
      house = await openHouse([counterKind()]);
      await keyed(1);
      await house.environment.sleep(day / 2);
      await keyed(2);
      await house.environment.sleep(day / 2 + 1);
      await house.environment.advance(turn);
      expect(await rows('k/')).to.deep.equal(['k/me/k2']);
      expect(await keyed(2)).to.include({ replayed: true });
      expect(await keyed(1)).to.include({ replayed: false });
    });
  });

  describe('of the disk', () => {
    it('says that it is low for as long as it is, takes no new work meanwhile, and says when it is not', async () => {
      house = await openHouse([]); // for the one that every case ends
      let free = 1 << 30;
      const store = unclosable(memoryStore());
      store.freeBytes = async () => free;
      const open = async () => {
        const environment = testEnvironment();
        return {
          environment,
          supervisor: await createSupervisor({ kinds: [counterKind()], store, environment }),
        };
      };
      let { environment, supervisor } = await open();
      await supervisor.spawn('counter', { id: 'c' });
      free = 199 << 20;
      for (let turns = 0; turns < 3; turns += 1) {
        await environment.advance(turn);
        expect([
          supervisor.status.diskLow,
          supervisor.status.state,
          supervisor.status.reasons.join(),
        ]).to.deep.equal([true, 'degraded', 'disk: less than 200 MB are free']);
        expect(await supervisor.spawn('counter', { id: 'd' })).to.include({ code: 'DISK_LOW' });
        expect(
          await supervisor.spawn('counter', {
            id: 'd',
            by: { type: 'session', id: 's', employee: null, ancestors: [] },
          }),
          'an agent',
        ).to.include({ code: 'DISK_LOW' });
        expect(
          await supervisor.spawn('counter', { id: `own-${turns}`, by: { type: 'system', part: 'kernel' } }),
          'the house itself',
        ).to.not.have.property('code');
        expect(await supervisor.ask('counter', 'c', { type: 'add', n: 1 })).to.not.have.property('code');
      }
      await supervisor.stop();
      ({ environment, supervisor } = await open());
      expect(supervisor.status).to.include({ diskLow: true, state: 'degraded' });
      free = 201 << 20;
      for (let turns = 0; turns < 2; turns += 1) {
        await environment.advance(turn);
        expect(supervisor.status).to.include({ diskLow: false, state: 'running' });
      }
      expect(await supervisor.spawn('counter', { id: 'd' })).to.include({ id: 'd' });
      await supervisor.stop();
    });
  });

  describe('of ended actors', () => {
    const kind = counterKind({ forgetAfterMs: 3_600_000, totals: () => ['counted'] });
    const close = (id: string) => house.supervisor.ask('counter', id, { type: 'close' });

    it('leaves nothing of them but their log, an hour after their end, and nothing of others', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'parent' });
      const untouched = [await rows('a/'), await rows('s/'), await rows('x/')];
      await house.supervisor.spawn('counter', { id: 'ended', parent: { kind: 'counter', id: 'parent' } });
      await close('ended');
      await house.environment.sleep(3_590_000);
      expect((await house.supervisor.get('counter', 'ended'))?.value).to.equal('closed');
      await house.environment.sleep(20_000);
      await house.environment.advance(turn);
      expect(await house.supervisor.get('counter', 'ended')).to.equal(undefined);
      expect([await rows('a/'), await rows('s/'), await rows('x/')]).to.deep.equal(untouched);
      expect(await rows('n/')).to.deep.equal([
        'n/counter/counted',
        'n/counter~places/open',
        'n/counter~places/~all',
      ]);
      expect(house.supervisor.totals('counter').get('counted')).to.equal(1);
      expect([await rows('p/'), await rows('e/')]).to.deep.equal([[], []]);
      expect((await house.log()).filter(({ id }) => id === 'ended')).to.have.length(2);
      expect(await close('ended')).to.include({ code: 'NOT_FOUND' });
      expect(house.faults).to.deep.equal([]);
    });

    it('forgets after a crash, too, and a thousand as well as one', async () => {
      house = await openHouse([kind]);
      for (let n = 0; n < 1_200; n += 1) await house.supervisor.spawn('counter', { id: `c${n}` });
      await Promise.all(Array.from({ length: 1_200 }, (_, n) => close(`c${n}`)));
      await house.crash();
      await house.environment.sleep(3_700_000);
      await house.environment.advance(turn);
      for (let looks = 0; looks < 1_000 && (await rows('a/')).length > 0; looks += 1)
        await house.environment.settle();
      expect([await rows('a/'), await rows('e/'), await rows('n/'), await rows('s/')]).to.deep.equal([
        [],
        [],
        [],
        [],
      ]);
    });

    it('forgets no one of a kind that does not ask for it', async () => {
      house = await openHouse([counterKind()]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      await house.environment.sleep(400 * day);
      await house.environment.advance(turn);
      expect((await house.supervisor.get('counter', 'c'))?.value).to.equal('closed');
    });

    it('forgets no one of a kind that does not ask for it any more, and asks no more of itself', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      await house.restart([counterKind()]);
      await house.environment.sleep(3_700_000);
      await house.environment.advance(turn);
      expect([await rows('a/'), await rows('e/')]).to.deep.equal([['a/counter/c'], []]);
    });

    it('forgets no one who lives, whatever a row says', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await house.supervisor.stop();
      const { head } = house.store;
      await house.store.write({
        first: head.seq + 1,
        last: head.seq,
        chain: head.chain,
        ops: [[keys.expiry(house.environment.clock.now() + 1, keys.actor('counter', 'c')), '1']],
      });
      await house.crash();
      await house.environment.advance(60_000);
      expect((await house.supervisor.get('counter', 'c'))?.value).to.equal('open');
      expect([await rows('a/'), await rows('e/')]).to.deep.equal([['a/counter/c'], []]);
    });

    it('does not hold up a stop that comes in between', async () => {
      house = await openHouse([kind]);
      for (let n = 0; n < 50; n += 1) await house.supervisor.spawn('counter', { id: `c${n}` });
      await Promise.all(Array.from({ length: 50 }, (_, n) => close(`c${n}`)));
      await house.supervisor.transact({
        name: 'keyed',
        actors: [],
        run: () => null,
        idempotency: { key: 'k', scope: 'me', hash: 'h' },
      });
      // The key is on its way out when the stop comes, the actors behind it are not
      house.store.fail({ mode: 'hold' });
      await house.environment.sleep(day + 60_000);
      const stopped = house.supervisor.stop({ drainMs: 10 });
      await house.environment.advance(1_000);
      house.store.release();
      house.store.fail(undefined);
      await house.environment.settle();
      await stopped;
      await house.restart();
      await house.environment.advance(turn);
      expect(await rows('a/')).to.deep.equal([]);
    });

    it('passes over one whose kind fails on it, says so, and is not held up by it', async () => {
      let broken = false;
      house = await openHouse([
        counterKind({
          forgetAfterMs: 60_000,
          index: () => {
            if (broken) throw new Error('no index');
            return [];
          },
        }),
        workerKind({ guarantee: 'at-least-once', run: async () => null }),
      ]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      await house.supervisor.transact({
        name: 'keyed',
        actors: [],
        run: () => null,
        idempotency: { key: 'k', scope: 'me', hash: 'h' },
      });
      broken = true;
      await house.environment.sleep(70_000);
      await house.environment.advance(turn);
      expect(house.faults).to.deep.equal([
        'the ended counter c could not be forgotten: index of counter c threw: no index: no index',
      ]);
      expect(await rows('a/')).to.have.length(1);
      await house.environment.sleep(day / 2);
      await house.environment.advance(turn);
      expect(house.faults).to.have.length(1); // tried once a day, not at every turn
      // It was tried once, and stayed for ever also where its kind was repaired
      broken = false;
      await house.environment.sleep(day / 2);
      await house.environment.advance(turn);
      expect([await rows('a/'), await rows('k/'), await rows('e/')]).to.deep.equal([[], [], []]);
    });

    it('forgets one whose kind was missing for a while', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      await house.restart([]);
      await house.environment.sleep(3_700_000);
      await house.environment.advance(turn);
      expect(await rows('a/')).to.have.length(1);
      await house.restart([kind]);
      await house.environment.sleep(day);
      await house.environment.advance(turn);
      expect([await rows('a/'), await rows('e/')]).to.deep.equal([[], []]);
    });

    it('leaves no row of an effect that had not settled when they were forgotten', async () => {
      const { promise, resolve } = later<string>();
      const kind = lingerKind(promise);
      house = await openHouse([kind]);
      await house.supervisor.spawn('linger', { id: 'l' });
      await house.environment.settle();
      await house.supervisor.ask('linger', 'l', { type: 'end' });
      await house.environment.advance(70_000);
      expect([await rows('a/'), (await rows('o/')).length]).to.deep.equal([[], 1]);
      resolve('late');
      await house.environment.settle();
      expect([await rows('a/'), await rows('o/'), await rows('e/')]).to.deep.equal([[], [], []]);
    });

    it('lets an id be used again once its actor is forgotten, as if it had never been', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c', input: { n: 7 } });
      const told: unknown[] = [];
      house.supervisor.handle('counter', 'c').subscribe((snapshot) => {
        told.push(snapshot);
      });
      await close('c');
      await house.environment.sleep(3_700_000);
      await house.environment.advance(turn);
      expect(await house.supervisor.get('counter', 'c')).to.equal(undefined);
      expect(await house.supervisor.spawn('counter', { id: 'c' })).to.deep.include({
        revision: 1,
        view: { n: 0, rang: 0, notes: 0, ms: 0, state: 'open' },
      });
      await house.environment.sleep(7_200_000);
      await house.environment.advance(turn);
      // Its own end is still to come
      expect((await house.supervisor.get('counter', 'c'))?.value).to.equal('open');
    });

    it('tries again when the store could not write', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      house.store.fail({ mode: 'before' });
      await house.environment.sleep(3_700_000);
      await house.environment.advance(turn);
      house.store.fail(undefined);
      expect(house.faults.join()).to.match(/housekeeping failed: injected fault/);
      expect(await rows('a/')).to.have.length(1);
      await house.environment.advance(turn);
      expect(await rows('a/')).to.deep.equal([]);
    });

    it('tries again, too, when one single write failed: it does not strike the actor off the list instead', async () => {
      house = await openHouse([kind]);
      await house.supervisor.spawn('counter', { id: 'c' });
      await close('c');
      await house.environment.sleep(3_590_000);
      house.store.fail({ failAt: 1, mode: 'before' });
      await house.environment.advance(20_000);
      expect(await rows('a/')).to.deep.equal([]);
    });
  });
});

/** Ends while a fenced effect of it still has to settle. */
function lingerKind(until: Promise<string>): Kind {
  const machine = setup({
    types: { events: {} as { type: 'end' } },
    actors: { deed: effect<Json, Json>() },
  }).createMachine({
    id: 'linger',
    initial: 'working',
    states: {
      working: { invoke: { src: 'deed', input: null }, on: { end: 'over' } },
      over: { type: 'final' },
    },
  });
  const kind: Kind<typeof machine> = {
    kind: 'linger',
    version: 1,
    machine,
    view: () => null,
    forgetAfterMs: 60_000,
    effects: { deed: { guarantee: 'at-most-once', run: () => until, recover: async () => null } },
  };
  return kind as unknown as Kind;
}
