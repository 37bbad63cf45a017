import { expect } from 'chai';
import * as xstate from 'xstate6';
import { z } from 'zod';
import type { Kind } from '../../../../actors/contracts.js';
import { machineOf } from '../../../../lib/inspector/machines.js';
import { durableKinds5 } from '../../../fixtures/durable-5.js';
import { durableKinds6, v6 } from '../../../fixtures/durable-6.js';
import { openHouse, rejection, seen, type House } from '../../../fixtures/house.js';

const { setup, types, createAsyncLogic, createCallbackLogic } = xstate;

describe('a kind of XState 6', () => {
  let house: House;
  afterEach(() => house.stop());

  describe('whose async logic has steps', () => {
    const runs: string[] = [];
    let finish = (): void => undefined;
    const kind = v6.defineKind({
      kind: 'load',
      version: 1,
      machine: setup({
        schemas: { context: types<{ got: string }>(), events: { leave: types<{}>(), go: types<{}>() } },
        actors: {
          load: createAsyncLogic({
            run: async (_: unknown, enq) => {
              const one = await enq.step('one', () => {
                runs.push('one');
                return 'one';
              });
              const [two] = await Promise.all([
                enq.step('two', async () => {
                  runs.push('two');
                  await new Promise<void>((resolve) => (finish = resolve));
                  return 'two';
                }),
                enq.step('two', () => 'never: the same step is under way'),
              ]);
              await enq
                .step('bad', () => {
                  runs.push('bad');
                  throw Object.assign(new Error('no'), { code: 'EBAD' });
                })
                .catch((error: unknown) => runs.push(String((error as { code: string }).code)));
              return `${one} ${two}`;
            },
          }),
        },
      }).createMachine({
        id: 'load',
        context: { got: '' },
        initial: 'loading',
        states: {
          loading: {
            invoke: {
              src: 'load',
              onDone: ({ event }) => ({ target: 'loaded', context: { got: event.output } }),
            },
            on: { leave: { target: 'loaded' } },
          },
          loaded: { on: { go: { target: 'loading' } } },
        },
      }),
      view: ({ context }) => context,
    });
    beforeEach(async () => {
      runs.length = 0;
      house = await openHouse([kind] as unknown as readonly Kind[]);
      await house.supervisor.spawn('load', { id: 'l' });
      await house.environment.settle();
    });
    const outbox = async (): Promise<readonly string[]> =>
      (await house.store.page({ gte: 'o/', lt: 'o0', limit: 10 })).map(([, value]) => value);

    it('runs no step again whose outcome is stored, and again what a crash cut off', async () => {
      expect(runs).to.deep.equal(['one', 'two']);
      await house.crash();
      await house.environment.settle();
      expect(runs).to.deep.equal(['one', 'two', 'two']);
      finish();
      await house.environment.settle();
      expect(runs).to.deep.equal(['one', 'two', 'two', 'bad', 'EBAD']);
      expect(seen(await house.supervisor.get('load', 'l'))).to.deep.equal({ got: 'one two' });
      expect(await outbox(), 'its journal went with its result').to.deep.equal([]);
      expect(house.faults).to.deep.equal([]);
    });

    // A step that ended late wrote the journal of an effect that no one waits for any more.
    it('leaves nothing behind where its state was left meanwhile', async () => {
      await house.supervisor.ask('load', 'l', { type: 'leave' });
      finish();
      await house.environment.settle();
      expect(await outbox()).to.deep.equal([]);
      await house.supervisor.ask('load', 'l', { type: 'go' });
      await house.environment.settle();
      expect(runs, 'and another run begins with a journal of its own').to.deep.equal([
        'one',
        'two',
        'one',
        'two',
      ]);
    });
  });

  it('checks events and input by the schemas of its machine, before anything is stored', async () => {
    const kind = v6.defineKind({
      kind: 'strict',
      version: 1,
      machine: setup({
        schemas: {
          context: types<{ total: number }>(),
          input: z.object({ from: z.number() }),
          events: { add: z.object({ n: z.number() }), loose: types<{ n: number }>() },
        },
      }).createMachine({
        id: 'strict',
        context: ({ input }) => ({ total: input.from }),
        on: { add: ({ context, event }) => ({ context: { total: context.total + event.n } }) },
      }),
      view: ({ context }) => context,
    });
    house = await openHouse([kind] as unknown as readonly Kind[]);
    const { supervisor } = house;
    expect(await supervisor.spawn('strict', { id: 's', input: { from: 'a' } })).to.include({
      code: 'BAD_REQUEST',
    });
    await supervisor.spawn('strict', { id: 's', input: { from: 1 } });
    expect(await supervisor.ask('strict', 's', { type: 'add', n: 'two' } as never)).to.deep.include({
      code: 'BAD_REQUEST',
    });
    expect(seen(await supervisor.ask('strict', 's', { type: 'add', n: 2 } as never))).to.deep.equal({
      total: 3,
    });
  });

  it('is refused with every fault of its machine', async () => {
    house = await openHouse([]);
    const machine = setup({
      actors: { follow: createCallbackLogic(() => undefined) },
    }).createMachine({
      id: 'm',
      initial: 'a',
      states: { a: { invoke: [{ src: 'follow' }, { src: createAsyncLogic({ run: async () => 1 }) }] } },
    });
    expect(() => v6.defineKind({ kind: 'm', version: 1, machine, view: () => null }))
      .to.throw('neither async logic, nor an effect, nor a child kind')
      .with.property('message')
      .that.includes('inline logic');
  });

  it('has children of its own major only', async () => {
    house = await openHouse([]);
    const acts = { done: [], steps: [] };
    const [, parent] = durableKinds6(acts);
    const [, , child, grandchild] = durableKinds5(acts);
    const error = await rejection(openHouse([parent, child, grandchild] as readonly Kind[]));
    expect(String(error)).to.include('XState 6').and.to.include('a child is of the major of its parent');
  });

  // XState 6 names what `why` reads in another way: it threw for every actor of such a kind.
  it('says why it is where it is, awake and asleep', async () => {
    house = await openHouse(durableKinds6({ done: [], steps: [] }));
    const actor = { kind: 'desk', id: 'd' };
    await house.supervisor.spawn('desk', { id: 'd' });
    await house.supervisor.ask('desk', 'd', { type: 'set', ms: 50 });
    await house.supervisor.ask('desk', 'd', { type: 'nap' });
    const why = async () => {
      const { next = [], timers = [] } = (await house.supervisor.why(actor, { type: 'operator' })) ?? {};
      return [next.map(({ event }) => event), timers.map(({ name }) => name).sort()];
    };
    const expected = [
      ['burst', 'notify', 'put', 'ring', 'set', 'unset', 'work'],
      ['100', 'alarm'],
    ];
    expect(await why()).to.deep.equal(expected);
    await house.crash();
    expect(await why()).to.deep.equal(expected);
    expect(await house.supervisor.ask('desk', 'd', { type: 'finish' })).to.include({ code: 'CONFLICT' });
  });

  it('names no guard where a transition has none by name', async () => {
    house = await openHouse([
      v6.defineKind({
        kind: 'gate',
        version: 1,
        machine: setup({}).createMachine({
          id: 'gate',
          initial: 'shut',
          states: { shut: { on: { open: () => undefined } } },
        }),
        view: () => null,
      }),
    ] as unknown as readonly Kind[]);
    await house.supervisor.spawn('gate', { id: 'g' });
    expect(await house.supervisor.ask('gate', 'g', { type: 'open' })).to.include({
      message:
        'The gate g does not accept "open" now: its statechart allows it in shut only if a guard passes.',
    });
  });

  it('is drawn, listed and told apart like any other', async () => {
    house = await openHouse(durableKinds6({ done: [], steps: [] }));
    const answer = machineOf(house.supervisor.inspection, 'desk');
    expect(answer?.chart.root.states.map(({ key }) => key)).to.deep.equal([
      'awake',
      'napping',
      'working',
      'finished',
    ]);
    expect(answer?.chart.edges.map(({ type }) => type)).to.include('nap');
    await house.supervisor.spawn('desk', { id: 'd' });
    await house.supervisor.ask('desk', 'd', { type: 'put', n: 1 });
    const actor = { kind: 'desk', id: 'd' };
    const past = await house.supervisor.past(actor, house.supervisor.status.position);
    expect(JSON.stringify(past)).to.include('"put":[1]');
  });
});
