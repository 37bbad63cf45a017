import { expect } from 'chai';
import { createWorkItem } from '../../../../lib/commands/work-items/create-work-item.js';
import { listWorkItems } from '../../../../lib/commands/work-items/list-work-items.js';
import { merged } from '../../../../lib/commands/work-items/merge-lists.js';
import type { Supervisor } from '../../../../lib/supervisor/contract.js';
import { operator } from '../../../../machines/caller.js';
import { isRefusal } from '../../../../machines/refusals.js';
import { openApp, type AppFixture } from '../app-fixture.js';

describe('the totals of work items', () => {
  let house: AppFixture;
  before(async () => {
    house = await openApp();
  });
  after(() => house.close());

  const totals = async () => (await listWorkItems(house.app, { limit: 20, offset: 0 }, operator)).totals;
  const mint = async (): Promise<string> => {
    const done = await createWorkItem({ app: house.app, caller: operator }, { title: 'x' });
    if (isRefusal(done)) throw new Error(done.message);
    return done.body.id;
  };
  const move = (id: string, status: 'assigned' | 'blocked' | 'done' | 'executing') =>
    house.app.supervisor.ask('work-item', id, { type: 'item.move', status, note: 'because' });

  it('are right when counted while others write, and stay right', async () => {
    const first = await Promise.all(Array.from({ length: 60 }, mint));
    const writing = Promise.all([
      ...first.slice(0, 20).map((id) => move(id, 'executing')),
      ...Array.from({ length: 20 }, mint),
    ]);
    await totals();
    await writing;
    expect(await totals()).to.include({ backlog: 60, executing: 20 });
    for (const id of first.slice(0, 5)) await move(id, 'done');
    expect(await totals()).to.include({ backlog: 60, executing: 15, done: 5 });
    // Counted another way
    const byIndex = await listWorkItems(house.app, { source: 'human', limit: 20, offset: 0 }, operator);
    expect(byIndex.totals).to.deep.equal(await totals());
    expect(await listWorkItems(house.app, { status: 'done', limit: 3, offset: 0 }, operator)).to.include({
      total: 5,
      nextOffset: 3,
    });
  });
});

describe('listWorkItems', () => {
  let house: AppFixture;
  const items: {
    id: string;
    status: string;
    assignee: string | null;
    department: string | null;
    source: string;
    rank: number | null;
    updatedAt: string;
    title: string;
    body: string;
  }[] = [];
  const sources = ['human', 'cron', 'session'];

  before(async () => {
    house = await openApp();
    for (let n = 1; n <= 240; n += 1) {
      const id = `OLD-${n}`;
      await house.app.supervisor.spawn('work-item', {
        id,
        input: {
          title: `Number ${n}`,
          body: n % 5 === 0 ? 'Say Cheese' : 'no',
          acceptance: null,
          verifyPolicy: null,
          sourceRef: null,
          createdBy: 'operator',
          assignee: n % 3 === 0 ? null : `p${n % 4}`,
          department: n % 4 === 0 ? null : `d/${n % 2}`,
          source: sources[n % 3] ?? 'human',
        },
      });
      if (n % 2 === 0)
        await house.app.supervisor.ask('work-item', id, {
          type: 'item.move',
          status: n % 4 === 0 ? 'executing' : 'done',
          note: 'so',
        });
      if (n % 7 === 0) await rank(id, n % 5);
      const view = await house.app.supervisor.get('work-item', id);
      items.push(view?.view as unknown as (typeof items)[number]);
    }
  });
  after(() => house.close());

  const rank = async (id: string, value: number): Promise<void> => {
    const version = (await house.app.supervisor.get('work-item', id))?.view.version ?? 0;
    await house.app.supervisor.ask('work-item', id, {
      type: 'item.edit',
      patch: { rank: value },
      expectedVersion: version,
    });
  };

  /** The same query, answered from all records at once. */
  function plainly(query: Record<string, unknown>): typeof items {
    const wanted = (item: (typeof items)[number]): boolean =>
      ['status', 'assignee', 'department', 'source'].every(
        (member) => query[member] === undefined || query[member] === item[member as 'status'],
      ) &&
      (query['since'] === undefined || Date.parse(item.updatedAt) >= Number(query['since'])) &&
      (query['until'] === undefined || Date.parse(item.updatedAt) <= Number(query['until'])) &&
      (query['q'] === undefined ||
        `${item.id} ${item.title} ${item.body}`.toLowerCase().includes(String(query['q']).toLowerCase()));
    const byRank = (a: number | null, b: number | null): number =>
      a === b ? 0 : a === null ? 1 : b === null ? -1 : a - b;
    return items
      .filter(wanted)
      .sort(
        (a, b) =>
          byRank(a.rank, b.rank) ||
          Date.parse(b.updatedAt) - Date.parse(a.updatedAt) ||
          (a.id < b.id ? -1 : 1),
      );
  }

  const facets = [
    {},
    { status: 'done' },
    { assignee: 'p1' },
    { department: 'd/1' },
    { source: 'cron' },
    { status: 'executing', source: 'session' },
    { status: 'assigned', assignee: 'p1' },
    { department: 'd/0', source: 'cron' },
    { status: 'done', department: 'd/0' },
    { assignee: 'p2', department: 'd/0', source: 'cron', status: 'done' },
    { assignee: 'nobody' },
    { status: 'blocked' },
  ];

  it('answers every combination of filters as if it had read every record', async () => {
    const middle = Date.parse(items[120]?.updatedAt ?? '');
    for (const facet of facets) {
      for (const more of [
        {},
        { since: middle },
        { until: middle },
        { since: middle, until: middle + 5 },
        { since: 0, until: 1 },
        { q: 'cheese' },
        { q: 'number 1', since: middle },
      ]) {
        for (const [offset, limit] of [
          [0, 20],
          [3, 5],
          [12, 3],
          [17, 1],
          [25, 2],
          [30, 100],
          [150, 20],
        ] as const) {
          const query = { ...facet, ...more };
          const page = await listWorkItems(house.app, { ...query, offset, limit }, operator);
          const all = plainly(query);
          const where = JSON.stringify({ ...query, offset, limit });
          expect(
            page.workItems.map((item) => (item as { id: string }).id),
            where,
          ).to.deep.equal(all.slice(offset, offset + limit).map(({ id }) => id));
          expect([page.total, page.nextOffset], where).to.deep.equal([
            all.length,
            offset + limit < all.length ? offset + limit : null,
          ]);
          const counted = plainly({ ...query, status: undefined });
          for (const status of ['assigned', 'executing', 'done', 'backlog', 'blocked'])
            expect(page.totals[status], `${where} ${status}`).to.equal(
              counted.filter((item) => item.status === status).length,
            );
        }
      }
    }
  });

  it('finds by text what was written a moment ago, and no longer what was there before', async () => {
    const hits = async (q: string): Promise<number> =>
      (await listWorkItems(house.app, { q, limit: 5, offset: 0 }, operator)).total;
    expect(await hits('walrus')).to.equal(0);
    const done = await createWorkItem({ app: house.app, caller: operator }, { title: 'A Walrus' });
    if (isRefusal(done)) throw new Error(done.message);
    expect(await hits('walrus')).to.equal(1);
    await house.app.supervisor.ask('work-item', done.body.id, {
      type: 'item.edit',
      patch: { title: 'A seal' },
      expectedVersion: 1,
    });
    expect([await hits('walrus'), await hits('a seal')]).to.deep.equal([0, 1]);
  });

  it('finds what awaits someone', async () => {
    const ask = (who: string): Promise<readonly unknown[]> =>
      listWorkItems(house.app, { needsAttentionFor: who, limit: 5, offset: 0 }, operator).then(
        ({ workItems }) => workItems.map((item) => (item as { id: string }).id),
      );
    await house.app.supervisor.ask('work-item', 'OLD-1', {
      type: 'approval.request',
      requestId: 'r',
      request: 'May I?',
      target: 'p9',
    });
    await house.app.supervisor.ask('work-item', 'OLD-5', {
      type: 'item.move',
      status: 'blocked',
      note: 'so',
    });
    expect([await ask('p9'), await ask('p1'), await ask('operator')]).to.deep.equal([
      ['OLD-1'],
      ['OLD-5'],
      [],
    ]);
    await house.app.supervisor.ask(
      'work-item',
      'OLD-1',
      { type: 'approval.escalate' },
      { by: { type: 'system', part: 'spec' } },
    );
    expect(await ask('operator')).to.deep.equal(['OLD-1']);
  });
});

describe('merged', () => {
  /**
   * Lists of a made-up kind whose ranges are very uneven: what one slice holds of one lies far beyond what it
   * holds of another.
   */
  const lists: Record<string, string[]> = {
    a: Array.from({ length: 400 }, (_, n) => String(n).padStart(6, '0')),
    b: Array.from({ length: 60 }, (_, n) => String(n * 50).padStart(6, '0')),
    c: [],
    d: Array.from({ length: 30 }, (_, n) => String(2990 + n).padStart(6, '0')),
  };
  const supervisor = {
    async list(
      _kind: string,
      { prefix = '', limit = 100, after }: { prefix?: string; limit?: number; after?: string },
    ) {
      const keys = (lists[prefix.slice(0, 1)] ?? [])
        .map((order) => `${prefix}${order}`)
        .filter((key) => after === undefined || key > after)
        .slice(0, limit);
      return {
        items: keys.map((key) => ({ id: `${key.slice(2)}`, key, row: 1 })),
        next: keys.length === limit ? (keys.at(-1) ?? null) : null,
      };
    },
  } as unknown as Supervisor; // the only verb that a merge needs

  it('gives every place once and in order, however uneven the ranges are', async () => {
    const places: string[] = [];
    for await (const batch of merged(
      supervisor,
      'x',
      Object.keys(lists).map((name) => ({ index: 'i', prefix: `${name}/` })),
      5,
    ))
      places.push(...batch.map(({ key }) => key));
    expect(places).to.deep.equal([...new Set(Object.values(lists).flat())].sort());
  });
});
