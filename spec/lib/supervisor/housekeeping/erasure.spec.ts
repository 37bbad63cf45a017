import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { sessionKind } from '../../../../actors/session/kind.js';
import { blankedEntry } from '../../../../lib/store/chain.js';
import { StoreError, type Store } from '../../../../lib/store/contract.js';
import { keys } from '../../../../lib/store/keys.js';
import { openLevelStore } from '../../../../lib/store/level.js';
import { verifyStore } from '../../../../lib/store/verify.js';
import type { Limits } from '../../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../../lib/supervisor/supervisor.js';

/** The history of one actor, blanked in a log that others stand in as well. */
describe('the erased history of an actor', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'erasure-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const turn = {
    guarantee: 'at-most-once' as const,
    run: async () => ({ outcome: 'succeeded' as const, text: '' }),
    recover: async () => ({ outcome: 'succeeded' as const, text: '' }),
  };
  const open = async (wrap: (store: Store) => Store = (store) => store, limits: Partial<Limits> = {}) =>
    createSupervisor({
      limits,
      kinds: [sessionKind({ turn })],
      store: wrap(await openLevelStore({ directory: join(folder, 'store') })),
    });
  type House = Awaited<ReturnType<typeof open>>;
  const input = (title: string) => ({
    engine: 'pen',
    model: null,
    effort: null,
    employee: null,
    parentSessionId: null,
    ancestors: [],
    workItemId: null,
    title,
    cwd: folder,
    source: 'web',
    sourceRef: null,
    interruptOnNewMessage: true,
    turnDeadlineMs: 60_000,
  });
  async function furnish(house: House): Promise<void> {
    for (const id of ['s1', 's2'])
      await house.spawn('session', { id, by: operator, input: input(`secret of ${id}`) });
    for (let n = 0; n < 500; n += 1)
      for (const id of ['s1', 's2'])
        await house.ask(
          'session',
          id,
          { type: 'session.patch', title: `secret ${n} of ${id}` },
          { by: operator },
        );
    await house.ask('session', 's1', { type: 'session.patch', title: 'nothing' }, { by: operator });
  }
  const historyOf = (house: House, id: string) => house.history({ kind: 'session', id }, { limit: 1_000 });

  // What could not be erased held the actor's turn for ever: no event reached it before a restart.
  it('lets an actor go on that could not be marked', async () => {
    const wide = await open();
    await wide.spawn('session', { id: 's1', by: operator, input: input('short') });
    await wide.stop();
    const narrow = await open(undefined, { snapshotBytesMax: 100 });
    const actor = { kind: 'session', id: 's1' };
    const problems = [
      await narrow.retention.erase(actor, operator).catch(String),
      await narrow
        .ask('session', 's1', { type: 'session.patch', title: 'more' }, { by: operator })
        .catch(String),
    ];
    for (const problem of problems)
      expect(problem).to.match(/at most 100 are allowed|could not be processed|Fault/);
    await narrow.stop();
    const again = await open();
    expect((await again.get('session', 's1'))?.view).to.include({ title: 'short' });
    expect(await again.retention.erase(actor, operator)).to.be.a('number');
    await again.stop();
  });

  it('keeps places, times and the chain, and nothing that was said', async () => {
    const house = await open();
    await furnish(house);
    const before = await historyOf(house, 's1');
    expect(await house.retention.erase({ kind: 'session', id: 's1' }, operator)).to.equal(502);
    const after = await historyOf(house, 's1');
    expect(after.slice(1).map(({ position, at, chain }) => [position, at, chain])).to.deep.equal(
      before.map(({ position, at, chain }) => [position, at, chain]),
    );
    expect(JSON.stringify(after)).not.to.include('secret');
    expect(JSON.stringify(await historyOf(house, 's2'))).to.include('secret 499 of s2');
    expect(await house.past({ kind: 'session', id: 's1' }, after[5]?.position ?? 0)).to.equal(undefined);
    const now = await house.past({ kind: 'session', id: 's1' }, after[0]?.position ?? 0);
    expect(now?.context).to.include({ title: 'nothing' });
    await house.ask('session', 's1', { type: 'session.patch', title: 'more' }, { by: operator });
    const unknown = await house.retention.erase({ kind: 'session', id: 'nobody' }, operator);
    expect(isRefusal(unknown) && unknown.code).to.equal('NOT_FOUND');
    await house.stop();
    expect((await verifyStore(join(folder, 'store'))).faults).to.deep.equal([]);
  });

  // The youngest entries are kept in memory while anybody watches; who came back was told from there what was erased.
  it('is not told to who watches from the beginning, while another watches, nor by a reader in the middle', async () => {
    const house = await open();
    const ended = new AbortController();
    const told: string[] = [];
    const other = (async () => {
      for await (const { position } of house.watch({ signal: ended.signal })) told.push(String(position));
    })();
    await furnish(house);
    const slow = house.watch({ since: 0, signal: ended.signal })[Symbol.asyncIterator]();
    expect(JSON.stringify((await slow.next()).value)).to.include('secret of s1');
    try {
      await house.retention.erase({ kind: 'session', id: 's1' }, operator);
      const { position } = house.status;
      for (const late of [house.watch({ since: 0, signal: ended.signal })[Symbol.asyncIterator](), slow]) {
        const seen: string[] = [];
        for (let at = 0; at < position;) {
          const { value } = (await late.next()) as { value: { position: number } };
          at = value.position;
          seen.push(JSON.stringify(value));
        }
        expect(seen.filter((text) => /secret (of s1|\d+ of s1)/.test(text))).to.deep.equal([]);
        expect(seen.filter((text) => text.includes('of s2')).length).to.be.at.least(500);
      }
    } finally {
      ended.abort();
      await other;
      await house.stop();
    }
    expect(told).to.have.lengthOf(house.status.position);
  });

  it('is blanked to its end by the next start where this one could not', async () => {
    let isFull = false;
    const house = await open(
      (store) =>
        new Proxy(store, {
          get(target, member) {
            const value = Reflect.get(target, member) as unknown;
            if (member !== 'write') return typeof value === 'function' ? value.bind(target) : value;
            return (group: Parameters<Store['write']>[0]) => {
              const blanks = group.ops.filter(([, text]) => text?.includes('kernel.blank')).length;
              if (isFull && blanks > 0) return Promise.reject(new StoreError('STORE_UNAVAILABLE', 'full'));
              isFull ||= blanks > 0;
              return target.write(group);
            };
          },
        }),
    );
    await furnish(house);
    await house.retention.erase({ kind: 'session', id: 's1' }, operator).then(
      () => expect.fail('the second slice could not be written'),
      () => undefined,
    );
    expect(JSON.stringify(await historyOf(house, 's1'))).to.include('secret');
    await house.stop();
    const next = await open();
    while (JSON.stringify(await historyOf(next, 's1')).includes('secret'))
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await next.stop();
    expect((await verifyStore(join(folder, 'store'))).faults).to.deep.equal([]);
  });

  // the one who reaches the disk could otherwise blank what they did
  it('is damage where nothing in the log says that it was erased', async () => {
    const house = await open();
    await furnish(house);
    await house.stop();
    const store = await openLevelStore({ directory: join(folder, 'store') });
    const entry = (await store.get(keys.log(7))) ?? '';
    const { head } = store;
    await store.write({
      first: head.seq + 1,
      last: head.seq,
      chain: head.chain,
      ops: [[keys.log(7), blankedEntry(entry)]],
    });
    await store.close();
    expect((await verifyStore(join(folder, 'store'))).faults.join()).to.include(
      'entry 7 of the log is blank',
    );
  });
});
