import { expect } from 'chai';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';
import { keys } from '../../../../lib/store/keys.js';
import { memoryStore } from '../../../../lib/store/memory.js';
import { testEnvironment, type TestEnvironment } from '../../../../lib/testing/test-environment.js';
import { openHouse, unclosable, type House } from '../../../fixtures/house.js';
import { counterKind } from '../../../fixtures/kinds.js';

const hour = 3_600_000;
const day = 24 * hour;
const years = 10 * 365 * day;
const turn = 5_000;

/**
 * Two minutes of a wrong clock once deleted the whole history and every idempotency key: limits by age went
 * by the wall alone.
 */
describe('retention by age', () => {
  let house: House;
  afterEach(() => house.stop());
  const add = (of: Supervisor = house.supervisor) => of.ask('counter', 'c', { type: 'add', n: 1 });
  const keyed = (of: Supervisor = house.supervisor) =>
    of.transact({
      name: 'keyed',
      actors: [],
      run: () => null,
      idempotency: { key: 'k', scope: 'me', hash: 'h' },
    });
  const remembered = async (of: Supervisor = house.supervisor): Promise<boolean> =>
    ((await keyed(of)) as { replayed?: boolean }).replayed === true;
  const open = async (keepLogDays = 30): Promise<void> => {
    house = await openHouse([counterKind({ forgetAfterMs: 7 * day })], { limits: { keepLogDays } });
    await house.supervisor.spawn('counter', { id: 'c' });
    await house.supervisor.spawn('counter', { id: 'ended' });
    await house.supervisor.ask('counter', 'ended', { type: 'close' });
    await keyed();
  };
  const whole = async (): Promise<void> => {
    expect((await house.log()).map(({ position: seq }) => seq)).to.include.members([1, 2, 3]);
    expect(await remembered()).to.equal(true);
    expect(await house.supervisor.get('counter', 'ended')).to.not.equal(undefined);
  };

  for (const byMs of [years, -years])
    it(`loses nothing to two minutes of a wall that is ${byMs / day} days off`, async () => {
      await open();
      await house.environment.advance(60_000);
      await house.environment.setWall(byMs);
      await house.environment.advance(60_000);
      await add();
      await house.environment.advance(60_000);
      await whole();
      await house.environment.setWall(-byMs);
      await house.environment.advance(2 * hour);
      await whole();
      expect(house.supervisor.status.retentionHeldMs).to.equal(0);
    });

  // Nothing was kept of the clock before the first turn, so the next life took the wall's word for the time of the last
  // commit. Found by the simulation.
  for (const byMs of [40 * day, -40 * day])
    it(`loses nothing to a wall that is ${byMs / day} days off while lives end before their first turn`, async () => {
      await open();
      const store = unclosable(memoryStore());
      const environment = testEnvironment();
      const live = async (ms: number): Promise<Supervisor> => {
        const supervisor = await createSupervisor({ kinds: [counterKind()], store, environment });
        await supervisor.spawn('counter', { id: 'c' });
        await add(supervisor);
        await environment.advance(ms);
        return supervisor;
      };
      await (await live(turn / 2)).stop();
      await environment.setWall(byMs);
      await (await live(turn / 2)).stop();
      if (byMs < 0) await environment.setWall(-byMs);
      const supervisor = await live(2 * turn);
      const entries = await store.page({ gte: 'l/', lt: 'l/\x7f' });
      expect(entries.map(([key]) => Number(key.slice(2)))).to.include.members([1, 2, 3, 4]);
      await supervisor.stop();
    });

  it('forgets what was written while the wall was wrong when its own time is over, and what follows it, too', async () => {
    await open();
    await house.environment.setWall(years);
    await add();
    await house.environment.advance(60_000);
    await house.environment.setWall(-years - 3 * years);
    await house.supervisor.transact({
      name: 'early',
      actors: [],
      run: () => null,
      idempotency: { key: 'early', scope: 'me', hash: 'h' },
    });
    await add();
    await house.environment.advance(60_000);
    await house.environment.setWall(3 * years);
    await add();
    await house.environment.advance(2 * turn);
    const { replayed } = (await house.supervisor.transact({
      name: 'early',
      actors: [],
      run: () => null,
      idempotency: { key: 'early', scope: 'me', hash: 'h' },
    })) as { replayed?: boolean };
    expect(replayed, 'a key of the past').to.equal(true);
    for (let days = 0; days < 31; days += 1) await house.environment.sleep(day);
    await house.environment.advance(2 * turn);
    expect(await house.log()).to.deep.equal([]);
    expect(await remembered()).to.equal(false);
  });

  it('holds what a wall claims that stays ahead, says how much, and forgets it once a person allows it', async () => {
    await open();
    await house.environment.setWall(40 * day);
    await house.environment.advance(30 * 60_000);
    await whole();
    expect(house.supervisor.status.retentionHeldMs).to.equal(40 * day);
    expect(await house.supervisor.retention.status()).to.deep.include({
      heldMs: 40 * day,
      wouldForget: { entries: 3, others: 2 },
    });
    expect(await house.supervisor.retention.allow()).to.include({ heldMs: 0 });
    await house.environment.advance(2 * turn);
    expect(await house.log()).to.deep.equal([]);
    expect(await house.supervisor.get('counter', 'ended')).to.equal(undefined);
    expect(await remembered()).to.equal(false);
    await house.crash();
    expect(house.supervisor.status.retentionHeldMs).to.equal(0);
  });

  // The clock moved before its row was written: a refused answer forgot all the same, and a restart took it back.
  it('forgets nothing, and holds nothing back, by an answer that could not be written', async () => {
    await open();
    await house.environment.setWall(40 * day);
    for (const answer of ['allow', 'dismiss'] as const) {
      house.store.fail({ mode: 'before' });
      expect(await house.supervisor.retention[answer]().catch(String), answer).to.match(/injected fault/);
      house.store.fail(undefined);
      expect(house.supervisor.status.retentionHeldMs, answer).to.equal(40 * day);
      await house.environment.advance(2 * turn);
      await whole();
    }
  });

  it('writes its clock again in the next turn when a write of it failed', async () => {
    await open();
    const kept = async (): Promise<number> =>
      (JSON.parse((await house.store.get(keys.meta('kernel/retention-clock'))) ?? '{}') as { at: number }).at;
    const before = await kept();
    house.store.fail({ mode: 'before' });
    await house.environment.advance(hour + turn);
    house.store.fail(undefined);
    await house.environment.advance(2 * turn);
    expect((await kept()) - before).to.be.at.least(hour);
  });

  it('holds nothing and forgets nothing once a person says that the clock was set, after a restart, too', async () => {
    await open();
    await house.environment.setWall(40 * day);
    expect(await house.supervisor.retention.dismiss()).to.deep.include({
      heldMs: 0,
      wouldForget: { entries: 0, others: 0 },
    });
    await house.environment.advance(2 * turn);
    await house.crash();
    await house.environment.advance(2 * hour);
    expect(house.supervisor.status.retentionHeldMs).to.equal(0);
    await whole();
  });

  it('counts the time in which the machine slept: that has passed', async () => {
    await open();
    await house.environment.advance(turn);
    await house.environment.sleep(8 * day);
    await house.environment.advance(2 * turn);
    expect(await house.supervisor.get('counter', 'ended')).to.equal(undefined);
    expect(await remembered()).to.equal(false);
    expect(house.supervisor.status.retentionHeldMs).to.equal(0);
  });

  describe('over a pause of the gateway', () => {
    const store = unclosable(memoryStore());
    let environment: TestEnvironment;
    let supervisor: Supervisor;
    const start = async (startAt: number, upMs: number, boot: string): Promise<void> => {
      environment = testEnvironment({ startAt, leapt: startAt - upMs, boot });
      supervisor = await createSupervisor({ kinds: [counterKind()], store, environment });
    };
    const stop = async (): Promise<void> => {
      await supervisor.stop();
    };
    const begin = Date.UTC(2026, 0, 1);
    before(async () => {
      await open(); // for the one that every case ends
      await start(begin, 10 * day, 'one');
      await supervisor.spawn('counter', { id: 'c' });
      await keyed(supervisor);
      await environment.advance(2 * turn);
      await stop();
    });

    it('counts a day of it at once where the time since boot proves it, and no more', async () => {
      await start(begin + 20 * day, 30 * day, 'one');
      await environment.advance(2 * turn);
      expect(supervisor.status.retentionHeldMs).to.be.within(19 * day - hour, 19 * day);
      expect(await remembered(supervisor), 'a key of twenty days ago').to.equal(false);
      await environment.advance(2 * hour); // and the rest at the pace of what passes
      expect(supervisor.status.retentionHeldMs).to.be.within(19 * day - 2 * hour, 19 * day - hour + turn);
      await stop();
    });

    it('counts nothing of it for an hour where only the wall claims it, then a day', async () => {
      const later = begin + 40 * day;
      await start(later, 60_000, 'two');
      await environment.advance(50 * 60_000);
      expect(await remembered(supervisor)).to.equal(true);
      const held = supervisor.status.retentionHeldMs;
      expect(held).to.be.greaterThan(30 * day);
      await environment.advance(20 * 60_000);
      expect(held - supervisor.status.retentionHeldMs).to.be.within(day, day + hour);
      expect(await remembered(supervisor)).to.equal(false);
      await supervisor.retention.dismiss();
      await stop();
    });

    it('believes a wall no more that was set right within the hour', async () => {
      await start(begin + years, 60_000, 'three');
      await environment.advance(turn);
      expect(supervisor.status.retentionHeldMs).to.be.greaterThan(9 * 365 * day);
      await environment.setWall(-(years - 40 * day - 3 * hour));
      await environment.advance(2 * hour);
      expect(await remembered(supervisor)).to.equal(true);
      await stop();
    });
  });

  // 333 entries a second were dropped at most, and a busy gateway writes thousands.
  it('drops in one turn whatever has come', async function () {
    await open(1);
    for (let n = 0; n < 60; n += 1) await Promise.all(Array.from({ length: 500 }, () => add()));
    await house.environment.advance(2 * turn);
    await house.environment.sleep(2 * day);
    await house.environment.advance(turn);
    for (let looks = 0; looks < 1_000 && house.supervisor.inspection.floor < 30_000; looks += 1)
      await house.environment.settle();
    expect(house.supervisor.inspection.floor).to.equal(house.supervisor.inspection.head);
    expect(await house.log()).to.deep.equal([]);
  }).timeout(180_000);
});
