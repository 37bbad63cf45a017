import { expect } from 'chai';
import { fileKind } from '../../../actors/file/kind.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  authorityIds,
  callerKinds,
  verdict,
  type AuthorityId,
  type CallerKind,
} from '../../../lib/gateway/authorization.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { hashOfSecret } from '../../../lib/records/devices/devices.js';
import { remoteWorkers } from '../../../lib/worker/remote-workers.js';
import { openRecords, type Records } from '../../../lib/records/records.js';
import { systemEnvironment } from '../../../lib/environment.js';
import { openHouse, watch, type Answer, type Client, type House } from './fixture.js';

/** Every cell of the authority table, asked of the real gateway. */
describe('authority', () => {
  let house: House;
  let made = 0;
  let records: Records;
  let home: string;
  let browser: Client;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'authority-'));
    records = await openRecords({ layout: layoutOf({ home }), environment: systemEnvironment(), root: null });
    house = await openHouse({
      workers: {
        local: {
          hosted: new Set(),
          list: async () => [],
          drain: async () => true,
          remove: async () => true,
        },
        stranded: () => [],
        slots: () => ({ max: 1, running: 0, waiting: 0, engines: {} }),
        remote: remoteWorkers({ waitMs: 60_000, redact: (value) => value, onFault: () => undefined }),
      },
      withRoster: true,
      records,
      kinds: [fileKind()],
      backup: async (target = '') => ({ target, files: 1, bytes: 1, seq: 1 }),
    });
    const [id, secret] = ['d_0123456789abcdef', 's'.repeat(43)];
    await records.devices.keep({
      id,
      name: 'Linux browser',
      kind: 'remote',
      createdAt: Date.now(),
      tokenHash: hashOfSecret(secret),
      lastIp: null,
      userAgent: null,
    });
    browser = house.client({
      cookie: `svc_auth=${secret}; svc_device=${id}`,
      origin: `http://127.0.0.1:${house.gateway.port}`,
    });
  });
  after(async () => {
    await house.close();
    await records.close();
    await rm(home, { recursive: true });
  });

  /** A session at rest. */
  async function session(parents: readonly string[] = [], employee: string | null = null): Promise<string> {
    const id = `s${++made}`;
    const input = {
      engine: 'pen',
      model: null,
      effort: null,
      employee,
      parentSessionId: parents[0] ?? null,
      ancestors: [...parents],
      workItemId: null,
      title: null,
      cwd: house.home,
      source: 'web',
      sourceRef: null,
      interruptOnNewMessage: true,
      turnDeadlineMs: 1000,
    };
    await house.supervisor.spawn('session', { id, input });
    return id;
  }

  /** A target, and one caller of every kind to it. */
  async function cast(
    target: 'session' | 'work-item',
  ): Promise<{ id: string; clients: Record<CallerKind, Client> }> {
    const above = await session([], 'bob');
    const self = await session([above]);
    const below = await session([self, above]);
    const outsider = await session([], 'cat');
    const clients = {
      none: house.client(),
      bad: house.client({ authorization: 'Bearer bad' }),
      operator: house.operator,
      device: browser,
      self: house.agent(self),
      above: house.agent(above),
      below: house.agent(below),
      outsider: house.agent(outsider),
    };
    if (target === 'session') return { id: self, clients };
    const item = await clients.self.post('/api/work-items', { title: 'x', assignee: 'ann' });
    // No one stands below a work item
    return { id: item.body.workItem.id, clients: { ...clients, below: clients.outsider } };
  }

  type Ask = (client: Client, id: string) => Promise<Answer>;
  const get =
    (path: string): Ask =>
    (client, id) =>
      client.get(path.replace(':id', id));
  const post =
    (path: string, body: unknown = {}): Ask =>
    (client, id) =>
      client.post(path.replace(':id', id), body);
  const asks: Partial<Record<AuthorityId, [target: 'session' | 'work-item', ask: Ask]>> = {
    'status.read': ['session', get('/api/status')],
    'health.read': ['session', get('/healthz')],
    'auth.state': ['session', get('/api/auth/state')],
    'metrics.read': ['session', get('/metrics')],
    'openapi.read': ['session', get('/api/openapi.json')],
    'engines.read': ['session', get('/api/engines')],
    'engines.limits': ['session', get('/api/engine-limits')],
    'engines.refresh': ['session', post('/api/engines/refresh')],
    'workers.read': ['session', get('/api/workers')],
    'workers.manage': ['session', post('/api/workers/worker-00000000/drain')],
    'mcp.call': ['session', post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })],
    'session.list': ['session', get('/api/sessions')],
    'session.open': ['session', post('/api/sessions', { prompt: 'hi' })],
    'session.read': ['session', get('/api/sessions/:id')],
    'session.words': ['session', get('/api/sessions/:id/words')],
    'session.messages': ['session', get('/api/sessions/:id/messages')],
    'session.children': ['session', get('/api/sessions/:id/children')],
    'session.message': ['session', post('/api/sessions/:id/message', { message: 'hi' })],
    'session.stop': ['session', post('/api/sessions/:id/stop')],
    'session.context': [
      'session',
      async (client, id) => {
        const content = 'around me';
        await house.supervisor.ask('session', id, {
          type: 'message.post',
          message: { id: `m-${id}`, content, role: 'user', kind: 'user' },
        });
        return client.get(`/api/sessions/${id}/context?messageId=m-${id}`);
      },
    ],
    'session.permissions': ['session', get('/api/sessions/:id/permissions')],
    'session.permit': ['session', post('/api/sessions/:id/permissions/p1', { decision: 'allow' })],
    'session.manage': ['session', post('/api/sessions/:id/archive')],
    'changes.read': ['session', get('/api/sessions/:id/changes')],
    'changes.decide': ['session', post('/api/sessions/:id/changes/discard', { version: 'x' })],
    'search.messages': ['session', get('/api/search/messages?query=x')],
    'search.sessions': ['session', get('/api/search/sessions')],
    'search.work-items': ['session', get('/api/search/work-items?text=x')],
    'cost.read': ['session', get('/api/cost/report')],
    'work-item.list': ['work-item', get('/api/work-items')],
    'work-item.create': ['work-item', post('/api/work-items', { title: 'x' })],
    'work-item.read': ['work-item', get('/api/work-items/:id')],
    'work-item.sessions': ['work-item', get('/api/work-items/:id/sessions')],
    'work-item.next': ['work-item', get('/api/work-items/:id/next')],
    'work-item.assign': ['work-item', post('/api/work-items/:id/assign', { assignee: 'ann' })],
    'work-item.status': ['work-item', post('/api/work-items/:id/status', { status: 'executing' })],
    'work-item.set-status': [
      'work-item',
      (client, id) => client.call('PUT', `/api/work-items/${id}/status`, { status: 'executing' }),
    ],
    'work-item.archive': ['work-item', post('/api/work-items/:id/archive')],
    'work-item.edit': [
      'work-item',
      (client, id) => client.call('PATCH', `/api/work-items/${id}`, { title: 'y', expectedVersion: 1 }),
    ],
    'work-item.comment': ['work-item', post('/api/work-items/:id/comments', { text: 'Which one?' })],
    'work-item.label': ['work-item', post('/api/work-items/:id/labels', { add: ['later'] })],
    'work-item.link': [
      'work-item',
      post('/api/work-items/:id/links', { relation: 'relates', workItemId: 'ACM-1' }),
    ],
    'work-item.handoff': [
      'work-item',
      post('/api/work-items/:id/handoff', { summary: 'dug', sessionId: 's1' }),
    ],
    'approval.request': ['work-item', post('/api/work-items/:id/approval/request', { request: 'May I?' })],
    'approval.decide': ['work-item', post('/api/work-items/:id/approval', { decision: 'approve' })],
    'approval.escalate': ['work-item', post('/api/work-items/:id/approval/escalate')],
    'delegation.create': ['work-item', post('/api/delegations', { task: 'x', engine: 'pen' })],
    'backup.create': ['session', post('/api/backup', { target: '/elsewhere' })],
    'attention.read': ['session', get('/api/attention')],
    'contents.erase': ['session', get('/api/erase?sessionId=:id')],
    'retention.read': ['session', get('/api/retention')],
    'retention.decide': ['session', post('/api/retention', { decision: 'allow' })],
    'inspect.list': ['session', get('/api/inspect/actors?kind=session')],
    'inspect.actor': ['session', get('/api/inspect/actors/session/:id')],
    'inspect.history': ['session', get('/api/inspect/actors/session/:id/history')],
    'inspect.why': ['session', get('/api/inspect/actors/session/:id/why')],
    'inspect.send': [
      'session',
      post('/api/inspect/actors/session/:id/send', { event: { type: 'queue.resume' } }),
    ],
    'inspect.link': ['session', post('/api/inspect/stately-links', {})],
    'inspect.causes': ['session', get('/api/inspect/causes/1')],
    'inspect.bundle': ['session', get('/api/inspect/bundle?kind=session&id=:id')],
    'inspect.resume': ['session', post('/api/inspect/actors/session/:id/resume')],
    'inspect.dead-letters': ['session', get('/api/inspect/dead-letters')],
    'inspect.retry': ['session', post('/api/inspect/dead-letters/d1/retry')],
    'inspect.dismiss': ['session', (client) => client.call('DELETE', '/api/inspect/dead-letters/d1', {})],
  };

  /** Asked beside the routes' own specs, in houses that have what they need. */
  const elsewhere: readonly AuthorityId[] = [
    'workers.join',
    'ws.watch',
    'inspect.watch',
    'session.attach',
    'config.read',
    'config.edit',
    'logs.read',
    'console.read',
    ...authorityIds.filter(
      (id) =>
        id !== 'auth.state' &&
        [
          'a2a',
          'auth',
          'budget',
          'bundle',
          'connector',
          'cron',
          'decision',
          'event',
          'trigger',
          'file',
          'hook',
          'knowledge',
          'org',
          'page',
          'skill',
          'trust',
          'workflow',
          'workflow-run',
        ].includes(id.split('.')[0] ?? ''),
    ),
  ];

  for (const [authority, [target, ask]] of Object.entries(asks) as [
    AuthorityId,
    [target: 'session' | 'work-item', ask: Ask],
  ][]) {
    it(`${authority}: ${callerKinds.map((kind) => `${kind} ${verdict(authority, kind)}`).join(', ')}`, async () => {
      for (const kind of callerKinds) {
        const { id, clients } = await cast(target);
        const answer = await ask(clients[kind], id);
        const judged = verdict(authority, kind);
        const where = `${kind}: ${answer.text.slice(0, 200)}`;
        if (judged === 'yes')
          expect(answer.status, where).to.be.oneOf([
            200,
            201,
            ...(['inspect.retry', 'inspect.dismiss'].includes(authority) ? [404] : []),
            ...(['session.permit', 'changes.decide'].includes(authority) ? [409] : []),
          ]);
        else if (judged === 'policy') expect(answer.status, where).to.be.oneOf([200, 201, 403, 409]);
        else expect(answer.body.code, where).to.equal(judged);
      }
    });
  }

  it('ws.watch: as the table says', async () => {
    const { clients: _clients, id } = await cast('session');
    const token = house.tokens.mint(id);
    const agent = await watch(`ws://127.0.0.1:${house.gateway.port}/ws`, {
      authorization: `Bearer ${token}`,
    });
    agent.ws.terminate();
    expect(verdict('ws.watch', 'self')).to.equal('yes');
  });

  it('gives a paired browser what the operator has, but for codes by bearer and for erasing', () => {
    const differing = authorityIds.filter((id) => verdict(id, 'device') !== verdict(id, 'operator'));
    expect(differing).to.have.members(['auth.code', 'auth.grant', 'contents.erase']);
  });

  it('asks for every row of the table', () => {
    expect([...Object.keys(asks), ...elsewhere]).to.have.members(authorityIds);
  });

  describe('policy cells', () => {
    it('refuses an outsider what only owners may do', async () => {
      for (const [path, body] of [
        ['assign', { assignee: 'cat' }],
        ['status', { status: 'executing' }],
        ['archive', {}],
        ['approval/request', { request: 'May I?' }],
      ] as const) {
        const { id, clients } = await cast('work-item');
        const answer = await clients.outsider.post(`/api/work-items/${id}/${path}`, body);
        expect([answer.status, answer.body.code], path).to.deep.equal([403, 'NOT_OWNER']);
      }
    });

    it('lets the routed manager decide, and neither the owner nor the operator', async () => {
      const { id, clients } = await cast('work-item');
      const owner = house.agent(await session([], 'ann'));
      await owner.post(`/api/work-items/${id}/approval/request`, { request: 'May I?' });
      expect(
        (await owner.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).body.code,
      ).to.equal('OWN_APPROVAL');
      expect(
        (await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).body.code,
      ).to.equal('NOT_ROUTED');
      expect(
        (await clients.outsider.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).status,
      ).to.equal(403);
      expect(
        (await clients.above.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).status,
      ).to.equal(200);
    });

    it('suggests the assignee who was meant', async () => {
      const answer = await house.operator.post('/api/work-items', { title: 'x', assignee: 'anne' });
      expect([answer.status, answer.body.code]).to.deep.equal([400, 'UNKNOWN_EMPLOYEE']);
      expect(answer.body.error).to.match(/Did you mean "ann"/);
    });
  });

  describe('agents', () => {
    it('open sessions only beneath themselves, whatever parent they wish', async () => {
      const own = await session([], 'ann');
      const other = await session();
      const child = await house.agent(own).post('/api/sessions', { prompt: 'x' });
      expect(child.body).to.include({ parentSessionId: own });
      expect(child.body.ancestors).to.deep.equal([own]);
      const grandchild = await house.agent(own).post('/api/sessions', { prompt: 'x', parent: child.body.id });
      expect(grandchild.body.ancestors).to.deep.equal([child.body.id, own]);
      expect(
        (await house.agent(own).post('/api/sessions', { prompt: 'x', parent: other })).body.code,
      ).to.equal('FORBIDDEN');
    });

    it('list only what is theirs', async () => {
      const own = await session();
      const child = await session([own]);
      await session();
      const { body } = await house.agent(own).get('/api/sessions?limit=0');
      expect(body.map(({ id }: { id: string }) => id)).to.have.members([own, child]);
      const mine = (await house.agent(own).post('/api/work-items', { title: 'mine' })).body.workItem;
      expect(mine).to.include({ source: 'session', createdBy: `session:${own}` });
      expect(mine.sourceRef).to.match(new RegExp(`^session:${own}:[0-9a-f]{12}$`));
      const list = (await house.agent(own).get('/api/work-items')).body;
      expect(list.workItems.map(({ id }: { id: string }) => id)).to.deep.equal([mine.id]);
    });

    it('lose their authority with their token', async () => {
      const own = await session();
      const token = house.tokens.mint(own);
      const client = house.client({ authorization: `Bearer ${token}` });
      expect((await client.get(`/api/sessions/${own}`)).status).to.equal(200);
      house.tokens.revoke(token);
      expect((await client.get(`/api/sessions/${own}`)).status).to.equal(401);
    });

    it('lose it too when their session is stopped, while their processes are still going', async () => {
      const own = await session();
      const client = house.agent(own);
      await house.operator.post(`/api/sessions/${own}/stop`);
      expect((await client.post('/api/work-items', { title: 'x' })).status).to.equal(401);
    });

    it('may send ten messages in ten minutes, and are told when they may go on', async () => {
      const own = await session();
      const other = await session();
      for (let n = 0; n < 10; n++)
        expect(
          (await house.agent(own).post(`/api/sessions/${other}/message`, { message: `n${n}` })).status,
        ).to.equal(200);
      const late = await house.agent(own).post(`/api/sessions/${other}/message`, { message: 'one more' });
      expect([late.status, late.body.code]).to.deep.equal([429, 'TOO_MANY']);
      expect(late.body.resetAt).to.be.greaterThan(house.supervisor.environment.clock.now() + 500_000);
      expect(Number(late.headers['retry-after'])).to.be.within(500, 600);
    });

    it('count parallel messages too', async () => {
      const own = await session();
      const other = await session();
      const answers = await Promise.all(
        Array.from({ length: 14 }, () =>
          house.agent(own).post(`/api/sessions/${other}/message`, { message: 'x' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
    });

    it('relay a message at most twelve times', async () => {
      const ring = await Promise.all(Array.from({ length: 14 }, () => session()));
      const statuses: number[] = [];
      for (let n = 0; n < 13; n++)
        statuses.push(
          (
            await house
              .agent(ring[n] ?? '')
              .post(`/api/sessions/${ring[n + 1]}/message`, { message: 'pass it on' })
          ).status,
        );
      expect(statuses).to.deep.equal([...Array.from({ length: 12 }, () => 200), 429]);
    });

    it('arrive as notifications that say from whom', async () => {
      const own = await session([], 'ann');
      const other = await session();
      await house.agent(own).post(`/api/sessions/${other}/message`, { message: 'hello' });
      const { body } = await house.operator.get(`/api/sessions/${other}`);
      expect(body.messages[0]).to.deep.include({
        role: 'notification',
        content: 'hello',
        meta: { kind: 'agent-relay', from: own, employee: 'ann', hops: 1 },
      });
    });

    it('tell an agent why it may not, and what it can do instead', async () => {
      const agent = house.agent(await session());
      const forPeople = await agent.call('DELETE', `/api/sessions/${await session()}`);
      expect([forPeople.status, forPeople.body.authority]).to.deep.equal([403, 'session.manage']);
      expect(forPeople.body.error)
        .to.include('Only people may do this (session.manage)')
        .and.include('Ask a person');
      expect((await agent.get(`/api/sessions/${await session()}`)).body.error).to.include(
        'only its own sessions and work',
      );
    });
  });

  describe('identity headers', () => {
    const marker = { 'x-svc-tool-call': 'svc-mcp' };

    it('narrow the operator to the session they prove', async () => {
      const own = await session();
      const capability = house.tokens.mint(own);
      const headers = { ...marker, 'x-svc-caller-session': own, 'x-svc-session-capability': capability };
      expect(
        (await house.operator.post('/api/work-items', { title: 'x' }, headers)).body.workItem.createdBy,
      ).to.equal(`session:${own}`);
      expect((await house.operator.get('/api/inspect/dead-letters', headers)).status).to.equal(403);
    });

    it('are refused when they prove nothing, on every way to lose an identity', async () => {
      const own = await session();
      const other = await session();
      const capability = house.tokens.mint(own);
      const lost: Record<string, string>[] = [
        marker,
        { 'x-svc-caller-session': own },
        { 'x-svc-session-capability': capability },
        { ...marker, 'x-svc-caller-session': own },
        { ...marker, 'x-svc-caller-session': own, 'x-svc-session-capability': 'wrong' },
        { ...marker, 'x-svc-caller-session': other, 'x-svc-session-capability': capability },
        { ...marker, 'x-svc-caller-session': 'nobody', 'x-svc-session-capability': capability },
      ];
      for (const headers of lost) {
        const answer = await house.operator.get('/api/work-items', headers);
        expect([answer.status, answer.body.code], JSON.stringify(headers)).to.deep.equal([403, 'FORBIDDEN']);
      }
      expect(
        (
          await house.client().get('/api/work-items', {
            ...marker,
            'x-svc-caller-session': own,
            'x-svc-session-capability': capability,
          })
        ).status,
      ).to.equal(401);
    });

    it('never widen: an agent cannot become an outsider, but may become its child', async () => {
      const own = await session();
      const child = await session([own]);
      const other = await session();
      const as = (id: string) => ({
        ...marker,
        'x-svc-caller-session': id,
        'x-svc-session-capability': house.tokens.mint(id),
      });
      expect((await house.agent(own).get('/api/work-items', as(other))).status).to.equal(403);
      expect((await house.agent(child).get('/api/work-items', as(own))).status).to.equal(403);
      expect((await house.agent(own).get(`/api/sessions/${own}`, as(child))).status).to.equal(403);
      expect((await house.agent(own).get(`/api/sessions/${child}`, as(child))).status).to.equal(200);
    });
  });
});
