import { expect } from 'chai';
import { memoryStore } from '../../../../lib/store/memory.js';
import { counterKind, workerKind } from '../../../fixtures/kinds.js';
import { later, openHouse, rejection, seen, unclosable } from '../../../fixtures/house.js';

describe('passivation', () => {
  it('keeps no more actors awake than its bound, and each wakes as it was', async () => {
    const house = await openHouse([counterKind()], { limits: { awakeActorsMax: 64 } });
    const many = 640;
    for (let n = 0; n < many; n += 1) {
      await house.supervisor.spawn('counter', { id: `c${n}`, input: { n } });
      expect(house.supervisor.status.awake).to.be.at.most(64);
    }
    for (let n = 0; n < many; n += 7)
      expect(seen(await house.supervisor.ask('counter', `c${n}`, { type: 'add', n: 1 }))).to.include({
        n: n + 1,
      });
    for (let n = 0; n < many; n += 1)
      expect(seen(await house.supervisor.get('counter', `c${n}`))).to.include({ n: n % 7 === 0 ? n + 1 : n });
    expect(house.supervisor.status.awake).to.be.at.most(64);
    await house.stop();
  });

  it('lets those sleep that were used longest ago, never one that is busy or listened to', async () => {
    const house = await openHouse([counterKind()], { limits: { awakeActorsMax: 32 } });
    const { supervisor, environment, store } = house;
    await supervisor.spawn('counter', { id: 'watched' });
    await supervisor.spawn('counter', { id: 'busy' });
    const told: number[] = [];
    const { unsubscribe } = supervisor
      .handle('counter', 'watched')
      .subscribe((snapshot) => told.push((snapshot as { context: { n: number } }).context.n));
    for (let n = 0; n < 60; n += 1) await supervisor.spawn('counter', { id: `c${n}` });
    store.fail({ mode: 'hold' });
    const asked = supervisor.ask('counter', 'busy', { type: 'add', n: 1 });
    await environment.settle();
    for (let n = 0; n < 60; n += 1) await supervisor.handle('counter', `c${n}`).wake();
    expect(supervisor.handle('counter', 'watched').getSnapshot()).to.not.equal(undefined);
    expect(supervisor.handle('counter', 'c0').getSnapshot()).to.equal(undefined);
    expect(supervisor.handle('counter', 'c59').getSnapshot()).to.not.equal(undefined);
    store.fail(undefined);
    store.release();
    expect(seen(await asked)).to.include({ n: 1 });
    await supervisor.ask('counter', 'watched', { type: 'add', n: 3 });
    expect(told.at(-1)).to.equal(3);
    unsubscribe();
    for (let n = 0; n < 60; n += 1) await supervisor.handle('counter', `c${n}`).wake();
    expect(supervisor.handle('counter', 'watched').getSnapshot()).to.equal(undefined);
    await house.stop();
  });

  // Asleep in between, an actor would be loaded once more and step twice from the same revision: one of the
  // events was lost.
  it('never lets an actor sleep whose event is being written, or that others wait for', async () => {
    const house = await openHouse([counterKind({ supervision: { backoffMs: 1_000 } })], {
      limits: { awakeActorsMax: 32 },
    });
    const { supervisor, environment, store } = house;
    for (const id of ['busy', 'resting', ...Array.from({ length: 60 }, (_, n) => `c${n}`)])
      await supervisor.spawn('counter', { id });
    const group = async () => {
      for (let n = 0; n < 60; n += 1) await supervisor.handle('counter', `c${n}`).wake();
    };
    store.fail({ mode: 'hold' });
    const asked = [supervisor.ask('counter', 'busy', { type: 'add', n: 1 })];
    await environment.settle();
    await group();
    asked.push(supervisor.ask('counter', 'busy', { type: 'add', n: 10 }));
    await environment.settle();
    store.fail(undefined);
    store.release();
    expect((await Promise.all(asked)).map((answer) => seen(answer)['n'])).to.deep.equal([1, 11]);

    await rejection(supervisor.ask('counter', 'resting', { type: 'explode' }));
    const first = supervisor.ask('counter', 'resting', { type: 'add', n: 1 });
    await group();
    const second = supervisor.ask('counter', 'resting', { type: 'add', n: 10 });
    await environment.advance(1_000);
    expect([seen(await first)['n'], seen(await second)['n']]).to.deep.equal([1, 11]);
    await house.stop();
  });

  it('lets an actor that is used again and again stay, and those sleep that are not', async () => {
    const house = await openHouse([counterKind()], { limits: { awakeActorsMax: 32 } });
    await house.supervisor.spawn('counter', { id: 'dear' });
    for (let n = 0; n < 100; n += 1) {
      await house.supervisor.spawn('counter', { id: `c${n}` });
      await house.supervisor.ask('counter', 'dear', { type: 'add', n: 1 });
      expect(house.supervisor.handle('counter', 'dear').getSnapshot(), String(n)).to.not.equal(undefined);
      if (n >= 32)
        expect(house.supervisor.handle('counter', `c${n - 32}`).getSnapshot(), String(n)).to.equal(undefined);
    }
    let loads = 0;
    const { get } = house.mortal;
    house.mortal.get = (key) => {
      if (key === 'a/counter/dear') loads += 1;
      return get(key);
    };
    for (let n = 0; n < 100; n += 1) {
      await house.supervisor.handle('counter', `c${n}`).wake();
      await house.supervisor.ask('counter', 'dear', { type: 'add', n: 1 });
    }
    expect(loads).to.equal(0);
    await house.stop();
  });

  it('loads a sleeping actor once for all who ask at the same time', async () => {
    const inner = unclosable(memoryStore());
    let reads = 0;
    const counting = new Proxy(inner, {
      get: (target, member) =>
        member === 'get'
          ? (key: string) => {
              if (key === 'a/counter/a') reads += 1;
              return target.get(key);
            }
          : (Reflect.get(target, member) as unknown),
    });
    const house = await openHouse([counterKind()], { inner: counting });
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.restart();
    reads = 0;
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => house.supervisor.ask('counter', 'a', { type: 'add', n })),
    );
    expect(reads).to.equal(1);
    expect(answers.map((answer) => seen(answer as never)['n'])).to.deep.equal([1, 3, 6, 10]);
    await house.stop();
  });

  it('does not take an actor for absent that was created while it was being looked for', async () => {
    const house = await openHouse([counterKind()]);
    const { get } = house.mortal;
    const looked = later<undefined>();
    house.mortal.get = async (key) => {
      const found = await get(key);
      if (key === 'a/counter/new') await looked.promise;
      return found;
    };
    const early = house.supervisor.ask('counter', 'new', { type: 'add', n: 1 });
    await house.environment.settle();
    await house.supervisor.transact({
      name: 'birth',
      actors: [],
      run: (tx) => {
        tx.create('counter', 'new');
        return null;
      },
    });
    looked.resolve(undefined);
    expect(seen(await early)).to.include({ n: 1 });
    expect(seen(await house.supervisor.get('counter', 'new'))).to.include({ n: 1 });
    await house.stop();
  });

  it('does not wake an actor that is only read', async () => {
    const house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.restart();
    await house.supervisor.get('counter', 'a');
    await house.supervisor.list('counter', { index: 'all' });
    await house.supervisor.history({ kind: 'counter', id: 'a' });
    await house.supervisor.why({ kind: 'counter', id: 'a' }, { type: 'operator' });
    expect(house.supervisor.status.awake).to.equal(0);
    await house.stop();
  });

  it('wakes an actor with its effects and timers in place', async () => {
    const house = await openHouse(
      [workerKind({ guarantee: 'at-least-once', run: () => new Promise(() => undefined) }), counterKind()],
      { limits: { awakeActorsMax: 16 } },
    );
    const { supervisor, environment } = house;
    await supervisor.spawn('worker', { id: 'w' });
    await supervisor.ask('worker', 'w', { type: 'go', input: null });
    await supervisor.spawn('counter', { id: 'timed' });
    await supervisor.ask('counter', 'timed', { type: 'wait', ms: 5_000 });
    for (let n = 0; n < 100; n += 1) await supervisor.spawn('counter', { id: `c${n}` });
    expect(supervisor.handle('worker', 'w').getSnapshot()).to.equal(undefined);
    expect(seen(await supervisor.ask('worker', 'w', { type: 'leave' }))).to.include({ state: 'idle' });
    expect(await house.mortal.page({ gte: 'o/', lt: 'o/\x7f' })).to.deep.equal([]);
    await environment.advance(5_000);
    expect(seen(await supervisor.get('counter', 'timed'))).to.include({ rang: 1 });
    await house.stop();
  });

  // A cell that had gone to sleep took its successor with it, whose turn was held: an actor stepped twice from the
  // same revision. Found by the simulation.
  it('loses nothing where a plan and an event meet at an actor that was about to sleep', async () => {
    const house = await openHouse([counterKind()], { limits: { awakeActorsMax: 2 } });
    const { supervisor, store, environment } = house;
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) await supervisor.spawn('counter', { id });
    store.fail({ mode: 'hold' });
    const events = ids.map((id) => supervisor.ask('counter', id, { type: 'add', n: 1 }));
    const planned = supervisor.transact({
      name: 'more',
      actors: [{ kind: 'counter', id: 'a' }],
      run(tx) {
        tx.send({ kind: 'counter', id: 'a' }, { type: 'add', n: 10 });
        return null;
      },
    });
    await environment.settle();
    store.release();
    await events[0];
    await environment.settle();
    const late = supervisor.ask('counter', 'a', { type: 'add', n: 100 });
    await environment.settle();
    store.fail(undefined);
    for (let round = 0; round < 3; round += 1) {
      store.release();
      await environment.settle();
    }
    await Promise.all([...events, planned, late]);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 111 });
    await house.stop();
  });
});
