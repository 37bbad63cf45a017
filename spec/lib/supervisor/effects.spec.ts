import { expect } from 'chai';
import { assign, emit, setup } from 'xstate';
import type { AtMostOnceEffect, EffectContext, AtLeastOnceEffect, Kind } from '../../../actors/contracts.js';
import { effect, writeRow, type Json } from '../../../machines/outputs.js';
import { workerKind } from '../../fixtures/kinds.js';
import { later, openHouse, seen, type House } from '../../fixtures/house.js';

type Call = {
  input: unknown;
  key: string;
  context: EffectContext;
  resolve(output: unknown): void;
  reject(error: Error): void;
  recovered?: Json;
};

/** A hand whose every call the spec ends by itself. */
function puppet(guarantee: 'at-least-once'): { effect: AtLeastOnceEffect; calls: Call[] };
function puppet(guarantee: 'at-most-once'): { effect: AtMostOnceEffect; calls: Call[] };
function puppet(guarantee: 'at-least-once' | 'at-most-once'): { effect: never; calls: Call[] } {
  const calls: Call[] = [];
  const call = (input: unknown, context: EffectContext, recovered?: Json): Promise<unknown> => {
    const { promise, resolve, reject } = later<unknown>();
    calls.push({
      input,
      key: context.key,
      context,
      resolve,
      reject,
      ...(recovered === undefined ? {} : { recovered }),
    });
    return promise;
  };
  const effect = {
    guarantee,
    run: (input: unknown, context: EffectContext) => call(input, context),
    recover: (input: unknown, note: Json, context: EffectContext) => call(input, context, note),
  };
  return { effect: effect as never, calls };
}

describe('effects', () => {
  let house: House;
  const open = async (effect: AtLeastOnceEffect | AtMostOnceEffect): Promise<void> => {
    house = await openHouse([workerKind(effect)]);
    await house.supervisor.spawn('worker', { id: 'w' });
  };
  const go = (input: Json = null) => house.supervisor.ask('worker', 'w', { type: 'go', input });
  const worker = async () => seen(await house.supervisor.get('worker', 'w'));
  const outbox = () => house.mortal.page({ gte: 'o/', lt: 'o/\x7f' });
  afterEach(() => house.stop());

  describe('that are keyed', () => {
    it('run once, with their input, and bring their result', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go({ a: 1 });
      await house.environment.settle();
      expect(calls.map(({ input, key }) => [input, key])).to.deep.equal([[{ a: 1 }, 'worker/w/2.0']]);
      calls[0]?.resolve({ b: 2 });
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', results: [{ b: 2 }] });
      expect(await outbox()).to.deep.equal([]);
    });

    it('run again after a crash, under the same key', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      expect(calls.map(({ input, key }) => [input, key])).to.deep.equal([
        ['x', 'worker/w/2.0'],
        ['x', 'worker/w/2.0'],
      ]);
      calls[1]?.resolve('second');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ results: ['second'] });
    });

    it('bring their result once when the process dies around the commit of it', async () => {
      for (const when of ['before', 'after'] as const) {
        const { effect, calls } = puppet('at-least-once');
        await open(effect);
        await go('x');
        await house.environment.settle();
        house.mortal.dieAt(1, when);
        calls[0]?.resolve('first');
        await house.mortal.death;
        await house.crash();
        await house.environment.settle();
        calls[1]?.resolve('second');
        await house.environment.settle();
        expect((await worker())['results']).to.deep.equal([when === 'before' ? 'second' : 'first']);
        expect(calls).to.have.length(when === 'before' ? 2 : 1);
        if (when === 'before') await house.stop();
      }
    });

    it('are in flight until they have settled, well or badly, and no longer', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      for (const end of ['resolve', 'reject', 'leave'] as const) {
        await go(1);
        await house.environment.settle();
        expect(house.supervisor.status.effects).to.equal(1);
        const call = calls.at(-1);
        if (end === 'leave') await house.supervisor.ask('worker', 'w', { type: 'leave' });
        if (end === 'reject') call?.reject(new Error('no'));
        else call?.resolve('yes');
        await house.environment.settle();
        expect(house.supervisor.status.effects).to.equal(0);
      }
    });

    it('reject into onError, with name, message and code', async () => {
      await open({
        guarantee: 'at-least-once',
        run: async () => {
          throw Object.assign(new Error('no luck'), { code: 'E_LUCK' });
        },
      });
      await go();
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', errors: ['no luck'] });
    });

    it('that throw at once reject, and those that return no promise are done', async () => {
      await open({
        guarantee: 'at-least-once',
        run: (input: unknown) => {
          if (input === 'throw') throw new Error('at once');
          return 'plain' as never;
        },
      });
      await go('throw');
      await house.environment.settle();
      await go('plain');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', errors: ['at once'], results: ['plain'] });
    });

    it('that answer what is no JSON reject instead of vanishing', async () => {
      await open({
        guarantee: 'at-least-once',
        run: async () => {
          const round: Record<string, unknown> = {};
          round['self'] = round;
          return round;
        },
      });
      await go();
      await house.environment.settle();
      expect(await worker()).to.include({ state: 'idle' });
      expect((await worker())['errors']).to.have.length(1);
    });

    // What a far side or a program said can be nested as deep as its length allows: the actor then stood
    // still for ever.
    it('that answer what is nested too deep to be kept reject, too', async () => {
      await open({
        guarantee: 'at-least-once',
        run: async (depth: unknown) =>
          JSON.parse(`${'['.repeat(Number(depth))}${']'.repeat(Number(depth))}`) as Json,
      });
      for (const depth of [201, 4_000, 100_000, 100]) {
        await go(depth);
        await house.environment.settle();
      }
      const { state, errors, results } = (await worker()) as unknown as {
        state: string;
        errors: string[];
        results: unknown[];
      };
      expect([state, errors, results.length]).to.deep.equal([
        'idle',
        Array.from({ length: 3 }, () => 'The outcome is nested deeper than 200.'),
        1,
      ]);
    });

    // What libraries reject with is not always an error: one that refers to itself, such as a response with its request,
    // could not be told, and the actor waited for ever
    it('reject with whatever it is that they were rejected with', async () => {
      const circle: { self?: object } = {};
      circle.self = circle;
      const given = [circle, 10n, Symbol('s'), Object.create(null), undefined, 'text', { status: 502 }];
      await open({
        guarantee: 'at-least-once',
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what this is about
        run: (n: unknown) => Promise.reject(given[Number(n)]),
      });
      for (const n of given.keys()) {
        await go(n);
        await house.environment.settle();
      }
      const { state, errors } = (await worker()) as unknown as { state: string; errors: string[] };
      expect([state, errors]).to.deep.equal([
        'idle',
        ['[object Object]', '10', 'unknown', '{}', 'unknown', 'text', '{"status":502}'],
      ]);
    });

    it('reject with an error whose message is cut where no commit could hold it', async () => {
      await open({ guarantee: 'at-least-once', run: () => Promise.reject(new Error('x'.repeat(40 << 20))) });
      await go(1);
      await house.environment.settle();
      const { state, errors } = (await worker()) as unknown as { state: string; errors: string[] };
      expect([state, errors[0]?.length]).to.deep.equal(['idle', 10_000]);
    });

    // The event that brought it became a dead letter, which failed again however often it was retried, and the machine,
    // which handles errors, waited for ever
    it('that answer more than a commit holds reject, too', async () => {
      await open({ guarantee: 'at-least-once', run: async () => 'x'.repeat(40 << 20) });
      await go(1);
      await house.environment.settle();
      const { state, errors } = (await worker()) as unknown as { state: string; errors: string[] };
      expect([state, errors]).to.deep.equal([
        'idle',
        ['The outcome has 41943042 characters, more than 16777216: store it elsewhere and answer where.'],
      ]);
      expect(await house.supervisor.deadLetters()).to.deep.equal([]);
    });

    it('are aborted when their state is left, and their late result is dropped', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go(1);
      await house.environment.settle();
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      const [first] = calls;
      expect([first?.context.signal.aborted, first?.context.reason()]).to.deep.equal([true, 'left']);
      expect(await outbox()).to.deep.equal([]);
      await go(2);
      await house.environment.settle();
      first?.resolve('stale');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'working', results: [] });
      calls[1]?.resolve('fresh');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', results: ['fresh'] });
    });

    it('drop a result of an earlier generation even when the state was entered again meanwhile', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go(1);
      await house.environment.settle();
      house.store.fail({ mode: 'hold' });
      const both = [house.supervisor.ask('worker', 'w', { type: 'leave' }), go(2)];
      await house.environment.settle();
      calls[0]?.resolve('of the first life');
      await house.environment.settle();
      house.store.fail(undefined);
      house.store.release();
      await Promise.all(both);
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'working', results: [] });
      calls[1]?.resolve('of the second');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ results: ['of the second'] });
    });

    it('left before a crash are not run again', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go(1);
      await house.environment.settle();
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      await house.crash();
      await house.environment.settle();
      expect(calls).to.have.length(1);
      expect(await outbox()).to.deep.equal([]);
    });
  });

  describe('that are fenced', () => {
    it('run again after a crash when they had not noted anything: they never acted', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      expect(calls.map(({ recovered }) => recovered)).to.deep.equal([undefined, undefined]);
    });

    it('recover after a crash, with their last note, and never run again', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      await calls[0]?.context.checkpoint({ pid: 2 });
      await house.crash();
      await house.environment.settle();
      expect(calls.slice(1).map(({ recovered, input, key }) => [recovered, input, key])).to.deep.equal([
        [{ pid: 2 }, 'x', 'worker/w/2.0'],
      ]);
      await house.crash();
      await house.environment.settle();
      expect(calls[2]?.recovered).to.deep.equal({ pid: 2 });
      calls[2]?.resolve('interrupted');
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', results: ['interrupted'] });
      expect(await outbox()).to.deep.equal([]);
    });

    it('recover with what an earlier recovery had noted, when that was cut off as well', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      await house.crash();
      await house.environment.settle();
      await calls[1]?.context.checkpoint({ pid: 1, told: true });
      await house.crash();
      await house.environment.settle();
      expect(calls[2]?.recovered).to.deep.equal({ pid: 1, told: true });
    });

    it('whose note was not written in time have not acted', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      house.mortal.dieAt(1, 'before');
      void calls[0]?.context.checkpoint({ pid: 1 });
      await house.mortal.death;
      await house.crash();
      await house.environment.settle();
      expect(calls[1]?.recovered).to.equal(undefined);
    });

    // A message was said to have perhaps arrived, and a step of a run failed, though neither had begun: the store had
    // refused their checkpoint for a moment. Found by the fault matrix.
    it('whose checkpoint is refused for a moment go on once it is written', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      house.store.fail({ mode: 'before' });
      let isNoted = false;
      void calls[0]?.context.checkpoint({ pid: 1 }).then(() => (isNoted = true));
      await house.environment.advance(2_000);
      expect(isNoted).to.equal(false);
      house.store.fail(undefined);
      await house.environment.advance(5_000);
      expect(isNoted).to.equal(true);
      expect(await worker()).to.deep.include({ state: 'working', errors: [] });
      await house.crash();
      await house.environment.settle();
      expect(calls[1]?.recovered).to.deep.equal({ pid: 1 });
    });

    // `after`: it was written, and no one knows
    for (const mode of ['before', 'after'] as const)
      it(`whose checkpoints overtake each other keep the last (${mode})`, async () => {
        const { effect, calls } = puppet('at-most-once');
        await open(effect);
        await go('x');
        await house.environment.settle();
        house.store.fail({ mode, failAt: 1 });
        const all = [1, 2].map((pid) => calls[0]!.context.checkpoint({ pid }));
        await house.environment.advance(5_000);
        await Promise.all(all);
        await house.crash();
        await house.environment.settle();
        expect(calls[1]?.recovered).to.deep.equal({ pid: 2 });
      });

    it('stopped while their checkpoint is refused have not acted, and begin at the next start', async () => {
      const calls: string[] = [];
      await open({
        guarantee: 'at-most-once',
        recover: () => Promise.resolve(calls.push('recover')),
        run: async (_input: unknown, { checkpoint }) => {
          calls.push('run');
          await checkpoint({});
        },
      });
      house.store.fail({ mode: 'before', failAt: 2 });
      await go('x');
      await house.environment.settle();
      await house.restart();
      await house.environment.settle();
      expect(calls).to.deep.equal(['run', 'run']);
      expect(await worker()).to.deep.include({ state: 'idle', errors: [] });
    });

    it('that write a checkpoint after their end leave no row behind', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      calls[0]?.resolve('done');
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      expect(await outbox()).to.deep.equal([]);
    });

    it('left behind by a crash are cleaned up, and their outcome moves no one', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      expect(await outbox()).to.have.length(1); // until its hand has settled
      await house.crash();
      await house.environment.settle();
      expect([calls[1]?.recovered, calls[1]?.context.reason()]).to.deep.equal([{ pid: 1 }, 'left']);
      calls[1]?.resolve('cleaned');
      await house.environment.settle();
      expect(await outbox()).to.deep.equal([]);
      expect(await worker()).to.deep.include({ state: 'idle', results: [] });
    });

    // The rest of an abandoned turn and the next one would work in one folder at the same time.
    it('left behind by a crash are cleaned up before the same actor acts again', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('left');
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      await go('awaited');
      await house.environment.settle();
      calls.length = 0;
      await house.crash();
      await house.environment.settle();
      expect(calls.map(({ input, recovered }) => [input, recovered])).to.deep.equal([['left', { pid: 1 }]]);
      calls[0]?.resolve('cleaned');
      await house.environment.settle();
      expect(calls.map(({ input, recovered }) => [input, recovered])).to.deep.equal([
        ['left', { pid: 1 }],
        ['awaited', undefined],
      ]);
    });

    it('left before they noted anything leave no row behind', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      await house.crash();
      await house.environment.settle();
      expect(calls).to.have.length(1);
      expect(await outbox()).to.deep.equal([]);
    });

    // Both have the same name in the machine: only the generation tells which of them is awaited.
    it('left before a crash are not begun again because the same effect was entered again', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('left');
      await house.environment.settle();
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      await go('awaited');
      await house.environment.settle();
      expect(await outbox()).to.have.length(2);
      calls.length = 0;
      await house.crash();
      await house.environment.settle();
      expect(calls.map(({ input }) => input)).to.deep.equal(['awaited']);
      expect(await outbox()).to.have.length(1);
    });

    // It lay there until the next start, which let the effect recover that had long been over. Found by the
    // simulation.
    it('left while they run give up their row, however long the store could not write', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go();
      await house.environment.settle();
      await calls[0]?.context.checkpoint({ pid: 1 });
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      house.store.fail({ mode: 'before' });
      calls[0]?.resolve('late');
      await house.environment.advance(2_000);
      expect(await outbox()).to.have.length(1);
      house.store.fail(undefined);
      await house.environment.advance(1_000);
      expect(await outbox()).to.deep.equal([]);
    });

    it('left while they run give up their row once they have settled', async () => {
      const { effect, calls } = puppet('at-most-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      await house.supervisor.ask('worker', 'w', { type: 'leave' });
      calls[0]?.reject(new Error('aborted'));
      await house.environment.settle();
      expect(await outbox()).to.deep.equal([]);
      expect(await worker()).to.deep.include({ state: 'idle', errors: [] });
    });
  });

  describe('may use', () => {
    it('send: a durable event to the own actor, after whose commit it goes on', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go();
      await house.environment.settle();
      await calls[0]?.context.send({ type: 'heard', what: 'half' });
      expect(await worker()).to.deep.include({ state: 'working', results: ['half'] });
    });

    it('send: rejects when the event could not be written, so that the hand does not go on as if it had been', async () => {
      let sent: string | undefined;
      await open({
        guarantee: 'at-least-once',
        run: async (_input, { send }) => {
          house.store.fail({ mode: 'before' });
          sent = await send({ type: 'heard', what: 'x' } as never).then(
            () => 'written',
            (error: { code?: string }) => error.code,
          );
          house.store.fail(undefined);
        },
      });
      await go();
      await house.environment.settle();
      expect(sent).to.equal('STORE_UNAVAILABLE');
      expect((await worker())['results']).to.not.include('x');
    });

    it('rows: the youngest of a collection, oldest first, as a conversation is read', async () => {
      let read: unknown;
      house = await openHouse([
        counterWithEffect({
          guarantee: 'at-least-once',
          run: async (_input, { rows }) => {
            read = [await rows('notes'), await rows('notes', { last: 2 })];
          },
        }),
      ]);
      await house.supervisor.spawn('notes', { id: 'n' });
      for (const text of ['one', 'two', 'three'])
        await house.supervisor.ask('notes', 'n', { type: 'note', text });
      await house.supervisor.ask('notes', 'n', { type: 'read' });
      await house.environment.settle();
      const [one, two, three] = ['one', 'two', 'three'].map((text) => ({ text }));
      expect(read).to.deep.equal([
        [one, two, three],
        [two, three],
      ]);
    });

    it('rows and steps of a store that is away for a moment: they wait for it', async () => {
      const done: unknown[] = [];
      await open({
        guarantee: 'at-least-once',
        run: async (_input, { step, rows }) => {
          done.push(await step('one', () => 1));
          done.push(await rows('notes'));
          return 'all';
        },
      });
      house.store.fail({ mode: 'before', failAt: 2 });
      await go();
      await house.environment.advance(5_000);
      expect(done).to.deep.equal([1, []]);
      expect(await worker()).to.deep.include({ results: ['all'], errors: [] });
    });

    // An effect of an earlier life begins while its supervisor still starts: there must be one to act through.
    it('supervisor: the one that runs it, also for an effect that goes on after a crash', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go();
      await house.environment.settle();
      expect(calls[0]?.context.supervisor).to.equal(house.supervisor);
      await house.crash();
      await house.environment.settle();
      expect(calls[1]?.context.supervisor).to.equal(house.supervisor);
      expect(await calls[1]?.context.supervisor.get('worker', 'w')).to.have.property('id', 'w');
    });

    it('onEvent: what the machine sends to it, in order, past a listener that throws', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go();
      await house.environment.settle();
      const got: string[] = [];
      calls[0]?.context.onEvent(() => {
        throw new Error('deaf');
      });
      calls[0]?.context.onEvent(({ type }) => got.push(type));
      await house.supervisor.ask('worker', 'w', { type: 'poke' });
      await house.supervisor.ask('worker', 'w', { type: 'poke' });
      await house.environment.settle();
      expect(got).to.deep.equal(['poked', 'poked']);
      expect(house.faults.join()).to.match(/threw in its listener: deaf/);
    });

    it('progress: ephemeral frames, past a listener that throws', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      const frames: unknown[] = [];
      house.supervisor.onProgress(() => {
        throw new Error('blind');
      });
      const off = house.supervisor.onProgress(({ event, payload }) => {
        frames.push([event, payload]);
      });
      await go();
      await house.environment.settle();
      calls[0]?.context.progress('delta', { text: 'a' });
      off();
      calls[0]?.context.progress('delta', { text: 'b' });
      expect(frames).to.deep.equal([['delta', { text: 'a' }]]);
      expect(await house.log()).to.have.length(2);
    });
  });

  describe('at a stop', () => {
    it('that ignore the abort do not hold it up past its deadline', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      const stopped = house.supervisor.stop({ drainMs: 2_000 });
      await house.environment.advance(1_999);
      expect(house.supervisor.status.state).to.equal('draining');
      await house.environment.advance(1);
      await stopped;
      expect([calls[0]?.context.reason(), house.supervisor.status.state]).to.deep.equal([
        'stopping',
        'stopped',
      ]);
      calls[0]?.resolve('too late');
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      expect(calls).to.have.length(2);
      calls[1]?.resolve('again');
      await house.environment.settle();
      expect((await worker())['results']).to.deep.equal(['again']);
    });

    it('that reject because of it run again at the next start', async () => {
      const calls: string[] = [];
      await open({
        guarantee: 'at-least-once',
        run: (input: unknown, { signal }: EffectContext) =>
          new Promise((_resolve, reject) => {
            calls.push(String(input));
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          }),
      });
      await go('x');
      await house.environment.settle();
      await house.restart();
      await house.environment.settle();
      expect(calls).to.deep.equal(['x', 'x']);
      expect(await worker()).to.deep.include({ state: 'working', errors: [] });
    });

    it('that finish their work in time are written', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      await go('x');
      await house.environment.settle();
      const stopped = house.supervisor.stop();
      calls[0]?.resolve('just in time');
      await stopped;
      await house.crash();
      expect(await worker()).to.deep.include({ state: 'idle', results: ['just in time'] });
      expect(calls).to.have.length(1);
    });

    it('that recover tell what they found out, too: it is not to be found out again', async () => {
      const recoveries: string[] = [];
      await open({
        guarantee: 'at-most-once',
        run: async (_input: unknown, { checkpoint: note }: EffectContext) => {
          await note({ acting: true });
          return new Promise(() => undefined);
        },
        recover: async (_input, _note, { signal }) => {
          recoveries.push('begun');
          if (!signal.aborted)
            await new Promise((resolve) => {
              signal.addEventListener('abort', resolve);
            });
          return 'found out';
        },
      });
      await go('x');
      await house.environment.settle();
      await house.crash();
      await house.environment.settle();
      expect(recoveries).to.have.length(1);
      await house.restart();
      await house.environment.settle();
      expect(recoveries).to.have.length(1);
      expect(await worker()).to.deep.include({ state: 'idle', results: ['found out'] });
    });

    it('whose start is written while the supervisor stops begin at the next start, not now: no one would wait for them', async () => {
      const { effect, calls } = puppet('at-least-once');
      await open(effect);
      house.store.fail({ mode: 'hold' });
      const asked = go('x');
      await house.environment.settle();
      const stopped = house.supervisor.stop();
      await house.environment.settle();
      house.store.fail(undefined);
      house.store.release();
      await Promise.all([asked, stopped]);
      expect(calls).to.have.length(0);
      await house.crash();
      await house.environment.settle();
      expect(calls.map(({ input }) => input)).to.deep.equal(['x']);
    });

    // Ending agents was most of the silence that clients meet where another node takes over
    it('are ended by `rest` while events are answered, and what those ask for begins at the next start', async () => {
      const calls: string[] = [];
      await open({
        guarantee: 'at-least-once',
        run: (input: unknown, { signal }: EffectContext) =>
          new Promise((_resolve, reject) => {
            calls.push(String(input));
            signal.addEventListener('abort', () => {
              reject(signal.reason as Error);
            });
          }),
      });
      await go('x');
      await house.environment.settle();
      await house.supervisor.rest();
      expect(house.supervisor.status.effects).to.equal(0);
      await house.supervisor.spawn('worker', { id: 'v' });
      const answer = await house.supervisor.ask('worker', 'v', { type: 'go', input: 'y' });
      expect(seen(answer)).to.deep.include({ state: 'working' });
      await house.environment.settle();
      expect(calls).to.deep.equal(['x']);
      await house.restart();
      await house.environment.settle();
      expect(calls.toSorted()).to.deep.equal(['x', 'x', 'y']);
    });

    it('that are fenced and had noted nothing begin at the next start: they had not acted, and it is no failure', async () => {
      const calls: unknown[] = [];
      await open({
        guarantee: 'at-most-once',
        recover: async () => 'recovered',
        run: (input: unknown, { signal }) =>
          new Promise((_resolve, reject) => {
            calls.push(input);
            signal.addEventListener('abort', () => {
              reject(new Error('no place was free'));
            });
          }),
      });
      await go('x');
      await house.environment.settle();
      await house.restart();
      await house.environment.settle();
      expect(calls).to.deep.equal(['x', 'x']);
      expect(await worker()).to.deep.include({ state: 'working', results: [], errors: [] });
    });

    it('that are fenced, had acted and failed have failed: there is nothing to recover', async () => {
      let recoveries = 0;
      await open({
        guarantee: 'at-most-once',
        recover: async () => {
          recoveries += 1;
          return 'recovered';
        },
        run: async (_input: unknown, { checkpoint: note, signal }) => {
          await note({ acting: true });
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          throw new Error('broken off');
        },
      });
      await go('x');
      await house.environment.settle();
      await house.restart();
      await house.environment.settle();
      expect(recoveries).to.equal(0);
      expect(await worker()).to.deep.include({ state: 'idle', results: [], errors: ['broken off'] });
    });

    it('that had acted tell their honest outcome', async () => {
      await open({
        guarantee: 'at-most-once',
        recover: async () => 'recovered',
        run: async (_input: unknown, { checkpoint: note, signal }: EffectContext) => {
          await note({ acting: true });
          await new Promise((resolve) => {
            signal.addEventListener('abort', resolve);
          });
          return 'interrupted';
        },
      });
      await go('x');
      await house.environment.settle();
      await house.restart();
      await house.environment.settle();
      expect(await worker()).to.deep.include({ state: 'idle', results: ['interrupted'] });
    });
  });
});

/** Keeps notes, and has a hand that reads them. */
function counterWithEffect(read: AtLeastOnceEffect): Kind {
  const machine = setup({
    types: { context: {} as { n: number }, events: {} as { type: 'note'; text: string } | { type: 'read' } },
    actors: { read: effect<Json, Json>() },
  }).createMachine({
    id: 'notes',
    context: { n: 0 },
    initial: 'open',
    states: {
      open: {
        on: {
          note: {
            actions: [
              assign({ n: ({ context }) => context.n + 1 }),
              emit(({ context, event }) => writeRow('notes', context.n, { text: event.text })),
            ],
          },
          read: 'reading',
        },
      },
      reading: { invoke: { src: 'read', input: null, onDone: 'open' } },
    },
  });
  const kind: Kind<typeof machine> = {
    kind: 'notes',
    version: 1,
    machine,
    effects: { read },
    view: (snapshot) => snapshot.value,
  };
  return kind as unknown as Kind;
}
