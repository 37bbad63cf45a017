import { expect } from 'chai';
import type { Kind } from '../../../../actors/contracts.js';
import { keys } from '../../../../lib/store/keys.js';
import { openHouse, type House } from '../../../fixtures/house.js';
import { counterKind } from '../../../fixtures/kinds.js';

type Rows = NonNullable<Kind['index']>;
const migrate = { 1: <Persisted>(persisted: Persisted) => persisted };
const nOf = (snapshot: unknown): number => (snapshot as { context: { n: number } }).context.n;
const parity = (snapshot: unknown): string => (nOf(snapshot) % 2 === 0 ? 'even' : 'odd');
const byN: Rows = (snapshot) => [{ index: 'n', key: String(nOf(snapshot)).padStart(4, '0') }];

/**
 * Lists and totals that a new version of a kind brings once showed the actors only that had taken a step since,
 * and what the old version had written stayed for ever.
 */
describe('lists and totals of a new version', () => {
  let house: House;
  afterEach(() => house.stop());
  const of = (more: Partial<Kind>): Kind => counterKind(more as never) as unknown as Kind;
  const old = of({
    index: (_snapshot, meta) => [{ index: 'age', key: String(meta.createdAt) }],
    totals: () => ['all'],
  });
  const next = of({ version: 2, migrate, index: byN, totals: (snapshot) => [parity(snapshot)] });

  const open = async (actors: number, kind = old): Promise<void> => {
    house = await openHouse([kind]);
    for (let n = 0; n < actors; n += 1)
      await house.supervisor.spawn('counter', { id: `c${n}`, input: { n } });
  };
  const add = (id: string, n = 1) => house.supervisor.ask('counter', id, { type: 'add', n });
  const listed = async (index = 'n'): Promise<string[]> =>
    (await house.supervisor.list('counter', { index, limit: 1_000 })).items.map(({ id }) => id);
  const rows = async (start: string): Promise<string[]> =>
    (await house.mortal.page({ gte: start, lt: `${start}\x7f`, limit: 1_000 })).map(([key]) => key);
  const totals = (): Record<string, number> => Object.fromEntries(house.supervisor.totals('counter'));
  const finish = async (left: readonly object[] = []): Promise<void> => {
    await house.environment.advance(5_000);
    const isThere = (): boolean =>
      JSON.stringify(house.supervisor.status.reindexing) === JSON.stringify(left);
    for (let looks = 0; looks < 500 && !isThere(); looks += 1) await house.environment.settle();
    expect(house.supervisor.status.reindexing).to.deep.equal(left);
  };
  const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `c${n}`);

  it('show all actors, sleeping ones, too, and no row of the old version is left', async () => {
    await open(150);
    expect(totals()).to.deep.equal({ all: 150 });
    await house.restart([next]);
    expect(house.supervisor.status.reindexing).to.deep.equal([{ kind: 'counter', done: 0, total: 150 }]);
    expect(totals()).to.deep.equal({});
    await finish();
    expect(await listed()).to.deep.equal(ids(150));
    expect(totals()).to.deep.equal({ even: 75, odd: 75 });
    expect(await rows('x/counter/age/')).to.deep.equal([]);
    expect(await house.supervisor.get('counter', 'c7')).to.include({ revision: 1 });
    await house.restart([next]);
    expect(house.supervisor.status.reindexing).to.deep.equal([]);
    expect(house.faults).to.deep.equal([]);
  });

  // A kind with an indexVersion lost its lists for a moment where the first process died within its first seconds
  it('are there at once after a new home died before its housekeeping ran', async () => {
    const kind = of({ indexVersion: 1, index: byN, totals: () => ['all'] } as Partial<Kind>);
    await open(3, kind);
    await house.restart([kind]);
    expect(house.supervisor.status.reindexing).to.deep.equal([]);
    expect(totals()).to.deep.equal({ all: 3 });
    expect(await listed()).to.deep.equal(ids(3));
  });

  it('are right for those that take a step, are created or forgotten before their turn has come', async () => {
    await open(80);
    await house.restart([of({ ...next, forgetAfterMs: 1_000 } as Partial<Kind>)]);
    await add('c1', 1_000);
    await house.supervisor.spawn('counter', { id: 'a-new', input: { n: 2_000 } });
    await house.supervisor.ask('counter', 'c3', { type: 'close' });
    expect(totals()).to.deep.equal({ even: 1, odd: 2 });
    expect(await listed()).to.deep.equal(['c3', 'c1', 'a-new']);
    await finish();
    await house.environment.advance(10_000);
    expect(await listed()).to.deep.equal([
      ...ids(80).filter((id) => id !== 'c1' && id !== 'c3'),
      'c1',
      'a-new',
    ]);
    expect(totals()).to.deep.equal({ even: 41, odd: 39 });
    await add('c0');
    expect(totals()).to.deep.equal({ even: 40, odd: 40 });
  });

  it('forget an actor that they have not come to without counting it out', async () => {
    const forgetting = of({ ...old, forgetAfterMs: 60_000 } as Partial<Kind>);
    await open(4, forgetting);
    await house.supervisor.ask('counter', 'c3', { type: 'close' });
    await house.environment.advance(10_000);
    house.store.fail(undefined);
    await house.restart([of({ ...next, forgetAfterMs: 60_000 } as Partial<Kind>)]);
    await house.environment.sleep(120_000);
    await finish();
    expect(totals()).to.deep.equal({ even: 2, odd: 1 });
    expect(await listed()).to.deep.equal(['c0', 'c1', 'c2']);
  });

  for (const at of [1, 2, 3, 5, 8, 13])
    it(`are exact when the process dies at write ${at} of the pass`, async () => {
      await open(200);
      await house.restart([next]);
      house.mortal.dieAt(at, at % 2 === 0 ? 'before' : 'after');
      await house.environment.advance(5_000);
      for (let looks = 0; looks < 20; looks += 1) await house.environment.settle();
      await house.crash([next]);
      await finish();
      expect(totals()).to.deep.equal({ even: 100, odd: 100 });
      expect(await listed()).to.deep.equal(ids(200));
      expect(await rows('x/counter/age/')).to.deep.equal([]);
    });

  // A pass was taken for ended when its last write had only been tried.
  it('are noted as complete in the life in which they are, whichever write of the pass failed before', async () => {
    for (const failAt of [1, 2, 3]) {
      await open(1);
      await house.restart([next]);
      house.store.fail({ failAt, mode: 'before' });
      for (let turns = 0; turns < 3; turns += 1) await house.environment.advance(5_000);
      expect(house.supervisor.status.reindexing).to.deep.equal([]);
      expect(await house.mortal.get(keys.meta('kernel/index/counter')), `${failAt}`).to.include(
        '"done":true',
      );
      expect(house.faults).to.include('kind could not be reindexed: injected fault');
      if (failAt < 3) await house.stop();
    }
  });

  it('are made again for a version of the lists alone, too', async () => {
    await open(10);
    await house.environment.advance(5_000);
    await house.restart([of({ indexVersion: 1, index: byN, totals: (snapshot) => [parity(snapshot)] })]);
    await finish();
    expect(await listed()).to.deep.equal(ids(10));
    expect(totals()).to.deep.equal({ even: 5, odd: 5 });
  });

  it('go on past a record that no one can read, and say so once', async () => {
    await open(3);
    await house.supervisor.stop();
    const { seq, chain } = house.store.head;
    const key = keys.actor('counter', 'c1');
    const text = (await house.store.get(key)) ?? '';
    const ops: [string, string][] = [[key, text.replace('"version":1', '"version":9')]];
    await house.store.write({ first: seq + 1, last: seq, chain, ops });
    await house.crash([next]);
    await finish([{ kind: 'counter', done: 2, total: 3 }]);
    expect(await listed()).to.deep.equal(['c0', 'c2']);
    expect(house.faults).to.have.length(2);
    expect(house.faults[0]).to.match(/^the counter c1 could not be indexed/);
    expect(house.faults[1]).to.match(/^actors are missing in lists and totals/);
  });

  // A migration that failed at some actors was repaired, and they stood in no list and no total until each took a step:
  // the pass that had passed them over was noted as done, and nothing said that anyone was missing
  it('show those that a repaired kind can read, at the next start', async () => {
    await open(100);
    const odd = (persisted: { readonly context: unknown }): typeof persisted => {
      if (nOf(persisted) % 10 === 3) throw new Error('it is odd');
      return persisted;
    };
    for (const restart of [house.restart, house.crash]) {
      await restart.call(house, [of({ ...next, migrate: { 1: odd } } as never)]);
      await finish([{ kind: 'counter', done: 90, total: 100 }]);
      expect(totals()).to.deep.equal({ even: 50, odd: 40 });
    }
    await house.restart([next]);
    await finish();
    expect(totals()).to.deep.equal({ even: 50, odd: 50 });
    expect(await listed()).to.deep.equal(ids(100));
    await house.restart([next]);
    expect(house.supervisor.status.reindexing).to.deep.equal([]);
  });

  // The snapshot was migrated: a difference to it would tell no one anything.
  it('leave the past as it was, and the next entry of the log holds the whole', async () => {
    await open(1);
    await add('c0');
    await house.restart([next]);
    await finish();
    const { position: seq } = (await add('c0')) as { position: number };
    const entry = (await house.log()).at(-1);
    expect(entry).to.include({ position: seq });
    expect(entry?.snapshot).to.have.property('whole');
    expect((await house.supervisor.past({ kind: 'counter', id: 'c0' }, seq))?.context).to.include({ n: 2 });
  });
});
