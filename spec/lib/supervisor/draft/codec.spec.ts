import fc from 'fast-check';
import { expect } from 'chai';
import { isDeepStrictEqual } from 'node:util';
import { decodeState, encodeState, isPlain } from '../../../../lib/supervisor/draft/codec.js';
import { assign, enqueueActions, setup } from 'xstate';
import type { Kind, Persisted } from '../../../../actors/contracts.js';
import { defineKind } from '../../../../actors/define-kind.js';
import { openHouse } from '../../../fixtures/house.js';

const trip = (context: unknown): unknown =>
  decodeState(JSON.parse(encodeState({ value: 'a', context } as Persisted))).context;

const member = fc.oneof(
  { weight: 9, arbitrary: fc.string({ maxLength: 6 }) },
  // superjson refuses these: an agent that sent one used to halt the actor that kept it
  {
    weight: 1,
    arbitrary: fc.constantFrom('constructor', 'prototype', '~constructor', '~~prototype', '__proto__'),
  },
);
const rich = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.date({ noInvalidDate: true }),
    fc.constantFrom(NaN, Infinity, -Infinity),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(member, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(fc.string(), { maxLength: 3 }).map((items) => new Set(items)),
  ),
})).value;

describe('the codec of snapshots', () => {
  it('brings back whatever a host keeps in a context', () => {
    fc.assert(
      fc.property(fc.dictionary(member, rich, { maxKeys: 5, noNullPrototype: true }), (context) => {
        expect(trip(context)).to.deep.equal(context);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps what is plain JSON as plain JSON', () => {
    fc.assert(
      fc.property(
        fc.dictionary(member, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }),
        (context) => {
          fc.pre(isDeepStrictEqual(context, JSON.parse(JSON.stringify(context)))); // JSON has no -0
          expect(encodeState({ value: 'a', context } as Persisted)).to.equal(
            JSON.stringify({ value: 'a', context }),
          );
        },
      ),
    );
  });

  it('keeps a zero below zero, which JSON would lose: an awake actor and the same one read from disk must not differ', () => {
    const back = trip({ n: -0, deep: [{ n: -0 }] }) as { n: number; deep: { n: number }[] };
    expect([Object.is(back.n, -0), Object.is(back.deep[0]?.n, -0)]).to.deep.equal([true, true]);
  });

  it('refuses what would not be read back as it is, and names the member', () => {
    class Money {
      constructor(readonly cents: number) {}
    }
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const deep: { inner?: unknown } = {};
    for (let n = 0, at = deep; n < 20_000; n += 1) at = at.inner = {};
    const failure = (value: unknown): string => {
      try {
        trip({ list: [1, { value }] });
      } catch (error) {
        return (error as Error).message;
      }
      return 'none';
    };
    const at = 'context.list[1].value';
    for (const [value, message] of [
      [Buffer.from('x'), `${at} is an instance of Buffer, which cannot be stored`],
      [new Money(1), `${at} is an instance of Money, which cannot be stored`],
      [{ more: () => 1 }, `${at}.more is a function, which cannot be stored`],
      [Symbol('x'), `${at} is a symbol, which cannot be stored`],
      [new Map([['a', new Money(1)]]), `${at}[0] is an instance of Money`],
      [new Set([Buffer.from('x')]), `${at}[0] is an instance of Buffer`],
      [new (class More extends Map {})(), `${at} is an instance of More`],
      [new TypeError('x'), `${at} is an instance of TypeError`],
      [Object.assign(new Error('x'), { code: 'E' }), `${at}.code does not survive storage`],
      [new Date(NaN), `${at} is an invalid Date`],
      [new BigInt64Array(1), `${at} is an instance of BigInt64Array`],
      [new WeakMap(), `${at} is an instance of WeakMap`],
      [Promise.resolve(), `${at} is an instance of Promise`],
      [/a(?<b>b)/.exec('ab'), `${at}`],
      // oxlint-disable-next-line no-sparse-arrays
      [[, 1], `${at}`],
      [loop, `${at}.self refers to itself`],
      [deep, 'is nested deeper than 500'],
    ] as const)
      expect(failure(value)).to.contain(message);
  });

  it('brings back the other classes that it knows', () => {
    const context = {
      bytes: new Uint8Array([1, 2]),
      pattern: /a\/b/gi,
      url: new URL('http://x/y?z'),
      error: new Error('x'),
      big: 10n,
      twice: [new Date(5), new Set([new Date(1), NaN, undefined, new Map([[{ a: 1 }, -0]])])],
    };
    expect(trip(context)).to.deep.equal(context);
    expect((trip(context) as { url: URL }).url.href).to.equal('http://x/y?z');
  });

  it('reads what was written before members could have any name', () => {
    const old = {
      '~': {
        json: { value: 'a', context: { when: '1970-01-01T00:00:00.005Z' } },
        meta: { values: { 'context.when': ['Date'] } },
      },
    };
    expect(decodeState(old)).to.deep.equal({ value: 'a', context: { when: new Date(5) } });
  });

  it('lets no member of an event halt an actor, whatever its name', async () => {
    type Bag = { bag: Record<string, unknown>; when: Date };
    const machine = setup({
      types: { context: {} as Bag, events: {} as { type: 'put'; bag: Record<string, unknown> } },
    }).createMachine({
      id: 'bag',
      context: { bag: {}, when: new Date(5) },
      on: {
        put: {
          actions: [
            assign({ bag: ({ event }) => event.bag }),
            enqueueActions(({ enqueue, event }) => {
              for (const id of Object.keys(event.bag))
                enqueue.raise({ type: 'put', bag: {} }, { id, delay: 3_600_000 });
            }),
          ],
        },
      },
    });
    const kind = defineKind({
      kind: 'bag',
      version: 1,
      machine,
      view: ({ context }) => ({ names: Object.keys(context.bag) }),
    }) as unknown as Kind;
    const house = await openHouse([kind]);
    await house.supervisor.spawn('bag', { id: 'b' });
    for (let round = 0; round < 6; round += 1)
      for (const name of ['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty']) {
        const bag = JSON.parse(`{"${name}":{"${name}":1}}`) as Record<string, unknown>;
        const answer = await house.supervisor.ask('bag', 'b', { type: 'put', bag });
        expect(answer, name).to.deep.include({ view: { names: [name] } });
        if (round === 2) await house.crash();
      }
    const stored = (await house.supervisor.inspection.stored([{ kind: 'bag', id: 'b' }]))[0];
    expect(Object.keys(stored?.timers ?? {}).sort()).to.deep.equal([
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'prototype',
      'toString',
    ]);
    expect(stored).to.include({ halted: null });
    expect(house.faults).to.deep.equal([]);
    expect((await house.supervisor.past({ kind: 'bag', id: 'b' }, 3))?.view).to.deep.equal({
      names: ['__proto__'],
    });
    await house.stop();
  });

  it('tells plain from rich', () => {
    for (const plain of [{}, { a: [1, 'x', null, { b: true }] }, Object.create(null)])
      expect(isPlain(plain)).to.equal(true);
    for (const odd of [
      new Date(),
      new Map(),
      new Set(),
      { a: undefined },
      [undefined],
      { a: NaN },
      1n,
      () => 1,
      Symbol('x'),
      new (class Odd {})(),
    ])
      expect(isPlain(odd)).to.equal(false);
  });

  it('lets dates, maps and sets of a host live through sleep, crash and time travel', async () => {
    type Rich = { when: Date; who: Map<string, Set<string>>; maybe: string | undefined };
    const machine = setup({
      types: { context: {} as Rich, events: {} as { type: 'meet'; name: string } },
    }).createMachine({
      id: 'rich',
      context: { when: new Date(5), who: new Map(), maybe: undefined },
      on: {
        meet: {
          actions: assign({
            when: ({ event }) => new Date((event as unknown as { at: number }).at),
            who: ({ context, event }) => new Map([...context.who, [event.name, new Set([event.name, 'x'])]]),
          }),
        },
      },
    });
    const kind = defineKind({
      kind: 'rich',
      version: 1,
      machine,
      view: ({ context }) => ({
        names: [...context.who.keys()],
        at: context.when.getTime(),
        maybe: 'maybe' in context,
      }),
    }) as unknown as Kind;
    const house = await openHouse([kind]);
    await house.supervisor.spawn('rich', { id: 'r' });
    await house.supervisor.ask('rich', 'r', { type: 'meet', name: 'Ada' });
    await house.crash();
    await house.supervisor.ask('rich', 'r', { type: 'meet', name: 'Eve' });
    const { context } = (await house.supervisor.handle('rich', 'r').wake()) as { context: Rich };
    expect(context).to.deep.equal({
      when: new Date(house.environment.clock.now()),
      who: new Map([
        ['Ada', new Set(['Ada', 'x'])],
        ['Eve', new Set(['Eve', 'x'])],
      ]),
      maybe: undefined,
    });
    expect((await house.supervisor.past({ kind: 'rich', id: 'r' }, 2))?.view).to.deep.equal({
      names: ['Ada'],
      at: house.environment.clock.now(),
      maybe: true,
    });
    await house.stop();
  });
});
