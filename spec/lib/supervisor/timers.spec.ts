import { expect } from 'chai';
import { assign, raise, sendTo, setup } from 'xstate';
import { memoryStore } from '../../../lib/store/memory.js';
import { defineKind } from '../../../actors/define-kind.js';
import type { Due } from '../../../lib/supervisor/delivery/deliver.js';
import { TimerWheel } from '../../../lib/supervisor/timers.js';
import { keys } from '../../../lib/store/keys.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { effect, type Json } from '../../../machines/outputs.js';
import type { Kind } from '../../../actors/contracts.js';
import { clockKind } from '../../fixtures/kinds.js';
import { later, openHouse, rejection, seen, type House } from '../../fixtures/house.js';

const day = 24 * 3600 * 1000;

describe('timers', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([clockKind()]);
    await house.supervisor.spawn('clock', { id: 'c' });
  });
  afterEach(() => house.stop());
  const ask = (event: { type: string; [member: string]: unknown }) =>
    house.supervisor.ask('clock', 'c', event);
  const rang = async () => seen(await house.supervisor.get('clock', 'c'))['rang'];
  const rows = () => house.mortal.page({ gte: 't/', lt: 't/\x7f' });

  it('fire at their moment, not before, once', async () => {
    await ask({ type: 'set', ms: 1_000 });
    await house.environment.advance(999);
    expect(await rang()).to.deep.equal([]);
    await house.environment.advance(1);
    expect(await rang()).to.deep.equal(['alarm']);
    await house.environment.advance(day);
    expect(await rang()).to.deep.equal(['alarm']);
    expect(await rows()).to.deep.equal([]);
  });

  it('fire for `after`, and not for a state that was left', async () => {
    await ask({ type: 'rest', ms: 500 });
    await house.environment.advance(500);
    expect(await rang()).to.deep.equal(['nap']);
  });

  // The row that the fired timer used up was taken away after the row of the same name that its step wrote.
  it('that are set again for the moment at which they fire outlive a crash', async () => {
    const machine = setup({
      types: { context: {} as { n: number }, events: {} as { type: 'ring' } },
    }).createMachine({
      id: 'echo',
      context: { n: 0 },
      entry: raise({ type: 'ring' }, { id: 'alarm', delay: 1_000 }),
      on: {
        ring: {
          guard: ({ context }) => context.n < 3,
          actions: [
            assign({ n: ({ context }) => context.n + 1 }),
            raise({ type: 'ring' }, { id: 'alarm', delay: 0 }),
          ],
        },
      },
    });
    const echo: Kind<typeof machine> = { kind: 'echo', version: 1, machine, view: ({ context }) => context };
    const kinds = [clockKind(), echo as unknown as Kind];
    await house.restart(kinds);
    await house.supervisor.spawn('echo', { id: 'e' });
    house.mortal.dieAt(1, 'after');
    await house.environment.advance(1_000);
    expect(house.mortal.dead).to.equal(true);
    await house.crash(kinds);
    await house.environment.advance(1_000);
    expect(seen(await house.supervisor.get('echo', 'e'))).to.deep.equal({ n: 3 });
    expect(await rows()).to.deep.equal([]);
  });

  it('that are cancelled never fire', async () => {
    await ask({ type: 'set', ms: 1_000 });
    await house.environment.advance(900);
    await ask({ type: 'unset' });
    await house.environment.advance(day);
    expect(await rang()).to.deep.equal([]);
    expect(await rows()).to.deep.equal([]);
  });

  it('that are set again fire at the new moment only', async () => {
    await ask({ type: 'set', ms: 1_000 });
    await ask({ type: 'rest', ms: 1_000 });
    await house.environment.advance(500);
    await ask({ type: 'set', ms: 1_000 });
    await ask({ type: 'rest', ms: 2_000 });
    await house.environment.advance(999);
    expect(await rang()).to.deep.equal([]);
    await house.environment.advance(1);
    expect(await rang()).to.deep.equal(['alarm']);
    await house.environment.advance(1_000);
    expect(await rang()).to.deep.equal(['alarm', 'nap']);
  });

  it('of the same moment fire both', async () => {
    await ask({ type: 'both', ms: 30_000 });
    await house.environment.advance(30_000);
    expect(await rang()).to.deep.equal(['one', 'two']);
  });

  it('without a name of their own do not replace each other', async () => {
    await ask({ type: 'anon', ms: 1_000 });
    await ask({ type: 'anon', ms: 2_000 });
    await house.environment.advance(2_000);
    expect(await rang()).to.deep.equal(['nameless', 'nameless', 'nameless', 'nameless']);
  });

  it('longer than a timeout of the platform can be fire when they are due', async () => {
    const ms = 2 ** 31 + 60_000;
    await ask({ type: 'set', ms });
    await house.environment.sleep(ms - 1);
    expect(await rang()).to.deep.equal([]);
    await house.environment.advance(1);
    expect(await rang()).to.deep.equal(['alarm']);
  });

  it('fire late, but once, after a crash, and keep their moment when it is still to come', async () => {
    await ask({ type: 'set', ms: 1_000 });
    await ask({ type: 'rest', ms: 60_000 });
    await house.environment.advance(500);
    await house.crash();
    await house.environment.advance(500);
    expect(await rang()).to.deep.equal(['alarm']);
    await house.crash();
    house.mortal.die();
    await house.crash();
    await house.environment.advance(59_000);
    expect(await rang()).to.deep.equal(['alarm', 'nap']);
  });

  it('that became due while nothing ran fire at boot', async () => {
    await ask({ type: 'set', ms: 1_000 });
    house.mortal.die();
    await house.environment.sleep(day); // the dead one's clock tells the next life when it is
    await house.crash();
    await house.environment.settle();
    expect(await rang()).to.deep.equal(['alarm']);
  });

  it('fire exactly once when the process dies around the commit of the firing', async () => {
    for (const when of ['before', 'after'] as const) {
      await ask({ type: 'set', ms: 1_000 });
      house.mortal.dieAt(1, when);
      void house.environment.advance(1_000);
      await house.mortal.death;
      await house.crash();
      await house.environment.advance(5_000);
    }
    expect(await rang()).to.deep.equal(['alarm', 'alarm']);
  });

  it('are not prolonged by a wall clock that is set back, and follow it forward', async () => {
    await ask({ type: 'set', ms: 10_000 });
    await house.environment.setWall(-3_600_000);
    await house.environment.advance(10_000);
    expect(await rang()).to.deep.equal(['alarm']);
    await ask({ type: 'set', ms: 3_600_000 });
    await house.environment.setWall(3_600_000); // put right again: as much is still to be waited
    await house.environment.settle();
    expect(await rang()).to.deep.equal(['alarm']);
    await house.environment.setWall(3_600_000); // an hour has passed, as after a sleep
    await house.environment.settle();
    expect(await rang()).to.deep.equal(['alarm', 'alarm']);
  });

  it('that are set after the wall clock was set back are on time in the next life, too: they were once late by as much', async () => {
    for (const again of ['crash', 'restart'] as const) {
      const before = ((await rang()) as unknown[]).length;
      await house.environment.setWall(-7_200_000);
      await ask({ type: 'set', ms: 3_600_000 });
      await house[again]();
      await house.environment.advance(3_599_000);
      expect(await rang(), again).to.have.lengthOf(before);
      await house.environment.advance(1_000);
      expect(await rang(), again).to.have.lengthOf(before + 1);
    }
    await house.environment.setWall(14_400_000 + 5_000); // and back again: nothing is early or late afterwards
    await ask({ type: 'set', ms: 10_000 });
    await house.restart();
    await house.environment.advance(9_000);
    expect(await rang()).to.have.lengthOf(2);
    await house.environment.advance(1_000);
    expect(await rang()).to.have.lengthOf(3);
  });

  it('are on time in the next life when the wall clock was set back while no one was there: they were once late by as much', async () => {
    for (const again of ['crash', 'restart'] as const) {
      const before = ((await rang()) as unknown[]).length;
      await ask({ type: 'set', ms: 3_600_000 });
      await house.environment.setWall(-7_200_000); // nothing is written from here until the end of this life
      await house[again]();
      await house.environment.advance(3_590_000);
      expect(await rang(), again).to.have.lengthOf(before);
      await house.environment.advance(10_000);
      expect(await rang(), again).to.have.lengthOf(before + 1);
    }
  });

  it('are on time after the wall clock was set back, however long nothing was written after that', async () => {
    await house.environment.setWall(-7_200_000);
    await ask({ type: 'set', ms: 6 * 3_600_000 });
    // The last commit lies behind the wall by more than the clock of waits is ahead
    await house.environment.advance(4 * 3_600_000);
    for (const again of ['crash', 'restart'] as const) {
      await house[again]();
      await house.environment.advance(3_599_000);
    }
    expect(await rang()).to.deep.equal([]);
    await house.environment.advance(2_000);
    expect(await rang()).to.deep.equal(['alarm']);
  });

  // How far the clock of waits stands ahead was taken for written down when it had only been tried.
  it('are on time in the next life when the first write after the wall clock was set back failed', async () => {
    await house.environment.setWall(-40 * day);
    house.store.fail({ failAt: 1, mode: 'before' });
    await rejection(ask({ type: 'set', ms: 1_000 }));
    await ask({ type: 'set', ms: 3_600_000 });
    await house.crash();
    await house.environment.advance(3_600_000);
    expect(await rang()).to.deep.equal(['alarm']);
  });

  it('wait for nothing once the supervisor has stopped, so that its process can end; stopped twice is stopped once', async () => {
    await ask({ type: 'set', ms: 5_000 });
    const stopped = house.supervisor.stop();
    expect(house.supervisor.stop()).to.equal(stopped);
    await stopped;
    expect(house.environment.waiting).to.equal(0);
  });

  it('whose delay is no number are refused as a fault', async () => {
    expect((await rejection(ask({ type: 'set', ms: 'soon' }))).message).to.match(/delay/);
    expect(await rows()).to.deep.equal([]);
  });

  it('that only carry a message reach an effect without a step of the machine', async () => {
    const got: string[] = [];
    const machine = setup({
      types: { context: {} as { n: number }, events: {} as { type: 'later' } | { type: 'count' } },
      actors: { deed: effect<Json, Json>() },
    }).createMachine({
      context: { n: 0 },
      invoke: { id: 'work', src: 'deed', input: null },
      on: {
        later: { actions: sendTo('work', { type: 'knock' }, { delay: 1_000 }) },
        count: { actions: assign({ n: ({ context }) => context.n + 1 }) },
      },
    });
    const kind = defineKind({
      kind: 'knocked',
      version: 1,
      machine,
      view: ({ context }) => context,
      effects: {
        deed: {
          guarantee: 'at-least-once',
          run: (_input: Json, { onEvent }) => {
            onEvent(({ type }) => {
              got.push(type);
            });
            return new Promise(() => undefined);
          },
        },
      },
    }) as unknown as Kind;
    const other = await openHouse([kind]);
    await other.supervisor.spawn('knocked', { id: 'k' });
    await other.supervisor.ask('knocked', 'k', { type: 'later' });
    await other.crash();
    await other.environment.advance(1_000);
    expect(got).to.deep.equal(['knock']);
    await other.environment.advance(60_000);
    expect(got).to.deep.equal(['knock']);
    expect(other.faults).to.deep.equal([]);
    await other.stop();
  });
});

describe('the wheel', () => {
  it('holds in memory only what is due soon, whatever lies on disk, and loses none of 100,000', async () => {
    const store = memoryStore();
    const environment = testEnvironment();
    const start = environment.clock.monotonic();
    const many = 100_000;
    const spread = 10 * 3600 * 1000;
    const ops = Array.from(
      { length: many },
      (_, n) => [keys.timer(start + Math.floor((n * spread) / many), 'k', `a${n}`, 't'), '1'] as const,
    );
    for (let at = 0; at < many; at += 10_000)
      await store.write({ first: 1, last: 0, chain: '', ops: ops.slice(at, at + 10_000) });
    const fired = new Set<string>();
    let late = 0;
    let most = 0;
    const wheel: TimerWheel = new TimerWheel(
      environment.clock,
      store,
      ({ id, due }: Due) => {
        fired.add(id);
        late = Math.max(late, environment.clock.monotonic() - due);
        most = Math.max(most, wheel.size);
        void store.write({ first: 1, last: 0, chain: '', ops: [[keys.timer(due, 'k', id, 't'), null]] });
      },
      (error) => {
        throw error;
      },
    );
    await wheel.start();
    for (let minute = 0; minute < 60; minute += 1) await environment.advance(60_000);
    expect(fired.size).to.equal(Math.floor(many / 10) + 1);
    expect(late).to.equal(0);
    expect(most).to.be.lessThan(200); // 20 s of 2.8 a second
    await environment.sleep(9 * 3600 * 1000);
    for (let turn = 0; turn < 200; turn += 1) await environment.settle();
    expect(fired.size).to.equal(many);
    wheel.stop();
    expect(environment.waiting).to.equal(0);
  });

  // Rows that are not used up (their actors are halted, or of an unknown kind) must not stand in the way of what
  // comes after them, however many are due at one moment.
  it('passes any number of timers of one moment that stay, and fires what is armed meanwhile', async () => {
    const store = memoryStore();
    const environment = testEnvironment();
    const due = environment.clock.monotonic() - 1_000;
    const many = 45_000;
    const row = (id: string) => [keys.timer(due, 'k', id, 't'), '1'] as const;
    const write = (ops: readonly (readonly [string, string])[]) =>
      store.write({ first: 1, last: 0, chain: '', ops });
    await write(Array.from({ length: many }, (_, n) => row(`a${n}`)));
    const fired = new Map<string, number>();
    let armed = 0;
    const wheel: TimerWheel = new TimerWheel(
      environment.clock,
      store,
      ({ id }: Due) => {
        fired.set(id, (fired.get(id) ?? 0) + 1);
        if (fired.size % 100 !== 0 || armed >= 300) return;
        // Before and behind what has been read
        const late = `${armed % 2 === 0 ? 'A' : 'b'}${armed}`;
        armed += 1;
        void write([row(late)]).then(() => wheel.armed({ due, kind: 'k', id: late, timer: 't' }));
      },
      (error) => {
        throw error;
      },
    );
    await wheel.start();
    for (let turn = 0; turn < 200; turn += 1) await environment.settle();
    expect([fired.size, armed]).to.deep.equal([many + 300, 300]);
    wheel.stop();
  });

  describe('told of timers while it turns', () => {
    const open = async () => {
      const store = memoryStore();
      const environment = testEnvironment();
      const fired: [id: string, at: number][] = [];
      const wheel = new TimerWheel(
        environment.clock,
        store,
        ({ id }) => {
          fired.push([id, environment.clock.monotonic() - start]);
        },
        (error) => {
          throw error;
        },
      );
      const start = environment.clock.monotonic();
      await wheel.start();
      /** As the kernel does: the row first, then the word. */
      const arm = async (id: string, ms: number): Promise<Due> => {
        const due = { due: start + ms, kind: 'k', id, timer: 't' };
        await store.write({ first: 1, last: 0, chain: '', ops: [[keys.timer(due.due, 'k', id, 't'), '1']] });
        wheel.armed(due);
        return due;
      };
      const gone = (due: Due) =>
        store.write({ first: 1, last: 0, chain: '', ops: [[keys.timer(due.due, 'k', due.id, 't'), null]] });
      return { store, environment, fired, wheel, arm, gone };
    };

    it('keeps those of the far future on disk, and fires them on time', async () => {
      const { environment, fired, wheel, arm } = await open();
      for (let n = 0; n < 500; n += 1) await arm(`far-${n}`, 3_600_000 + n);
      expect(wheel.size).to.equal(0);
      await environment.advance(3_600_499);
      expect(fired).to.deep.equal(Array.from({ length: 500 }, (_, n) => [`far-${n}`, 3_600_000 + n]));
      wheel.stop();
    });

    it('fires those that come soon in the order of their moments, whatever order they were set in', async () => {
      const { environment, fired, wheel, arm } = await open();
      const order = Array.from({ length: 200 }, (_, n) => (n * 73) % 200); // every number once, mixed
      for (const n of order) await arm(`soon-${n}`, 1_000 + n * 5);
      await environment.advance(2_500);
      expect(fired).to.deep.equal(Array.from({ length: 200 }, (_, n) => [`soon-${n}`, 1_000 + n * 5]));
      expect(wheel.size).to.equal(0);
      wheel.stop();
    });

    it('fires one that it was told of twice, and also found on the disk, once; and again when it is set again', async () => {
      const { environment, fired, wheel, arm, gone } = await open();
      const due = await arm('twice', 9_000);
      wheel.armed(due);
      await environment.advance(9_000);
      expect(fired).to.deep.equal([['twice', 9_000]]);
      await gone(due);
      wheel.armed(due); // set again for the very same moment, which is over
      await environment.advance(1);
      expect(fired).to.have.length(2);
      wheel.stop();
    });

    it('misses none that is set while it reads the disk', async () => {
      const { store, environment, fired, wheel, arm } = await open();
      const { page } = store;
      const read = later<undefined>();
      let reading = false;
      store.page = async (range) => {
        const rows = await page(range);
        reading = true;
        await read.promise;
        return rows;
      };
      await environment.advance(10_000); // half of what it has read is over: it reads on
      expect(reading).to.equal(true);
      await arm('meanwhile', 25_000);
      read.resolve(undefined);
      await environment.advance(20_000);
      expect(fired).to.deep.equal([['meanwhile', 25_000]]);
      wheel.stop();
    });

    it('fires nothing and waits for nothing once it has stopped', async () => {
      const { environment, fired, wheel, arm } = await open();
      await arm('before', 1_000);
      wheel.stop();
      await arm('after', 500);
      expect(environment.waiting).to.equal(0);
      await environment.advance(60_000);
      expect(fired).to.deep.equal([]);
    });
  });

  it('reads again after a read that failed, and skips nothing', async () => {
    const inner = memoryStore();
    const environment = testEnvironment();
    await inner.write({
      first: 1,
      last: 0,
      chain: '',
      ops: [[keys.timer(environment.clock.monotonic() + 30_000, 'k', 'a', 't'), '1']],
    });
    let broken = false;
    const store = new Proxy(inner, {
      get: (target, member) =>
        member === 'page' && broken
          ? async () => {
              throw new Error('unreadable');
            }
          : (Reflect.get(target, member) as unknown),
    });
    const fired: string[] = [];
    const failures: unknown[] = [];
    const wheel = new TimerWheel(
      environment.clock,
      store,
      ({ id }) => {
        fired.push(id);
      },
      (error) => {
        failures.push(error);
      },
    );
    await wheel.start();
    broken = true;
    await environment.advance(40_000);
    expect(fired).to.deep.equal([]);
    expect(failures).to.not.be.empty;
    broken = false;
    await environment.advance(2_000);
    expect(fired).to.deep.equal(['a']);
    wheel.stop();
  });
});
