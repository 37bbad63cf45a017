import { expect } from 'chai';
import { assign, emit, raise, sendTo, setup, spawnChild, stopChild } from 'xstate';
import type { EffectContext, Kind } from '../../../../actors/contracts.js';
import { effect, writeRow, type Json } from '../../../../machines/outputs.js';
import { openHouse, rejection, type House } from '../../../fixtures/house.js';
import { childKind } from '../../../fixtures/kinds.js';

/**
 * What the kernel keeps of effects, timers and children while they live, and what is left of them when they
 * have ended.
 */
const machine = setup({
  types: {
    context: {} as { rang: number; ended: string[] },
    events: {} as
      | { type: 'both' }
      | { type: 'through' }
      | { type: 'alarm'; ms: number }
      | { type: 'ring' }
      | { type: 'adopt' }
      | { type: 'twice' }
      | { type: 'family' }
      | { type: 'dismiss' }
      | { type: 'end' }
      | { type: 'poke' }
      | { type: 'write'; text: string | null },
  },
  actors: { deed: effect<Json, Json>(), helper: effect<Json, Json>(), house: effect<Json, Json>() },
  delays: { given: ({ event }) => (event as { ms: number }).ms },
}).createMachine({
  id: 'host',
  context: { rang: 0, ended: [] },
  initial: 'idle',
  on: {
    alarm: { actions: raise({ type: 'ring' }, { id: 'alarm', delay: 'given' as never }) },
    ring: { actions: assign({ rang: ({ context }) => context.rang + 1 }) },
    adopt: { actions: spawnChild('helper', { id: 'kid', input: { name: 'kid' } }) },
    family: { actions: spawnChild('house', { id: 'family', input: {} }) },
    dismiss: { actions: stopChild('family') },
    twice: {
      actions: [spawnChild('deed', { id: 'same', input: 1 }), spawnChild('deed', { id: 'same', input: 2 })],
    },
    write: {
      actions: emit((({ event }: { event: { text: string | null } }) =>
        writeRow('pages', 1, event.text)) as never),
    },
    end: '.over',
    'xstate.done.actor.kid': {
      actions: assign({
        ended: ({ context, event }) => [...context.ended, (event as unknown as { actorId: string }).actorId],
      }),
    },
  } as never, // XState's types do not know the end events of spawned children
  states: {
    idle: { on: { both: 'both', through: 'through' } },
    both: {
      type: 'parallel',
      states: {
        one: { invoke: { id: 'one', src: 'deed', input: 'one' } },
        two: { invoke: { id: 'two', src: 'deed', input: 'two' } },
      },
      on: { poke: { actions: sendTo('one', { type: 'poked' }) } },
    },
    through: { invoke: { id: 'passed', src: 'deed', input: 'passed' }, always: 'idle' },
    over: { type: 'final' },
  },
});

describe('what a step asks for', () => {
  let house: House;
  let runs: { input: unknown; context: EffectContext; resolve(output: Json): void }[];
  beforeEach(async () => {
    runs = [];
    const deed = {
      guarantee: 'at-least-once',
      run: (input: unknown, context: EffectContext) =>
        new Promise<Json>((resolve) => {
          runs.push({ input, context, resolve });
        }),
    } as const;
    const base = {
      version: 1,
      machine,
      effects: { deed },
      view: ({ context, value }: { context: Json; value: Json }) => ({ ...(context as object), value }),
    };
    const kinds = [
      { ...base, kind: 'host', childKinds: { helper: 'child', house: 'inner' } },
      { ...base, kind: 'inner', childKinds: { helper: 'child', house: 'inner' } },
    ];
    house = await openHouse([...(kinds as unknown as Kind[]), childKind()]);
    await house.supervisor.spawn('host', { id: 'h' });
  });
  afterEach(() => house.stop());
  const send = (type: string, more: object = {}) => house.supervisor.ask('host', 'h', { type, ...more });
  const rows = async (start: string) =>
    (await house.mortal.page({ gte: start, lt: `${start}\x7f` })).map(([key]) => key);
  const last = async () => (await house.supervisor.history({ kind: 'host', id: 'h' }, { limit: 1 }))[0];
  const why = () => house.supervisor.why({ kind: 'host', id: 'h' }, { type: 'operator' });

  it('keeps apart the effects that one step starts: both run, and both after a crash', async () => {
    await send('both');
    await house.environment.settle();
    expect(runs.map(({ input }) => input)).to.deep.equal(['one', 'two']);
    await house.crash();
    await house.environment.settle();
    expect(runs.map(({ input }) => input)).to.deep.equal(['one', 'two', 'one', 'two']);
  });

  it('has no effect in flight once it has ended, in a state that goes on, too', async () => {
    await send('both');
    await house.environment.settle();
    expect((await why())?.effects).to.deep.equal(['deed', 'deed']);
    runs[0]?.resolve('done');
    await house.environment.settle();
    expect((await why())?.effects).to.deep.equal(['deed']);
    expect((await last())?.effects).to.deep.equal([]); // it was not left: it ended
    expect(await rows('o/')).to.have.length(1);
  });

  describe('of an actor that is halted', () => {
    const halt = async () => {
      for (let failures = 0; failures < 6; failures += 1) await rejection(send('twice'));
    };
    const resume = () => house.supervisor.resume({ kind: 'host', id: 'h' }, { type: 'operator' });
    beforeEach(async () => {
      await send('both');
      await house.environment.settle();
      await halt();
    });

    it('keeps the results of all its effects apart until a person lets it go on, over a crash, too', async () => {
      for (const run of runs) run.resolve('done');
      await house.environment.settle();
      expect([await rows('o/'), (await rows('i/')).length]).to.deep.equal([[], 2]);
      await house.crash();
      await resume();
      await house.environment.settle();
      expect([runs.length, (await why())?.effects, await rows('i/')]).to.deep.equal([2, [], []]);
    });

    it('keeps a result that came while the store could not write', async () => {
      house.store.fail({ failAt: 1, mode: 'before' });
      runs[0]?.resolve('done');
      await house.environment.settle();
      expect([(await rows('o/')).length, await rows('i/')]).to.deep.equal([2, []]);
      await house.environment.advance(1_000);
      expect([(await rows('o/')).length, (await rows('i/')).length]).to.deep.equal([1, 1]);
      await resume();
      await house.environment.settle();
      expect([runs.length, (await why())?.effects]).to.deep.equal([2, ['deed']]);
    });
  });

  it('never runs an effect that was entered and left within one step', async () => {
    await send('through');
    await house.environment.settle();
    expect(runs).to.deep.equal([]);
    expect([(await why())?.effects, await rows('o/')]).to.deep.equal([[], []]);
    await house.crash();
    await house.environment.settle();
    expect(runs).to.deep.equal([]);
  });

  it('refuses a second effect under the name of one that runs: it would go on unseen', async () => {
    expect((await rejection(send('twice'))).message).to.match(/"same" already exists/);
    await house.environment.settle();
    expect([runs, await rows('o/')]).to.deep.equal([[], []]);
  });

  it('has one row of a timer that was set again, and none of one that rang', async () => {
    await send('alarm', { ms: 1_000 });
    await send('alarm', { ms: 5_000 });
    expect(await rows('t/')).to.have.length(1);
    await house.environment.advance(5_000);
    expect(await why()).to.deep.include({ timers: [] });
    expect(await rows('t/')).to.deep.equal([]);
  });

  it('takes a delay that is no whole number for the next one', async () => {
    await send('alarm', { ms: 0.25 });
    await house.environment.advance(1);
    expect((await house.supervisor.get('host', 'h'))?.view).to.include({ rang: 1 });
    expect(house.faults).to.deep.equal([]);
  });

  it('erases the row of a wish to keep nothing: what a person erased must not lie on the disk as an empty page', async () => {
    await send('write', { text: 'secret' });
    expect(await house.supervisor.rows({ kind: 'host', id: 'h' }, 'pages')).to.deep.equal([
      { n: 1, row: 'secret' },
    ]);
    await send('write', { text: null });
    expect(await rows('c/')).to.deep.equal([]);
  });

  // A resumption arms the timers of the record again.
  it('rings a timer once, also for an actor that failed and was resumed after it', async () => {
    await send('alarm', { ms: 1_000 });
    await house.environment.advance(1_000);
    for (let failures = 0; failures < 6; failures += 1) await rejection(send('twice'));
    await house.supervisor.resume({ kind: 'host', id: 'h' }, { type: 'operator' });
    await house.environment.advance(60_000);
    expect((await house.supervisor.get('host', 'h'))?.view).to.include({ rang: 1 });
  });

  it("frees a child's name when it has ended", async () => {
    for (const again of [false, true]) {
      await send('adopt');
      await house.environment.settle();
      const kid =
        (await rows('p/host/h/child/')).map((key) => key.split('/')[4] ?? '').at(again ? -1 : 0) ?? '';
      await house.supervisor.ask('child', kid, { type: 'finish', output: 'x' });
      await house.environment.settle();
    }
    expect((await house.supervisor.get('host', 'h'))?.view).to.deep.include({ ended: ['kid', 'kid'] });
    expect(house.faults).to.deep.equal([]);
  });

  it('ends a child that is halted when its parent lets it go, instead of keeping it for ever', async () => {
    await send('family');
    await house.environment.settle();
    const inner = (await rows('a/inner/')).map((key) => key.split('/')[2] ?? '')[0] ?? '';
    for (let failures = 0; failures < 6; failures += 1)
      await rejection(house.supervisor.ask('inner', inner, { type: 'twice' }));
    expect((await house.supervisor.get('inner', inner))?.meta.halted).to.not.equal(null);
    await send('dismiss');
    await house.environment.settle();
    expect(await house.supervisor.get('inner', inner)).to.include({ status: 'done' });
    expect(await rows('i/')).to.deep.equal([]);
  });

  it('ends with an actor all that it had begun, also where its parent stopped it: effects, timers, children', async () => {
    await send('family');
    await house.environment.settle();
    const inner = (await rows('a/inner/')).map((key) => key.split('/')[2] ?? '')[0] ?? '';
    const ask = (type: string, more: object = {}) => house.supervisor.ask('inner', inner, { type, ...more });
    await ask('both');
    await ask('alarm', { ms: 86_400_000 });
    await ask('adopt');
    await house.environment.settle();
    expect([runs.length, (await rows('o/')).length, (await rows('t/')).length]).to.deep.equal([2, 2, 1]);
    const kid = (await rows('a/child/')).map((key) => key.split('/')[2] ?? '')[0] ?? '';
    await send('dismiss');
    await house.environment.settle();
    expect(await house.supervisor.get('inner', inner)).to.include({ status: 'done' });
    expect(runs.map(({ context }) => context.signal.aborted)).to.deep.equal([true, true]);
    expect([await rows('o/'), await rows('t/')]).to.deep.equal([[], []]);
    expect(await house.supervisor.get('child', kid)).to.include({ status: 'done' });
  });
});
