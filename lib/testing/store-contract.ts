import { expect, needChaiAndMocha } from './assertions.js';
import { sealEntry } from '../store/chain.js';
import { StoreError, type Group, type Op, type Store } from '../store/contract.js';
import { keys, prefix } from '../store/keys.js';

/**
 * What every store must do, as mocha cases. A store of your own is right when `storeContract('my store', ()
 * => openMyStore())` passes; `open` answers a new, empty store each time. Throws where `chai` is not
 * installed.
 * @example storeContract('my store', async () => memoryStore());
 */
export function storeContract(name: string, open: () => Promise<Store>): void {
  needChaiAndMocha();
  describe(`${name} keeps the store contract`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    it('stands at position 0 when empty', async () => {
      expect(store.head).to.deep.equal({ seq: 0, chain: '' });
      expect(store.state).to.deep.equal({ state: 'ready' });
      expect(await store.get('a/x/1')).to.equal(undefined);
      expect(await store.page({})).to.deep.equal([]);
    });

    it('reads back a group whole and moves the head', async () => {
      const group = groupAfter(store.head, 2, [
        ['a/x/1', '{"n":1}'],
        ['a/x/2', '{"n":2}'],
      ]);
      await store.write(group);
      expect(store.head).to.deep.equal({ seq: 2, chain: group.chain });
      expect(await store.get('a/x/1')).to.equal('{"n":1}');
      expect(await store.getMany(['a/x/2', 'a/x/none', 'a/x/1'])).to.deep.equal([
        '{"n":2}',
        undefined,
        '{"n":1}',
      ]);
    });

    it('overwrites and deletes, the last op of a key winning within a group', async () => {
      await store.write(
        groupAfter(store.head, 1, [
          ['a/x/1', '1'],
          ['a/x/2', '2'],
          ['a/x/3', '3'],
        ]),
      );
      await store.write(
        groupAfter(store.head, 1, [
          ['a/x/1', '"new"'],
          ['a/x/2', null],
          ['a/x/3', null],
          ['a/x/3', '"back"'],
        ]),
      );
      expect(await store.getMany(['a/x/1', 'a/x/2', 'a/x/3'])).to.deep.equal(['"new"', undefined, '"back"']);
    });

    it('takes groups without log entries and leaves the head where it was', async () => {
      await store.write(groupAfter(store.head, 1, []));
      const before = store.head;
      await store.write({
        first: before.seq + 1,
        last: before.seq,
        chain: before.chain,
        ops: [['k/a/b', '{}']],
      });
      expect(store.head).to.deep.equal(before);
      expect(await store.get('k/a/b')).to.equal('{}');
      await store.write({
        first: before.seq + 1,
        last: before.seq,
        chain: 'x'.repeat(43),
        ops: [['k/a/c', '{}']],
      });
      expect(store.head, 'whatever chain they name').to.deep.equal(before);
      await store.write(groupAfter(before, 1, []));
    });

    it('applies groups in call order without waiting for each', async () => {
      let head = store.head;
      const writes: Promise<void>[] = [];
      for (let n = 1; n <= 50; n += 1) {
        const group = groupAfter(head, 1, [
          ['a/x/last', String(n)],
          [`a/x/${String(n).padStart(2, '0')}`, String(n)],
        ]);
        head = { seq: group.last, chain: group.chain };
        writes.push(store.write(group));
      }
      await Promise.all(writes);
      expect(store.head).to.deep.equal(head);
      expect(await store.get('a/x/last')).to.equal('50');
      expect(await store.count(prefix('a/x/'))).to.equal(51);
    });

    it('refuses a group made for another position and writes nothing of it', async () => {
      await store.write(groupAfter(store.head, 3, [['a/x/1', '1']]));
      for (const first of [1, 3, 5]) {
        const error = await rejection(
          store.write({ first, last: first, chain: 'x', ops: [['a/x/1', '"wrong"']] }),
        );
        expect(error.code).to.equal('CONFLICT');
      }
      expect(store.head.seq).to.equal(3);
      expect(await store.get('a/x/1')).to.equal('1');
    });

    it('counts groups that are still under way when it judges the position', async () => {
      const one = groupAfter(store.head, 1, []);
      const two = groupAfter({ seq: one.last, chain: one.chain }, 1, []);
      const first = store.write(one);
      const twice = rejection(store.write(one));
      const second = store.write(two);
      await first;
      expect((await twice).code).to.equal('CONFLICT');
      await second;
      expect(store.head.seq).to.equal(2);
    });

    it('pages by the bytes of the key, both ways, with every kind of bound', async () => {
      const rows: Op[] = ['B', 'a', 'a-', 'a.', 'a0', 'aa', 'b'].map((text) => [
        `x/${text}`,
        JSON.stringify(text),
      ]);
      await store.write(groupAfter(store.head, 0, rows));
      const names = async (range: Parameters<Store['page']>[0]) =>
        (await store.page(range)).map(([key]) => key.slice(2)).join(' ');
      expect(await names(prefix('x/'))).to.equal('B a a- a. a0 aa b');
      expect(await names({ ...prefix('x/'), reverse: true })).to.equal('b aa a0 a. a- a B');
      expect(await names({ gt: 'x/a', lt: 'x/aa' })).to.equal('a- a. a0');
      expect(await names({ gte: 'x/a', lte: 'x/aa' })).to.equal('a a- a. a0 aa');
      expect(await names({ gt: 'x/a', lte: 'x/aa', reverse: true, limit: 2 })).to.equal('aa a0');
      expect(await names({ ...prefix('x/'), limit: 2 })).to.equal('B a');
      expect(await names({ gt: 'x/b', lt: 'x/a' })).to.equal('');
      expect(await store.count({ gt: 'x/a', lt: 'x/aa' })).to.equal(3);
    });

    // Pages go on behind the last key that was read in this way. A database that holds no such character refused it:
    // every list ended with its first page, and no version of a workflow was found.
    it('takes a bound right behind a key, with the least character there is', async () => {
      await store.write(
        groupAfter(
          store.head,
          0,
          ['a', 'a-', 'b'].map((text): Op => [`x/${text}`, '0']),
        ),
      );
      const names = async (range: Parameters<Store['page']>[0]) =>
        (await store.page(range)).map(([key]) => key.slice(2)).join(' ');
      expect(await names({ ...prefix('x/'), gte: 'x/a\x00' })).to.equal('a- b');
      expect(await names({ ...prefix('x/'), lt: 'x/a-\x00', reverse: true })).to.equal('a- a');
      expect(await names({ gt: 'x/a\x00', lte: 'x/a-\x00b' })).to.equal('a-');
      expect(await store.count({ ...prefix('x/'), gte: 'x/a-\x00' })).to.equal(1);
    });

    it('caps a page at 1,000 and pages on from its last key', async () => {
      const rows: Op[] = Array.from({ length: 2_500 }, (_, n) => [keys.row('r', 'x', '1', n), String(n)]);
      await store.write(groupAfter(store.head, 0, rows));
      const seen: string[] = [];
      const all = prefix('c/r/x/1/');
      let range: Parameters<Store['page']>[0] = all;
      for (let pages = 0; pages < 4; pages += 1) {
        const page = await store.page(range);
        expect(page.length).to.equal([1_000, 1_000, 500, 0][pages]);
        seen.push(...page.map(([, value]) => value));
        range = { gt: page.at(-1)?.[0] ?? all.lt, lt: all.lt };
      }
      expect(seen).to.deep.equal(rows.map(([, value]) => value));
      expect(await store.count(all)).to.equal(2_500);
      expect(await store.page({ ...all, keysOnly: true, limit: 2 })).to.deep.equal([
        [keys.row('r', 'x', '1', 0), ''],
        [keys.row('r', 'x', '1', 1), ''],
      ]);
      expect(await store.count({ ...all, limit: 7 })).to.equal(7);
    });

    it('passes over an offset, both ways, and answers nothing beyond the end', async () => {
      await store.write(
        groupAfter(
          store.head,
          0,
          Array.from({ length: 2_300 }, (_, n): Op => [keys.row('r', 'x', '1', n), String(n)]),
        ),
      );
      await store.write(
        groupAfter(store.head, 0, [
          [keys.row('r', 'x', '0', 7), 'a neighbour'],
          [keys.row('r', 'x', '2', 7), 'a neighbour'],
        ]),
      );
      const all = prefix('c/r/x/1/');
      const values = async (range: Parameters<Store['page']>[0]) =>
        (await store.page(range)).map(([, value]) => value).join(' ');
      expect(await values({ ...all, offset: 0, limit: 2 })).to.equal('0 1');
      expect(await values({ ...all, offset: 999, limit: 3 })).to.equal('999 1000 1001');
      expect(await values({ ...all, offset: 2_100, limit: 2 })).to.equal('2100 2101');
      expect(await values({ ...all, offset: 2_298 })).to.equal('2298 2299');
      expect(await values({ ...all, offset: 2_300 })).to.equal('');
      expect(await values({ ...all, offset: 5_000, reverse: true })).to.equal('');
      expect(await values({ ...all, offset: 2_298, reverse: true })).to.equal('1 0');
      expect(
        await values({ gt: keys.row('r', 'x', '1', 4), lte: keys.row('r', 'x', '1', 9), offset: 2 }),
      ).to.equal('7 8 9');
      expect(
        await values({
          gte: keys.row('r', 'x', '1', 4),
          lte: keys.row('r', 'x', '1', 9),
          offset: 2,
          reverse: true,
          limit: 9,
        }),
      ).to.equal('7 6 5 4');
      expect(await store.page({ ...all, offset: 1_500, keysOnly: true, limit: 1 })).to.deep.equal([
        [keys.row('r', 'x', '1', 1_500), ''],
      ]);
    });

    it('keeps long values and every character that JSON text may hold', async () => {
      const value = JSON.stringify({ text: 'Größe 漢字 🙂 \u2028 tab\t line\n', long: 'x'.repeat(200_000) });
      await store.write(groupAfter(store.head, 1, [['a/x/1', value]]));
      expect(await store.get('a/x/1')).to.equal(value);
      expect((await store.page({ gte: 'a/', lt: 'b' }))[0]?.[1]).to.equal(value);
    });

    it('finishes what it accepted before it closes', async () => {
      const write = store.write(groupAfter(store.head, 2, [['a/x/1', '1']]));
      await store.close();
      await write;
      expect(store.head.seq).to.equal(2);
    });

    it('refuses work once closed, and closes twice', async () => {
      await store.close();
      await store.close();
      expect((await rejection(store.write(groupAfter({ seq: 0, chain: '' }, 1, [])))).code).to.equal(
        'STORE_UNAVAILABLE',
      );
      expect((await rejection(store.get('a'))).code).to.equal('STORE_UNAVAILABLE');
    });
  });
}

/** A group of `entries` well-chained log entries after `head`, with further ops. */
export function groupAfter(
  head: { readonly seq: number; readonly chain: string },
  entries: number,
  ops: readonly Op[],
): Group {
  const rows: Op[] = [];
  let { seq, chain } = head;
  for (let n = 0; n < entries; n += 1) {
    seq += 1;
    const sealed = sealEntry(chain, JSON.stringify({ seq, note: `entry ${seq}` }));
    chain = sealed.chain;
    rows.push([keys.log(seq), sealed.value]);
  }
  return { first: head.seq + 1, last: seq, chain, ops: [...ops, ...rows] };
}

/** The StoreError a promise rejects with; fails the case where it does not. */
export async function rejection(promise: Promise<unknown>): Promise<StoreError> {
  const settled = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(settled).to.be.instanceOf(StoreError);
  return settled as StoreError;
}
