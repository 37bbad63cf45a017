import { expect } from 'chai';
import { operator } from '../../../machines/caller.js';
import type { ListItem } from '../../../lib/supervisor/contract.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';
import { openHouse, type House } from '../../fixtures/house.js';

describe('reading', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse([
      counterKind(),
      workerKind({ guarantee: 'at-least-once', run: () => new Promise(() => undefined) }),
    ]);
    for (let n = 0; n < 25; n += 1) await house.supervisor.spawn('counter', { id: `c${n}`, input: { n } });
  });
  afterEach(() => house.stop());
  const ids = (items: readonly ListItem[]) => items.map(({ id }) => id);
  const down = (from: number, to: number) =>
    Array.from({ length: from - to + 1 }, (_, index) => `c${from - index}`);

  it('lists in the order of the keys, forwards and backwards, page by page, from an offset, by prefix', async () => {
    const all = await house.supervisor.list('counter', { index: 'all' });
    expect(ids(all.items)).to.deep.equal(down(24, 0).reverse());
    expect(all.next).to.equal(null);
    for (const reverse of [false, true]) {
      const paged: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await house.supervisor.list('counter', {
          index: 'all',
          limit: 7,
          reverse,
          ...(after === undefined ? {} : { after }),
        });
        paged.push(...ids(page.items));
        if (page.next === null) break;
        after = page.next;
      }
      expect(paged).to.deep.equal(reverse ? down(24, 0) : down(24, 0).reverse());
    }
    expect(
      ids(
        (await house.supervisor.list('counter', { index: 'all', reverse: true, offset: 20, limit: 3 })).items,
      ),
    ).to.deep.equal(['c4', 'c3', 'c2']);
    expect((await house.supervisor.list('counter', { index: 'all', offset: 99 })).items).to.deep.equal([]);
    expect(
      ids((await house.supervisor.list('counter', { index: 'all', prefix: '00002' })).items),
    ).to.deep.equal(['c20', 'c21', 'c22', 'c23', 'c24']);
    expect((await house.supervisor.list('counter', { index: 'nothing' })).items).to.deep.equal([]);
  });

  it('moves an actor within its list with the commit that changes its key', async () => {
    await house.supervisor.ask('counter', 'c3', { type: 'add', n: 100 });
    const { items } = await house.supervisor.list('counter', { index: 'all', reverse: true, limit: 1 });
    expect(items).to.deep.equal([{ id: 'c3', key: '000103', row: 1 }]);
    expect((await house.supervisor.list('counter', { index: 'all' })).items).to.have.length(25);
  });

  it('pages the rows of a collection from either end', async () => {
    const c1 = { kind: 'counter', id: 'c1' };
    for (let n = 0; n < 12; n += 1)
      await house.supervisor.ask('counter', 'c1', { type: 'note', text: String(n) });
    await house.supervisor.ask('counter', 'c2', { type: 'note', text: 'other' });
    const ns = async (query?: object) => (await house.supervisor.rows(c1, 'notes', query)).map(({ n }) => n);
    expect(await ns()).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await ns({ last: 3 })).to.deep.equal([10, 11, 12]);
    expect(await ns({ before: 10, last: 3 })).to.deep.equal([7, 8, 9]);
    expect(await ns({ after: 9 })).to.deep.equal([10, 11, 12]);
    expect(await ns({ after: 2, limit: 2 })).to.deep.equal([3, 4]);
  });

  it('tells why: what may happen next, what stands in the way, what is waited for', async () => {
    await house.supervisor.ask('counter', 'c1', { type: 'wait', ms: 5_000 });
    const why = await house.supervisor.why({ kind: 'counter', id: 'c1' }, operator);
    expect(why?.next.map(({ event, allowed }) => [event, allowed])).to.deep.equal([['add', true]]);
    expect(why?.timers.map(({ due }) => due - house.environment.clock.monotonic())).to.deep.equal([5_000]);
    await house.supervisor.spawn('worker', { id: 'w' });
    await house.supervisor.ask('worker', 'w', { type: 'go', input: null });
    expect((await house.supervisor.why({ kind: 'worker', id: 'w' }, operator))?.effects).to.deep.equal([
      'deed',
    ]);
    expect(await house.supervisor.why({ kind: 'worker', id: 'nobody' }, operator)).to.equal(undefined);
  });
});
