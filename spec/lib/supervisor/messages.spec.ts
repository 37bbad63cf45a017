import { expect } from 'chai';
import type { Json } from '../../../machines/outputs.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { openHouse, seen, type House } from '../../fixtures/house.js';
import { mortalStore } from '../../fixtures/mortal-store.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { unclosable } from '../../fixtures/house.js';

const calm = { guarantee: 'at-least-once', run: async () => 'done' } as const;
const kinds = () => [counterKind(), workerKind(calm)];
const toWorker = { kind: 'worker', id: 'w' };

describe('messages between actors', () => {
  let house: House | undefined;
  afterEach(async () => {
    await house?.stop();
    house = undefined;
  });
  const heard = async (at: House): Promise<Json> =>
    seen(await at.supervisor.get('worker', 'w'))['results'] as Json;

  it('arrive exactly once, whichever write the process dies at', async () => {
    // One run without a crash tells how many writes there are; then one run for each of them, before and
    // after.
    const run = async (die?: {
      write: number;
      when: 'before' | 'after';
    }): Promise<{ writes: number; acknowledged: boolean; results: Json; pending: number }> => {
      const inner = unclosable(memoryStore());
      const first = await createSupervisor({ kinds: kinds(), store: inner, environment: testEnvironment() });
      await first.spawn('counter', { id: 'a' });
      await first.spawn('worker', { id: 'w' });
      await first.stop();
      const store = mortalStore(inner);
      const environment = testEnvironment({ seed: 2 });
      const second = await createSupervisor({ kinds: kinds(), store, environment });
      if (die !== undefined) store.dieAt(die.write, die.when);
      let acknowledged = false;
      void second.ask('counter', 'a', { type: 'tell', to: toWorker, what: ['1', '2', '3'] }).then(() => {
        acknowledged = true;
      });
      await environment.settle();
      await environment.settle();
      const { writes } = store;
      store.die();
      const environmentOfThird = testEnvironment({ seed: 3 });
      const third = await createSupervisor({ kinds: kinds(), store: inner, environment: environmentOfThird });
      await environmentOfThird.settle();
      const results = seen(await third.get('worker', 'w'))['results'] as Json;
      const pending = (await inner.page({ gte: 'i/', lt: 'i/\x7f' })).length;
      await third.stop();
      return { writes, acknowledged, results, pending };
    };
    const { writes } = await run();
    expect(writes).to.be.greaterThan(2);
    for (let write = 1; write <= writes; write += 1) {
      for (const when of ['before', 'after'] as const) {
        const { acknowledged, results, pending } = await run({ write, when });
        const sent = !(write === 1 && when === 'before');
        expect(results, `killed ${when} write ${write}`).to.deep.equal(sent ? ['1', '2', '3'] : []);
        expect(pending).to.equal(0);
        if (acknowledged) expect(sent).to.equal(true);
      }
    }
  });

  it('keep their order from one sender to one receiver, over a crash', async () => {
    house = await openHouse(kinds());
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.spawn('worker', { id: 'w' });
    const what = Array.from({ length: 40 }, (_, index) => String(index));
    for (let start = 0; start < 40; start += 10)
      void house.supervisor
        .ask('counter', 'a', { type: 'tell', to: toWorker, what: what.slice(start, start + 10) })
        .catch(() => undefined);
    house.mortal.dieAt(9, 'before');
    await house.mortal.death;
    await house.crash();
    await house.environment.settle();
    await house.environment.settle();
    const results = (await heard(house)) as string[];
    expect(results).to.deep.equal(what.slice(0, results.length));
    expect(results.length % 10).to.equal(0);
  });

  it('to an actor that does not exist are dropped, and their sender lives on', async () => {
    house = await openHouse(kinds());
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.ask('counter', 'a', {
      type: 'tell',
      to: { kind: 'worker', id: 'nobody' },
      what: ['x'],
    });
    await house.environment.settle();
    expect(await house.mortal.page({ gte: 'i/', lt: 'i/\x7f' })).to.deep.equal([]);
    expect(seen(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }))).to.include({ n: 1 });
  });

  it('to a kind that this program does not know wait for one that does', async () => {
    house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.ask('counter', 'a', { type: 'tell', to: toWorker, what: ['x', 'y'] });
    await house.environment.settle();
    expect(house.faults.join()).to.match(/unknown kind "worker"/);
    await house.restart();
    await house.restart(kinds());
    await house.supervisor.spawn('worker', { id: 'w' }); // the messages came before it: they found no one
    await house.environment.settle();
    expect(await heard(house)).to.deep.equal([]);
    expect(await house.mortal.page({ gte: 'i/', lt: 'i/\x7f' })).to.deep.equal([]);
  });

  it('find a sleeping receiver of an unknown kind again when the program knows it', async () => {
    house = await openHouse(kinds());
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.restart([counterKind()]);
    await house.supervisor.ask('counter', 'a', { type: 'tell', to: toWorker, what: ['x', 'y'] });
    await house.restart(kinds());
    await house.environment.settle();
    expect(await heard(house)).to.deep.equal(['x', 'y']);
  });

  it('are delivered once at boot, however many there are and whatever they set off', async () => {
    house = await openHouse(kinds());
    const { supervisor } = house;
    await supervisor.spawn('worker', { id: 'w' });
    const many = 1_200;
    for (let n = 0; n < many; n += 1)
      await supervisor.spawn('counter', { id: `c${String(n).padStart(4, '0')}` });
    await supervisor.stop();
    // 1,200 counters, each with a message that makes it tell the worker: more than one page of inboxes.
    const store = memoryStoreOf(house);
    await store.write({
      first: store.head.seq + 1,
      last: store.head.seq,
      chain: store.head.chain,
      ops: Array.from(
        { length: many },
        (_, n) =>
          [
            `i/counter/c${String(n).padStart(4, '0')}/0000000000000001.0000`,
            JSON.stringify({ event: { type: 'tell', to: toWorker, what: [String(n)] }, cause: null }),
          ] as const,
      ),
    });
    await house.crash();
    await house.environment.settle();
    for (let turn = 0; turn < 20; turn += 1) await house.environment.settle();
    const results = (await heard(house)) as string[];
    expect(results).to.have.length(many);
    expect(new Set(results).size).to.equal(many);
  });
});

const memoryStoreOf = (house: House) => house.store;
