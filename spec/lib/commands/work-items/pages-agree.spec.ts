import { expect } from 'chai';
import fc from 'fast-check';
import { placeOf } from '../../../../lib/commands/page-after.js';
import { listWorkItems } from '../../../../lib/commands/work-items/list-work-items.js';
import { operator, type Caller } from '../../../../machines/caller.js';
import { openApp, type AppFixture } from '../app-fixture.js';

/**
 * One list, read three ways: by offset, by cursor, and by a plain filter over all records. Whatever is asked, by
 * whomever, they agree; each way reads other lists and other ranges of them.
 */
describe('pages of work items', function () {
  this.timeout(180_000);
  let house: AppFixture;
  const items: Item[] = [];
  interface Item {
    readonly id: string;
    readonly title: string;
    readonly body: string | null;
    readonly status: string;
    readonly assignee: string | null;
    readonly department: string | null;
    readonly source: string;
    readonly rank: number | null;
    readonly labels: readonly string[];
    readonly updatedAt: string;
  }
  const agent: Caller = { type: 'session', id: 's', employee: 'ann', ancestors: [] };

  before(async () => {
    house = await openApp();
    const { supervisor } = house.app;
    const edit = async (id: string, patch: object): Promise<void> => {
      const version = (await supervisor.get('work-item', id))?.view.version ?? 0;
      await supervisor.ask('work-item', id, { type: 'item.edit', patch, expectedVersion: version });
    };
    for (let n = 1; n <= 160; n += 1) {
      const id = `OLD-${n}`;
      await supervisor.spawn('work-item', {
        id,
        input: {
          title: `Number ${n}`,
          body: n % 5 === 0 ? 'Say Cheese' : 'no',
          acceptance: null,
          verifyPolicy: null,
          sourceRef: null,
          createdBy: 'operator',
          assignee: n % 3 === 0 ? null : (['ann', 'bob', 'd/e'][n % 4] ?? 'ann'),
          department: n % 4 === 0 ? null : `d/${n % 2}`,
          source: ['human', 'cron', 'session'][n % 3] ?? 'human',
        },
      });
      if (n % 2 === 0)
        await supervisor.ask('work-item', id, {
          type: 'item.move',
          status: n % 4 === 0 ? 'executing' : n % 3 === 0 ? 'done' : 'blocked',
          note: 'so',
        });
      if (n % 7 === 0) await edit(id, { rank: n % 5 });
      if (n % 6 === 0) await supervisor.ask('work-item', id, { type: 'item.label', add: ['red', 'to do'] });
    }
    for (let n = 1; n <= 160; n += 1)
      items.push((await supervisor.get('work-item', `OLD-${n}`))?.view as unknown as Item);
  });
  after(() => house.close());

  type Query = Readonly<Record<string, string | number | undefined>>;

  function plainly(query: Query, by: Caller): readonly string[] {
    const { since = -Infinity, until = Infinity } = query;
    const byRank = (a: number | null, b: number | null): number =>
      a === b ? 0 : a === null ? 1 : b === null ? -1 : a - b;
    return items
      .filter(
        (item) =>
          (by.type !== 'session' || item.assignee === by.employee) &&
          (['status', 'assignee', 'department', 'source'] as const).every(
            (member) => query[member] === undefined || query[member] === item[member],
          ) &&
          (query['label'] === undefined || item.labels.includes(String(query['label']))) &&
          (query['needsAttentionFor'] === undefined ||
            (item.status === 'blocked' && item.assignee === query['needsAttentionFor'])) &&
          Date.parse(item.updatedAt) >= Number(since) &&
          Date.parse(item.updatedAt) <= Number(until) &&
          `${item.id} ${item.title} ${item.body}`
            .toLowerCase()
            .includes(String(query['q'] ?? '').toLowerCase()),
      )
      .sort(
        (a, b) =>
          byRank(a.rank, b.rank) ||
          Date.parse(b.updatedAt) - Date.parse(a.updatedAt) ||
          (a.id < b.id ? -1 : 1),
      )
      .map(({ id }) => id);
  }

  // mostly not asked for: together these soon leave nothing
  const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
  const maybe = <Value>(...values: Value[]) => rarely(fc.constantFrom(...values));
  const time = rarely(fc.integer({ min: 0, max: 159 }).map((n) => Date.parse(items[n]?.updatedAt ?? '')));
  const asked = fc.record({
    status: maybe('backlog', 'assigned', 'executing', 'blocked', 'done', 'cancelled'),
    assignee: maybe('ann', 'bob', 'd/e', 'd'),
    department: maybe('d/0', 'd/1', 'd'),
    source: maybe('human', 'cron', 'session'),
    label: maybe('red', 'to do', 'to'),
    needsAttentionFor: maybe('bob', 'ann'),
    q: maybe('cheese', 'NUMBER 1', 'old-'),
    since: time,
    until: time,
  });

  it('are the same by offset, by cursor and by a plain filter, for people and for agents', async () => {
    await fc.assert(
      fc.asyncProperty(
        asked,
        fc.constantFrom<Caller>(operator, operator, agent),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 0, max: 30 }),
        async (query, by, limit, offset) => {
          const all = plainly(query, by);
          const first = await listWorkItems(house.app, { ...query, limit, offset }, by);
          const ids = (rows: readonly unknown[]): string[] => rows.map((row) => (row as Item).id);
          expect(ids(first.workItems)).to.deep.equal(all.slice(offset, offset + limit));
          expect([first.total, first.nextOffset]).to.deep.equal([
            all.length,
            offset + limit < all.length ? offset + limit : null,
          ]);
          const met = ids(first.workItems);
          for (let next = first.nextCursor; next !== null;) {
            const cursor = placeOf(next);
            const page = await listWorkItems(house.app, { ...query, limit, offset: 0, cursor }, by);
            expect([page.total, page.totals]).to.deep.equal([first.total, first.totals]);
            expect(page.workItems).to.have.lengthOf.within(1, limit);
            met.push(...ids(page.workItems));
            expect(met, 'pages without end').to.have.lengthOf.at.most(all.length);
            next = page.nextCursor;
          }
          expect(met).to.deep.equal(all.slice(offset));
        },
      ),
      { numRuns: 600 },
    );
  });

  it('hold nothing of others, wherever a cursor says to begin', async () => {
    await fc.assert(
      fc.asyncProperty(
        asked,
        fc.constantFrom<Caller>(operator, agent),
        fc.record({
          key: fc.oneof(
            fc.string({ unit: 'binary' }),
            fc.constantFrom('', '0', '1', '~', '\uffff', '../', '\0'),
          ),
          id: fc.string({ unit: 'binary' }),
        }),
        async (query, by, cursor) => {
          const page = await listWorkItems(house.app, { ...query, limit: 100, offset: 0, cursor }, by);
          const all = plainly(query, by);
          for (const row of page.workItems) expect(all).to.include((row as unknown as Item).id);
        },
      ),
      { numRuns: 300 },
    );
  });
});
