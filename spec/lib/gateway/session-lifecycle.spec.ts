import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openHouse, operatorToken, poll, type House } from './fixture.js';

/** What people do with whole sessions, over HTTP. */
describe('the care of sessions', () => {
  let house: House;
  before(async () => {
    house = await openHouse({ withRoster: true });
  });
  after(() => house.close());

  const at = (id: string, path = '') => `/api/sessions/${id}${path}`;
  const read = async (id: string) => (await house.operator.get(at(id))).body;
  async function open(body: object = {}): Promise<string> {
    const answer = await house.operator.post('/api/sessions', { prompt: 'hello', ...body });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.id;
  }
  async function rested(body: object = {}): Promise<string> {
    const id = await open(body);
    await poll(
      () => house.operator.get(at(id)),
      (answer) => answer.body.status === 'idle',
    );
    return id;
  }
  const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

  it('changes title, model and effort, and only to what the registry declares', async () => {
    const id = await rested();
    const patch = (body: object) => house.operator.call('PATCH', at(id), body);
    expect((await patch({ title: ' Better ', effortLevel: 'high' })).body).to.include({
      title: 'Better',
      effortLevel: 'high',
      model: 'fine',
    });
    expect((await patch({ title: 'Best' })).body).to.include({ title: 'Best', effortLevel: 'high' });
    for (const [body, code] of [
      [{ engine: 'pencil' }, 'UNKNOWN_ENGINE'],
      [{ model: 'coarse' }, 'UNKNOWN_MODEL'],
      [{ effortLevel: 'extreme' }, 'UNKNOWN_EFFORT'],
      [{}, 'BAD_REQUEST'],
      [{ status: 'idle' }, 'BAD_REQUEST'],
      [{ title: ' ' }, 'BAD_REQUEST'],
    ] as const) {
      expect((await patch(body)).body.code, JSON.stringify(body)).to.equal(code);
    }
    expect((await patch({ engine: 'ghost' })).body, 'a model means nothing on another engine').to.include({
      engine: 'ghost',
      model: null,
      effortLevel: null,
    });
  });

  it('puts away and fetches back', async () => {
    const id = await rested({ prompt: 'hidden treasure' });
    expect((await house.operator.post(at(id, '/archive'))).body.archivedAt).to.be.a('string');
    expect(ids((await house.operator.get('/api/sessions?limit=0')).body)).not.to.include(id);
    expect(ids((await house.operator.get('/api/sessions?q=treasure')).body)).to.deep.equal([id]);
    expect((await house.operator.post(at(id, '/unarchive'))).body.archivedAt).to.equal(null);
    expect(ids((await house.operator.get('/api/sessions?limit=0')).body)).to.include(id);
  });

  // The folder of every session stayed for ever, although nothing was ever in it.
  it('takes the working folder of a deleted session away, unless something is in it', async () => {
    const [empty, full] = [await rested(), await rested()];
    const folders = await Promise.all([empty, full].map(async (id) => (await read(id)).cwd as string));
    await writeFile(join(folders[1] ?? '', 'notes.txt'), 'mine');
    for (const id of [empty, full])
      expect((await house.operator.call('DELETE', at(id))).status).to.equal(200);
    expect(folders.map((folder) => existsSync(folder))).to.deep.equal([false, true]);
  });

  it('deletes for good, but nothing at work and no evidence', async () => {
    const id = await rested();
    const token = house.tokens.mint(id);
    expect((await house.operator.call('DELETE', at(id))).body).to.deep.equal({ status: 'deleted' });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/messages'],
      ['GET', '/queue'],
      ['POST', '/stop'],
      ['POST', '/archive'],
      ['DELETE', ''],
    ] as const) {
      expect(
        (await house.operator.call(method, at(id, path), method === 'POST' ? {} : undefined)).status,
        `${method} ${path}`,
      ).to.equal(404);
    }
    expect((await house.operator.post('/api/sessions', { prompt: 'x', parent: id })).status).to.equal(404);
    expect(
      (await house.client({ authorization: `Bearer ${token}` }).get('/api/sessions')).status,
      'its token is worth nothing',
    ).to.equal(401);
    expect(await house.supervisor.rows({ kind: 'session', id }, 'messages')).to.deep.equal([]);
    const busy = await open({ prompt: 'hang' });
    expect((await house.operator.call('DELETE', at(busy))).body.code).to.equal('CONFLICT');
    const { body } = await house.operator.post('/api/delegations', { task: 'dig', engine: 'pen' });
    await poll(
      () => house.operator.get(at(body.sessionId)),
      (answer) => answer.body.status === 'idle',
    );
    const kept = await house.operator.call('DELETE', at(body.sessionId));
    expect([kept.status, kept.body.preserved, kept.body.workItemId]).to.deep.equal([
      409,
      true,
      body.workItemId,
    ]);
    const other = await rested();
    const bulk = (
      await house.operator.post('/api/sessions/bulk-delete', { ids: [other, busy, body.sessionId, 'nobody'] })
    ).body;
    expect([bulk.count, ids(bulk.preserved)]).to.deep.equal([1, [busy, body.sessionId, 'nobody']]);
  });

  it('copies with the conversation so far', async () => {
    const id = await rested({ prompt: 'first words', employee: 'ann' });
    const { status, body } = await house.operator.post(at(id, '/duplicate'));
    expect([status, body.status, body.employee, body.parentSessionId]).to.deep.equal([
      201,
      'idle',
      'ann',
      null,
    ]);
    expect(body.cwd).not.to.equal((await read(id)).cwd);
    await house.operator.post(at(body.id, '/message'), { message: 'more' });
    const copy = await poll(
      () => house.operator.get(at(body.id)),
      (answer) => answer.body.messages.length === 4,
    );
    expect(copy.body.messages.map(({ content }: { content: string }) => content)).to.deep.equal([
      'first words',
      'did: first words',
      'more',
      'did: more',
    ]);
    expect((await read(id)).messages).to.have.length(2);
  });

  it('begins again', async () => {
    const id = await rested();
    expect((await house.operator.post(at(id, '/reset'))).body).to.deep.equal({
      status: 'reset',
      sessionId: id,
    });
    expect((await read(id)).messages.at(-1).meta).to.deep.equal({ kind: 'reset' });
  });

  it('shows, pauses, cancels and clears the queue', async () => {
    const id = await open({ prompt: 'hang' });
    const agent = house.agent(await rested());
    for (const message of ['one', 'two', 'three'])
      expect((await agent.post(at(id, '/message'), { message })).status).to.equal(200);
    const queue = (await house.operator.get(at(id, '/queue'))).body;
    expect(
      queue.map(({ prompt, status, position }: Record<string, unknown>) => [prompt, status, position]),
    ).to.deep.equal([
      ['hang', 'running', null],
      ['one', 'pending', 1],
      ['two', 'pending', 2],
      ['three', 'pending', 3],
    ]);
    const move = (item: { id: string }, position: unknown, by = house.operator) =>
      by.post(at(id, `/queue/${item.id}/move`), { position });
    expect((await move(queue[3], 1)).body).to.deep.equal({ status: 'moved', itemId: queue[3].id });
    const moved = (await house.operator.get(at(id, '/queue'))).body;
    expect(moved.map(({ prompt, position }: Record<string, unknown>) => [prompt, position])).to.deep.equal([
      ['hang', null],
      ['three', 1],
      ['one', 2],
      ['two', 3],
    ]);
    expect((await move(queue[3], 200)).status, 'behind the end is the end').to.equal(200);
    expect((await house.operator.get(at(id, '/queue'))).body).to.deep.equal(queue);
    for (const position of [0, 1.5, '1', null, 201])
      expect((await move(queue[3], position)).status, String(position)).to.equal(400);
    const late = await move(queue[0], 1);
    expect([late.status, late.body.error]).to.deep.equal([
      409,
      'This message is not in the queue, or is already running.',
    ]);
    expect((await move(queue[3], 1, agent)).status).to.equal(403);
    expect((await house.operator.post(at('gone', '/queue/x/move'), { position: 1 })).status).to.equal(404);
    expect((await house.operator.call('DELETE', at(id, `/queue/${queue[1].id}`))).body).to.deep.equal({
      status: 'cancelled',
      itemId: queue[1].id,
    });
    expect(
      (await house.operator.call('DELETE', at(id, `/queue/${queue[0].id}`))).status,
      'what runs is stopped, not cancelled',
    ).to.equal(409);
    expect((await house.operator.post(at(id, '/queue/pause'))).body).to.deep.equal({
      status: 'paused',
      sessionId: id,
    });
    expect((await read(id)).queuePaused).to.equal(true);
    expect((await house.operator.post(at(id, '/queue/resume'))).body.status).to.equal('resumed');
    const clear = () => house.operator.call('DELETE', at(id, '/queue'), { idempotencyKey: 'clear' });
    expect((await clear()).body).to.deep.equal({ status: 'cleared', cancelled: 2 });
    expect(
      (await clear()).body,
      'asked again with its key, it once said that there had been none',
    ).to.deep.equal({ status: 'cleared', cancelled: 2 });
    expect(
      (await house.operator.get(at(id, '/queue'))).body.map(({ status }: { status: string }) => status),
    ).to.deep.equal(['running', 'cancelled', 'cancelled', 'cancelled']);
  });

  it('lets a person decide on a tool that waits', async () => {
    const id = await open({ prompt: 'hang' });
    const ask = (permissionId: string) =>
      house.supervisor.ask('session', id, {
        type: 'permission.asked',
        permissionId,
        turnId: `${id}:1`,
        tool: 'Bash',
        title: 'ls',
        text: '{}',
        waitMs: 60_000,
      });
    await ask('p1');
    expect((await read(id)).pendingPermissions[0]).to.include({ id: 'p1', tool: 'Bash' });
    expect(
      ids((await house.operator.get('/api/search/sessions?needsAttention=true')).body.sessions),
    ).to.include(id);
    const own = house.agent(id);
    expect((await own.get(at(id, '/permissions'))).body[0]).to.include({
      id: 'p1',
      state: 'pending',
      input: '{}',
    });
    expect((await own.post(at(id, '/permissions/p1'), { decision: 'allow' })).body.code).to.equal(
      'PERSON_REQUIRED',
    );
    expect(
      (await house.operator.post(at(id, '/permissions/p1'), { decision: 'deny', note: 'no' })).body
        .pendingPermissions,
    ).to.deep.equal([]);
    expect((await house.operator.get(at(id, '/permissions'))).body[0]).to.include({
      state: 'denied',
      decidedBy: 'operator',
      note: 'no',
    });
    expect(
      (await house.operator.post(at(id, '/permissions/p1'), { decision: 'allow' })).status,
      'late',
    ).to.equal(409);
    expect(
      (await house.operator.post(at(await rested(), '/permissions/p1'), { decision: 'allow' })).status,
      'at rest',
    ).to.equal(409);
  });

  it('shows what was interrupted, and the messages around one', async () => {
    const id = await rested({ prompt: 'one' });
    const { messages } = await read(id);
    const around = (await house.operator.get(at(id, `/context?messageId=${messages[0].id}&radius=0`))).body;
    expect([
      around.messages.map(({ content }: { content: string }) => content),
      around.hasOlder,
      around.hasNewer,
    ]).to.deep.equal([['one'], false, true]);
    expect((await house.operator.get(at(id, '/context?messageId=nothing'))).status).to.equal(404);
    expect((await house.operator.get('/api/sessions/interrupted')).body).to.deep.equal([]);
  });

  describe('search and cost', () => {
    it('find by words and people, and an agent only what is beneath it', async () => {
      const top = await rested({ prompt: 'the quick brown fox', employee: 'cat' });
      const beneath = (await house.agent(top).post('/api/sessions', { prompt: 'a quick red fox' })).body.id;
      await poll(
        () => house.operator.get(at(beneath)),
        (answer) => answer.body.status === 'idle',
      );
      const outsider = await rested({ prompt: 'unrelated' });
      const search = async (client: ReturnType<House['agent']>, query: string) =>
        (await client.get(`/api/search/messages?role=user&query=${query}`)).body.messages.map(
          ({ sessionId }: { sessionId: string }) => sessionId,
        );
      expect(await search(house.operator, 'QUICK%20fox')).to.have.members([top, beneath]);
      expect(await search(house.operator, 'quick%20brown')).to.deep.equal([top]);
      expect(await search(house.agent(top), 'fox')).to.deep.equal([beneath]);
      expect(await search(house.agent(top), 'fox&includeOwnSession=true')).to.have.members([top, beneath]);
      expect(await search(house.agent(outsider), 'fox')).to.deep.equal([]);
      expect(
        await search(house.agent(outsider), `fox&sessionId=${top}`),
        'naming it does not open it',
      ).to.deep.equal([]);
      expect(ids((await house.agent(top).get('/api/search/sessions')).body.sessions)).to.have.members([
        top,
        beneath,
      ]);
      expect(
        ids((await house.agent(outsider).get('/api/search/sessions?employee=cat')).body.sessions),
      ).to.deep.equal([]);
      expect(
        ids((await house.operator.get('/api/search/sessions?employee=cat&status=idle')).body.sessions),
      ).to.include(top);
      const report = (await house.agent(top).get('/api/cost/report?groupBy=session')).body;
      expect(report.totals.sessions).to.equal(2);
      expect(report.groups.map(({ key }: { key: string }) => key)).to.have.members([top, beneath]);
      const titles = report.groups.map(({ title }: { title: string }) => title.replace(/^#\d+ - /, ''));
      expect(titles).to.have.members(['the quick brown fox', 'a quick red fox']);
      expect((await house.operator.get('/api/cost/report?groupBy=weather')).status).to.equal(400);
    });

    it('find work items in sight', async () => {
      const own = house.agent(await rested());
      const mine = (await own.post('/api/work-items', { title: 'Paint the fence' })).body.workItem.id;
      const other = (await house.operator.post('/api/work-items', { title: 'Paint the gate' })).body.workItem
        .id;
      expect(ids((await own.get('/api/search/work-items?text=paint')).body.workItems)).to.deep.equal([mine]);
      expect(
        ids((await house.operator.get('/api/search/work-items?text=paint')).body.workItems),
      ).to.include.members([mine, other]);
    });
  });

  it("keeps the operator's token out of everything that is stored", async () => {
    const id = await rested();
    await house.agent(id).get(at(id));
    const kept = [
      await house.supervisor.get('session', id),
      await house.supervisor.rows({ kind: 'session', id }, 'messages'),
      await house.supervisor.history({ kind: 'session', id }),
    ];
    expect(JSON.stringify(kept)).not.to.include(operatorToken);
  });
});
