import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../lib/instance.js';
import { makeClient, poll, type Client } from './gateway/fixture.js';
import { chain } from '../machines/graph/graphs.js';

/** Workflows in a whole home: a real store, real files, and a restart. */
describe('serve with workflows', () => {
  let home: string;
  let served: Instance | undefined;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'serve-workflows-'));
  });
  afterEach(async () => {
    delete process.env['SVC_WORKFLOW_EVIDENCE_ROOT'];
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

  it('keeps definitions and their versions over a restart, and leaves evidence in the home', async () => {
    const before = await open();
    const made = await before.post(root, { ...chain('a', 'b'), title: 'Lasting' });
    expect(made.status, made.text).to.equal(201);
    await before.call('PUT', `${root}/lasting`, { ...chain('a'), title: 'Lasting', name: 'lasting' });
    await poll(
      () => before.get('/api/inspect/actors/workflow/lasting'),
      ({ text }) => text.includes('"evidence":{"version":2,'),
    );
    await served?.close();
    const after = await open();
    expect((await after.get(`${root}/lasting?version=1`)).body).to.deep.equal(made.body);
    expect((await after.get(`${root}/lasting`)).body.version).to.equal(2);
    expect(
      JSON.parse(await readFile(join(home, 'workflow-evidence', 'workflows', 'lasting', '1.json'), 'utf8')),
    ).to.deep.equal(made.body);
    expect((await after.get('/api/inspect/actors/workflow/lasting/why')).status).to.equal(200);
  });

  it('switches workflows off where the environment names a folder that is not there, and nothing else', async () => {
    process.env['SVC_WORKFLOW_EVIDENCE_ROOT'] = join(home, 'absent');
    const client = await open();
    expect((await client.get(root)).body).to.deep.include({
      definitions: [],
      evidenceConfigured: false,
      evidenceReason: `SVC_WORKFLOW_EVIDENCE_ROOT is set to ${join(home, 'absent')} but no such directory exists.`,
    });
    expect((await client.post(`${root}/plan`, { definition: chain('a') })).status).to.equal(503);
    expect((await client.post('/api/work-items', { title: 'still there' })).status).to.equal(201);
  });
});
