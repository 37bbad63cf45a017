import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type Served } from '../../lib/serve.js';
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
