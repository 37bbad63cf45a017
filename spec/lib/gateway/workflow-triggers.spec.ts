import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnnouncement } from '../../../lib/home/announce.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { startInstance } from '../../../lib/instance.js';
import { makeClient, poll, watch, type Client } from './fixture.js';

/** A whole gateway with a workflow of one plain step. */
async function openHome() {
  const layout = layoutOf({ home: await mkdtemp(join(tmpdir(), 'triggers-')) });
  let served = await startInstance({ layout, port: 0 });
  const connect = async (headers: Record<string, string> = {}): Promise<Client> =>
    makeClient(Number(new URL(served.url).port), headers);
  const token = String((await readAnnouncement(layout.announcement))?.token);
  const operator = await connect({ authorization: `Bearer ${token}` });
  const nodes = [
    { id: 't', type: 'trigger', trigger: { kind: 'manual' } },
    { id: 'a', type: 'step', actor: { kind: 'noop' } },
  ];
  const drawn = await operator.post('/api/workflow-definitions/mutate', {
    operation: 'create',
    definition: { id: 'deploy', title: 'Deploy', nodes, edges: [{ from: 't', to: 'a' }] },
  });
  expect(drawn.status, drawn.text).to.equal(201);
  return {
    operator,
    anonymous: await connect(),
    socket: () =>
      watch(`ws://127.0.0.1:${new URL(served.url).port}/ws`, { authorization: `Bearer ${token}` }),
    withSecret: (secret: string) => connect({ 'x-svc-workflow-event-token': secret }),
    async restart(): Promise<Client> {
      await served.close();
      served = await startInstance({ layout, port: 0 });
      return connect({ authorization: `Bearer ${token}` });
    },
    async close() {
      await served.close();
      await rm(layout.home, { recursive: true, force: true });
    },
  };
}
const bind = { kind: 'webhook', name: 'push', event: 'repo.push', targetWorkflowId: 'deploy' };

describe('/api/workflow-triggers and /api/workflow-events', () => {
  let home: Awaited<ReturnType<typeof openHome>>;
  beforeEach(async () => {
    home = await openHome();
  });
  afterEach(() => home.close());

  it('tells a secret once, and keeps only what it cannot be made of', async () => {
    const made = await home.operator.post('/api/workflow-triggers', { ...bind, idempotencyKey: 'k' });
    expect(made.status).to.equal(201);
    expect(made.body.secretToken).to.match(/^svcwe_[A-Za-z0-9_-]{43}$/);
    expect(made.body.trigger).to.deep.include({
      name: 'push',
      event: 'repo.push',
      targetWorkflowId: 'deploy',
      activation: 'active',
      source: 'event-webhook',
    });
    const again = await home.operator.post('/api/workflow-triggers', { ...bind, idempotencyKey: 'k' });
    expect(again.body).to.not.have.property('secretToken');
    expect(again.body.secretOmitted, 'a client must see that it is not coming').to.equal(true);
    const everything = [
      await home.operator.get('/api/workflow-triggers'),
      await home.operator.get('/api/inspect/actors/trigger/push'),
      await home.operator.get('/api/inspect/actors/trigger/push/history'),
    ];
    for (const { text, status } of everything) {
      expect(status).to.equal(200);
      expect(text).to.not.include(made.body.secretToken);
    }
    expect((await home.operator.get('/api/workflow-triggers')).body).to.deep.include({
      evidenceConfigured: true,
    });
  });

  it('takes a binding away once for a key, however often that is asked', async () => {
    await home.operator.post('/api/workflow-triggers', bind);
    const away = (key: Record<string, string> = {}) =>
      home.operator.call('DELETE', '/api/workflow-triggers/push', {}, key);
    const [first, again, other] = [
      await away({ 'idempotency-key': 'k' }),
      await away({ 'idempotency-key': 'k' }),
      await away(),
    ];
    expect([
      first.status,
      again.status,
      again.body,
      again.headers['idempotency-replayed'],
      other.status,
    ]).to.deep.equal([200, 200, first.body, 'true', 404]);
    await home.operator.post('/api/workflow-triggers', bind);
    const both = await Promise.all([away(), away()]);
    expect(
      both.map(({ status }) => status).sort((a, b) => a - b),
      'the second once heard 400: no such event',
    ).to.deep.equal([200, 404]);
  });

  it('tells watchers as other changes of the company are told', async () => {
    const socket = await home.socket();
    await home.operator.post('/api/workflow-triggers', bind);
    await home.operator.call('DELETE', '/api/workflow-triggers/push');
    await socket.until(
      ({ event, payload }) => event === 'company:changed' && payload.action === 'trigger-deleted',
    );
    expect(
      socket.frames
        .filter(({ payload }) => payload?.entity === 'workflow-trigger')
        .map(({ event, payload }) => [event, payload]),
    ).to.deep.equal(
      ['trigger-created', 'trigger-deleted'].map((action) => [
        'company:changed',
        { entity: 'workflow-trigger', action, id: 'push', workflowId: 'deploy' },
      ]),
    );
    socket.ws.terminate();
  });

  it('starts a run for an event, once for its fireRef, by bearer or by the secret of the binding', async () => {
    const {
      body: { secretToken },
    } = await home.operator.post('/api/workflow-triggers', bind);
    const caller = await home.withSecret(secretToken);
    const event = { event: 'repo.push', payload: { branch: 'main' }, fireRef: 'push-1' };
    const first = await caller.post('/api/workflow-events', event);
    expect([
      first.status,
      first.body.outcomes.length,
      first.body.outcomes[0].outcome,
      first.body.outcomes[0].run.workflowId,
    ]).to.deep.equal([202, 1, 'started', 'deploy']);
    const { runId } = first.body.outcomes[0].run;
    expect((await caller.post('/api/workflow-events', event)).body.outcomes[0].run.runId).to.equal(runId);
    expect((await home.operator.post('/api/workflow-events', event)).body.outcomes[0].run.runId).to.equal(
      runId,
    );
    const other = await caller.post('/api/workflow-events', { ...event, payload: { branch: 'other' } });
    expect(other.status).to.equal(409);
    await poll(
      () => home.operator.get(`/api/workflow-definitions/deploy/runs/${runId}`),
      ({ body }) => body.status === 'completed',
    );
    const twins = await Promise.all(
      Array.from({ length: 10 }, () => caller.post('/api/workflow-events', { ...event, fireRef: 'push-2' })),
    );
    expect(new Set(twins.map(({ body }) => body.outcomes?.[0].run.runId)).size).to.equal(1);
    expect((await home.operator.get('/api/workflow-definitions/deploy/runs')).body.runs).to.have.lengthOf(2);
    const operator = await home.restart();
    expect(
      (await operator.post('/api/workflow-events', event)).body.outcomes[0].run.runId,
      'also over a restart',
    ).to.equal(runId);
  });

  it('starts nothing for another event, a payload that the filter stops, or a retired workflow', async () => {
    const filter = [
      { path: 'branch', op: 'equals', value: 'main' },
      { path: 'commit.message', op: 'matches', value: '^release' },
      { path: 'draft', op: 'notEquals', value: true },
      { path: 'commit', op: 'exists' },
    ];
    const {
      body: { secretToken },
    } = await home.operator.post('/api/workflow-triggers', { ...bind, filter });
    const caller = await home.withSecret(secretToken);
    const good = { branch: 'main', commit: { message: 'release 3' } };
    const ask = (event: string, payload: object) => caller.post('/api/workflow-events', { event, payload });
    for (const [event, payload] of [
      ['repo.pull', good],
      ['repo.push', {}],
      ['repo.push', { ...good, branch: 'x' }],
      ['repo.push', { ...good, draft: true }],
      ['repo.push', { branch: 'main', commit: { message: 'fix' } }],
      ['repo.push', { branch: 'main', commit: null }],
    ] as const) {
      const { status, body } = await ask(event, payload);
      expect([status, body.outcomes], JSON.stringify(payload)).to.deep.equal([404, []]);
    }
    expect((await ask('repo.push', good)).status).to.equal(202);
    await home.operator.post('/api/workflow-definitions/deploy/retire', {});
    expect((await ask('repo.push', good)).status).to.equal(404);
  });

  it('starts what can be started, whatever stands in the way of another binding of the same event', async () => {
    // the first refusal was the whole answer: bindings behind it in the alphabet never heard of the event,
    // those before it started twice
    const definition = {
      id: 'picky',
      title: 'Picky',
      nodes: [{ id: 'a', type: 'step', actor: { kind: 'noop' } }],
      edges: [],
      input: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } },
    };
    expect(
      (await home.operator.post('/api/workflow-definitions/mutate', { operation: 'create', definition }))
        .status,
    ).to.equal(201);
    await home.operator.post('/api/workflow-triggers', {
      ...bind,
      name: 'a-picky',
      targetWorkflowId: 'picky',
    });
    const alone = await home.operator.post('/api/workflow-events', { event: bind.event, payload: {} });
    expect([alone.status, alone.body.code]).to.deep.equal([400, 'BAD_REQUEST']);
    await home.operator.post('/api/workflow-triggers', bind);
    const { status, body } = await home.operator.post('/api/workflow-events', {
      event: bind.event,
      payload: {},
    });
    expect([
      status,
      body.outcomes.map(({ triggerName, outcome, code }: Record<string, string>) => [
        triggerName,
        outcome,
        code,
      ]),
    ]).to.deep.equal([
      202,
      [
        ['a-picky', 'refused', 'BAD_REQUEST'],
        ['push', 'started', undefined],
      ],
    ]);
  });

  it('takes no pattern that could take for ever', async () => {
    for (const value of ['(?=a)', '(a)\\1', '(', '[']) {
      const { status, body } = await home.operator.post('/api/workflow-triggers', {
        ...bind,
        filter: [{ path: 'x', op: 'matches', value }],
      });
      expect([status, body.code], value).to.deep.equal([400, 'BAD_REQUEST']);
    }
    const made = await home.operator.post('/api/workflow-triggers', {
      ...bind,
      filter: [{ path: 'x', op: 'matches', value: '^(a+)+$' }],
    });
    const began = performance.now();
    expect(
      (
        await home.operator.post('/api/workflow-events', {
          event: bind.event,
          payload: { x: `${'a'.repeat(5_000)}!` },
        })
      ).status,
    ).to.equal(404);
    expect(made.status).to.equal(201);
    expect(
      performance.now() - began,
      'a backtracking engine would need longer than the universe has',
    ).to.be.below(5_000);
  });

  it('hears no one without a secret, with a wrong one, or with that of a binding that is gone', async () => {
    const {
      body: { secretToken },
    } = await home.operator.post('/api/workflow-triggers', bind);
    const event = { event: 'repo.push', payload: {} };
    expect((await home.anonymous.post('/api/workflow-events', event)).status).to.equal(401);
    for (const wrong of ['x', `${secretToken}x`, secretToken.toUpperCase(), 'a'.repeat(43)])
      expect(
        (await (await home.withSecret(wrong)).post('/api/workflow-events', event)).status,
        wrong,
      ).to.equal(401);
    expect((await home.operator.call('DELETE', '/api/workflow-triggers/push')).body).to.deep.equal({
      deleted: true,
      name: 'push',
    });
    expect((await (await home.withSecret(secretToken)).post('/api/workflow-events', event)).status).to.equal(
      401,
    );
    expect((await home.operator.call('DELETE', '/api/workflow-triggers/push')).status).to.equal(404);
    const { body: renewed } = await home.operator.post('/api/workflow-triggers', bind);
    expect(renewed.secretToken).to.be.a('string').and.not.equal(secretToken);
    expect(
      (await (await home.withSecret(secretToken)).post('/api/workflow-events', event)).status,
      'the old secret of a new binding',
    ).to.equal(401);
  });

  it('counts sixty events a minute for each secret', async () => {
    const {
      body: { secretToken },
    } = await home.operator.post('/api/workflow-triggers', bind);
    const caller = await home.withSecret(secretToken);
    for (let n = 0; n < 60; n += 1)
      expect((await caller.post('/api/workflow-events', { event: 'nothing', payload: {} })).status).to.equal(
        404,
      );
    const late = await caller.post('/api/workflow-events', { event: 'repo.push', payload: {} });
    expect([late.status, typeof late.body.resetAt]).to.deep.equal([429, 'number']);
    expect(late.headers).to.have.property('retry-after');
    expect(
      (await home.operator.post('/api/workflow-events', { event: 'repo.push', payload: {} })).status,
    ).to.equal(202);
  });

  it('refuses what is no binding and no event, and names it', async () => {
    for (const [path, body] of [
      ['kind', { ...bind, kind: 'pigeon' }],
      ['name', { ...bind, name: '../x' }],
      ['event', { ...bind, event: '' }],
      ['secretToken', { ...bind, secretToken: 'a secret of my own, which may be weak' }],
      ['filter', { ...bind, filter: [{ path: 'x', op: 'like', value: 1 }] }],
    ] as const) {
      const { status, text } = await home.operator.post('/api/workflow-triggers', body);
      expect(status, path).to.equal(400);
      expect(text, path).to.include(path);
    }
    expect(
      (await home.operator.post('/api/workflow-triggers', { ...bind, targetWorkflowId: 'nobody' })).status,
    ).to.equal(404);
    await home.operator.post('/api/workflow-triggers', bind);
    expect((await home.operator.post('/api/workflow-triggers', bind)).status).to.equal(409);
    for (const body of [
      {},
      { event: 'repo.push' },
      { event: 'repo.push', payload: [] },
      { event: 'repo.push', payload: 'x' },
      { payload: {} },
    ])
      expect((await home.operator.post('/api/workflow-events', body)).status, JSON.stringify(body)).to.equal(
        400,
      );
    expect(
      (
        await home.operator.post('/api/workflow-events', {
          event: 'repo.push',
          payload: { x: 'x'.repeat(70_000) },
        })
      ).status,
    ).to.equal(413);
  });

  it('is not for agents to tell events, nor for outsiders to bind them', async () => {
    for (const [method, path] of [
      ['GET', '/api/workflow-triggers'],
      ['POST', '/api/workflow-triggers'],
      ['DELETE', '/api/workflow-triggers/push'],
    ] as const)
      expect(
        (await home.anonymous.call(method, path, method === 'GET' ? undefined : {})).status,
        path,
      ).to.equal(401);
  });
});
