import { expect } from 'chai';
import { StoreError, type Store } from '../../../lib/store/contract.js';
import type { ActorView } from '../../../lib/supervisor/contract.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { later, openHouse, rejection, seen, unclosable, type House } from '../../fixtures/house.js';

const calm = { guarantee: 'at-least-once', run: async () => 'done' } as const;

describe('one event, one commit', () => {
  let house: House;
  let effectsRun: string[];
  beforeEach(async () => {
    effectsRun = [];
    house = await openHouse([
      counterKind(),
      workerKind({
        guarantee: 'at-least-once',
        run: async (input) => {
          effectsRun.push(String(input));
          return input;
        },
      }),
    ]);
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.spawn('counter', { id: 'b' });
    await house.supervisor.spawn('worker', { id: 'w' });
  });
  afterEach(() => house.stop());

  it('writes everything that an event causes as one group', async () => {
    const before = house.store.offered;
    await house.supervisor.ask('counter', 'a', { type: 'note', text: 'x' });
    expect(house.store.offered - before).to.equal(1);
  });

  it('shows nothing before the write is durable: no view, list, row, log entry, frame, message, effect or answer', async () => {
    const { supervisor, store, environment } = house;
    const frames: unknown[] = [];
    const watching = (async () => {
      for await (const entry of supervisor.watch()) frames.push(...entry.frames);
    })();
    await environment.settle();
    store.fail({ mode: 'hold' });
    const answers: string[] = [];
    const asked = [
      supervisor.ask('counter', 'a', { type: 'add', n: 5 }).then(() => answers.push('add')),
      supervisor.ask('worker', 'w', { type: 'go', input: 'x' }).then(() => answers.push('go')),
    ];
    await environment.settle();
    expect(answers).to.deep.equal([]);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 0 });
    expect(seen(await supervisor.get('worker', 'w'))).to.include({ state: 'idle' });
    expect(
      (supervisor.handle('counter', 'a').getSnapshot() as { context: { n: number } }).context.n,
    ).to.equal(0);
    expect((await supervisor.list('counter', { index: 'all' })).items.map(({ key }) => key)).to.deep.equal([
      '000000',
      '000000',
    ]);
    expect(await supervisor.history({ kind: 'counter', id: 'a' })).to.have.length(1);
    expect([frames, effectsRun]).to.deep.equal([[], []]);
    store.fail(undefined);
    store.release();
    await Promise.all(asked);
    await environment.settle();
    expect(answers).to.deep.equal(['add', 'go']);
    expect(frames).to.deep.equal([{ event: 'counter:added', payload: { n: 5 } }]);
    expect(effectsRun).to.deep.equal(['x']);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 5 });
    await supervisor.stop();
    await watching;
  });

  it('delivers a message only after the commit of its sender', async () => {
    const { supervisor, store, environment } = house;
    store.fail({ mode: 'hold' });
    const passed = supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 7 });
    await environment.settle();
    expect(seen(await supervisor.get('counter', 'b'))).to.include({ n: 0 });
    store.fail(undefined);
    store.release();
    await passed;
    await environment.settle();
    expect(seen(await supervisor.get('counter', 'b'))).to.include({ n: 7 });
  });

  it('leaves everything as it was when the write fails, says so, and goes on', async () => {
    const { supervisor, store, environment } = house;
    const before = await house.log();
    store.fail({ mode: 'before' });
    for (const event of [
      { type: 'add', n: 1 },
      { type: 'wait', ms: 10 },
      { type: 'note', text: 'x' },
    ]) {
      const error = await rejection(supervisor.ask('counter', 'a', event));
      expect(error).to.be.instanceOf(StoreError).and.include({ code: 'STORE_UNAVAILABLE' });
    }
    expect(await rejection(supervisor.ask('worker', 'w', { type: 'go', input: 'x' }))).to.include({
      code: 'STORE_UNAVAILABLE',
    });
    expect(await rejection(supervisor.spawn('counter', { id: 'c' }))).to.include({
      code: 'STORE_UNAVAILABLE',
    });
    store.fail(undefined);
    await environment.advance(60_000);
    expect(await house.log()).to.deep.equal(before);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 0, state: 'open', notes: 0 });
    expect(await supervisor.get('counter', 'c')).to.equal(undefined);
    expect(await supervisor.rows({ kind: 'counter', id: 'a' }, 'notes')).to.deep.equal([]);
    expect((await supervisor.why({ kind: 'counter', id: 'a' }, { type: 'operator' }))?.timers).to.deep.equal(
      [],
    );
    expect(effectsRun).to.deep.equal([]);
    expect(seen(await supervisor.ask('counter', 'a', { type: 'add', n: 4 }))).to.include({ n: 4 });
    expect(await house.log()).to.have.length(before.length + 1);
  });

  it('voids what was decided on top of a failed write, and nothing else', async () => {
    const { supervisor, store } = house;
    store.fail({ failAt: 1, mode: 'before' });
    const answers = await Promise.allSettled(
      [1, 2, 3].map((n) => supervisor.ask('counter', 'a', { type: 'add', n })),
    );
    const sum = answers.reduce(
      (total, answer, index) => total + (answer.status === 'fulfilled' ? index + 1 : 0),
      0,
    );
    expect(answers[0]).to.include({ status: 'rejected' });
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: sum });
    expect(seen(await supervisor.ask('counter', 'a', { type: 'add', n: 10 }))).to.include({ n: sum + 10 });
  });

  it("lets an id be used whose creation could not be written, be it a request's, a plan's or a child's", async () => {
    const { supervisor, store } = house;
    const create = [
      (id: string) => supervisor.spawn('counter', { id }),
      (id: string) =>
        supervisor.transact({
          name: 'unnamed',
          actors: [],
          run: (tx) => {
            tx.create('counter', id);
            return null;
          },
        }),
    ];
    for (const [n, make] of create.entries()) {
      store.fail({ failAt: 1, mode: 'before' });
      expect(await rejection(make(`late-${n}`))).to.include({ code: 'STORE_UNAVAILABLE' });
      store.fail(undefined);
      expect(await make(`late-${n}`)).to.not.have.property('code');
      expect(seen(await supervisor.get('counter', `late-${n}`))).to.include({ n: 0 });
    }
  });

  it('fails with a group the one that is under way behind it, and goes on without a gap', async () => {
    const { supervisor, store } = house;
    const ids = Array.from({ length: 120 }, (_, n) => `many-${n}`);
    await Promise.all(ids.map((id) => supervisor.spawn('counter', { id })));
    store.fail({ failAt: 1, mode: 'before' });
    const offered = store.offered;
    const answers = await Promise.allSettled(
      ids.map((id) => supervisor.ask('counter', id, { type: 'add', n: 1 })),
    );
    expect(store.offered - offered).to.be.greaterThan(1); // or there was none behind it
    const written = answers.flatMap(({ status }, n) => (status === 'fulfilled' ? [ids[n]] : []));
    expect(written.length).to.be.lessThan(120 - 32);
    for (const id of ids)
      expect(seen(await supervisor.get('counter', id)), id).to.include({ n: written.includes(id) ? 1 : 0 });
    const again = await Promise.allSettled(
      ids.map((id) => supervisor.ask('counter', id, { type: 'add', n: 1 })),
    );
    expect(again.filter(({ status }) => status === 'rejected')).to.deep.equal([]);
    const log = await house.log();
    expect(log.map(({ position: seq }) => seq)).to.deep.equal(log.map((_, n) => n + 1));
  });

  // What had been decided meanwhile was acknowledged, and its messages were used up, without ever being written
  // (the simulated fleet, seed 300)
  it('acknowledges nothing behind a group that failed before the one ahead of it was answered', async () => {
    const { supervisor, environment } = house;
    const ids = Array.from({ length: 20 }, (_, n) => `far-${n}`);
    await Promise.all(ids.map((id) => supervisor.spawn('counter', { id })));
    const { write } = house.mortal;
    const ahead = later<undefined>();
    let groups = 0;
    house.mortal.write = async (group) => {
      groups += 1;
      if (groups === 2) throw new StoreError('STORE_UNAVAILABLE', 'not written: the disk is full');
      const stored = write(group);
      if (groups === 1) await ahead.promise;
      await stored;
    };
    const first = supervisor.ask('counter', 'a', { type: 'add', n: 1 });
    await environment.settle();
    const second = rejection(supervisor.ask('counter', 'a', { type: 'add', n: 1 }));
    const others = Promise.allSettled(ids.map((id) => supervisor.ask('counter', id, { type: 'add', n: 1 })));
    await environment.settle();
    expect((await others).filter(({ status }) => status === 'fulfilled')).to.deep.equal([]);
    ahead.resolve(undefined);
    expect(seen((await first) as ActorView)).to.include({ n: 1 });
    expect(await second).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ n: 1 });
    expect(await supervisor.history({ kind: 'counter', id: 'a' })).to.have.length(2);
  });

  it('writes groups of a bounded size, however much has gathered while the disk was busy', async () => {
    const { supervisor, store } = house;
    const sizes: number[] = [];
    const ids = Array.from({ length: 1_500 }, (_, n) => `many-${n}`);
    store.fail({ mode: 'hold' });
    const made = Promise.all(ids.map((id) => supervisor.spawn('counter', { id })));
    await house.environment.settle();
    const { write } = house.mortal;
    house.mortal.write = (group) => {
      sizes.push(group.last - group.first + 1);
      return write(group);
    };
    store.fail(undefined);
    store.release();
    await made;
    expect(Math.max(...sizes)).to.be.at.most(512);
  });

  it('groups what is ready at the same moment, and answers in the order of the log', async () => {
    const { supervisor, store } = house;
    const before = store.offered;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => supervisor.spawn('counter', { id: `c${index}` })),
    );
    expect(store.offered - before).to.be.lessThan(10);
    expect(answers.map((answer) => (answer as ActorView).position)).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => 4 + index),
    );
  });

  it('steps one actor one event at a time', async () => {
    const { supervisor } = house;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => supervisor.ask('counter', 'a', { type: 'add', n: 1 })),
    );
    expect(answers.map((answer) => seen(answer as ActorView)['n'])).to.deep.equal(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
  });

  it('refuses a snapshot that outgrows its bound and stays at the last commit', async () => {
    const small = await openHouse([workerKind(calm)], { limits: { snapshotBytesMax: 400 } });
    await small.supervisor.spawn('worker', { id: 'w' });
    expect(
      (await rejection(small.supervisor.ask('worker', 'w', { type: 'heard', what: 'x'.repeat(500) })))
        .message,
    ).to.match(/store growing data in rows/);
    expect(
      seen(await small.supervisor.ask('worker', 'w', { type: 'heard', what: 'short' }))['results'],
    ).to.deep.equal(['short']);
    await small.stop();
  });
});

describe('after a failed write the kernel goes on with what is durable', () => {
  it('delivers a message whose receiver could not commit', async () => {
    const house = await openHouse([counterKind()]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.spawn('counter', { id: 'b' });
    store.fail({ failAt: 2, mode: 'before' });
    await supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 7 });
    await environment.settle();
    expect(seen(await supervisor.get('counter', 'b'))).to.include({ n: 0 });
    await environment.advance(5_000);
    expect(seen(await supervisor.get('counter', 'b'))).to.include({ n: 7 });
    await house.stop();
  });

  it('keeps the order of messages when the first of them could not be committed', async () => {
    const house = await openHouse([workerKind(calm), counterKind()]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('worker', { id: 'w' });
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.ask('counter', 'a', {
      type: 'tell',
      to: { kind: 'worker', id: 'w' },
      what: ['1', '2', '3'],
    });
    await environment.settle();
    expect(seen(await supervisor.get('worker', 'w'))['results']).to.deep.equal(['1', '2', '3']);
    store.fail({ failAt: 2, mode: 'before' });
    await supervisor.ask('counter', 'a', {
      type: 'tell',
      to: { kind: 'worker', id: 'w' },
      what: ['4', '5', '6'],
    });
    await environment.advance(5_000);
    expect(seen(await supervisor.get('worker', 'w'))['results']).to.deep.equal([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ]);
    await house.stop();
  });

  it('fires a timer whose step could not be committed', async () => {
    const house = await openHouse([counterKind()]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.ask('counter', 'a', { type: 'wait', ms: 100 });
    store.fail({ failAt: 1, mode: 'before' });
    await environment.advance(100);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ rang: 0 });
    await environment.advance(5_000);
    expect(seen(await supervisor.get('counter', 'a'))).to.include({ rang: 1, state: 'open' });
    await house.stop();
  });

  it('brings the result of an effect that could not be committed, without running it again', async () => {
    let runs = 0;
    const result = later<string>();
    const house = await openHouse([
      workerKind({
        guarantee: 'at-least-once',
        run: async () => {
          runs += 1;
          return result.promise;
        },
      }),
    ]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('worker', { id: 'w' });
    await supervisor.ask('worker', 'w', { type: 'go', input: null });
    store.fail({ failAt: 1, mode: 'before' });
    result.resolve('ok');
    await environment.settle();
    expect(seen(await supervisor.get('worker', 'w'))).to.include({ state: 'working' });
    await environment.advance(5_000);
    expect(seen(await supervisor.get('worker', 'w'))).to.deep.include({ state: 'idle', results: ['ok'] });
    expect(runs).to.equal(1);
    await house.stop();
  });

  it('tells at a stop the one who still waits for his turn that nothing was written', async () => {
    const house = await openHouse([counterKind()]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('counter', { id: 'a' });
    store.fail({ mode: 'hold' });
    const first = supervisor.ask('counter', 'a', { type: 'add', n: 1 });
    await environment.settle();
    const behind = rejection(supervisor.ask('counter', 'a', { type: 'add', n: 2 }));
    const stopped = supervisor.stop({ drainMs: 500 });
    await environment.advance(1_000);
    expect(await behind).to.include({ code: 'STORE_UNAVAILABLE' });
    store.fail(undefined);
    store.release();
    await Promise.all([first, stopped]);
  });

  it('does at a stop what had been asked of a sleeping actor before', async () => {
    const house = await openHouse([counterKind()]);
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.restart();
    const { get } = house.mortal;
    const read = later<undefined>();
    house.mortal.get = async (key) => {
      await read.promise;
      return get(key);
    };
    const asked = house.supervisor.ask('counter', 'a', { type: 'add', n: 1 });
    const stopped = house.supervisor.stop();
    await house.environment.settle();
    read.resolve(undefined);
    await stopped;
    expect(seen(await asked)).to.include({ n: 1 });
  });

  it('takes up at the next start the effects of an actor that could not be read at first', async () => {
    let runs = 0;
    const house = await openHouse([
      workerKind({
        guarantee: 'at-least-once',
        run: () => {
          runs += 1;
          return new Promise(() => undefined);
        },
      }),
    ]);
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.supervisor.ask('worker', 'w', { type: 'go', input: null });
    await house.environment.settle();
    let failures = 0;
    const inner = memoryReads(house.mortal, () => {
      failures += 1;
      return failures <= 2;
    });
    const next = await openHouse(
      [
        workerKind({
          guarantee: 'at-least-once',
          run: async () => {
            runs += 1;
            return 'done';
          },
        }),
      ],
      { inner },
    );
    await next.environment.advance(1_000);
    expect([failures > 2, runs]).to.deep.equal([true, 2]);
    expect(seen(await next.supervisor.get('worker', 'w'))).to.deep.include({ results: ['done'] });
    await next.stop();
  });

  it('answers requests at once while the store is down, and stops within its deadline', async () => {
    const house = await openHouse([counterKind()]);
    const { supervisor, store, environment } = house;
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.spawn('counter', { id: 'b' });
    await supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 7 });
    await environment.settle();
    store.fail({ failAt: 2, mode: 'before' });
    await supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 7 });
    store.fail({ mode: 'before' });
    const asked = Promise.all(
      [1, 2].map((n) => rejection(supervisor.ask('counter', 'b', { type: 'add', n }))),
    );
    await environment.advance(3_000);
    expect((await asked).map(({ code }) => code)).to.deep.equal(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']);
    const stopped = supervisor.stop({ drainMs: 500 });
    await environment.advance(1_000);
    await stopped;
    await house.restart();
    await house.environment.settle();
    expect(seen(await house.supervisor.get('counter', 'b'))).to.include({ n: 14 });
    await house.stop();
  });
});

/** A store that cannot read a record for as long as it is told so. */
function memoryReads(store: Store, fails: () => boolean): Store {
  return new Proxy(unclosable(store), {
    get: (target, member) =>
      member !== 'get'
        ? (Reflect.get(target, member) as unknown)
        : (key: string) =>
            key.startsWith('a/') && fails()
              ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'not now'))
              : target.get(key),
  });
}
