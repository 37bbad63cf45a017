import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../../../../actors/contracts.js';
import type { Store } from '../../../../lib/store/contract.js';
import { openLevelStore, type LevelStore } from '../../../../lib/store/level.js';
import { durableKinds5, type Acts } from '../../../fixtures/durable-5.js';
import { durableKinds6 } from '../../../fixtures/durable-6.js';
import { openHouse, seen, unclosable, type House } from '../../../fixtures/house.js';

/**
 * What XState's own suite asks of a durable host, in our words, on both majors and on real LevelDB; and then what it
 * does not ask: a process that dies before or after any write.
 */
interface Disk {
  readonly store: Store;
  /** Reads and writes on their way. */
  readonly busy: number;
}

function watched(inner: Store): Disk {
  let busy = 0;
  const store = new Proxy(inner, {
    get(target, member) {
      const value = Reflect.get(target, member) as unknown;
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const answer = (value as (...all: unknown[]) => unknown).apply(target, given);
        if (!(answer instanceof Promise)) return answer;
        busy += 1;
        return answer.finally(() => (busy -= 1));
      };
    },
  });
  return {
    store,
    get busy() {
      return busy;
    },
  };
}

const majors: readonly (readonly [name: string, kinds: (acts: Acts) => readonly Kind[]])[] = [
  ['XState 5', durableKinds5],
  ['XState 6', durableKinds6],
];

for (const [name, kindsOf] of majors) {
  describe(`a durable host of ${name}`, () => {
    let folder: string;
    let store: LevelStore;
    let disk: Disk;
    let house: House;
    let acts: { done: string[]; steps: string[] };

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'troupe-durable-'));
      await open('first');
    });
    afterEach(async () => {
      await house.stop();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    });
    async function open(directory: string): Promise<void> {
      acts = { done: [], steps: [] };
      store = await openLevelStore({ directory: join(folder, directory) });
      disk = watched(unclosable(store));
      house = await openHouse(kindsOf(acts), { inner: disk.store });
    }
    /** Until neither the disk nor the supervisor has anything to do. */
    async function quiet(): Promise<void> {
      for (let calm = 0; calm < 10; calm += 1) {
        await house.environment.settle();
        if (disk.busy > 0) calm = 0;
      }
    }
    async function advance(ms: number): Promise<void> {
      await quiet();
      await house.environment.advance(ms);
      await quiet();
    }
    /** What was on its way to the disk gets there, as it does when a process is killed. */
    async function crash(): Promise<void> {
      house.mortal.die();
      await quiet();
      await house.crash();
      await quiet();
    }

    const send = async (
      event: { readonly type: string; readonly [member: string]: unknown },
      kind = 'desk',
    ) => {
      seen(await house.supervisor.ask(kind, kind[0] ?? '', event as { type: string }));
      await quiet();
    };
    const view = async (kind = 'desk') => seen(await house.supervisor.get(kind, kind[0] ?? ''));
    const spawn = (kind: string) => house.supervisor.spawn(kind, { id: kind[0] ?? '' });
    const keys = (): ReadonlySet<string> => new Set(acts.done);

    it('runs an action once it is committed, under a key that is its own', async () => {
      await spawn('desk');
      await send({ type: 'notify', text: 'one' });
      await send({ type: 'notify', text: 'one' });
      expect(acts.done).to.have.length(2);
      expect(keys()).to.have.property('size', 2);
      expect(house.faults).to.deep.equal([]);
    });

    it('keeps the clock of delayed transitions, also of those that a restart finds overdue', async () => {
      await spawn('desk');
      await send({ type: 'nap' });
      await advance(99);
      expect(await view()).to.include({ naps: 0 });
      await advance(1);
      expect(await view()).to.include({ naps: 1 });
      await send({ type: 'nap' });
      await crash();
      await advance(100);
      expect(await view()).to.include({ naps: 2 });
    });

    it('cancels and replaces a delayed event by its logical id', async () => {
      await spawn('desk');
      await send({ type: 'set', ms: 50 });
      await send({ type: 'set', ms: 80 });
      await advance(60);
      expect(await view()).to.include({ rings: 0 });
      await crash();
      await advance(20);
      expect(await view()).to.include({ rings: 1 });
      await send({ type: 'set', ms: 50 });
      await crash();
      await send({ type: 'unset' });
      await advance(100);
      expect(await view()).to.include({ rings: 1 });
    });

    it('gives children lives of their own, and their timers and ends to who waits for them', async () => {
      await spawn('parent');
      await send({ type: 'begin' }, 'parent');
      await crash();
      await advance(60);
      expect(await view('parent')).to.include({ result: 8, failed: false });
    });

    it('carries messages between parent and child, both ways', async () => {
      await spawn('parent');
      await send({ type: 'begin' }, 'parent');
      await send({ type: 'poke' }, 'parent');
      await crash();
      await send({ type: 'poke' }, 'parent');
      expect(await view('parent')).to.include({ poked: 2 });
    });

    it('hands out what an actor sent to itself before what comes later, in order', async () => {
      await spawn('desk');
      await send({ type: 'burst' });
      await send({ type: 'put', n: 4 });
      expect(await view()).to.deep.include({ put: [1, 2, 3, 4] });
    });

    it('ends an actor whose error no state handles, and its parent hears of it', async () => {
      await spawn('desk');
      await send({ type: 'work', n: -1 });
      expect((await house.supervisor.get('desk', 'd'))?.status).to.equal('error');
      await spawn('parent');
      await send({ type: 'begin' }, 'parent');
      await send({ type: 'fail' }, 'parent');
      expect(await view('parent')).to.include({ failed: true });
      expect((await house.supervisor.get('parent', 'p'))?.status).to.equal('active');
    });

    it('journals the steps of async work, and runs what a crash cut off', async () => {
      await spawn('desk');
      await send({ type: 'work', n: 21 });
      expect(await view()).to.include({ result: 42 });
      expect(acts.steps).to.deep.equal(['check 21', 'double 21']);
      expect(await store.page({ gte: 'j/', lt: 'j/\x7f' }), 'they went with the result').to.deep.equal([]);
    });

    it('ends with an output that stays', async () => {
      await spawn('desk');
      await send({ type: 'finish' });
      await house.restart();
      expect((await house.supervisor.get('desk', 'd'))?.status).to.equal('done');
      const entries = await house.log();
      expect(JSON.stringify(entries.at(-1)?.snapshot)).to.include('"output":{"rings":0}');
    });

    it('refuses an event that no state takes, and writes nothing of it', async () => {
      await spawn('desk');
      const before = store.head.seq;
      expect(await house.supervisor.ask('desk', 'd', { type: 'unknown' })).to.include({
        code: 'UNKNOWN_EVENT',
      });
      expect(store.head.seq).to.equal(before);
    });

    describe('whose process dies', function () {
      this.timeout(180_000);

      /** Timers, actions, async work, self-sent events, children and their ends, all under way at once. */
      const story = async (): Promise<void> => {
        const asks: [string, { type: string; [member: string]: unknown }][] = [
          ['desk', { type: 'notify', text: 'one' }],
          ['desk', { type: 'set', ms: 40 }],
          ['desk', { type: 'burst' }],
          ['desk', { type: 'nap' }],
          ['parent', { type: 'begin' }],
          ['parent', { type: 'poke' }],
          ['desk', { type: 'work', n: 21 }],
        ];
        for (const kind of ['desk', 'parent']) await patiently(async () => void (await spawn(kind)));
        for (const [index, [kind, event]] of asks.entries())
          await patiently(async () => {
            const idempotency = { scope: 'story', key: String(index), hash: event.type };
            seen(await house.supervisor.ask(kind, kind[0] ?? '', event, { idempotency }));
          });
        await patiently(() => advance(200));
        await patiently(quiet);
      };

      /** Once more after a death, as a client would. */
      async function patiently(deed: () => Promise<unknown>): Promise<void> {
        for (let attempt = 0; attempt < 3; attempt += 1) {
          const { mortal } = house;
          await Promise.race([deed(), mortal.death]);
          if (!mortal.dead) return;
          await crash();
        }
        throw new Error('it died more than once');
      }

      const result = async () => {
        const log = await house.log();
        return {
          desk: await view('desk'),
          parent: await view('parent'),
          acts: [...keys()].map((act) => act.replace(/^\S+ /, '')).sort(),
          events: log.filter(({ event }) => (event as { type: string }).type !== 'kernel.created').length,
        };
      };

      it('before or after any write: nothing is lost, nothing happens twice', async () => {
        await story();
        const expected = await result();
        expect(expected.desk).to.deep.include({ rings: 1, result: 42, put: [1, 2, 3] });
        expect(expected.parent).to.deep.include({ poked: 1, result: 8 });
        const writes = house.mortal.writes;
        expect(writes).to.be.greaterThan(12);
        for (let write = 1; write <= writes; write += 1) {
          for (const when of ['before', 'after'] as const) {
            await house.stop();
            await store.close();
            await open(`${write}-${when}`);
            house.mortal.dieAt(write, when);
            await story();
            expect(await result(), `${when} write ${write}`).to.deep.equal(expected);
            expect(house.faults, `${when} write ${write}`).to.deep.equal([]);
          }
        }
      });
    });
  });
}
