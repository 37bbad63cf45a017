import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type Served } from '../../lib/serve.js';
import { farSide } from '../actors/connectors/far-side.js';
import { makeClient, poll, type Client } from './gateway/fixture.js';

/** Runs in a whole home: a real store, real sessions of the built-in engine, and a restart in the middle. */
describe('serve with runs of workflows', () => {
  let home: string;
  let served: Served | undefined;
  beforeEach(async () => { home = await mkdtemp(join(tmpdir(), 'serve-runs-')); });
  afterEach(async () => {
    await served?.close();
    served = undefined;
    await rm(home, { recursive: true, force: true });
  });
  async function open(): Promise<Client> {
    served = await serve({ home, port: 0 });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    return makeClient(Number(new URL(served.url).port), { authorization: `Bearer ${token}` });
  }
  const root = '/api/workflow-definitions';
  const agent = (id: string, instructions: string) => ({ id, type: 'step', actor: { kind: 'engine', ref: 'clerk' }, instructions });

  it('sends through a connector, once', async () => {
    const far = await farSide();
    await writeFile(join(home, 'config.yaml'), `connectors:\n  instances:\n    - name: hook\n      type: webhook\n      url: ${far.url}\n      secret: a secret of the specs\n`);
    const client = await open();
    await poll(() => client.get('/api/connectors'), ({ text }) => text.includes('"running"'));
    const send = { id: 'say', type: 'step', actor: { kind: 'connector-send', connector: 'hook', channel: 'news', text: 'Week {{input.week}}', thread: null } };
    const made = await client.post(`${root}/mutate`, { operation: 'create', definition: { title: 'News', nodes: [send] } });
    expect(made.status, made.text).to.equal(201);
    const started = await client.post(`${root}/news/run`, { input: { week: 47 } });
    const run = await poll(() => client.get(`${root}/news/runs/${started.body.runId}`), ({ body }) => body.status !== 'running');
    expect(run.body.status, run.text).to.equal('completed');
    expect(run.body.steps[1].outcome.fields.status).to.equal('sent');
    expect(far.got.map(({ body }) => body).filter((body) => body.includes('Week 47'))).to.have.length(1);
    await far.close();
  });

  it('goes on after a restart where it was parked, and ends with its evidence', async () => {
    const before = await open();
    const definition = {
      title: 'Report', nodes: [agent('draft', 'Write a line.'), { id: 'ok', type: 'gate', gate: { kind: 'approval', approvalRef: 'ok', description: 'Send it?' } }, agent('send', 'Send it.')],
      edges: [{ id: 'a', from: 'draft', to: 'ok' }, { id: 'b', from: 'ok', to: 'send' }],
    };
    expect((await before.post(`${root}/mutate`, { operation: 'create', definition })).status).to.equal(201);
    const started = await before.post(`${root}/report/run`, { input: { week: 47 } });
    expect(started.status, started.text).to.equal(201);
    const path = `${root}/report/runs/${started.body.runId}`;
    const parked = await poll(() => before.get(path), ({ body }) => body.status !== 'running');
    expect(parked.body.status, parked.text).to.equal('parked');
    await served?.close();
    const after = await open();
    const why = await after.get(`/api/inspect/actors/workflow-run/${started.body.runId}/why`);
    expect(why.text).to.include('gate.resolve').and.include('keyHolders');
    expect((await after.post(`${path}/resolve-gate`, { decision: 'approve' })).status).to.equal(200);
    const done = await poll(() => after.get(path), ({ body }) => body.status !== 'running' && body.evidence === 'written');
    expect(done.body.steps.map(({ nodeId, status }: { nodeId: string; status: string }) => `${nodeId}:${status}`)).to.deep.equal(['trigger:fired', 'draft:done', 'ok:checkpoint', 'send:done']);
    const receipts = await readFile(join(home, 'workflow-evidence', 'runs', 'report', started.body.runId as string, 'receipts.jsonl'), 'utf8');
    expect(receipts.trim().split('\n')).to.have.length(4);
  });
});
