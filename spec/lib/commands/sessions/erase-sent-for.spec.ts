import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineEngine } from '../../../../actors/engines/engine.js';
import { startInstance, type Instance } from '../../../../lib/instance.js';
import { farSide, type FarSide } from '../../../actors/connectors/far-side.js';
import { makeClient, poll, type Client } from '../../gateway/fixture.js';

const word = 'w3f1c-secret-of-the-session';

/** A cron job and a workflow send what a session said in their own name: an erasure of the session passed it by. */
describe('a message of what a session said, which another sent', () => {
  let home: string;
  let far: FarSide;
  let instance: Instance;
  let client: Client;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'erase-sent-for-'));
    far = await farSide();
    await writeFile(
      join(home, 'config.yaml'),
      'agents: {sandbox: off}\nconnectors:\n  instances:\n' +
        `    - {name: hook, type: webhook, url: "${far.url}", secret: a secret of the specs}\n`,
    );
    const scribe = defineEngine({
      name: 'scribe',
      effortMechanism: 'none',
      isInProcess: true,
      discover: async () => ({ available: true, defaultModel: null, models: [] }),
      turn: async () => ({ outcome: 'succeeded', text: `heard ${word}` }),
    });
    instance = await startInstance({ home, port: 0, engines: [scribe] });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    client = makeClient(Number(new URL(instance.url).port), { authorization: `Bearer ${token}` });
    await poll(
      () => client.get('/api/connectors'),
      ({ body }) => body[0]?.status === 'running',
    );
  });
  afterEach(async () => {
    await instance.close();
    await far.close();
    await rm(home, { recursive: true, force: true });
  });

  /** The message of it, once it may have arrived. */
  const undelivered = async (): Promise<string> => {
    const { body } = await poll(
      () => client.get('/api/connectors/hook/deliveries'),
      (answer) => answer.body.deliveries[0]?.status === 'unknown',
    );
    const [sent] = body.deliveries as { id: string; requestedBy: string }[];
    expect(sent?.requestedBy).to.match(/^(?:cron-fire|workflow-run):/);
    const path = `/api/connectors/hook/deliveries/${encodeURIComponent(sent?.id ?? '')}`;
    expect((await client.get(path)).body.text).to.include(word);
    return path;
  };
  const history = async (): Promise<string> =>
    (await client.get('/api/inspect/actors/connector/hook/history')).text;

  async function erasedWith(path: string, sessionId: string): Promise<void> {
    await poll(
      () => client.get(`/api/sessions/${sessionId}`),
      ({ body }) => body.status === 'idle',
    );
    const other = (await client.post('/api/sessions', { prompt: 'hi', engine: 'scribe' })).body.id;
    await poll(
      () => client.get(`/api/sessions/${other}`),
      ({ body }) => body.status === 'idle',
    );
    expect((await client.post('/api/erase', { sessionId: other })).status).to.equal(200);
    expect((await client.get(path)).body.text, 'by another session').to.include(word);
    const { status, text } = await client.post('/api/erase', { sessionId });
    expect(status, text).to.equal(200);
    expect((await client.get(path)).body).to.deep.include({ text: null });
    expect((await client.get('/api/attention')).body.waiting).to.deep.equal([]);
    expect(await history()).not.to.include(word);
  }

  it('goes with the session where a cron job sent it', async () => {
    far.answers = [{ status: 500 }];
    const job = { id: 'daily', prompt: 'say', engine: 'scribe', enabled: false };
    const delivery = { connector: 'hook', channel: 'general' };
    expect((await client.post('/api/cron', { ...job, delivery })).status).to.be.below(300);
    await client.post('/api/cron/daily/trigger');
    const path = await undelivered();
    const { body: runs } = await poll(
      () => client.get('/api/cron/daily/runs'),
      ({ body }) => body[0]?.status === 'success',
    );
    await erasedWith(path, runs[0].sessionId);
  });

  it('goes with the session where a workflow sent it', async () => {
    far.answers = [{ status: 500 }];
    const say = { kind: 'engine', ref: 'scribe' };
    const send = {
      kind: 'connector-send',
      connector: 'hook',
      channel: 'c',
      text: '{{steps.say.outcome.finalMessage}}',
    };
    const made = await client.post('/api/workflow-definitions/mutate', {
      operation: 'create',
      definition: {
        title: 'News',
        nodes: [
          { id: 'say', type: 'step', actor: say, instructions: 'say' },
          { id: 'send', type: 'step', actor: { ...send, thread: null } },
        ],
        edges: [{ id: 'e', from: 'say', to: 'send' }],
      },
    });
    expect(made.status, made.text).to.equal(201);
    const started = await client.post('/api/workflow-definitions/news/run', {});
    const path = await undelivered();
    const { body: sessions } = await client.get('/api/sessions?source=workflow');
    const [one] = (Array.isArray(sessions) ? sessions : sessions.sessions) as {
      id: string;
      sourceRef: string;
    }[];
    expect(one?.sourceRef).to.include(started.body.runId);
    await erasedWith(path, one?.id ?? '');
  });
});
