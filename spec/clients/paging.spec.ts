import { expect } from 'chai';
import { placeOf } from '../../lib/commands/page-after.js';
import type { Place } from '../../lib/commands/work-items/merge-lists.js';
import { listRuns } from '../../lib/commands/workflow-runs/read-run.js';
import { poll } from '../lib/gateway/fixture.js';
import { line, noop, openClientHouse, type ClientHouse } from './fixture.js';

/**
 * Lists move while someone pages through them: by offset an item is then met twice, or missed. By cursor whatever
 * did not change its place is met once.
 */
describe('clients of this API, pages of lists that move', () => {
  let house: ClientHouse;
  before(async () => void (house = await openClientHouse()));
  after(() => house.close());

  /** All ids, a page at a time, with something done between the pages. */
  async function paged(
    path: string,
    rowsOf: (body: any) => readonly any[],
    between: () => Promise<unknown>,
  ): Promise<readonly string[]> {
    const ids: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 100; pages += 1) {
      const { status, body } = await house.operator.get(`${path}limit=7&cursor=${cursor}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      ids.push(...rowsOf(body).map(({ id, runId }) => id ?? runId));
      if (body.nextCursor === null) return ids;
      cursor = body.nextCursor;
      await between();
    }
    throw new Error('the pages never end');
  }
  const newItem = async (more: object = {}): Promise<string> =>
    (await house.operator.post('/api/work-items', { title: 'An item', ...more })).body.workItem.id;

  it('shows each work item that did not move once, while others are written', async () => {
    const still: string[] = [];
    const moving: string[] = [];
    for (let n = 0; n < 30; n += 1) {
      still.push(await newItem());
      moving.push(await newItem());
    }
    let writing = true;
    const writers = [0, 1].map(async (writer) => {
      for (let n = writer; writing; n += 2) {
        await newItem();
        await house.operator.post(`/api/work-items/${moving[n % moving.length]}/comments`, {
          text: 'Moved.',
        });
      }
    });
    const workItems = (body: any) => body.workItems;
    const met = await paged('/api/work-items?', workItems, () => Promise.resolve());
    writing = false;
    await Promise.all(writers);
    const times = (id: string): number => met.filter((one) => one === id).length;
    expect(still.filter((id) => times(id) !== 1)).to.deep.equal([]);
    for (const query of ['status=backlog&', 'source=human&status=backlog&', 'q=item&', 'since=2001-01-01&']) {
      const again = await paged(`/api/work-items?${query}`, workItems, () => newItem());
      expect(
        still.filter((id) => again.filter((one) => one === id).length !== 1),
        query,
      ).to.deep.equal([]);
    }
  });

  it('goes over from offsets to cursors, and says where the end is', async () => {
    const first = (await house.operator.get('/api/work-items?limit=3')).body;
    const by = (await house.operator.get(`/api/work-items?limit=3&cursor=${first.nextCursor}`)).body;
    const offset = (await house.operator.get('/api/work-items?limit=3&offset=3')).body;
    expect(by.workItems).to.deep.equal(offset.workItems);
    expect(by).to.deep.include({ total: offset.total, totals: offset.totals, nextOffset: null });
    const ranked = await newItem();
    await house.operator.call('PATCH', `/api/work-items/${ranked}`, { rank: 1, expectedVersion: 1 });
    const met = await paged(
      '/api/work-items?since=2001-01-01&',
      ({ workItems }) => workItems,
      () => newItem(),
    );
    expect([met[0], met.filter((id) => id === ranked).length]).to.deep.equal([ranked, 1]);
  });

  it('pages sessions of a group, of a search, and all of them', async () => {
    const still: string[] = [];
    for (let n = 0; n < 12; n += 1)
      still.push((await house.operator.post('/api/sessions', { prompt: 'rest', employee: 'ann' })).body.id);
    for (const id of still)
      await poll(
        () => house.operator.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle', // then it moves no more
      );
    for (const query of ['group=ann&', 'q=rest&', '']) {
      const between = () => house.operator.post('/api/sessions', { prompt: 'rest', employee: 'ann' });
      const met = await paged(`/api/sessions?${query}`, ({ sessions }) => sessions, between);
      for (const id of still) expect(met.filter((one) => one === id).length, query).to.equal(1);
    }
  });

  it('pages runs, of one workflow and of all', async () => {
    const trigger = { id: 't', type: 'trigger' };
    await house.operator.post('/api/workflow-definitions', {
      ...line('Many', trigger, noop('a')),
      concurrency: 8,
    });
    const start = async (): Promise<string> =>
      (await house.operator.post('/api/workflow-definitions/many/run')).body.runId;
    const still: string[] = [];
    for (let n = 0; n < 16; n += 1) still.push(await start());
    for (const path of ['/api/workflow-runs?', '/api/workflow-definitions/many/runs?']) {
      const met = await paged(path, ({ runs }) => runs, start);
      for (const id of still) expect(met.filter((one) => one === id).length, path).to.equal(1);
    }
    const first = (await house.operator.get('/api/workflow-runs?limit=3&offset=2')).body;
    const by = (await house.operator.get(`/api/workflow-runs?limit=3&cursor=${first.nextCursor}`)).body;
    expect(by.runs).to.deep.equal(
      (await house.operator.get('/api/workflow-runs?limit=3&offset=5')).body.runs,
    );
  });

  it('names no run to an agent that it does not show, also not where the next page begins', async () => {
    const theirs: string[] = [];
    for (const [title, owner] of [
      ['Anns own', 'ann'],
      ['Of another', 'bob'],
    ])
      await house.operator.post('/api/workflow-definitions', {
        ...line(String(title), { id: 't', type: 'trigger' } as { id: string }, noop('a')),
        owner,
        concurrency: 8,
      });
    const start = async (workflow: string): Promise<string> =>
      (await house.operator.post(`/api/workflow-definitions/${workflow}/run`)).body.runId;
    const own: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      own.push(await start('anns-own'));
      for (let m = 0; m < 3; m += 1) theirs.push(await start('of-another'));
    }
    const ann = { type: 'session', id: 'of-ann', employee: 'ann', ancestors: [] } as const;
    for (const limit of [1, 3]) {
      const met: string[] = [];
      for (let cursor: Place | undefined, pages = 0; pages < 50; pages += 1) {
        const query = { limit, offset: 0, cursor, scannedMax: 2 };
        const page: any = await listRuns(house.gateway.app, undefined, query, ann);
        met.push(...page.runs.map(({ runId }: { runId: string }) => runId));
        if (page.nextCursor === null) break;
        cursor = placeOf(page.nextCursor);
        expect(theirs).not.to.include(cursor?.id);
      }
      expect(met).to.have.members(own).and.have.lengthOf(own.length);
    }
  });

  it('pages what searches find: sessions, messages, work items', async () => {
    const still: string[] = [];
    const open = async (): Promise<string> =>
      (await house.operator.post('/api/sessions', { prompt: 'heron', employee: 'cat' })).body.id;
    for (let n = 0; n < 9; n += 1) still.push(await open());
    for (const id of still)
      await poll(
        () => house.operator.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle',
      );
    await house.operator.post(`/api/sessions/${still[0]}/archive`);
    const met = await paged('/api/search/sessions?q=heron&', ({ results }) => results, open);
    for (const id of still) expect(met.filter((one) => one === id).length, id).to.equal(1);
    expect(met.at(-1), 'what was put away comes last').to.equal(still[0]);

    const messages = ({ results }: any) =>
      results.map((hit: any) => ({ id: `${hit.sessionId} ${hit.messageId}` }));
    const hits = await paged('/api/search/messages?q=heron&role=user&', messages, open);
    expect(new Set(hits).size).to.equal(hits.length);
    for (const id of still) expect(hits.filter((hit) => hit.startsWith(id)).length, id).to.equal(1);

    for (let n = 0; n < 9; n += 1) await newItem({ title: `Count heron ${n}` });
    const items = await paged(
      '/api/search/work-items?q=count+heron&',
      ({ results }) => results,
      () => newItem({ title: 'Count heron late' }),
    );
    expect(new Set(items).size).to.equal(items.length);
    expect(items.length).to.be.at.least(9);
  });

  it('pages several hits in one session, also when it moves meanwhile', async () => {
    const { id } = (await house.operator.post('/api/sessions', { prompt: 'egret 0', employee: 'cat' })).body;
    const rested = () =>
      poll(
        () => house.operator.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle' && body.queueDepth === 0,
      );
    for (let n = 1; n < 5; n += 1) {
      await rested();
      await house.operator.post(`/api/sessions/${id}/message`, { message: `egret ${n}` });
    }
    await rested();
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 9; pages += 1) {
      const path: string = `/api/search/messages?q=egret&role=user&limit=2&cursor=${cursor}`;
      const { body } = await house.operator.get(path);
      seen.push(...body.results.map(({ snippet }: any) => snippet));
      cursor = body.nextCursor;
      if (pages === 0) {
        await house.operator.post(`/api/sessions/${id}/message`, { message: 'a bittern' });
        await rested();
      }
    }
    expect(seen).to.deep.equal(['egret 4', 'egret 3', 'egret 2', 'egret 1', 'egret 0']);
  });

  it('reads for an agent its own sessions and no others', async () => {
    const top = (await house.operator.post('/api/sessions', { prompt: 'ibis' })).body.id;
    const beneath: string[] = [];
    for (let n = 0; n < 3; n += 1)
      beneath.push(
        (await house.operator.post('/api/sessions', { prompt: 'ibis', parentSessionId: top })).body.id,
      );
    for (const id of [top, ...beneath])
      await poll(
        () => house.operator.get(`/api/sessions/${id}`),
        ({ body }) => body.status === 'idle' && body.queueDepth === 0,
      );
    const { supervisor } = house.gateway.app;
    const read = new Set<string>();
    const get = supervisor.get;
    Object.assign(supervisor, {
      get: (kind: string, id: string) => {
        if (kind === 'session') read.add(id);
        return get.call(supervisor, kind as 'session', id);
      },
    });
    try {
      const agent = house.agent(top);
      for (const [path, rows] of [
        ['/api/sessions', 'sessions'],
        ['/api/search/sessions', 'sessions'],
      ] as const) {
        const met: string[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const { body }: { body: any } = await agent.get(`${path}?limit=2&cursor=${cursor}`);
          met.push(...body[rows].map(({ id }: any) => id));
          cursor = body.nextCursor;
        }
        expect(met, path).to.have.members([top, ...beneath]);
      }
      await agent.get('/api/search/messages?q=ibis&includeOwnSession=true');
    } finally {
      Object.assign(supervisor, { get });
    }
    expect([...read]).to.have.members([top, ...beneath]);
  });

  it('takes a cursor wherever it takes a limit, and says where the next page begins', async () => {
    const { paths } = (await house.operator.get('/api/openapi.json')).body;
    const without: string[] = [];
    for (const [path, { get }] of Object.entries<any>(paths)) {
      const names = (get?.parameters ?? []).map(({ name }: any) => name);
      if (!names.includes('limit')) continue;
      const says = JSON.stringify(get.responses['200']).includes('nextCursor');
      if (!names.includes('cursor') || !says) without.push(path);
    }
    expect(without, 'sums, of which it shows the highest').to.deep.equal(['/api/cost/report']);
  });

  it('refuses a cursor that it did not give', async () => {
    for (const cursor of ['x', 'WzFd', 'bnVsbA', Buffer.from('[1,2]').toString('base64url')])
      for (const path of ['/api/work-items', '/api/sessions', '/api/workflow-runs'])
        expect((await house.operator.get(`${path}?cursor=${cursor}`)).status, `${path} ${cursor}`).to.equal(
          400,
        );
  });
});
