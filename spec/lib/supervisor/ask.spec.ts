import { expect } from 'chai';
import type { ActorView } from '../../../lib/supervisor/contract.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { later, openHouse, rejection, seen, type House } from '../../fixtures/house.js';

const day = 24 * 3600 * 1000;
const anonymous = { kind: 'counter', id: 'nobody' };

describe('ask', () => {
  let house: House;
  let result: ReturnType<typeof later<string>>;
  beforeEach(async () => {
    result = later<string>();
    house = await openHouse(
      [counterKind(), workerKind({ guarantee: 'at-least-once', run: () => result.promise })],
      {
        limits: { mailboxMax: 10 },
      },
    );
    await house.supervisor.spawn('counter', { id: 'a' });
    await house.supervisor.spawn('worker', { id: 'w' });
  });
  afterEach(() => house.stop());

  it('answers a refusal of the policy, an unknown event, an absent actor, and writes nothing for any of them', async () => {
    const { supervisor, store } = house;
    const offered = store.offered;
    expect(await supervisor.ask('counter', 'a', { type: 'add', n: -1 })).to.include({
      code: 'BAD_REQUEST',
      message: 'Only upwards.',
    });
    expect(await supervisor.ask('counter', 'a', { type: 'unheard' })).to.include({
      code: 'UNKNOWN_EVENT',
      status: 400,
    });
    expect(await supervisor.ask(anonymous.kind, anonymous.id, { type: 'add', n: 1 })).to.include({
      code: 'NOT_FOUND',
    });
    expect(await supervisor.spawn('counter', { id: 'a' })).to.include({ code: 'EXISTS' });
    expect(await supervisor.spawn('counter', { id: 'no such id' })).to.include({ code: 'BAD_REQUEST' });
    expect(await supervisor.spawn('counter', { id: 'x'.repeat(201) })).to.include({ code: 'BAD_REQUEST' });
    expect(store.offered).to.equal(offered);
    expect(house.faults).to.deep.equal([]);
  });

  it('refuses the names that the kernel and XState keep for themselves', async () => {
    for (const type of [
      'xstate.done.actor.deed',
      'xstate.stop',
      'kernel.resumed',
      'kernel.child-ended',
      '*',
      '',
      7,
      undefined,
    ]) {
      expect(await house.supervisor.ask('worker', 'w', { type } as never), String(type)).to.include({
        code: 'BAD_REQUEST',
      });
    }
  });

  it('lets no caller end an effect or a timer, stamp the time or speak for another', async () => {
    await house.supervisor.ask('counter', 'a', { type: 'wait', ms: 1_000 });
    const [timer] = Object.keys(
      (await house.supervisor.why({ kind: 'counter', id: 'a' }, { type: 'operator' }))?.timers ?? [],
    );
    expect(timer).to.equal('0');
    await house.supervisor.ask('counter', 'a', {
      type: 'add',
      n: 1,
      ended: { timer: 'xstate.after.later.counter.waiting', call: 'deed' },
      at: 5,
      by: { type: 'system', part: 'kernel' },
    });
    const [entry] = await house.supervisor.history({ kind: 'counter', id: 'a' });
    expect(entry).to.include({ by: 'operator', at: house.environment.clock.now() });
    await house.environment.advance(1_000);
    expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ rang: 1 });
  });

  it('refuses events for an actor that has ended', async () => {
    expect(await house.supervisor.ask('counter', 'a', { type: 'close' })).to.include({ status: 'done' });
    expect(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 })).to.include({
      code: 'CONFLICT',
    });
  });

  it('says BUSY when the mailbox is full, without touching what waits', async () => {
    house.store.fail({ mode: 'hold' });
    const asked = Array.from({ length: 14 }, () =>
      house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }),
    );
    await house.environment.settle();
    house.store.fail(undefined);
    house.store.release();
    const answers = await Promise.all(asked);
    expect(
      answers.map((answer) => ('code' in answer ? answer.code : (answer.view as { n: number }).n)),
    ).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 'BUSY', 'BUSY', 'BUSY']);
  });

  describe('with until', () => {
    it('answers with the view that satisfies it', async () => {
      const asked = house.supervisor.ask(
        'worker',
        'w',
        { type: 'go', input: null },
        { until: ({ value }) => value === 'idle' },
      );
      await house.environment.settle();
      result.resolve('ok');
      expect(seen(await asked)).to.deep.include({ state: 'idle', results: ['ok'] });
    });

    it('answers at once when the first view satisfies it', async () => {
      expect(
        await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, { until: () => true }),
      ).to.not.have.property('pending');
    });

    it('answers pending with the latest view after its time, and cancels nothing', async () => {
      const asked = house.supervisor.ask(
        'worker',
        'w',
        { type: 'go', input: null },
        { until: ({ value }) => value === 'idle', timeoutMs: 3_000 },
      );
      await house.environment.advance(3_000);
      expect(await asked).to.include({ pending: true, value: 'working' });
      result.resolve('later');
      await house.environment.settle();
      expect(seen(await house.supervisor.get('worker', 'w'))).to.deep.include({ results: ['later'] });
    });

    it('waits 25 s at most', async () => {
      let answer: unknown;
      void house.supervisor
        .ask('worker', 'w', { type: 'go', input: null }, { until: () => false, timeoutMs: day })
        .then((view) => {
          answer = view;
        });
      await house.environment.advance(24_999);
      expect(answer).to.equal(undefined);
      await house.environment.advance(1);
      expect(answer).to.include({ pending: true });
    });

    it('rejects when its predicate throws, at the first view or at a later one, and disturbs no one', async () => {
      expect(
        (
          await rejection(
            house.supervisor.ask(
              'counter',
              'a',
              { type: 'add', n: 1 },
              {
                until: () => {
                  throw new Error('at first');
                },
              },
            ),
          )
        ).message,
      ).to.match(/at first/);
      let looks = 0;
      const asked = rejection(
        house.supervisor.ask(
          'worker',
          'w',
          { type: 'go', input: null },
          {
            until: () => {
              looks += 1;
              if (looks > 1) throw new Error('later');
              return false;
            },
          },
        ),
      );
      const other = house.supervisor.ask(
        'worker',
        'w',
        { type: 'poke' },
        { until: ({ value }) => value === 'idle' },
      );
      await house.environment.settle();
      result.resolve('ok');
      expect((await asked).message).to.equal('later');
      expect(seen(await other)).to.deep.include({ results: ['ok'] });
      expect(seen(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }))).to.include({ n: 2 });
    });

    it('is answered pending when the supervisor stops', async () => {
      const asked = house.supervisor.ask(
        'worker',
        'w',
        { type: 'go', input: null },
        { until: ({ value }) => value === 'idle' },
      );
      await house.environment.settle();
      const stopped = house.supervisor.stop({ drainMs: 100 });
      await house.environment.advance(100);
      await stopped;
      expect(await asked).to.include({ pending: true, value: 'working' });
    });
  });

  describe('with dryRun', () => {
    it('rehearses and writes nothing: no record, effect, timer, key or number', async () => {
      const { supervisor, store } = house;
      const offered = store.offered;
      const answer = (await supervisor.ask(
        'worker',
        'w',
        { type: 'go', input: 1 },
        { dryRun: true, idempotency: { key: 'k', scope: 's', hash: 'h' } },
      )) as ActorView;
      expect(answer.steps).to.deep.equal([
        { kind: 'worker', id: 'w', from: 'idle', to: 'working', effects: ['deed'] },
      ]);
      expect(answer.value).to.equal('working');
      const spawned = (await supervisor.spawn('counter', {
        id: 'new',
        input: { n: 4 },
        dryRun: true,
      })) as ActorView;
      expect(spawned.steps).to.deep.equal([
        { kind: 'counter', id: 'new', from: null, to: 'open', effects: [] },
      ]);
      expect(seen(spawned)).to.include({ n: 4 });
      await house.environment.advance(1_000);
      expect(store.offered).to.equal(offered);
      expect(await supervisor.get('counter', 'new')).to.equal(undefined);
      expect(await supervisor.get('worker', 'w')).to.include({ value: 'idle', revision: 1 });
    });

    it('tells refusals as they would be told', async () => {
      expect(await house.supervisor.ask('counter', 'a', { type: 'add', n: -1 }, { dryRun: true })).to.include(
        { code: 'BAD_REQUEST' },
      );
      expect(await house.supervisor.spawn('counter', { id: 'a', dryRun: true })).to.include({
        code: 'EXISTS',
      });
    });

    it('tells a fault without a dead letter', async () => {
      expect(
        (await rejection(house.supervisor.ask('counter', 'a', { type: 'explode' }, { dryRun: true }))).name,
      ).to.equal('Fault');
      expect(await house.supervisor.deadLetters()).to.deep.equal([]);
    });
  });

  describe('with an idempotency key', () => {
    const key = (hash = 'h', name = 'k') => ({ idempotency: { key: name, scope: 'operator', hash } });
    const add = (options: ReturnType<typeof key>) =>
      house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }, options);

    it('acts once for twins that arrive together', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => add(key())));
      expect(answers.filter((answer) => 'replayed' in answer)).to.have.length(4);
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 1 });
    });

    it('acts once for twins of a first that could not be written: one of them does it, the others repeat its answer', async () => {
      house.store.fail({ failAt: 1, mode: 'before' });
      const answers = await Promise.allSettled(Array.from({ length: 5 }, () => add(key())));
      expect(answers.map(({ status }) => status)).to.deep.equal([
        'rejected',
        ...Array.from({ length: 4 }, () => 'fulfilled'),
      ]);
      expect(
        answers.filter((answer) => answer.status === 'fulfilled' && 'replayed' in answer.value),
      ).to.have.length(3);
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 1 });
    });

    it('acts once over a restart and a crash', async () => {
      await add(key());
      await house.restart();
      expect(await add(key())).to.include({ replayed: true });
      await house.crash();
      expect(await add(key())).to.include({ replayed: true });
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 1 });
    });

    it('acts once, whichever side of the write the process dies on', async () => {
      for (const when of ['before', 'after'] as const) {
        house.mortal.dieAt(1, when);
        void add(key('h', when)).catch(() => undefined);
        await house.mortal.death;
        await house.crash();
        expect('replayed' in (await add(key('h', when)))).to.equal(when === 'after');
      }
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 2 });
    });

    it('refuses the same key for another request, and knows it in its own scope only', async () => {
      await add(key('one'));
      expect(await add(key('two'))).to.include({ code: 'IDEMPOTENCY_CONFLICT', status: 409 });
      expect(
        await house.supervisor.ask(
          'counter',
          'a',
          { type: 'add', n: 1 },
          { idempotency: { key: 'k', scope: 'session:s', hash: 'two' } },
        ),
      ).to.not.have.property('replayed');
    });

    it('forgets it after 24 hours', async () => {
      await add(key());
      await house.environment.sleep(day - 120_000);
      expect(await add(key())).to.include({ replayed: true });
      await house.environment.advance(240_000);
      expect(await add(key('another'))).to.not.have.property('code');
      expect(await house.mortal.page({ gte: 'k/', lt: 'k/\x7f' })).to.have.length(1);
    });

    it('rehearses what was done under it, and remembers no rehearsal', async () => {
      await add(key());
      const rehearsed = { dryRun: true, ...key() };
      expect(await house.supervisor.ask('counter', 'a', { type: 'add', n: 5 }, rehearsed))
        .to.have.property('steps')
        .with.lengthOf(1);
      const plan = { name: 'test', actors: [], run: () => 'again', ...key('h', 'p') };
      await house.supervisor.transact(plan);
      expect(await house.supervisor.transact({ ...plan, run: () => 'rehearsed', dryRun: true })).to.include({
        result: 'rehearsed',
        replayed: false,
      });
      await house.supervisor.ask('counter', 'a', { type: 'add', n: 5 }, { dryRun: true, ...key('h', 'new') });
      expect(await add(key('h', 'new'))).to.not.have.property('replayed');
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 2 });
    });

    it('does not remember what was refused or could not be written', async () => {
      expect(await house.supervisor.ask('counter', 'a', { type: 'add', n: -1 }, key())).to.include({
        code: 'BAD_REQUEST',
      });
      house.store.fail({ failAt: 1, mode: 'before' });
      expect(await rejection(add(key()))).to.include({ code: 'STORE_UNAVAILABLE' });
      expect(await add(key('other'))).to.not.have.property('replayed');
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 1 });
    });

    it('answers a repeated spawn with the actor of the first, even without an id', async () => {
      const first = (await house.supervisor.spawn('counter', { input: { n: 3 }, ...key() })) as ActorView;
      const second = (await house.supervisor.spawn('counter', { input: { n: 3 }, ...key() })) as ActorView;
      expect([second.id, second.replayed]).to.deep.equal([first.id, true]);
    });
  });

  describe('beside other kinds of answers', () => {
    it('shows refusals to those who listen, and keeps them out of the log', async () => {
      const frames: unknown[] = [];
      house.supervisor.onProgress((frame) => frames.push(frame));
      const entries = (await house.log()).length;
      await house.supervisor.ask('counter', 'a', { type: 'add', n: -1 });
      expect(frames).to.deep.equal([
        {
          actor: { kind: 'counter', id: 'a' },
          event: 'refusal',
          payload: { event: 'add', code: 'BAD_REQUEST', message: 'Only upwards.' },
          at: house.environment.clock.now(),
        },
      ]);
      expect(await house.log()).to.have.length(entries);
    });

    it('turns callers away while it drains', async () => {
      const stopped = house.supervisor.stop();
      expect(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 })).to.include({
        code: 'DRAINING',
      });
      expect(await house.supervisor.spawn('counter', {})).to.include({ code: 'DRAINING' });
      await stopped;
    });

    it('survives a view that throws: the event is committed, the asker hears of the fault', async () => {
      const sick = await openHouse([
        counterKind({
          view: (snapshot) => {
            if (snapshot.context.n === 2) throw new Error('no view');
            return { n: snapshot.context.n };
          },
        }),
      ]);
      await sick.supervisor.spawn('counter', { id: 'a' });
      expect((await rejection(sick.supervisor.ask('counter', 'a', { type: 'add', n: 2 }))).message).to.match(
        /no view/,
      );
      expect(seen(await sick.supervisor.ask('counter', 'a', { type: 'add', n: 1 }))).to.deep.equal({ n: 3 });
      await sick.stop();
    });
  });
});
