import { expect } from 'chai';
import { openOffice, type Office } from '../lib/records/office.js';
import { operatorToken, watch, type Watching } from '../lib/gateway/fixture.js';

/**
 * Ways in that others left open, one line each (see the README of this folder for where they were seen):
 * credentials that are not checked, checked in the wrong place, remembered for too long, or widened by what a
 * client says of itself.
 */
describe('red team: credentials and authority', () => {
  let office: Office;
  beforeEach(async () => {
    office = await openOffice();
  });
  afterEach(() => office.close());

  it('gives no authority to an address: loopback without a credential is no one', async () => {
    for (const path of [
      '/api/work-items',
      '/api/config',
      '/api/auth/devices',
      '/api/inspect/actors?kind=session',
      '/metrics',
      '/api/openapi.json',
      '/mcp',
    ]) {
      expect((await office.client().get(path)).status, path).to.equal(401);
    }
    expect(
      await watch(`ws://127.0.0.1:${office.port}/ws`, {}).then(
        () => 101,
        (error: { status: number }) => error.status,
      ),
    ).to.equal(401);
  });

  it('takes no credential from an address, a body, or another header', async () => {
    for (const path of [
      `/api/work-items?token=${operatorToken}`,
      `/api/work-items?access_token=${operatorToken}`,
      `/api/work-items?authorization=Bearer%20${operatorToken}`,
    ]) {
      expect((await office.client().get(path)).status, path.split('=', 1)[0]).to.equal(401);
    }
    for (const name of [
      'x-api-key',
      'x-auth-token',
      'proxy-authorization',
      'x-svc-gateway-token',
      'sec-websocket-protocol',
    ]) {
      expect(
        (
          await office
            .client({ [name]: name === 'proxy-authorization' ? `Bearer ${operatorToken}` : operatorToken })
            .get('/api/work-items')
        ).status,
        name,
      ).to.equal(401);
    }
  });

  it('lets no client say what it may do: scopes, roles and authors in a body change nothing', async () => {
    const agent = await office.agent();
    for (const claim of [
      { scopes: ['operator'] },
      { role: 'operator' },
      { by: { type: 'operator' } },
      { caller: 'operator' },
      { createdBy: 'operator' },
    ]) {
      const { body, status } = await agent.post('/api/work-items', { title: 'claimed', ...claim });
      expect(status, JSON.stringify(claim)).to.be.oneOf([201, 400]);
      if (status === 201)
        expect(JSON.stringify(body.workItem), JSON.stringify(claim)).not.to.include('"operator"');
    }
    for (const member of ['provenance', 'approval', 'approvalStatus', 'source', 'status']) {
      expect(
        (await agent.post('/api/work-items', { title: 'x', [member]: 'approved' })).status,
        member,
      ).to.equal(400);
    }
  });

  it('lets no agent answer for itself: neither its own question for a tool, nor its own approval', async () => {
    const agent = await office.agent();
    const permitted = await agent.post(`/api/sessions/${agent.sessionId}/permissions/p1`, {
      decision: 'allow',
    });
    expect([permitted.status, permitted.body.code]).to.deep.equal([403, 'PERSON_REQUIRED']);
    const {
      body: { workItem },
    } = await agent.post('/api/work-items', { title: 'x' });
    await agent.post(`/api/work-items/${workItem.id}/approval/request`, { request: 'May I?' });
    expect(
      (await agent.post(`/api/work-items/${workItem.id}/approval`, { decision: 'approve' })).status,
    ).to.equal(403);
  });

  it("forgets a session's token when the session is stopped, also on the socket it holds", async () => {
    const agent = await office.agent();
    expect((await agent.get('/api/work-items')).status).to.equal(200);
    await office.operator.post(`/api/sessions/${agent.sessionId}/stop`);
    expect((await agent.get('/api/work-items')).status).to.equal(401);
  });

  it('does not switch the throttle of codes off for who brings some credential, however wrong', async () => {
    const statuses: number[] = [];
    const bogus: Record<string, string>[] = [
      { cookie: `svc_auth=${'x'.repeat(43)}; svc_device=d_0000000000000000` },
      { 'x-device-token': 'x' },
      { 'x-forwarded-for': '10.1.2.3' },
      {},
    ];
    for (let guess = 0; guess < 24; guess++)
      statuses.push(
        (await office.client(bogus[guess % bogus.length]).post('/api/auth/pair', { code: 'AAAA-AAAA-AAAA' }))
          .status,
      );
    expect(statuses.slice(20)).to.deep.equal([429, 429, 429, 429]);
  });

  it('listens on the socket to nothing that would change anything', async () => {
    const socket = await office.socket();
    const before = office.supervisor.status.position;
    for (const said of [
      { type: 'config.apply', config: { cliPath: '/bin/sh' } },
      { type: 'session.stop', id: 'x' },
      { method: 'POST', path: '/api/work-items', body: { title: 'x' } },
      { type: 'subscribe', kinds: { length: 1e9 } },
      { type: 'resume', since: -1 },
      { type: '__proto__' },
    ])
      socket.ws.send(JSON.stringify(said));
    socket.ws.send('{"event":"ping"}');
    await socket.until(({ event }) => event === 'pong');
    expect(office.supervisor.status.position).to.equal(before);
    expect(socket.frames.filter(({ event }) => event === 'error').length).to.be.greaterThan(3);
  });

  // One agent with 1,024 sockets kept everybody else out, people too.
  it('leaves people their place at the socket, however many an agent opens', async () => {
    const own = await office.agent();
    const sockets: Watching[] = [];
    const statuses = await Promise.all(
      Array.from({ length: 24 }, () =>
        watch(`ws://127.0.0.1:${office.port}/ws`, own.headers).then(
          (socket) => {
            sockets.push(socket);
            return 101;
          },
          (error: { status: number }) => error.status,
        ),
      ),
    );
    expect(statuses.filter((status) => status === 101)).to.have.length(16);
    expect(statuses.filter((status) => status === 503)).to.have.length(8);
    await office.socket();
    for (const socket of sockets) socket.ws.terminate();
  });

  it('ends a socket that sends too much at once or binary, and no other', async () => {
    const [loud, binary, other] = [await office.socket(), await office.socket(), await office.socket()];
    loud.ws.send('x'.repeat(70_000));
    binary.ws.send(Buffer.from([1, 2, 3]));
    expect(await loud.closed).to.equal(1009);
    expect(await binary.closed).to.equal(1003);
    other.ws.send('{"event":"ping"}');
    await other.until(({ event }) => event === 'pong');
  });

  it('decodes a path once: what is encoded twice names nothing', async () => {
    await office.put('knowledge/tea.md', 'tea');
    await office.put('config.yaml', 'gateway: {}\n');
    for (const path of [
      '..%252f..%252fconfig.yaml',
      'knowledge%252f..%252fconfig.yaml',
      '%2e%2e/config.yaml',
      'knowledge/..%2fconfig.yaml',
      'knowledge/%2e%2e/config.yaml',
      '..\\config.yaml',
      'knowledge/tea.md%00.yaml',
      '/etc/hostname',
      'file:///etc/hostname',
      '//etc/hostname',
    ]) {
      for (const route of ['/api/knowledge/read', '/api/files/read'])
        expect((await office.operator.get(`${route}?path=${path}`)).status, `${route} ${path}`).to.be.oneOf([
          400, 403, 404,
        ]);
    }
    expect(
      (await office.operator.get('/api/knowledge/read?path=knowledge%2Ftea.md')).status,
      'encoded once it is found',
    ).to.equal(200);
    for (const id of ['..%2f..%2fgateway.json', '%2e%2e%2f%2e%2e', '..%5c..%5cgateway.json'])
      expect((await office.operator.get(`/api/files/${id}`)).status, id).to.be.oneOf([400, 404]);
    for (const name of ['../../../etc', '..%2f..%2fsecrets', '.', '..'])
      expect((await office.operator.get(`/api/skills/${name}`)).status, name).to.be.oneOf([400, 404]);
  });

  it('says 401 before it says whether anything is there', async () => {
    const {
      body: { workItem },
    } = await office.operator.post('/api/work-items', { title: 'x' });
    const [known, unknown, nowhere] = await Promise.all(
      [`/api/work-items/${workItem.id}`, '/api/work-items/TRP-404', '/api/no/such/path'].map((path) =>
        office.client().get(path),
      ),
    );
    expect([known?.text, known?.status]).to.deep.equal([unknown?.text, unknown?.status]);
    expect(nowhere?.text).to.equal(known?.text);
  });
});
