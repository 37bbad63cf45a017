import { expect } from 'chai';
import { poll, type Answer } from '../lib/gateway/fixture.js';
import { openClientHouse, type ClientHouse } from './fixture.js';

/** The session and search calls of clients that were written for this API, and the members they read. */
describe('clients of this API, sessions', () => {
  let house: ClientHouse;
  before(async () => void (house = await openClientHouse()));
  after(() => house.close());

  const idle = (id: string): Promise<Answer> =>
    poll(
      () => house.operator.get(`/api/sessions/${id}`),
      ({ body }) => body.status === 'idle',
    );
  const opened = async (prompt: string, more: object = {}): Promise<any> => {
    const { status, body } = await house.operator.post('/api/sessions', { prompt, ...more });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };

  it('ignores source and status when a session is created', async () => {
    const { id, source, status } = await opened('hello', { source: 'web', status: 'idle' });
    expect([source, status]).to.deep.equal(['web', 'running']);
    await idle(id);
    const spoofed = await opened('hello', { source: 'cron', status: 'done' });
    expect(spoofed.source).to.equal('web');
    const refused = await house.operator.post('/api/sessions', { prompt: 'x', approvalState: 'approved' });
    expect(refused.status).to.equal(400);
  });

  it('changes a session by PUT as by PATCH, and ignores members that it does not know', async () => {
    const { id } = await opened('rename me');
    await idle(id);
    const put = await house.operator.call('PUT', `/api/sessions/${id}`, { title: 'Put', pinned: true });
    expect([put.status, put.body.title, put.body.engine]).to.deep.equal([200, 'Put', 'pen']);
    const patch = await house.operator.call('PATCH', `/api/sessions/${id}`, { title: 'Patch', pinned: true });
    expect([patch.status, patch.body.title]).to.deep.equal([200, 'Patch']);
    expect((await house.operator.call('PUT', `/api/sessions/${id}`, { title: 7 })).status).to.equal(400);
    expect((await house.operator.call('PUT', `/api/sessions/${id}`, { pinned: true })).status).to.equal(400);
  });

  it('leaves a card of a delegation in the parent, which follows the child', async () => {
    const parent = await opened('I lead');
    await idle(parent.id);
    const { body: made } = await house.operator.post('/api/delegations', {
      task: 'Count the files',
      title: 'Count',
      employee: 'ann',
      parentSessionId: parent.id,
    });
    const card = (answer: Answer): any =>
      answer.body.messages.find(({ blocks }: any) => blocks?.[0]?.type === 'delegation')?.blocks[0];
    const dispatched = card(await house.operator.get(`/api/sessions/${parent.id}`));
    expect(dispatched).to.include({ id: `dg-${made.workItemId}`, type: 'delegation', version: 1 });
    expect(dispatched.payload).to.include({
      employee: 'ann',
      title: 'Count',
      childSessionId: made.sessionId,
      workItemId: made.workItemId,
    });
    const replied = card(
      await poll(
        () => house.operator.get(`/api/sessions/${parent.id}`),
        (answer) => card(answer)?.payload.repliedAt != null,
      ),
    );
    expect(replied.status).to.equal('succeeded');
  });

  describe('searches', () => {
    let first: string;
    let second: string;
    before(async () => {
      first = (await opened('a pelican flies')).id;
      await idle(first);
      second = (await opened('a pelican dives')).id;
      await idle(second);
    });

    it('finds messages by q as by query, and answers results', async () => {
      const { status, body } = await house.operator.get('/api/search/messages?q=pelican');
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.results).to.deep.equal(body.messages);
      expect(body.results.length).to.be.greaterThan(3);
      const { sessionId, messageId, sessionRef } = body.results[0];
      expect(sessionRef).to.deep.equal({ sessionId, ref: messageId });
      const others = await house.operator.get(`/api/search/messages?q=pelican&excludeSessionId=${second}`);
      expect(new Set(others.body.results.map((hit: any) => hit.sessionId))).to.deep.equal(new Set([first]));
      expect((await house.operator.get('/api/search/messages')).status).to.equal(400);
    });

    it('pages by offset and narrows by time', async () => {
      const all = (await house.operator.get('/api/search/messages?q=pelican')).body.results;
      const rest = (await house.operator.get('/api/search/messages?q=pelican&offset=1&limit=2')).body;
      expect(rest.results).to.deep.equal(all.slice(1, 3));
      expect(rest.nextOffset).to.equal(all.length > 3 ? 3 : null);
      const later = await house.operator.get('/api/search/messages?q=pelican&since=2999-01-01');
      expect(later.body.results).to.deep.equal([]);
      const sessions = (await house.operator.get('/api/search/sessions?q=pelican')).body;
      expect(sessions.results.map(({ id }: any) => id)).to.deep.equal([second, first]);
      expect(sessions.results[0].sessionRef).to.deep.include({ sessionId: second });
      const paged = (await house.operator.get('/api/search/sessions?q=pelican&offset=1')).body;
      expect(paged.results.map(({ id }: any) => id)).to.deep.equal([first]);
      const none = await house.operator.get('/api/search/sessions?q=pelican&until=2001-01-01');
      expect(none.body.results).to.deep.equal([]);
      await house.operator.post('/api/work-items', { title: 'Feed the pelican' });
      const items = (await house.operator.get('/api/search/work-items?q=pelican')).body;
      expect(items.results).to.deep.equal(items.workItems);
      expect(items.results).to.have.lengthOf(1);
    });

    it('shows what stands around a message', async () => {
      const { body } = await house.operator.get('/api/search/messages?q=pelican+flies&limit=1');
      const [hit] = body.results;
      const around = await house.operator.get(
        `/api/sessions/${hit.sessionId}/context?message=${hit.messageId}&radius=1`,
      );
      expect(around.status, JSON.stringify(around.body)).to.equal(200);
      expect(around.body.messages.map(({ id }: any) => id)).to.include(hit.messageId);
      expect((await house.operator.get(`/api/sessions/${hit.sessionId}/context`)).status).to.equal(400);
    });
  });

  describe('what moves', () => {
    it('sends cursor frames with a payload', async () => {
      const socket = await house.socket('/ws');
      const cursor = await socket.until(({ event }) => event === 'cursor');
      expect(cursor.payload).to.deep.equal({});
    });

    it('carries the whole Todo in company:changed', async () => {
      const socket = await house.socket('/ws');
      await socket.until(({ event }) => event === 'cursor');
      const { body } = await house.operator.post('/api/work-items', { title: 'Told', body: 'All of it.' });
      const { id } = body.workItem;
      const created = await socket.until(({ payload }) => payload?.id === id && payload.action === 'created');
      expect(created.payload.value).to.include({ id, title: 'Told', body: 'All of it.', status: 'backlog' });
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'blocked', note: 'no key' });
      const moved = await socket.until(
        ({ payload }) => payload?.id === id && payload.action === 'status-transitioned',
      );
      expect(moved.payload.value).to.include({ id, status: 'blocked', version: 2 });
    });
  });

  it('shows the session of a work item as a reference in rows', async () => {
    const { body: made } = await house.operator.post('/api/delegations', { task: 'Row', employee: 'ann' });
    const { body } = await house.operator.get('/api/work-items?limit=100');
    const row = body.workItems.find(({ id }: any) => id === made.workItemId);
    expect(row.sessionRef).to.include({ sessionId: made.sessionId });
    expect(row.sessionRef.ref).to.be.a('string');
    await idle(made.sessionId);
  });

  it('refuses an approval that is smuggled into a status move', async () => {
    const { body } = await house.operator.post('/api/work-items', { title: 'Mine' });
    const path = `/api/work-items/${body.workItem.id}/status`;
    for (const method of ['POST', 'PUT']) {
      const { status, body: refused } = await house.operator.call(method, path, {
        status: 'executing',
        approvalState: 'approved',
      });
      expect([status, refused.path], method).to.deep.equal([400, 'approvalState']);
    }
  });

  it('looks for engines again when it is asked to', async () => {
    const refreshed = await house.operator.post('/api/engines/refresh');
    expect([refreshed.status, refreshed.body.engines.pen.available]).to.deep.equal([200, true]);
    const limits = await house.operator.post('/api/engine-limits/refresh?engine=pen');
    expect([limits.status, Object.keys(limits.body.engines)]).to.deep.equal([200, ['pen']]);
  });

  it('answers 400 to input of the wrong type', async () => {
    const wrong: readonly (readonly [method: string, path: string, body: unknown])[] = [
      ['POST', '/api/sessions', { prompt: 7 }],
      ['POST', '/api/sessions', []],
      ['POST', '/api/delegations', { task: {}, employee: 'ann' }],
      ['POST', '/api/work-items', { title: ['x'] }],
      ['POST', '/api/workflow-definitions/mutate', { operation: 'create', definition: 'x' }],
      ['POST', '/api/workflow-runs/by-name', { name: 7 }],
      ['POST', '/api/workflow-events', { event: 'x', payload: [] }],
      ['PUT', '/api/sessions/none', 'x'],
    ];
    for (const [method, path, body] of wrong)
      expect((await house.operator.call(method, path, body)).status, `${method} ${path}`).to.equal(400);
  });
});
