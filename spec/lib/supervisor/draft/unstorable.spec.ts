import { expect } from 'chai';
import { assign, emit, enqueueActions, raise, setup } from 'xstate';
import type { Kind } from '../../../../actors/contracts.js';
import { effect, writeRow, sendToActor, type Json } from '../../../../machines/outputs.js';
import { openHouse, rejection, seen, type House } from '../../../fixtures/house.js';
import { counterKind } from '../../../fixtures/kinds.js';

/**
 * What cannot be stored fails the event that asked for it, where it is decided. Some of it used to be found
 * out only while a group was written: the process ended, with the events of everybody else in that group.
 */
const loop: Record<string, unknown> = { type: 'rang' };
loop['self'] = loop;
class Money {
  constructor(readonly cents: number) {}
}
const odd: Record<string, () => unknown> = {
  bigint: () => 1n,
  cycle: () => loop,
  function: () => () => 1,
  map: () => new Map([['a', 1]]),
  set: () => new Set([1]),
  buffer: () => Buffer.from('x'),
  bytes: () => new Uint8Array(2),
  instance: () => new Money(5),
  symbol: () => Symbol('x'),
  date: () => new Date(0),
  fine: () => ({ a: [1, { b: null }] }),
};

type What = { readonly what: string };
const value = ({ event }: { event: unknown }): unknown => odd[(event as What).what]?.();
const machine = setup({
  types: { context: {} as { kept: unknown; n: number }, events: {} as { type: string } & What },
  actors: { deed: effect<Json, Json>() },
}).createMachine({
  id: 'odd',
  context: { kept: null, n: 0 },
  initial: 'idle',
  on: {
    delay: {
      actions: raise((args) => ({ type: 'rang', what: 'fine', value: value(args) }) as never, { delay: 50 }),
    },
    rang: { actions: assign({ kept: ({ event }) => (event as never as { value: unknown }).value }) },
    keep: { actions: emit(((args: never) => writeRow('rows', 1, { value: value(args) } as never)) as never) },
    bare: { actions: emit(((args: never) => writeRow('rows', 1, value(args) as never)) as never) },
    tell: {
      actions: emit(((args: never) =>
        sendToActor({ kind: 'odd', id: 'other' }, { type: 'rang', value: value(args) } as never)) as never),
    },
    frame: { actions: emit(((args: never) => ({ type: 'seen', value: value(args) })) as never) },
    hold: { actions: assign({ kept: (args) => ({ inner: [value(args)] }) }) },
    add: { actions: assign({ n: ({ context }) => context.n + 1 }) },
    many: {
      actions: enqueueActions(({ enqueue, event }) => {
        for (let n = 0; n < Number(event.what); n += 1)
          enqueue.emit(sendToActor({ kind: 'odd', id: 'other' }, { type: 'add', what: '' }) as never);
      }),
    },
    work: { target: '.working' },
    end: { target: '.ended' },
  },
  states: {
    idle: {},
    working: { invoke: { src: 'deed', id: 'deed', input: value as never, onDone: 'idle' } },
    ended: { type: 'final' },
  },
  output: value as never,
});
const oddKind = (): Kind =>
  ({
    kind: 'odd',
    version: 1,
    machine,
    effects: { deed: { guarantee: 'at-least-once', run: async () => 'done' } },
    view: ({ context }: { context: { n: number } }) => ({ n: context.n }),
    index: ({ context }: { context: { kept: { row?: unknown } | null } }) =>
      context.kept?.row === undefined ? [] : [{ index: 'all', key: '1', row: context.kept.row }],
  }) as unknown as Kind;

describe('what cannot be stored', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([oddKind(), counterKind()]);
    for (const id of ['a', 'other']) await house.supervisor.spawn('odd', { id });
    await house.supervisor.spawn('counter', { id: 'c' });
  });
  afterEach(() => house.stop());
  const send = (type: string, what: string) => house.supervisor.ask('odd', 'a', { type, what });

  for (const type of ['delay', 'keep', 'bare', 'tell', 'frame', 'work', 'hold'])
    it(`fails its own event and nothing beside it (${type})`, async () => {
      for (const what of ['bigint', 'cycle', 'function', 'instance', 'buffer', 'symbol']) {
        if (type === 'hold' && what === 'bigint') continue; // a context may hold those
        const beside = house.supervisor.ask('counter', 'c', { type: 'add', n: 1 });
        expect((await rejection(send(type, what))).message, what).to.match(/threw on/);
        expect(await beside, what).to.not.have.property('code');
        await house.supervisor.resume({ kind: 'odd', id: 'a' }, { type: 'operator' });
      }
      expect(seen(await house.supervisor.ask('odd', 'a', { type: 'add', what: '' }))).to.include({ n: 1 });
    });

  it('is named with the path of the member', async () => {
    const messages = [];
    for (const [type, what] of [
      ['hold', 'buffer'],
      ['hold', 'instance'],
      ['keep', 'map'],
      ['tell', 'function'],
    ] as const)
      messages.push((await rejection(send(type, what))).message.replace(/^.*?: /, ''));
    expect(messages).to.deep.equal([
      'context.kept.inner[0] is an instance of Buffer, which cannot be stored; use plain JSON instead',
      'context.kept.inner[0] is an instance of Money, which cannot be stored; use plain JSON instead',
      'row.value is an instance of Map, which cannot be stored; use plain JSON instead',
      'message.value is a function, which cannot be stored; use plain JSON instead',
    ]);
  });

  it('is no more than what JSON would lose: dates go as text, everything plain as it is', async () => {
    for (const type of ['delay', 'keep', 'tell', 'frame', 'work'])
      for (const what of ['date', 'fine']) expect(await send(type, what)).to.not.have.property('code');
    await house.environment.advance(1_000);
    expect(house.faults).to.deep.equal([]);
    const [row] = await house.supervisor.rows({ kind: 'odd', id: 'a' }, 'rows');
    expect(row?.row).to.deep.equal({ value: { a: [1, { b: null }] } });
  });

  it('is more than 10,000 messages in one step: so many are delivered, one more fails the event', async () => {
    await send('many', '10000');
    await house.environment.settle();
    expect(seen(await house.supervisor.get('odd', 'other'))).to.include({ n: 10_000 });
    const beside = house.supervisor.ask('counter', 'c', { type: 'add', n: 1 });
    expect((await rejection(send('many', '10001'))).message).to.match(/at most 10000 messages/);
    expect(await beside).to.not.have.property('code');
  }).timeout(180_000);

  it('is a row that is longer than a frame of the store could ever be', async () => {
    odd['long'] = () => 'x'.repeat(33 << 20);
    const beside = house.supervisor.ask('counter', 'c', { type: 'add', n: 1 });
    expect((await rejection(send('keep', 'long'))).message).to.match(/at most \d+ characters/);
    expect(await beside).to.not.have.property('code');
  });

  it('lets go of the actors of a plan whose result cannot be remembered', async () => {
    const plan = (key: string, result: unknown) =>
      house.supervisor.transact({
        name: 'plan',
        actors: [{ kind: 'odd', id: 'a' }],
        idempotency: { key, scope: 'spec', hash: 'h' },
        run: () => result as Json,
      });
    for (const what of ['bigint', 'cycle', 'map', 'instance'])
      expect((await rejection(plan(what, { it: odd[what]?.() }))).message, what).to.match(/"plan" threw/);
    expect(seen(await send('add', ''))).to.include({ n: 1 });
    expect(await plan('fine', { it: 1 })).to.deep.include({ result: { it: 1 } });
  });

  it('is not half written by a plan that goes on after a step threw', async () => {
    const plan = house.supervisor.transact({
      name: 'stubborn',
      actors: [{ kind: 'odd', id: 'a' }],
      run: (tx) => {
        try {
          tx.send({ kind: 'odd', id: 'a' }, { type: 'hold', what: 'function' });
        } catch {
          // and on it goes
        }
        tx.send({ kind: 'odd', id: 'a' }, { type: 'add', what: '' });
        return null;
      },
    });
    expect((await rejection(plan)).message).to.match(/a step threw, and the transaction continued/);
    expect(seen(await send('add', ''))).to.include({ n: 1 });
  });

  it('is refused as an input, as it is in an event', async () => {
    for (const what of ['bigint', 'cycle', 'date', 'map'])
      expect(
        await house.supervisor.spawn('odd', { id: 'new', input: { it: odd[what]?.() } as never }),
        what,
      ).to.include({ code: 'BAD_REQUEST' });
    expect(await house.supervisor.ask('odd', 'a', { type: 'add', what: '', more: loop } as never)).to.include(
      { code: 'BAD_REQUEST' },
    );
  });

  it('comes back from an effect as its error', async () => {
    const errors: unknown[] = [];
    for (const [id, output] of Object.entries({ a: new Map([['a', 1]]), other: Buffer.from('x') })) {
      await house.restart([
        { ...oddKind(), effects: { deed: { guarantee: 'at-least-once', run: async () => output } } },
      ]);
      await house.supervisor.ask('odd', id, { type: 'work', what: 'fine' });
      await house.environment.settle();
      const [entry] = await house.supervisor.history({ kind: 'odd', id });
      errors.push((entry?.event as { error?: { message: string } } | undefined)?.error?.message);
    }
    expect(errors).to.deep.equal([
      'output is an instance of Map, which cannot be stored; use plain JSON instead',
      'output is an instance of Buffer, which cannot be stored; use plain JSON instead',
    ]);
  });
});
