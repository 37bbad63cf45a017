import { expect } from 'chai';
import type { EffectContext, Kind } from '../../../actors/contracts.js';
import { operator } from '../../../machines/caller.js';
import type { Supervision } from '../../../machines/supervisor/supervise.js';
import { clockKind, counterKind, workerKind } from '../../fixtures/kinds.js';
import { later, openHouse, rejection, seen, type House } from '../../fixtures/house.js';

const calm = { guarantee: 'at-least-once', run: async () => 'done' } as const;
const worker = (id: string) => ({ kind: 'worker', id });

describe('faults', () => {
  let house: House;
  const open = async (kinds: readonly Kind[]) => {
    house = await openHouse(kinds);
  };
  const explode = (id = 'w', kind = 'worker') =>
    rejection(house.supervisor.ask(kind, id, { type: 'explode' }));
  const results = async (id = 'w') => seen(await house.supervisor.get('worker', id))['results'];
  afterEach(() => house.stop());

  describe('an event that throws', () => {
    beforeEach(async () => {
      await open([counterKind(), workerKind(calm)]);
      await house.supervisor.spawn('counter', { id: 'a' });
      await house.supervisor.spawn('counter', { id: 'b' });
      await house.supervisor.spawn('worker', { id: 'w' });
    });

    it('is set aside as a dead letter under the id that the asker and the log get', async () => {
      const error = (await explode('a', 'counter')) as Error & { faultId: string };
      expect(error).to.include({ name: 'Fault' });
      const [letter] = await house.supervisor.deadLetters();
      expect(letter).to.deep.include({
        id: error.faultId,
        faultId: error.faultId,
        actor: { kind: 'counter', id: 'a' },
        event: { type: 'explode' },
        error: 'boom',
        at: house.environment.clock.now(),
      });
      const [entry] = await house.supervisor.history({ kind: 'counter', id: 'a' });
      expect(entry?.event).to.include({ type: 'kernel.dead-letter', faultId: error.faultId });
      expect(house.faults).to.deep.equal(['counter a threw on "explode": boom']);
    });

    it('leaves its actor at the last commit, and everybody else alone', async () => {
      await house.supervisor.ask('counter', 'a', { type: 'add', n: 3 });
      await explode('a', 'counter');
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 3, state: 'open' });
      expect(seen(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }))).to.include({ n: 4 });
      expect(await house.supervisor.get('counter', 'b')).to.include({ revision: 1 });
    });

    it('that came as a message is not delivered again, and those behind it arrive', async () => {
      await house.supervisor.ask('counter', 'a', {
        type: 'tell',
        to: worker('w'),
        what: ['1', 'poison', '2'],
      });
      await house.environment.settle();
      expect(await results()).to.deep.equal(['1', '2']);
      await house.crash();
      await house.environment.settle();
      expect(await results()).to.deep.equal(['1', '2']);
      expect(await house.supervisor.deadLetters()).to.have.length(1);
    });

    it('can be tried again once the fault is repaired', async () => {
      const broken = counterKind({
        policy: (_snapshot, event) => {
          if (event.type === 'add') throw new Error('broken policy');
          return undefined;
        },
      });
      await house.restart([broken, workerKind(calm)]);
      await rejection(house.supervisor.ask('counter', 'a', { type: 'add', n: 5 }));
      const [letter] = await house.supervisor.deadLetters();
      await house.restart([counterKind(), workerKind(calm)]);
      expect(await house.supervisor.retry(letter?.id ?? '', operator)).to.equal(true);
      await house.environment.settle();
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 5 });
      expect(await house.supervisor.deadLetters()).to.deep.equal([]);
      expect(await house.supervisor.retry(letter?.id ?? '', operator)).to.include({ code: 'NOT_FOUND' });
    });

    it('tried again survives a crash in between, once', async () => {
      await explode('a', 'counter');
      const [letter] = await house.supervisor.deadLetters();
      house.mortal.dieAt(1, 'after');
      void house.supervisor.retry(letter?.id ?? '', operator);
      await house.mortal.death;
      await house.crash();
      await house.environment.settle();
      const letters = await house.supervisor.deadLetters(); // it threw again
      expect(letters).to.have.length(1);
      expect(letters[0]?.id).to.not.equal(letter?.id);
    });

    it('tried again while the store cannot write stays a dead letter, and says so', async () => {
      await explode('a', 'counter');
      const [letter] = await house.supervisor.deadLetters();
      house.store.fail({ mode: 'before' });
      expect(await rejection(house.supervisor.retry(letter?.id ?? '', operator))).to.include({
        code: 'STORE_UNAVAILABLE',
      });
      house.store.fail(undefined);
      await house.environment.settle();
      expect((await house.supervisor.deadLetters()).map(({ id }) => id)).to.deep.equal([letter?.id]);
      expect(await house.supervisor.get('counter', 'a')).to.include({ revision: 2 }); // created, and failed once
    });

    it('tried again by an operator has the authority of who sent it, and no more', async () => {
      const heard: unknown[] = [];
      const broken = counterKind({
        policy: () => {
          throw new Error('broken policy');
        },
      });
      const listening = counterKind({
        policy: (_snapshot, event) => {
          heard.push((event as unknown as { by: unknown }).by);
          return undefined;
        },
      });
      await house.restart([broken, workerKind(calm)]);
      const agent = { type: 'session', id: 's1', employee: 'eve', ancestors: ['s0'] } as const;
      await rejection(house.supervisor.ask('counter', 'a', { type: 'add', n: 5 }, { by: agent }));
      const [letter] = await house.supervisor.deadLetters();
      await house.restart([listening, workerKind(calm)]);
      await house.supervisor.retry(letter?.id ?? '', operator);
      await house.environment.settle();
      expect(heard.at(-1), 'the one that was delivered').to.deep.equal(agent);
    });

    // The second had read the letter before the first took it away, and put the event into the inbox once
    // more.
    it('tried again by two at the same time is delivered once, however late the second one reads', async () => {
      await house.restart([
        counterKind({
          policy: () => {
            throw new Error('broken policy');
          },
        }),
        workerKind(calm),
      ]);
      await rejection(house.supervisor.ask('counter', 'a', { type: 'add', n: 5 }));
      const [letter] = await house.supervisor.deadLetters();
      await house.restart([counterKind(), workerKind(calm)]);
      const { get } = house.mortal;
      const late = later<undefined>();
      let reads = 0;
      house.mortal.get = async (key) => {
        const text = await get(key);
        if (key.startsWith('d/') && (reads += 1) === 2) await late.promise;
        return text;
      };
      const answers = [
        house.supervisor.retry(letter?.id ?? '', operator),
        house.supervisor.retry(letter?.id ?? '', operator),
      ];
      await house.environment.settle();
      late.resolve(undefined);
      expect(await Promise.all(answers)).to.deep.equal([true, true]);
      await house.environment.settle();
      expect(seen(await house.supervisor.get('counter', 'a'))).to.include({ n: 5 });
      expect(await house.supervisor.deadLetters()).to.deep.equal([]);
    });

    it('that came from a timer keeps what the timer would have said', async () => {
      let broken = false;
      await house.restart([
        clockKind({
          policy: (_snapshot, event) => {
            if (broken && event.type === 'ring') throw new Error('not now');
            return undefined;
          },
        }),
      ]);
      await house.supervisor.spawn('clock', { id: 'c' });
      await house.supervisor.ask('clock', 'c', { type: 'set', ms: 100 });
      broken = true;
      await house.environment.advance(100);
      broken = false;
      await house.environment.advance(60_000);
      const [letter] = await house.supervisor.deadLetters();
      expect(letter?.event).to.deep.equal({ type: 'ring', what: 'alarm' });
      expect(
        (await house.supervisor.why({ kind: 'clock', id: 'c' }, operator))?.timers,
        'it has rung',
      ).to.deep.equal([]);
      await house.supervisor.retry(letter?.id ?? '', operator);
      await house.environment.settle();
      expect(seen(await house.supervisor.get('clock', 'c'))['rang']).to.deep.equal(['alarm']);
    });

    it('in the index is met like any other, and the actor takes events again when it is repaired', async () => {
      let broken = false;
      await house.restart([
        clockKind({
          index: () => {
            if (broken) throw new Error('no index');
            return [];
          },
        }),
      ]);
      await house.supervisor.spawn('clock', { id: 'c' });
      await house.supervisor.ask('clock', 'c', { type: 'set', ms: 100 });
      broken = true;
      expect(
        (await rejection(house.supervisor.ask('clock', 'c', { type: 'ring', what: 'asked' }))).message,
      ).to.match(/no index/);
      await house.environment.advance(100);
      broken = false;
      expect(await house.supervisor.deadLetters()).to.have.length(2);
      expect(
        seen(await house.supervisor.ask('clock', 'c', { type: 'ring', what: 'again' }))['rang'],
      ).to.deep.equal(['again']);
    });

    it('while the store fails too is not lost', async () => {
      house.store.fail({ failAt: 2, mode: 'before' });
      await house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['poison'] });
      await house.environment.advance(5_000);
      expect(await house.supervisor.deadLetters()).to.have.length(1);
      expect(await results()).to.deep.equal([]);
      expect(house.supervisor.status.restarts).to.equal(1); // what could not be written down has not happened
    });
  });

  describe('too many of them', () => {
    const tries: Partial<Supervision> = { intensity: 2, periodSeconds: 60 };
    let result: ReturnType<typeof later<string>>;
    const halt = async () => {
      for (let n = 0; n < 3; n += 1) await explode();
    };
    beforeEach(async () => {
      result = later<string>();
      await open([
        counterKind(),
        clockKind({ supervision: tries }),
        workerKind({ guarantee: 'at-least-once', run: () => result.promise }, { supervision: tries }),
      ]);
      await house.supervisor.spawn('counter', { id: 'a' });
      await house.supervisor.spawn('worker', { id: 'w' });
    });

    it('halt the actor; it answers 503 and says why, also after a restart', async () => {
      await halt();
      for (let life = 0; life < 2; life += 1) {
        const answer = await house.supervisor.ask('worker', 'w', { type: 'heard', what: 'x' });
        expect(answer).to.include({ code: 'ACTOR_HALTED', status: 503 });
        expect((await house.supervisor.get('worker', 'w'))?.meta.halted?.reason).to.match(
          /failed 3 times within 60 s; last: boom/,
        );
        await house.restart();
      }
    });

    it('do not when they are far enough apart', async () => {
      for (let n = 0; n < 5; n += 1) {
        await explode();
        await house.environment.advance(40_000);
      }
      expect((await house.supervisor.get('worker', 'w'))?.meta.halted).to.equal(null);
    });

    it('halt no one of a kind that is temporary: its failures are written down, and that is all', async () => {
      await house.restart([workerKind(calm, { supervision: { ...tries, restart: 'temporary' } })]);
      for (let n = 0; n < 5; n += 1) await explode();
      expect((await house.supervisor.get('worker', 'w'))?.meta.halted).to.equal(null);
      expect(await house.supervisor.deadLetters()).to.have.length(5);
    });

    it('keep the inbox, and deliver it once and in order when a person resumes the actor', async () => {
      await halt();
      await house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['1', '2'] });
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      await house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['3'] });
      await house.environment.settle();
      expect(await results()).to.deep.equal([]);
      const resumed = house.supervisor.resume(worker('w'), operator);
      const told = house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['4'] });
      expect(await resumed).to.deep.include({ kind: 'worker', id: 'w' });
      await told;
      await house.environment.settle();
      expect(await results()).to.deep.equal(['1', '2', '3', '4']);
      expect(await house.mortal.page({ gte: 'i/', lt: 'i/\x7f' })).to.deep.equal([]);
    });

    it('keep the inbox apart from what arrives while it is being read: nothing comes twice', async () => {
      await halt();
      await house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['kept'] });
      await house.environment.settle();
      const { page } = house.mortal;
      const read = later<undefined>();
      house.mortal.page = async (range) => {
        if (String(range.gt).startsWith('i/')) await read.promise;
        return page(range);
      };
      const resumed = house.supervisor.resume(worker('w'), operator);
      await house.environment.settle();
      await house.supervisor.ask('counter', 'a', { type: 'tell', to: worker('w'), what: ['meanwhile'] });
      await house.environment.settle();
      read.resolve(undefined);
      await resumed;
      await house.environment.settle();
      expect(await results()).to.deep.equal(['kept', 'meanwhile']);
      expect(await page({ gt: 'i/', lt: 'i/\x7f' })).to.deep.equal([]);
    });

    it('keep a whole inbox of many pages', async () => {
      await halt();
      const many = Array.from({ length: 2_500 }, (_, n) => String(n));
      for (let at = 0; at < many.length; at += 500)
        await house.supervisor.ask('counter', 'a', {
          type: 'tell',
          to: worker('w'),
          what: many.slice(at, at + 500),
        });
      await house.environment.settle();
      await house.supervisor.resume(worker('w'), operator);
      for (let turn = 0; turn < 400 && ((await results()) as string[]).length < many.length; turn += 1)
        await house.environment.settle();
      expect(await results()).to.deep.equal(many);
    });

    it('keep the result of an effect that finds its actor halted', async () => {
      await house.supervisor.ask('worker', 'w', { type: 'go', input: null });
      await halt();
      result.resolve('while halted');
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      expect(await results()).to.deep.equal([]);
      await house.supervisor.resume(worker('w'), operator);
      await house.environment.settle();
      expect(seen(await house.supervisor.get('worker', 'w'))).to.deep.include({
        state: 'idle',
        results: ['while halted'],
      });
      expect(await house.mortal.page({ gte: 'o/', lt: 'o/\x7f' })).to.deep.equal([]);
    });

    it('keep the timers that came due, and fire them when it goes on', async () => {
      const sick = clockKind({
        supervision: tries,
        policy: (_snapshot, event) => {
          if (event.type === 'unset') throw new Error('boom');
          return undefined;
        },
      });
      await house.restart([sick]);
      await house.supervisor.spawn('clock', { id: 'c' });
      await house.supervisor.ask('clock', 'c', { type: 'set', ms: 1_000 });
      for (let n = 0; n < 3; n += 1) await rejection(house.supervisor.ask('clock', 'c', { type: 'unset' }));
      await house.environment.advance(5_000);
      await house.supervisor.resume({ kind: 'clock', id: 'c' }, operator);
      await house.environment.advance(5_000);
      expect(seen(await house.supervisor.get('clock', 'c'))['rang']).to.deep.equal(['alarm']);
    });

    it('keep the actor halted when more comes of it much later: only a person lets it go on', async () => {
      let broken = false;
      await house.restart([
        workerKind(calm, {
          supervision: tries,
          facts: () => {
            if (broken) throw new Error('no facts');
            return null;
          },
        }),
      ]);
      await halt();
      await house.environment.advance(600_000);
      broken = true; // asked of no one who is halted, so that it cannot fail there
      expect(await house.supervisor.ask('worker', 'w', { type: 'heard', what: 'x' })).to.include({
        code: 'ACTOR_HALTED',
      });
      expect((await house.supervisor.get('worker', 'w'))?.meta.halted?.reason).to.match(/boom/);
    });

    it('begin to count again after a resumption', async () => {
      await halt();
      await house.supervisor.resume(worker('w'), operator);
      await explode();
      expect((await house.supervisor.get('worker', 'w'))?.meta.halted).to.equal(null);
      expect(await house.supervisor.resume(worker('nobody'), operator)).to.include({ code: 'NOT_FOUND' });
      expect(await house.supervisor.spawn('worker', { id: 'nobody' }), 'its turn is free').to.include({
        revision: 1,
      });
    });

    it('wait for the backoff before the next event', async () => {
      await house.restart([workerKind(calm, { supervision: { backoffMs: 1_000, backoffMsMax: 10_000 } })]);
      await explode();
      let answered = false;
      const asked = house.supervisor.ask('worker', 'w', { type: 'heard', what: 'x' }).then(() => {
        answered = true;
      });
      await house.environment.advance(999);
      expect(answered).to.equal(false);
      await house.environment.advance(1);
      await asked;
      await explode();
      const second = house.supervisor.ask('worker', 'w', { type: 'heard', what: 'y' }).then(() => {
        answered = true;
      });
      answered = false;
      await house.environment.advance(1_999);
      expect(answered).to.equal(false);
      await house.environment.advance(1);
      await second;
    });
  });

  describe('and the siblings', () => {
    const runs: string[] = [];
    const effect = {
      guarantee: 'at-least-once',
      run: (_input: unknown, { actor, signal }: EffectContext) => {
        runs.push(actor.id);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
      },
    } as const;
    const family = async (supervision: Partial<Supervision>) => {
      runs.length = 0;
      await open([counterKind({ supervision: { intensity: 1 } }), workerKind(effect, { supervision })]);
      await house.supervisor.spawn('counter', { id: 'parent' });
      for (const id of ['w1', 'w2', 'w3']) {
        await house.supervisor.spawn('worker', { id, parent: { kind: 'counter', id: 'parent' } });
        await house.supervisor.ask('worker', id, { type: 'go', input: null });
        await house.environment.advance(10);
      }
      await house.supervisor.spawn('worker', { id: 'stranger' });
      await house.supervisor.ask('worker', 'stranger', { type: 'go', input: null });
      await house.environment.settle();
      runs.length = 0;
    };

    it('of one_for_one notice nothing', async () => {
      await family({ strategy: 'one_for_one' });
      await explode('w2');
      await house.environment.settle();
      expect(runs.filter((id) => id !== 'w2')).to.deep.equal([]);
      expect(house.supervisor.status.restarts).to.equal(1);
    });

    it('of one_for_all restart with it, and their effects run again', async () => {
      await family({ strategy: 'one_for_all' });
      await explode('w2');
      await house.environment.settle();
      expect(runs.filter((id) => id !== 'w2').sort()).to.deep.equal(['w1', 'w3']);
      expect(seen(await house.supervisor.get('worker', 'w1'))).to.include({ state: 'working' });
      expect(house.supervisor.status.restarts).to.equal(3);
    });

    it('wait for the backoff with the failed one: their effects and events too', async () => {
      await family({ strategy: 'one_for_all', backoffMs: 1_000 });
      await explode('w2');
      await house.environment.settle();
      let answered = false;
      const asked = house.supervisor.ask('worker', 'w1', { type: 'heard', what: 'x' }).then(() => {
        answered = true;
      });
      await house.environment.advance(999);
      expect([answered, runs]).to.deep.equal([false, []]);
      await house.environment.advance(1);
      await asked;
      expect(runs.sort()).to.deep.equal(['w1', 'w3']);
    });

    /** w1 has an effect under way when w2 fails. */
    const twoOfWhichOneFails = async (): Promise<void> => {
      await house.supervisor.spawn('counter', { id: 'parent' });
      for (const id of ['w1', 'w2'])
        await house.supervisor.spawn('worker', { id, parent: { kind: 'counter', id: 'parent' } });
      await house.supervisor.ask('worker', 'w1', { type: 'go', input: null });
      await house.environment.settle();
      await explode('w2');
      await house.environment.settle();
    };

    it('restart no fenced effect: what may have acted is not to act twice', async () => {
      const acted: string[] = [];
      const act = (_input: unknown, { actor, signal }: EffectContext) =>
        new Promise<string>((_resolve, reject) => {
          acted.push(actor.id);
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
        });
      await open([
        counterKind(),
        workerKind(
          { guarantee: 'at-most-once', run: act, recover: async () => 'recovered' },
          { supervision: { strategy: 'one_for_all' } },
        ),
      ]);
      await twoOfWhichOneFails();
      expect(house.supervisor.status.restarts).to.equal(2);
      expect(acted).to.deep.equal(['w1']);
      expect(seen(await house.supervisor.get('worker', 'w1'))).to.deep.include({
        state: 'working',
        results: [],
      });
    });

    it('begin their effects again only once the earlier run has settled: a key never runs twice at a time', async () => {
      let running = 0;
      let most = 0;
      const letGo: (() => void)[] = [];
      const slow = {
        guarantee: 'at-least-once',
        run: async () => {
          running += 1;
          most = Math.max(most, running);
          await new Promise<void>((resolve) => {
            letGo.push(resolve);
          }); // does not heed the abort
          running -= 1;
        },
      } as const;
      await open([counterKind(), workerKind(slow, { supervision: { strategy: 'one_for_all' } })]);
      await twoOfWhichOneFails();
      expect([running, letGo.length]).to.deep.equal([1, 1]);
      letGo[0]?.();
      await house.environment.settle();
      expect([running, most, letGo.length]).to.deep.equal([1, 1, 2]);
    });

    it('of rest_for_one restart when they began after it', async () => {
      await family({ strategy: 'rest_for_one' });
      await explode('w2');
      await house.environment.settle();
      expect(runs.filter((id) => id !== 'w2')).to.deep.equal(['w3']);
    });

    it('stay when the failed one gives up, and its parent has failed once', async () => {
      await family({ intensity: 1, giveUp: 'escalate' });
      await explode('w1');
      await explode('w1');
      await house.environment.settle();
      expect((await house.supervisor.get('worker', 'w1'))?.meta.halted).to.not.equal(null);
      expect((await house.supervisor.history({ kind: 'counter', id: 'parent' }))[0]?.event).to.include({
        type: 'kernel.dead-letter',
        event: 'kernel.child-gave-up',
      });
      expect((await house.supervisor.get('worker', 'w2'))?.meta.halted).to.equal(null);
      expect(house.supervisor.status.state).to.equal('running');
    });

    it('without a parent degrade the system, until a person resumes the failed one', async () => {
      await family({ intensity: 1, giveUp: 'escalate' });
      await explode('stranger');
      await explode('stranger');
      await house.environment.settle();
      expect(house.supervisor.status).to.include({ state: 'degraded' });
      expect(house.supervisor.status.reasons.join()).to.match(/worker.*boom/);
      await house.supervisor.spawn('worker', { id: 'second' });
      await explode('second');
      await explode('second');
      await house.environment.settle();
      await house.supervisor.resume(worker('stranger'), operator);
      expect(house.supervisor.status.state, 'one of two').to.equal('degraded');
      await house.supervisor.resume(worker('second'), operator);
      expect(house.supervisor.status.state).to.equal('running');
    });
  });

  describe('of those who only look on', () => {
    it('disturb neither the actor nor other observers', async () => {
      await open([counterKind()]);
      await house.supervisor.spawn('counter', { id: 'a' });
      const seenBy: number[] = [];
      house.supervisor.handle('counter', 'a').subscribe(() => {
        throw new Error('observer');
      });
      house.supervisor
        .handle('counter', 'a')
        .subscribe((snapshot) => seenBy.push((snapshot as { context: { n: number } }).context.n));
      house.supervisor.onProgress(() => {
        throw new Error('listener');
      });
      expect(seen(await house.supervisor.ask('counter', 'a', { type: 'add', n: 1 }))).to.include({ n: 1 });
      await house.supervisor.ask('counter', 'a', { type: 'add', n: -1 });
      expect(seenBy.at(-1)).to.equal(1);
      expect(house.faults.join())
        .to.match(/observer of counter a threw: observer/)
        .and.match(/progress listener threw: listener/);
    });
  });
});
