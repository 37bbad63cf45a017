import { expect } from 'chai';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cronFireKind } from '../../../actors/cron-fire/kind.js';
import { scheduleKind } from '../../../actors/schedule/kind.js';
import { triggerKind } from '../../../actors/trigger/kind.js';
import type { Kind } from '../../../actors/contracts.js';
import { launchFire } from '../../../lib/commands/cron.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { layoutOf } from '../../../lib/home/layout.js';
import { openRecords, type Records } from '../../../lib/records/records.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { testEnvironment, type TestEnvironment } from '../../../lib/testing/test-environment.js';
import type { LaunchInput } from '../../../machines/cron-fire/machine.js';
import { openOffice } from '../records/office.js';
import { openHouse, poll, type Answer, type House } from './fixture.js';

const megabyte = 1_000_000;
const agent = (id: string) => ({
  id,
  type: 'step',
  actor: { kind: 'engine', ref: 'pen' },
  instructions: 'go',
});
const gate = (id: string) => ({
  id,
  type: 'gate',
  gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' },
});

describe('a disk with less than 200 MB free', () => {
  let house: House;
  let folder: string;
  let environment: TestEnvironment;
  let records: Records;
  let free = 0;
  const room = async (megabytes: number): Promise<void> => {
    free = megabytes * megabyte;
    await environment.advance(5_000); // the disk is looked at this often
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'full-'));
    environment = testEnvironment();
    free = 10_000 * megabyte;
    const store = { ...memoryStore(), freeBytes: async () => free };
    records = await openRecords({ layout: layoutOf({ home: folder }), environment, root: null });
    const launch = {
      guarantee: 'at-least-once' as const,
      run: (input: LaunchInput) => launchFire(house.gateway.app, input),
    };
    const record = { guarantee: 'at-least-once' as const, run: async () => undefined };
    house = await openHouse({
      withRoster: true,
      environment,
      store,
      records,
      evidence: await openEvidence({ standard: folder }),
      kinds: [
        scheduleKind(),
        triggerKind(),
        cronFireKind({ launch, record }),
      ] as readonly unknown[] as readonly Kind[],
    }); // a list knows only that they are kinds
  });
  after(async () => {
    await house.close();
    await records.close();
    await rm(folder, { recursive: true, force: true });
  });
  const post = (path: string, body: object = {}): Promise<Answer> => house.operator.post(path, body);
  const session = (id: string): Promise<Answer> => house.operator.get(`/api/sessions/${id}`);

  it('refuses every beginning of new work, and finishes what runs', async () => {
    const running = (await post('/api/sessions', { prompt: 'hang' })).body.id as string;
    const mother = (await post('/api/sessions', { prompt: 'mother' })).body.id as string;
    await poll(
      () => session(mother),
      ({ body }) => body.status === 'idle',
    );
    const item = (await post('/api/work-items', { title: 'There before' })).body.workItem.id as string;
    const definition = {
      title: 'Gated',
      nodes: [gate('g'), agent('after')],
      edges: [{ id: 'e', from: 'g', to: 'after' }],
    };
    const workflow = (await post('/api/workflow-definitions/mutate', { operation: 'create', definition }))
      .body.definition.id as string;
    const run = (await post(`/api/workflow-definitions/${workflow}/run`)).body.runId as string;
    expect(
      (await post('/api/cron', { id: 'job', schedule: '0 * * * *', prompt: 'Look', employee: 'ann' })).status,
    ).to.equal(201);
    expect(
      (
        await post('/api/workflow-triggers', {
          kind: 'webhook',
          name: 'push',
          event: 'pushed',
          targetWorkflowId: workflow,
        })
      ).status,
    ).to.equal(201);
    await poll(
      () => session(running),
      ({ body }) => body.status === 'running',
    );

    await room(199);
    const beginnings: [string, object][] = [
      ['/api/sessions', { prompt: 'new' }],
      [`/api/sessions/${mother}/message`, { message: 'more' }],
      [`/api/sessions/${mother}/duplicate`, {}],
      ['/api/work-items', { title: 'new' }],
      ['/api/delegations', { task: 'new', employee: 'ann' }],
      [`/api/workflow-definitions/${workflow}/run`, {}],
      ['/api/workflow-runs/by-name', { name: workflow }],
      [
        '/api/workflow-definitions/mutate',
        { operation: 'create', definition: { ...definition, title: 'Another' } },
      ],
      ['/api/workflow-events', { event: 'pushed', payload: {}, fireRef: 'f1' }],
      ['/api/workflow-triggers', { kind: 'webhook', name: 'other', event: 'x', targetWorkflowId: workflow }],
      ['/api/cron', { id: 'other', schedule: '0 * * * *', prompt: 'Look', employee: 'ann' }],
      ['/api/cron/job/trigger', {}],
    ];
    for (const [path, body] of beginnings) {
      const { status, body: answer } = await post(path, body);
      expect([status, answer.code], path).to.deep.equal([503, 'DISK_LOW']);
    }
    const child = await house.agent(mother).post('/api/sessions', { prompt: 'child' });
    expect([child.status, child.body.code]).to.deep.equal([503, 'DISK_LOW']);

    expect((await post(`/api/work-items/${item}/archive`)).status, 'what is there can be closed').to.equal(
      200,
    );
    expect(
      (await post(`/api/workflow-definitions/${workflow}/runs/${run}/resolve-gate`, { decision: 'approve' }))
        .status,
    ).to.equal(200);
    const ended = await poll(
      () => house.operator.get(`/api/workflow-definitions/${workflow}/runs/${run}`),
      ({ body }) => body.status === 'completed',
    );
    expect(
      ended.body.steps.map(({ nodeId, status }: { nodeId: string; status: string }) => `${nodeId}:${status}`),
      'a run goes on to its end',
    ).to.include('after:done');
    expect((await post(`/api/sessions/${running}/stop?descendants=true`)).status).to.equal(200);
    expect((await session(running)).body.status).to.equal('stopped');
  });

  it('lets a fire of the clock fail visibly, and the next one begin when there is room', async () => {
    await room(100);
    await environment.advance(3_600_000);
    const fires = async () =>
      (await house.supervisor.iterate('cron-fire', { limit: 10 })).map(
        ({ view }) => view as { status: string; error: string | null; sessionId: string | null },
      );
    const until = async (holds: (all: Awaited<ReturnType<typeof fires>>) => boolean) => {
      for (let looks = 0; looks < 200; looks += 1) {
        const all = await fires();
        if (holds(all)) return all;
        await environment.settle();
        await house.operator.get('/healthz');
      }
      throw new Error(`not so: ${JSON.stringify(await fires())}`);
    };
    const [first] = await until(([fire]) => fire?.error != null);
    expect(first).to.include({ sessionId: null });
    expect(first?.error).to.match(/disk is almost full/);
    await room(10_000);
    await environment.advance(3_600_000);
    await until((all) => all.at(-1)?.sessionId != null);
  });

  it('takes everything again when there is room', async () => {
    await room(199);
    expect((await post('/api/work-items', { title: 'no' })).status).to.equal(503);
    await room(201 * 1.05);
    expect((await post('/api/work-items', { title: 'yes' })).status).to.equal(201);
  });
});

describe('files on a disk with less than 200 MB free', () => {
  it('are refused before their bytes are taken in, and can be removed', async () => {
    let free = 10_000 * megabyte;
    const environment = testEnvironment();
    const office = await openOffice(
      {},
      { environment, store: { ...memoryStore(), freeBytes: async () => free } },
    );
    try {
      const kept = (await office.operator.post('/api/files', { content: 'aGVsbG8=', filename: 'a.txt' })).body
        .id as string;
      const agent = await office.agent();
      free = 100 * megabyte;
      await environment.advance(5_000);
      const form = Buffer.from(
        '--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello\r\n--edge--\r\n',
      );
      const multipart = { 'content-type': 'multipart/form-data; boundary=edge' };
      for (const answer of [
        await office.operator.post('/api/files', { content: 'aGVsbG8=' }),
        await office.operator.call('POST', '/api/files', form, multipart),
        await office.operator.post('/api/files', { url: 'http://127.0.0.1:1/x' }),
        await agent.call('POST', `/api/sessions/${agent.sessionId}/attachments`, form, multipart),
      ])
        expect([answer.status, answer.body.code]).to.deep.equal([503, 'DISK_LOW']);
      expect(await readdir(office.records.files.staging.folder)).to.deep.equal([]);
      expect(await readdir(office.layout.files)).to.deep.equal([kept]);
      expect((await office.operator.call('DELETE', `/api/files/${kept}`)).status).to.equal(200);
      expect(await readdir(office.layout.files)).to.deep.equal([]);
    } finally {
      await office.close();
    }
  });
});
