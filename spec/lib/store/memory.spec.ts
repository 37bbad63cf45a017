import { expect } from 'chai';
import fc from 'fast-check';
import { memoryStore } from '../../../lib/store/memory.js';
import { faultyStore } from '../../../lib/store/faulty.js';
import { groupAfter, rejection, storeContract } from '../../../lib/testing/store-contract.js';

storeContract('memoryStore', async () => memoryStore());
storeContract('faultyStore without faults', async () => faultyStore(memoryStore()));

describe('memoryStore', () => {
  const key = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', '/', '~', '!') });

  it('selects the same keys as a sorted list would, whatever the range', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(key, fc.boolean()), { maxLength: 60 }),
        fc.record({ gt: key, gte: key, lt: key, lte: key, reverse: fc.boolean() }, { requiredKeys: [] }),
        async (changes, range) => {
          const store = memoryStore();
          const model = new Set<string>();
          for (const [name, present] of changes) {
            if (present) model.add(name);
            else model.delete(name);
          }
          await store.write(
            groupAfter(
              store.head,
              0,
              changes.map(([name, present]) => [name, present ? '1' : null]),
            ),
          );
          const wanted = [...model]
            .sort()
            .filter(
              (name) =>
                (range.gt === undefined || name > range.gt) &&
                (range.gte === undefined || name >= range.gte) &&
                (range.lt === undefined || name < range.lt) &&
                (range.lte === undefined || name <= range.lte),
            );
          if (range.reverse) wanted.reverse();
          expect((await store.page(range)).map(([name]) => name)).to.deep.equal(wanted);
          expect(await store.count(range)).to.equal(wanted.length);
        },
      ),
    );
  });

  it('stays in order over many thousand keys that come and go', async () => {
    const store = memoryStore();
    const names = Array.from({ length: 20_000 }, (_, n) => `a/${(n * 7_919) % 20_000}`);
    await store.write(
      groupAfter(
        store.head,
        0,
        names.map((name) => [name, name]),
      ),
    );
    await store.write(
      groupAfter(
        store.head,
        0,
        names.filter((_, n) => n % 3 === 0).map((name) => [name, null]),
      ),
    );
    const left = names.filter((_, n) => n % 3 !== 0).sort();
    const seen: string[] = [];
    for (let page = await store.page({}); page.length > 0; page = await store.page({ gt: page.at(-1)![0] }))
      seen.push(...page.map(([name]) => name));
    expect(seen).to.deep.equal(left);
  });
});

describe('faultyStore', () => {
  it('leaves nothing behind where a write fails before, and everything where it fails after', async () => {
    const store = faultyStore(memoryStore(), { failAt: 1, mode: 'before' });
    expect((await rejection(store.write(groupAfter(store.head, 1, [['a/1', '1']])))).code).to.equal(
      'STORE_UNAVAILABLE',
    );
    expect(await store.get('a/1')).to.equal(undefined);
    store.fail({ failAt: 1, mode: 'after' });
    expect((await rejection(store.write(groupAfter(store.head, 1, [['a/1', '1']])))).code).to.equal(
      'OUTCOME_UNKNOWN',
    );
    expect(await store.get('a/1')).to.equal('1');
  });

  it('holds a write until it is let go', async () => {
    const store = faultyStore(memoryStore(), { mode: 'hold' });
    const write = store.write(groupAfter(store.head, 1, [['a/1', '1']]));
    expect(await store.get('a/1')).to.equal(undefined);
    store.release();
    await write;
    expect(await store.get('a/1')).to.equal('1');
  });
});
