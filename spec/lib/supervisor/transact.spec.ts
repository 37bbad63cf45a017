import { expect } from 'chai';
import { StoreError } from '../../../lib/store/contract.js';
import type { ActorView, Committed, TransactionContext } from '../../../lib/supervisor/contract.js';
import type { ActorKey, Json } from '../../../machines/outputs.js';
import { refuse } from '../../../machines/refusals.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { openHouse, rejection, seen, type House } from '../../fixtures/house.js';

const counter = (id: string): ActorKey => ({ kind: 'counter', id });
const add = (n: number) => ({ type: 'add', n });

describe('transact', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([
      counterKind(),
      workerKind({ guarantee: 'at-least-once', run: async () => 'x' }),
    ]);
    for (const id of ['a', 'b', 'c']) await house.supervisor.spawn('counter', { id });
  });
  afterEach(() => house.stop());
  const plan = <R extends Json>(
    actors: readonly string[],
    decide: (tx: TransactionContext) => R | ReturnType<typeof refuse>,
    extra: object = {},
  ) => house.supervisor.transact<R>({ name: 'test', actors: actors.map(counter), run: decide, ...extra });
  const n = async (id: string) => seen(await house.supervisor.get('counter', id))['n'];

  it('steps several actors in one commit whose entries share one tx', async () => {
    const offered = house.store.offered;
    const done = (await plan(['b', 'a'], (tx) => {
      tx.send(counter('a'), add(1));
      tx.send(counter('b'), add(2));
      tx.send(counter('a'), add(10));
      return 'moved';
    })) as Committed<string>;
    expect(house.store.offered).to.equal(offered + 1);
    expect(done).to.include({ result: 'moved', replayed: false });
    const entries = (await house.log()).slice(-3);
    expect(
      entries.map(({ id, transaction: tx, last, revision: rev, cause }) => [id, tx, last, rev, cause]),
    ).to.deep.equal([
      ['a', done.position, false, 2, 'test'],
      ['b', done.position, false, 2, 'test'],
      ['a', done.position, true, 3, 'test'],
    ]);
    expect([await n('a'), await n('b')]).to.deep.equal([11, 2]);
    expect(done.steps).to.have.length(3);
  });

  it('leaves a history without holes where it steps one actor several times', async () => {
    // Whole snapshots lie in between
    for (let n = 0; n < 40; n += 1) await house.supervisor.ask('counter', 'a', add(1));
    for (let n = 0; n < 15; n += 1)
      await plan(['a', 'b'], (tx) => {
        for (const id of ['a', 'b', 'a', 'a']) tx.send(counter(id), add(1));
        return null;
      });
    const own = (await house.log()).filter(({ id }) => id === 'a');
    expect(
      (await house.supervisor.history(counter('a'), { limit: 1_000 })).map(({ position: seq }) => seq),
    ).to.deep.equal(own.map(({ position: seq }) => seq).reverse());
    for (const [n, { position: seq }] of own.entries())
      expect((await house.supervisor.past(counter('a'), seq))?.context, String(seq)).to.include({ n });
  });

  // The row of the slower plan was made when it counted, and was written over that of the quicker one.
  it('gives no number of a counter twice, also where a plan that counted first commits last before a crash', async () => {
    const count = (decide: (tx: TransactionContext, n: number) => void = () => undefined) =>
      plan([], (tx) => {
        const number = tx.next('numbers');
        decide(tx, number);
        return number;
      });
    const { getMany } = house.mortal;
    let read = (): void => undefined;
    house.mortal.getMany = async (wanted) => {
      await new Promise<void>((resolve) => {
        read = resolve;
      });
      return getMany(wanted);
    };
    const slow = count((tx) => tx.create('counter', 'made'));
    await house.environment.settle();
    expect(await count()).to.include({ result: 2 });
    house.mortal.getMany = getMany;
    read();
    expect(await slow).to.include({ result: 1 });
    await house.crash();
    expect(await count()).to.include({ result: 3 });
  });

  it('says in a rehearsal, too, that an id is taken, and keeps no one from it', async () => {
    await house.supervisor.spawn('counter', { id: 'made' });
    const create = (id: string, dryRun: boolean) =>
      plan(
        [],
        (tx) => {
          tx.create('counter', id);
          return null;
        },
        { dryRun },
      );
    for (const dryRun of [true, false]) expect(await create('made', dryRun)).to.include({ code: 'EXISTS' });
    const [rehearsed, real] = await Promise.all([create('free', true), create('free', false)]);
    expect(rehearsed).to.deep.include({ result: null });
    expect(real).to.deep.include({ result: null });
  });

  it('creates no actor under an id that could not be written as one', async () => {
    // A record is composed around the id: these used to become members of it.
    for (const id of ['x","rev":7,"y":"', '', 'a b', 'ä', 'x'.repeat(201), '../x', 'a/b'])
      expect(
        await plan([], (tx) => {
          tx.create('counter', id);
          return null;
        }),
        id,
      ).to.deep.include({ code: 'BAD_REQUEST', details: { id } });
    expect(await house.mortal.count({ gte: 'a/counter/', lt: 'a/counter/\x7f' })).to.equal(3);
  });

  it('is all or nothing over a crash at its write', async () => {
    for (const when of ['before', 'after'] as const) {
      house.mortal.dieAt(1, when);
      void plan(['a', 'b'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.send(counter('b'), add(1));
        tx.create('counter', `new-${when}`);
        return null;
      });
      await house.mortal.death;
      await house.crash();
      const expected = when === 'after' ? 1 : 0;
      expect([await n('a'), await n('b')]).to.deep.equal([expected, expected]);
      expect((await house.supervisor.get('counter', `new-${when}`)) === undefined).to.equal(
        when === 'before',
      );
    }
  });

  it('refuses the whole when one refuses, unless it was asked softly', async () => {
    const before = house.store.offered;
    expect(
      await plan(['a', 'b'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.send(counter('b'), add(-1));
        return null;
      }),
    ).to.include({ code: 'BAD_REQUEST' });
    expect(
      await plan(['a'], (tx) => {
        tx.send(counter('a'), add(1));
        return refuse('CONFLICT');
      }),
    ).to.include({ code: 'CONFLICT' });
    expect(
      await plan(['a'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.create('counter', 'a');
        return null;
      }),
    ).to.include({ code: 'EXISTS' });
    expect(
      await plan(['nobody'], (tx) => {
        tx.send(counter('nobody'), add(1));
        return null;
      }),
    ).to.include({ code: 'NOT_FOUND' });
    expect(house.store.offered).to.equal(before);
    expect(await n('a')).to.equal(0);
    await plan(['a', 'b'], (tx) => {
      tx.send(counter('a'), add(1));
      return (tx.send(counter('b'), add(-1), { soft: true }) as { code: string }).code;
    });
    expect([await n('a'), await n('b')]).to.deep.equal([1, 0]);
  });

  it('reads what it has done so far, and nothing that it did not name', async () => {
    await plan(['a'], (tx) => {
      tx.send(counter('a'), add(5));
      expect((tx.read(counter('a')) as ActorView).view).to.include({ n: 5 });
      tx.create('counter', 'fresh', { input: { n: 9 } });
      expect((tx.read(counter('fresh')) as ActorView).view).to.include({ n: 9 });
      expect(tx.at).to.equal(house.environment.clock.now());
      return null;
    });
    expect(
      (
        await rejection(
          plan(['a'], (tx) => {
            tx.read(counter('b'));
            return null;
          }),
        )
      ).message,
    ).to.match(/does not include counter b/);
    expect(
      (
        await rejection(
          plan(['a'], (tx) => {
            tx.send(counter('b'), add(1));
            return null;
          }),
        )
      ).message,
    ).to.match(/name it in "actors"/);
    expect(await plan(['absent'], (tx) => tx.read(counter('absent')) === undefined)).to.include({
      result: true,
    });
  });

  it('never deadlocks two plans that name the same actors in opposite order', async () => {
    const plans = Array.from({ length: 40 }, (_, index) =>
      plan(index % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a'], (tx) => {
        for (const id of ['a', 'b', 'c']) tx.send(counter(id), add(1));
        return null;
      }),
    );
    const asks = Array.from({ length: 40 }, () => house.supervisor.ask('counter', 'b', add(1)));
    await Promise.all([...plans, ...asks]);
    expect([await n('a'), await n('b'), await n('c')]).to.deep.equal([40, 80, 40]);
  });

  it('decides on what others committed before it, one plan at a time', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        plan(['a', 'b'], (tx) => {
          const seenNow = ((tx.read(counter('a')) as ActorView).view as { n: number }).n;
          tx.send(counter('a'), add(1));
          tx.send(counter('b'), add(seenNow === index ? 1 : 1_000));
          return null;
        }),
      ),
    );
    expect([await n('a'), await n('b')]).to.deep.equal([30, 30]);
  });

  it('counts without a double, over crashes, with many counters', async () => {
    const count = (name: string) =>
      plan([], (tx) => tx.next(name)).then((done) => (done as Committed<number>).result);
    expect(await Promise.all([count('x'), count('x'), count('y')])).to.deep.equal([1, 2, 1]);
    for (let many = 0; many < 1_100; many += 50)
      await plan([], (tx) => {
        for (let one = many; one < many + 50; one += 1) tx.next(`z${String(one).padStart(4, '0')}`);
        return null;
      });
    await house.crash();
    expect([await count('x'), await count('y'), await count('z0001'), await count('z1099')]).to.deep.equal([
      3, 2, 2, 2,
    ]);
  });

  it('puts rows of its own and peeks at those that it announced', async () => {
    await plan([], (tx) => {
      tx.put('alias/one', { to: 'a' });
      tx.put('alias/two', 2);
      return null;
    });
    expect(await plan([], (tx) => tx.get('alias/one') as Json, { reads: ['alias/one'] })).to.deep.include({
      result: { to: 'a' },
    });
    expect((await rejection(plan([], (tx) => tx.get('alias/two') as Json))).message).to.match(
      /without declaring it/,
    );
    expect(await house.supervisor.keyValues('alias/')).to.deep.equal([
      ['alias/one', { to: 'a' }],
      ['alias/two', 2],
    ]);
    await plan([], (tx) => {
      tx.put('alias/one', null);
      return null;
    });
    expect(await house.supervisor.keyValues('alias/')).to.deep.equal([['alias/two', 2]]);
  });

  it('refuses more than 16 actors', async () => {
    const names = Array.from({ length: 17 }, (_, index) => `x${index}`);
    expect((await rejection(plan(names, () => null))).message).to.match(/at most 16 actors; "test" names 17/);
    expect(await plan([...names.slice(0, 16), 'x0'], () => 'fine')).to.include({ result: 'fine' });
  });

  it('becomes a fault when it throws, and gives all turns back', async () => {
    const error = await rejection(
      plan(['a', 'b'], (tx) => {
        tx.send(counter('a'), add(1));
        throw new Error('careless plan');
      }),
    );
    expect(error).to.include({ name: 'Fault' });
    expect(error.message).to.match(/the transaction "test" threw: careless plan/);
    expect(seen(await house.supervisor.ask('counter', 'a', add(2)))).to.include({ n: 2 });
    expect(
      await rejection(
        plan(['a'], (tx) => {
          tx.send(counter('a'), { type: 'explode' });
          return null;
        }),
      ),
    ).to.include({ name: 'Fault' });
    expect(await n('a')).to.equal(2);
    expect(await house.supervisor.deadLetters()).to.deep.equal([]);
  });

  it('gives its turns back when the write fails', async () => {
    house.store.fail({ failAt: 1, mode: 'before' });
    expect(
      await rejection(
        plan(['a', 'b'], (tx) => {
          tx.send(counter('a'), add(1));
          return null;
        }),
      ),
    ).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(seen(await house.supervisor.ask('counter', 'a', add(2)))).to.include({ n: 2 });
    expect(seen(await house.supervisor.ask('counter', 'b', add(2)))).to.include({ n: 2 });
  });

  it('creates an actor that it did not name only where there is none', async () => {
    expect(
      await plan([], (tx) => {
        tx.create('counter', 'a', { input: { n: 99 } });
        return null;
      }),
    ).to.include({ code: 'EXISTS' });
    expect(await n('a')).to.equal(0);
    const twins = await Promise.all(
      [1, 2].map((value) =>
        plan([], (tx) => {
          tx.create('counter', 'twin', { input: { n: value } });
          return value;
        }),
      ),
    );
    expect(twins.map((answer) => ('code' in answer ? answer.code : answer.result))).to.deep.equal([
      1,
      'EXISTS',
    ]);
    expect(await n('twin')).to.equal(1);
    const rivals = await Promise.all([
      plan([], (tx) => {
        tx.create('counter', 'rival', { input: { n: 1 } });
        return 1;
      }),
      house.supervisor.spawn('counter', { id: 'rival', input: { n: 2 } }),
    ]);
    expect(rivals.filter((answer) => 'code' in answer)).to.have.length(1);
  });

  it('gives back the turns that it has when it does not get them all', async () => {
    await house.restart();
    const { get } = house.mortal;
    house.mortal.get = (key) =>
      key === 'a/counter/c' ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'not now')) : get(key);
    const both = () =>
      plan(['a', 'c'], (tx) => {
        for (const id of ['a', 'c']) tx.send(counter(id), add(1));
        return null;
      });
    expect(await rejection(both())).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(seen((await house.supervisor.ask('counter', 'a', add(1))) as ActorView)).to.include({ n: 1 });
    house.mortal.get = get;
    expect(await both()).to.not.have.property('code');
  });

  it('answers when it could not be read whether an id is free, and holds neither turn nor id', async () => {
    const { getMany } = house.mortal;
    const unnamed = () =>
      plan(['a'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.create('counter', 'late');
        return null;
      });
    house.mortal.getMany = () => {
      house.mortal.getMany = getMany;
      return Promise.reject(new StoreError('STORE_UNAVAILABLE', 'not now'));
    };
    expect(await rejection(unnamed())).to.include({ code: 'STORE_UNAVAILABLE' });
    expect(await unnamed()).to.not.have.property('code');
    expect([await n('a'), await n('late')]).to.deep.equal([1, 0]);
  });

  it('refuses an id that is taken, and leaves the turns and the other ids that it asked for free', async () => {
    expect(
      await plan(['a'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.create('counter', 'free');
        tx.create('counter', 'b');
        return null;
      }),
    ).to.include({ code: 'EXISTS' });
    expect(
      await plan(['a'], (tx) => {
        tx.send(counter('a'), add(1));
        tx.create('counter', 'free');
        return null;
      }),
    ).to.not.have.property('code');
    expect([await n('a'), await n('free')]).to.deep.equal([1, 0]);
  });

  it('rehearses with dryRun: all steps, no number used, nothing written', async () => {
    const offered = house.store.offered;
    const done = (await plan(
      ['a'],
      (tx) => {
        tx.next('x');
        tx.send(counter('a'), add(1));
        tx.create('worker', 'w2');
        return 'would';
      },
      { dryRun: true },
    )) as Committed<string>;
    expect(done.steps.map(({ kind, id, from, to }) => [kind, id, from, to])).to.deep.equal([
      ['counter', 'a', 'open', 'open'],
      ['worker', 'w2', null, 'idle'],
    ]);
    expect(house.store.offered).to.equal(offered);
    expect(await plan([], (tx) => tx.next('x'))).to.include({ result: 1 });
  });

  it('answers again what it answered under an idempotency key', async () => {
    const idempotency = { key: 'k', scope: 's', hash: 'h' };
    const deed = () =>
      plan(
        ['a'],
        (tx) => {
          tx.send(counter('a'), add(1));
          return { number: tx.next('x') };
        },
        { idempotency },
      );
    const answers = (await Promise.all([deed(), deed()])) as Committed<{ number: number }>[];
    await house.crash();
    answers.push((await deed()) as Committed<{ number: number }>);
    expect(answers.map(({ result, replayed }) => [result.number, replayed])).to.deep.equal([
      [1, false],
      [1, true],
      [1, true],
    ]);
    expect(await n('a')).to.equal(1);
  });

  it('starts no effect before its commit and holds no turn during it', async () => {
    await house.supervisor.transact({
      name: 'go',
      actors: [counter('a')],
      run: (tx) => {
        tx.create('worker', 'w');
        tx.send({ kind: 'worker', id: 'w' }, { type: 'go', input: 1 });
        tx.send(counter('a'), { type: 'pass', to: 'b', n: 3 });
        return null;
      },
    });
    await house.environment.settle();
    expect(seen(await house.supervisor.get('worker', 'w'))).to.deep.include({ results: ['x'] });
    expect(await n('b')).to.equal(3);
  });

  it('refuses reserved event names as ask does', async () => {
    expect(
      await plan(['a'], (tx) => {
        tx.send(counter('a'), { type: 'xstate.stop' });
        return null;
      }),
    ).to.include({ code: 'BAD_REQUEST' });
  });
});
