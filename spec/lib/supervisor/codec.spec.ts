import { expect } from 'chai';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { decodeState, encodeState, isPlain } from '../../../lib/supervisor/codec.js';
import { assign, setup } from 'xstate';
import type { Kind, Persisted } from '../../../actors/contracts.js';
import { defineKind } from '../../../lib/supervisor/define-kind.js';
import { openHouse } from '../../fixtures/house.js';

const trip = (context: unknown): unknown => decodeState(JSON.parse(encodeState({ value: 'a', context } as Persisted))).context;

const member = fc.string({ maxLength: 6 }).filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name));
const rich = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 },
    fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined), fc.date({ noInvalidDate: true }), fc.constantFrom(NaN, Infinity, -Infinity),
    fc.array(tie('value'), { maxLength: 4 }), fc.dictionary(member, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)), fc.array(fc.string(), { maxLength: 3 }).map((items) => new Set(items))),
})).value;

describe('the codec of snapshots', () => {
  it('brings back whatever a host keeps in a context', () => {
    fc.assert(fc.property(fc.dictionary(member, rich, { maxKeys: 5, noNullPrototype: true }), (context) => { expect(trip(context)).to.deep.equal(context); }), { numRuns: 500 });
  });

  it('keeps what is plain JSON as plain JSON', () => {
    fc.assert(fc.property(fc.dictionary(member, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }), (context) => {
      fc.pre(isDeepStrictEqual(context, JSON.parse(JSON.stringify(context)))); // JSON has no -0
      expect(encodeState({ value: 'a', context } as Persisted)).to.equal(JSON.stringify({ value: 'a', context }));
    }));
  });

  it('keeps a zero below zero, which JSON would lose: an awake actor and the same one read from disk must not differ', () => {
    const back = trip({ n: -0, deep: [{ n: -0 }] }) as { n: number; deep: { n: number }[] };
    expect([Object.is(back.n, -0), Object.is(back.deep[0]?.n, -0)]).to.deep.equal([true, true]);
  });

  it('tells plain from rich', () => {
    for (const plain of [{}, { a: [1, 'x', null, { b: true }] }, Object.create(null)]) expect(isPlain(plain)).to.equal(true);
    for (const odd of [new Date(), new Map(), new Set(), { a: undefined }, [undefined], { a: NaN }, 1n, () => 1, Symbol('x'), new (class Odd {})()]) expect(isPlain(odd)).to.equal(false);
  });

  it('lets dates, maps and sets of a host live through sleep, crash and time travel', async () => {
    type Rich = { when: Date; who: Map<string, Set<string>>; maybe: string | undefined };
    const machine = setup({ types: { context: {} as Rich, events: {} as { type: 'meet'; name: string } } }).createMachine({
      id: 'rich', context: { when: new Date(5), who: new Map(), maybe: undefined },
      on: { meet: { actions: assign({ when: ({ event }) => new Date((event as unknown as { at: number }).at), who: ({ context, event }) => new Map([...context.who, [event.name, new Set([event.name, 'x'])]]) }) } },
    });
    const kind = defineKind({ kind: 'rich', version: 1, machine, view: ({ context }) => ({ names: [...context.who.keys()], at: context.when.getTime(), maybe: 'maybe' in context }) }) as unknown as Kind;
    const house = await openHouse([kind]);
    await house.supervisor.spawn('rich', { id: 'r' });
    await house.supervisor.ask('rich', 'r', { type: 'meet', name: 'Ada' });
    await house.crash();
    await house.supervisor.ask('rich', 'r', { type: 'meet', name: 'Eve' });
    const { context } = await house.supervisor.handle('rich', 'r').wake() as { context: Rich };
    expect(context).to.deep.equal({ when: new Date(house.world.now()), who: new Map([['Ada', new Set(['Ada', 'x'])], ['Eve', new Set(['Eve', 'x'])]]), maybe: undefined });
    expect((await house.supervisor.past({ kind: 'rich', id: 'r' }, 2))?.view).to.deep.equal({ names: ['Ada'], at: house.world.now(), maybe: true });
    await house.stop();
  });
});
