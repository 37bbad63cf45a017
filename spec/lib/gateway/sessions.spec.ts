import { expect } from 'chai';
import { openHouse, poll, type Client, type House } from './fixture.js';

describe('/api/sessions', () => {
  let house: House;
  before(async () => {
    house = await openHouse({ withRoster: true });
  });
  after(() => house.close());

  const open = async (body: object, client: Client = house.operator): Promise<string> => {
    const answer = await client.post('/api/sessions', body);
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.id;
  };
  const settled = (id: string) =>
    poll(
      () => house.operator.get(`/api/sessions/${id}?last=8`),
      ({ body }) => body.status !== 'running',
    );

  describe('POST', () => {
    it('opens a running session and hands it the prompt', async () => {
      const { status, body } = await house.operator.post('/api/sessions', {
        prompt: 'say hello',
        effortLevel: 'high',
      });
      expect(status).to.equal(201);
      expect(body).to.include({
        status: 'running',
        engine: 'pen',
        model: 'fine',
        effortLevel: 'high',
        employee: null,
        source: 'web',
        queueDepth: 1,
      });
      const { body: after } = await settled(body.id);
      expect(after.status).to.equal('idle');
      expect(
        after.messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
      ).to.deep.equal([
        ['user', 'say hello'],
        ['assistant', 'did: say hello'],
      ]);
      expect(after.messagesPage).to.deep.equal({ hasOlder: false });
    });

    it('takes an employee with their engine', async () => {
      const id = await open({ message: 'hello', employee: 'ann' });
      expect((await house.operator.get(`/api/sessions/${id}?messages=0`)).body).to.include({
        employee: 'ann',
        engine: 'pen',
      });
    });

    const refused: [string, object, string][] = [
      ['no prompt', {}, 'BAD_REQUEST'],
      ['a blank prompt', { prompt: ' ' }, 'BAD_REQUEST'],
      ['an unknown employee', { prompt: 'x', employee: 'anne' }, 'UNKNOWN_EMPLOYEE'],
      ['an unknown engine', { prompt: 'x', engine: 'pencil' }, 'UNKNOWN_ENGINE'],
      ['an unknown model', { prompt: 'x', model: 'coarse' }, 'UNKNOWN_MODEL'],
      ['an unknown effort', { prompt: 'x', effort: 'extreme' }, 'UNKNOWN_EFFORT'],
      ['an unknown attachment', { prompt: 'x', attachments: ['nothing'] }, 'UNKNOWN_ATTACHMENT'],
      ['a folder that is not there', { prompt: 'x', cwd: '/nowhere' }, 'BAD_REQUEST'],
      ['a relative folder', { prompt: 'x', cwd: '..' }, 'BAD_REQUEST'],
      ['a smuggled approval', { prompt: 'x', approvalState: 'approved' }, 'BAD_REQUEST'],
    ];
    for (const [name, body, code] of refused) {
      it(`refuses ${name}`, async () => {
        const answer = await house.operator.post('/api/sessions', body);
        expect([answer.status, answer.body.code]).to.deep.equal([400, code]);
      });
    }

    // Only this machine's user is known to stand in the folder that is named.
    it('lets agents and browsers work inside the roots alone, the operator anywhere', async () => {
      const root = await open({ message: 'hello' });
      const asked = await house.agent(root).post('/api/sessions', { prompt: 'x', parent: root, cwd: '/usr' });
      expect([asked.status, asked.body.path]).to.deep.equal([400, 'cwd']);
      expect((await house.operator.post('/api/sessions', { prompt: 'x', cwd: '/usr' })).status).to.equal(201);
    });

    it('suggests the name that was meant', async () => {
      expect(
        (await house.operator.post('/api/sessions', { prompt: 'x', employee: 'anne' })).body.error,
      ).to.match(/Did you mean "ann"/);
    });

    it('gives an error session that names the repair when the engine is not installed', async () => {
      const { status, body } = await house.operator.post('/api/sessions', { prompt: 'x', engine: 'ghost' });
      expect([status, body.status]).to.deep.equal([201, 'error']);
      expect(body.lastError).to.match(/Install ghost/);
    });

    it('refuses two names of one member that contradict each other, and takes them where they agree', async () => {
      const post = (body: object) => house.operator.post('/api/sessions', body);
      for (const [other, body] of [
        ['message', { prompt: 'a', message: 'b' }],
        ['effortLevel', { prompt: 'a', effort: 'low', effortLevel: 'high' }],
        ['parentSessionId', { prompt: 'a', parent: 'x', parentSessionId: 'y' }],
      ] as const) {
        const {
          status,
          body: { path },
        } = await post(body);
        expect([status, path]).to.deep.equal([400, other]); // one of the two was dropped without a word
      }
      const { status, body } = await post({ prompt: 'a', message: 'a' });
      expect(status).to.equal(201);
      const contradicted = await house.operator.post(`/api/sessions/${body.id}/message`, {
        prompt: 'a',
        message: 'b',
      });
      expect([contradicted.status, contradicted.body.path]).to.deep.equal([400, 'message']);
    });

    it('does not find an absent parent', async () => {
      expect((await house.operator.post('/api/sessions', { prompt: 'x', parent: 'nobody' })).status).to.equal(
        404,
      );
    });
  });

  describe('GET', () => {
    it('lists in four ways', async () => {
      const id = await open({ prompt: 'needle in the hay', employee: 'cat' });
      const overview = (await house.operator.get('/api/sessions')).body;
      expect(overview).to.have.all.keys('sessions', 'counts', 'perGroup');
      expect(overview.counts.cat).to.equal(1);
      expect(overview.counts.__direct__).to.be.greaterThan(0);
      expect(
        (await house.operator.get('/api/sessions?limit=0')).body.map((session: { id: string }) => session.id),
      ).to.include(id);
      expect(
        (await house.operator.get('/api/sessions?group=cat')).body.map(
          (session: { id: string }) => session.id,
        ),
      ).to.deep.equal([id]);
      expect((await house.operator.get('/api/sessions?group=nobody')).body).to.deep.equal([]);
      expect(
        (await house.operator.get('/api/sessions?q=NEEDLE')).body.map(
          (session: { id: string }) => session.id,
        ),
      ).to.deep.equal([id]);
    });

    // It was ignored: one who asked for two was answered with fifty of each
    it('lists the first `limit` of each group, and how many each has', async () => {
      const root = await open({ prompt: 'first of three', employee: 'cat' });
      for (const prompt of ['second', 'third']) await open({ prompt, employee: 'cat', parent: root });
      for (const client of [house.operator, house.agent(root)]) {
        const { sessions, counts, perGroup } = (await client.get('/api/sessions?limit=2')).body;
        expect(perGroup).to.equal(2);
        expect(counts.cat).to.be.at.least(3);
        const ofCat = sessions.filter(({ employee }: { employee: string }) => employee === 'cat');
        expect(ofCat).to.have.length(2);
      }
    });

    it('pages what a search found, for people and for agents', async () => {
      const root = await open({ prompt: 'haystack 0' });
      const ids = [root];
      for (let n = 1; n < 4; n++) ids.push(await open({ prompt: `haystack ${n}`, parent: root }));
      for (const id of ids) await settled(id); // the one who ends moves to the head of the list
      for (const client of [house.operator, house.agent(root)]) {
        const search = async (paging: string): Promise<string[]> =>
          (await client.get(`/api/sessions?q=haystack${paging}`)).body.map(
            (session: { id: string }) => session.id,
          );
        const all = await search('');
        expect(all).to.have.members(ids);
        expect(await search('&limit=2')).to.deep.equal(all.slice(0, 2)); // limit was read and forgotten
        expect(await search('&limit=2&offset=1')).to.deep.equal(all.slice(1, 3));
        expect(await search('&offset=3')).to.deep.equal(all.slice(3));
        expect(await search('&offset=4')).to.deep.equal([]);
        expect(await search('&limit=0')).to.deep.equal(all);
      }
    });

    it('pages messages', async () => {
      const id = await open({ prompt: 'one' });
      await settled(id);
      await house.operator.post(`/api/sessions/${id}/message`, { message: 'two' });
      const { body } = await poll(
        () => house.operator.get(`/api/sessions/${id}`),
        (answer) => answer.body.messages.length === 4,
      );
      const tail = (await house.operator.get(`/api/sessions/${id}?last=1`)).body;
      expect(tail.messages.map((message: { content: string }) => message.content)).to.deep.equal([
        'did: two',
      ]);
      expect(tail.messagesPage.hasOlder).to.equal(true);
      const older = (
        await house.operator.get(`/api/sessions/${id}/messages?before=${body.messages[2].id}&limit=1`)
      ).body;
      expect(older.messages.map((message: { content: string }) => message.content)).to.deep.equal([
        'did: one',
      ]);
      expect(older.hasOlder).to.equal(true);
      expect((await house.operator.get(`/api/sessions/${id}/messages?before=unknown`)).body).to.deep.equal({
        messages: [],
        hasOlder: false,
        nextCursor: null,
      });
    });

    it('does not find what is absent', async () => {
      for (const path of ['', '/messages', '/children'])
        expect((await house.operator.get(`/api/sessions/nobody${path}`)).status, path).to.equal(404);
      for (const path of ['/message', '/stop'])
        expect(
          (await house.operator.post(`/api/sessions/nobody${path}`, { message: 'x' })).status,
          path,
        ).to.equal(404);
    });
  });

  it('acknowledges a message, and interrupts a running user turn with it', async () => {
    const id = await open({ prompt: 'hang' });
    const ack = await house.operator.post(`/api/sessions/${id}/message`, { message: 'instead' });
    expect(ack.body).to.deep.equal({ status: 'queued', sessionId: id });
    const { body } = await poll(
      () => house.operator.get(`/api/sessions/${id}`),
      (answer) => answer.body.status === 'idle',
    );
    expect(body.messages.at(-1).content).to.equal('did: instead');
    expect((await house.operator.post(`/api/sessions/${id}/message`, {})).status).to.equal(400);
  });

  it('stops a session, and again', async () => {
    const id = await open({ prompt: 'hang' });
    const stopped = await house.operator.call('POST', `/api/sessions/${id}/stop`);
    expect(stopped.body).to.deep.equal({ status: 'stopped', sessionId: id });
    expect((await house.operator.get(`/api/sessions/${id}?messages=0`)).body).to.include({
      status: 'stopped',
      transportState: 'interrupted',
    });
    expect((await house.operator.call('POST', `/api/sessions/${id}/stop`)).status).to.equal(200);
  });

  it('stops a whole tree, also one that is larger than a commit', async () => {
    const root = await open({ prompt: 'hang' });
    const ids = [root];
    for (let n = 0; n < 18; n++) ids.push(await open({ prompt: 'hang', parent: ids[n % 3] ?? root }));
    expect((await house.operator.get(`/api/sessions/${root}/children`)).body).to.have.length(6);
    expect((await house.operator.post(`/api/sessions/${root}/stop?descendants=true`)).status).to.equal(200);
    for (const id of ids)
      expect((await house.operator.get(`/api/sessions/${id}?messages=0`)).body.status).to.equal('stopped');
  });

  describe('POST /api/delegations', () => {
    it('mints a Todo and the session that attempts it, in one commit', async () => {
      const { status, body } = await house.operator.post('/api/delegations', {
        task: 'Fetch milk\nfrom the shop',
        employee: 'ann',
      });
      expect(status).to.equal(201);
      expect(body).to.include({ employee: 'ann', engine: 'pen', status: 'running', title: 'Fetch milk' });
      const [item] = await Promise.all([
        poll(
          () => house.operator.get(`/api/work-items/${body.workItemId}`),
          (answer) => answer.body.workItem.status === 'in_review',
        ),
      ]);
      expect(item.body.workItem).to.include({
        assignee: 'ann',
        department: 'build',
        source: 'delegation',
        body: 'Fetch milk\nfrom the shop',
      });
      const attempts = (await house.operator.get(`/api/work-items/${body.workItemId}/sessions`)).body;
      expect(attempts.map((session: { id: string }) => session.id)).to.deep.equal([body.sessionId]);
    });

    it('reuses an open Todo, and refuses one that is closed or being worked on', async () => {
      const { body } = await house.operator.post('/api/work-items', { title: 'Keep my title' });
      const workItemId = body.workItem.id;
      const first = await house.operator.post('/api/delegations', {
        task: 'hang',
        engine: 'pen',
        workItemId,
        title: 'Another title',
      });
      expect(first.body).to.include({ workItemId, title: 'Keep my title' });
      const twice = await house.operator.post('/api/delegations', { task: 'x', engine: 'pen', workItemId });
      expect([twice.status, twice.body.code, twice.body.sessionId]).to.deep.equal([
        409,
        'LIVE_ATTEMPT',
        first.body.sessionId,
      ]);
      await house.operator.post(`/api/sessions/${first.body.sessionId}/stop`);
      await house.operator.post(`/api/work-items/${workItemId}/archive`);
      expect(
        (await house.operator.post('/api/delegations', { task: 'x', engine: 'pen', workItemId })).body.code,
      ).to.equal('TERMINAL');
      expect(
        (await house.operator.post('/api/delegations', { task: 'x', engine: 'pen', workItemId: 'ACM-9999' }))
          .status,
      ).to.equal(404);
    });

    it('refuses a task for no one, and nothing for someone', async () => {
      expect((await house.operator.post('/api/delegations', { task: 'x' })).status).to.equal(400);
      expect((await house.operator.post('/api/delegations', { employee: 'ann' })).body.path).to.equal('task');
      expect(
        (await house.operator.post('/api/delegations', { task: 'x', employee: 'zoe' })).body.code,
      ).to.equal('UNKNOWN_EMPLOYEE');
    });

    it('keeps the intent when the engine is not there, once per key', async () => {
      const body = { task: 'Haunt', engine: 'ghost', idempotencyKey: 'haunt-1' };
      const [first, twin] = await Promise.all([
        house.operator.post('/api/delegations', body),
        house.operator.post('/api/delegations', body),
      ]);
      expect([first.status, first.body.code]).to.deep.equal([502, 'ENGINE_UNAVAILABLE']);
      expect(twin.body.workItemId).to.equal(first.body.workItemId);
      expect(
        (await house.operator.get(`/api/work-items/${first.body.workItemId}`)).body.workItem.title,
      ).to.equal('Haunt');
      expect((await house.operator.post('/api/delegations', { ...body, task: 'Else' })).status).to.equal(409);
    });
  });
});
