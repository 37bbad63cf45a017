import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../lib/instance.js';
import { farSide } from '../actors/connectors/far-side.js';
import { makeClient, poll, type Client } from './gateway/fixture.js';

/** Runs in a whole home: a real store, real sessions of the built-in engine, and a restart in the middle. */
describe('serve with runs of workflows', () => {
  let home: string;
  let served: Instance | undefined;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'serve-runs-'));
  });
  afterEach(async () => {
    await served?.close();
    served = undefined;
    await rm(home, { recursive: true, force: true });
  });
  async function open(): Promise<Client> {
    served = await startInstance({ home, port: 0 });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    return makeClient(Number(new URL(served.url).port), { authorization: `Bearer ${token}` });
  }
  const root = '/api/workflow-definitions';
  const agent = (id: string, instructions: string) => ({
    id,
    type: 'step',
    actor: { kind: 'engine', ref: 'clerk' },
    instructions,
  });

  it('sends through a connector, once', async () => {
    const far = await farSide();
    await writeFile(
      join(home, 'config.yaml'),
      `connectors:\n  instances:\n    - name: hook\n      type: webhook\n      url: ${far.url}\n      secret: a secret of the specs\n`,
    );
    const client = await open();
    await poll(
      () => client.get('/api/connectors'),
      ({ text }) => text.includes('"running"'),
    );
    const send = {
      id: 'say',
      type: 'step',
      actor: {
        kind: 'connector-send',
        connector: 'hook',
        channel: 'news',
        text: 'Week {{input.week}}',
        thread: null,
      },
    };
    const lost = await client.post(`${root}/plan`, {
      definition: { title: 'Lost', nodes: [{ ...send, actor: { ...send.actor, connector: 'pigeon' } }] },
    });
    expect([lost.body.ok, lost.body.warnings]).to.deep.equal([
      true,
      [{ code: 'unknown-connector', message: 'unknown connector "pigeon"', ref: 'say' }],
    ]);
    expect(Date.parse(lost.body.definition.createdAt)).to.be.greaterThan(Date.UTC(2026, 0));
    const made = await client.post(`${root}/mutate`, {
      operation: 'create',
      definition: { title: 'News', nodes: [send] },
    });
    expect(made.status, made.text).to.equal(201);
    const started = await client.post(`${root}/news/run`, { input: { week: 47 } });
    const run = await poll(
      () => client.get(`${root}/news/runs/${started.body.runId}`),
      ({ body }) => body.status !== 'running',
    );
    expect(run.body.status, run.text).to.equal('completed');
    expect(run.body.steps[0].outcome.fields.status).to.equal('sent');
    expect(far.got.map(({ body }) => body).filter((body) => body.includes('Week 47'))).to.have.length(1);
    await far.close();
  });

  it('has a cron job for a definition that wakes by the clock: made, changed and taken away with it', async () => {
    const client = await open();
    const daily = (cron: string) => [
      { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron, timezone: 'Europe/Vienna' } },
      { id: 'a', type: 'step', actor: { kind: 'noop' } },
    ];
    const made = await client.post(`${root}/mutate`, {
      operation: 'create',
      definition: { title: 'Daily', nodes: daily('0 7 * * *'), edges: [{ id: 'ta', from: 't', to: 'a' }] },
    });
    expect(made.status, made.text).to.equal(201);
    const job = async () =>
      ((await client.get('/api/cron')).body as { id: string; schedule: string; timezone: string }[]).find(
        ({ id }) => id === 'workflow:daily',
      );
    expect(await job()).to.include({ schedule: '0 7 * * *', timezone: 'Europe/Vienna' });
    expect((await client.call('DELETE', '/api/cron/workflow:daily')).status).to.equal(409);
    expect((await client.call('PUT', '/api/cron/workflow:daily', { schedule: '* * * * *' })).body).to.include(
      { code: 'CONFLICT', workflowId: 'daily' },
    );
    const changed = await client.post(`${root}/mutate`, {
      operation: 'update',
      workflowId: 'daily',
      patch: { nodes: daily('30 8 * * *') },
    });
    expect(changed.status, changed.text).to.equal(200);
    expect(await job()).to.include({ schedule: '30 8 * * *' });
    const fired = await client.post('/api/cron/workflow:daily/trigger');
    expect(fired.status, fired.text).to.equal(200);
    const runs = await poll(
      () => client.get(`${root}/daily/runs`),
      ({ body }) => body.runs.length > 0 && body.runs[0].status === 'completed',
    );
    expect(runs.body.runs[0].trigger).to.deep.include({ source: 'schedule', event: 'workflow:daily' });
    const recorded = await poll(
      () => client.get('/api/cron/workflow:daily/runs'),
      ({ body }) => body.length > 0,
    );
    expect(recorded.body[0].status).to.equal('success');
    await client.post(`${root}/daily/pause`);
    expect(await job()).to.equal(undefined);
    await client.post(`${root}/daily/resume`);
    expect(await job()).to.include({ schedule: '30 8 * * *' });
  });

  it('refuses an id whose cron job could not be called after it, and takes the longest that can', async () => {
    const client = await open();
    const clock = (id: string) => ({
      id,
      title: 'Long',
      nodes: [
        { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron: '0 7 * * *', timezone: 'UTC' } },
        { id: 'a', type: 'step', actor: { kind: 'noop' } },
      ],
      edges: [{ id: 'ta', from: 't', to: 'a' }],
    });
    const create = (id: string) =>
      client.post(`${root}/mutate`, {
        operation: 'create',
        definition: { ...clock(id), name: `name-${id.length}` },
      });
    expect((await create('x'.repeat(119))).status).to.equal(201);
    expect((await client.get('/api/cron')).body.map(({ id }: { id: string }) => id)).to.deep.equal([
      `workflow:${'x'.repeat(119)}`,
    ]);
    const refused = await create('x'.repeat(120)); // it was stored, and never woke
    expect([
      refused.status,
      refused.body.errors.map(({ code, ref }: { code: string; ref: string }) => [code, ref]),
    ]).to.deep.equal([400, [['schedule-id-too-long', 't']]]);
    expect(refused.body.errors[0].message).to.match(/at most 119 characters; this one has 120/);
    const { nodes, edges } = clock('y');
    const byEffect = { id: 'y'.repeat(128), title: 'By hand', nodes: nodes.slice(1), edges: [] };
    expect(
      (await client.post(`${root}/mutate`, { operation: 'create', definition: byEffect })).status,
      'what does not wake may be longer',
    ).to.equal(201);
    const woken = await client.post(`${root}/mutate`, {
      operation: 'update',
      workflowId: byEffect.id,
      patch: { nodes, edges },
    });
    expect([woken.status, woken.body.errors?.[0]?.code]).to.deep.equal([400, 'schedule-id-too-long']);
  });

  it('lets the clock start no more runs than the definition says, also over a restart', async () => {
    let client = await open();
    const nodes = [
      { id: 't', type: 'trigger', trigger: { kind: 'schedule', cron: '0 7 * * *', timezone: 'UTC' } },
      { id: 'a', type: 'step', actor: { kind: 'noop' } },
    ];
    const made = await client.post(`${root}/mutate`, {
      operation: 'create',
      definition: { title: 'Twice', nodes, edges: [{ id: 'ta', from: 't', to: 'a' }], loop: { maxRuns: 2 } },
    });
    expect(made.status, made.text).to.equal(201);
    const jobs = async () => ((await client.get('/api/cron')).body as { id: string }[]).map(({ id }) => id);
    const runs = async () => (await client.get(`${root}/twice/runs`)).body.runs as { status: string }[];
    await client.post(`${root}/twice/run`, {}); // by hand: does not count
    await client.post('/api/cron/workflow:twice/trigger');
    await poll(
      () => client.get(`${root}/twice/runs`),
      ({ body }) => body.runs.length === 2,
    );
    expect(await jobs()).to.deep.equal(['workflow:twice']);
    await client.post('/api/cron/workflow:twice/trigger');
    await poll(
      () => client.get('/api/cron'),
      ({ body }) => body.length === 0,
    );
    expect(await runs()).to.have.length(3);
    await served?.close();
    client = await open();
    expect(await jobs()).to.deep.equal([]);
    expect((await client.post(`${root}/twice/run`, {})).status, 'people may go on').to.equal(201);
    expect(
      (
        await client.post(`${root}/mutate`, {
          operation: 'update',
          workflowId: 'twice',
          patch: { loop: { maxRuns: 3 } },
        })
      ).status,
    ).to.equal(200);
    expect(await jobs(), 'room for one more').to.deep.equal(['workflow:twice']);
  });

  it('reads patterns in conditions, in linear time', async () => {
    const client = await open();
    const definition = (value: string) => ({
      title: 'Sorted',
      nodes: [
        { id: 's', type: 'switch' },
        { id: 'release', type: 'step', actor: { kind: 'noop' } },
        { id: 'other', type: 'step', actor: { kind: 'noop' } },
      ],
      edges: [
        { from: 's', to: 'release', when: [{ path: 'input.tag', op: 'matches', value }] },
        { from: 's', to: 'other' },
      ],
    });
    for (const value of ['(?=a)', '(', '(a)\\1', '.{0,1000}.{0,1000}.{0,1000}']) {
      const planned = await client.post(`${root}/plan`, { definition: definition(value) });
      expect(
        [planned.body.ok, planned.body.validation.errors.map(({ code }: { code: string }) => code)],
        value,
      ).to.deep.equal([false, ['bad-edge-condition']]);
    }
    const made = await client.post(`${root}/mutate`, {
      operation: 'create',
      definition: definition('^v[0-9]+\\.[0-9]+$'),
    });
    expect(made.status, made.text).to.equal(201);
    for (const [tag, way] of [
      ['v1.2', 'release'],
      ['v1', 'other'],
      ['a v1.2 b', 'other'],
      [7, 'other'],
    ] as const) {
      const {
        body: { runId },
      } = await client.post(`${root}/sorted/run`, { input: { tag } });
      const run = await poll(
        () => client.get(`${root}/sorted/runs/${runId}`),
        ({ body }) => body.status === 'completed',
      );
      const done = (run.body.steps as { nodeId: string; status: string }[])
        .filter(({ nodeId, status }) => nodeId !== 's' && status === 'done')
        .map(({ nodeId }) => nodeId);
      expect(done, String(tag)).to.deep.equal([way]);
    }
  });

  it('wakes a definition when a work item changes its status, once per change, also over a restart', async () => {
    const before = await open();
    const trigger = {
      kind: 'todo-status-change',
      toStatus: 'in_review',
      fromStatus: null,
      filter: { source: 'human', department: null, assignee: null },
    };
    const definition = {
      title: 'Review',
      concurrency: 8,
      nodes: [
        { id: 't', type: 'trigger', trigger },
        { id: 'a', type: 'step', actor: { kind: 'noop' } },
      ],
      edges: [{ id: 'ta', from: 't', to: 'a' }],
    };
    const made = await before.post(`${root}/mutate`, { operation: 'create', definition });
    expect(made.status, made.text).to.equal(201);
    const moved = async (client: Client): Promise<string> => {
      const {
        body: { workItem },
      } = await client.post('/api/work-items', { title: 'Look at this' });
      await client.post(`/api/work-items/${workItem.id}/status`, { status: 'executing' });
      await client.post(`/api/work-items/${workItem.id}/status`, { status: 'in_review' });
      return workItem.id as string;
    };
    const first = await moved(before);
    const runs = (client: Client, count: number) =>
      poll(
        () => client.get(`${root}/review/runs`),
        ({ body }) => body.runs.length >= count,
      );
    expect((await runs(before, 1)).body.runs[0].trigger).to.deep.include({
      source: 'todo-status-change',
      event: 'executing→in_review',
    });
    await served?.close();
    const after = await open();
    const second = await moved(after);
    const all = await runs(after, 2);
    const items = await Promise.all(
      (all.body.runs as { runId: string }[]).map(
        async ({ runId }) =>
          (await after.get(`${root}/review/runs/${runId}`)).body.trigger.payload.workItemId as string,
      ),
    );
    expect(items.sort()).to.deep.equal([first, second].sort());
  });

  it('goes on after a restart where it was parked, and ends with its evidence', async () => {
    const before = await open();
    const definition = {
      title: 'Report',
      nodes: [
        agent('draft', 'Write a line.'),
        { id: 'ok', type: 'gate', gate: { kind: 'approval', approvalRef: 'ok', description: 'Send it?' } },
        agent('send', 'Send it.'),
      ],
      edges: [
        { id: 'a', from: 'draft', to: 'ok' },
        { id: 'b', from: 'ok', to: 'send' },
      ],
    };
    expect((await before.post(`${root}/mutate`, { operation: 'create', definition })).status).to.equal(201);
    const started = await before.post(`${root}/report/run`, { input: { week: 47 } });
    expect(started.status, started.text).to.equal(201);
    const path = `${root}/report/runs/${started.body.runId}`;
    const parked = await poll(
      () => before.get(path),
      ({ body }) => body.status !== 'running',
    );
    expect(parked.body.status, parked.text).to.equal('parked');
    await served?.close();
    const after = await open();
    const why = await after.get(`/api/inspect/actors/workflow-run/${started.body.runId}/why`);
    expect(why.text).to.include('gate.resolve').and.include('keyHolders');
    expect((await after.post(`${path}/resolve-gate`, { decision: 'approve' })).status).to.equal(200);
    const done = await poll(
      () => after.get(path),
      ({ body }) => body.status !== 'running' && body.evidence === 'written',
    );
    expect(
      done.body.steps.map(({ nodeId, status }: { nodeId: string; status: string }) => `${nodeId}:${status}`),
    ).to.deep.equal(['draft:done', 'ok:checkpoint', 'send:done']);
    const receipts = await readFile(
      join(home, 'workflow-evidence', 'runs', 'report', started.body.runId as string, 'receipts.jsonl'),
      'utf8',
    );
    expect(receipts.trim().split('\n')).to.have.length(4);
  });
});
