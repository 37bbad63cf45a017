import { expect } from 'chai';
import { randomFrom } from '../../../lib/testing/test-environment.js';
import type { Committed } from '../../../lib/supervisor/contract.js';
import { isRefusal } from '../../../machines/refusals.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';
import { counterKind } from '../../fixtures/kinds.js';

const counter = (id: string) => ({ kind: 'counter', id });
const add = { type: 'add', n: 1 };

describe('the turns of several actors', () => {
  const resting = { supervision: { backoffMs: 5_000, intensity: 1_000, periodSeconds: 10 } };
  const plan = (house: House, ids: readonly string[]) =>
    house.supervisor.transact({
      name: 'both',
      actors: ids.map(counter),
      run: (tx) => {
        for (const id of ids) tx.send(counter(id), add);
        return ids.map((id) => (tx.read(counter(id)) as unknown as { view: { n: number } }).view.n);
      },
    });
  const open = async (ids: readonly string[], limits = {}): Promise<House> => {
    const house = await openHouse([counterKind(resting)], { limits });
    for (const id of ids) await house.supervisor.spawn('counter', { id });
    return house;
  };

  // A plan took the turns one by one: the healthy actor was held for as long as the other rested.
  it('leave the healthy alone while one of the actors rests after a failure', async () => {
    const house = await open(['a', 'b', 'c']);
    await house.supervisor.ask('counter', 'b', { type: 'explode' }).catch(() => undefined);
    let done = false;
    const planned = plan(house, ['a', 'b', 'c']).then((answer) => {
      done = true;
      return answer;
    });
    await house.environment.settle();
    for (let n = 0; n < 5; n += 1)
      for (const id of ['a', 'c'])
        expect(seen(await house.supervisor.ask('counter', id, add)), id).to.include({ n: n + 1 });
    expect(done).to.equal(false);
    await house.environment.advance(5_000);
    expect(((await planned) as Committed<number[]>).result).to.deep.equal([6, 1, 6]);
    await house.stop();
  });

  it('leave the healthy alone while one of the actors has much to do before', async () => {
    const house = await open(['a', 'b']);
    house.store.fail({ mode: 'hold' });
    const before = Array.from({ length: 500 }, () => house.supervisor.ask('counter', 'b', add));
    await house.environment.settle();
    house.store.fail(undefined);
    const planned = plan(house, ['a', 'b']);
    await house.environment.settle();
    const order: string[] = [];
    const asked = house.supervisor.ask('counter', 'a', add).then(() => order.push('a'));
    void planned.then(() => order.push('plan'));
    house.store.release();
    await Promise.all([...before, asked, planned]);
    expect(order).to.deep.equal(['a', 'plan']);
    expect(((await planned) as Committed<number[]>).result).to.deep.equal([2, 501]);
    await house.stop();
  });

  it('come to a plan although each of its actors is never at rest', async () => {
    const house = await open(['a', 'b']);
    let going = true;
    const load = ['a', 'a', 'a', 'b', 'b', 'b'].map(async (id) => {
      for (let n = 0; going && n < 5_000; n += 1) await house.supervisor.ask('counter', id, add);
    });
    for (let n = 0; n < 20; n += 1) expect(isRefusal(await plan(house, ['a', 'b']))).to.equal(false);
    going = false;
    await Promise.all(load);
    await house.stop();
  });

  it('are told of a full mailbox before anybody waits', async () => {
    const house = await open(['a', 'b'], { mailboxMax: 3 });
    house.store.fail({ mode: 'hold' });
    const before = Array.from({ length: 5 }, () => house.supervisor.ask('counter', 'b', add));
    expect(await plan(house, ['a', 'b'])).to.include({ code: 'BUSY' });
    house.store.fail(undefined);
    house.store.release();
    await Promise.all(before);
    await house.stop();
  });

  it('fail with the supervisor that stops, wherever they wait', async () => {
    const house = await open(['a', 'b']);
    await house.supervisor.ask('counter', 'b', { type: 'explode' }).catch(() => undefined);
    const planned = plan(house, ['a', 'b']).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );
    await house.environment.settle();
    const stopped = house.supervisor.stop({ drainMs: 100 });
    await house.environment.advance(100);
    await stopped;
    expect(await planned).to.equal('STORE_UNAVAILABLE');
  });

  for (let seed = 1; seed <= 25; seed += 1)
    it(`settle, each whole and alone, whatever comes in between (seed ${seed})`, async () => {
      const random = randomFrom(seed);
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      const house = await open(ids, { awakeActorsMax: seed % 2 === 0 ? 3 : 1_000 });
      const expected = new Map(ids.map((id) => [id, 0]));
      const count = (of: readonly string[]) =>
        of.forEach((id) => expected.set(id, (expected.get(id) ?? 0) + 1));
      const some = () => ids.filter(() => random() < 0.4);
      const work: Promise<unknown>[] = [];
      let settled = 0;
      for (let n = 0; n < 150; n += 1) {
        const kind = random();
        const [id = 'a'] = ids.filter(() => random() < 0.3);
        const of = some();
        const began =
          kind < 0.45
            ? plan(house, of).then((answer) => {
                if (isRefusal(answer)) throw new Error(answer.message);
                count(of);
              })
            : kind < 0.9
              ? house.supervisor.ask('counter', id, add).then(() => count([id]))
              : house.supervisor.ask('counter', id, { type: 'explode' }).catch(() => undefined);
        work.push(
          began.then(
            () => (settled += 1),
            (error: { code?: string }) => {
              // A failed write turns requests away: nothing of them was done
              expect(error.code, String(error)).to.equal('STORE_UNAVAILABLE');
              settled += 1;
            },
          ),
        );
        if (random() < 0.1) house.store.fail({ failAt: 1, mode: 'before' });
        if (random() < 0.3) await house.environment.advance(Math.floor(random() * 3_000));
      }
      for (let minutes = 0; settled < work.length && minutes < 60; minutes += 1)
        await house.environment.advance(60_000);
      expect(settled).to.equal(work.length);
      await Promise.all(work);
      for (const id of ids)
        expect(seen(await house.supervisor.get('counter', id))['n'], id).to.equal(expected.get(id));
      expect(house.supervisor.status).to.include({ stalled: 0, stalledTotal: 0 });
      await house.stop();
    });
});
