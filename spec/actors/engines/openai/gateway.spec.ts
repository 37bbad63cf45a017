import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../../../lib/instance.js';
import { startModelServer, type ModelServer } from '../../../helpers/model-server/server.js';
import { makeClient, poll, watch, type Client } from '../../../lib/gateway/fixture.js';

/**
 * A whole gateway with an endpoint as its engine: what a model may do there, and what becomes of its turns.
 */
describe('an openai engine in a gateway', () => {
  let home: string;
  let model: ModelServer;
  let served: Instance;
  let operator: Client;
  let token: string;
  const key = 'sk-that-must-not-be-found-anywhere';

  before(async () => {
    process.env['OPENAI_GATEWAY_SPEC_KEY'] = key;
    home = await mkdtemp(join(tmpdir(), 'endpoint-'));
    model = await startModelServer();
    const endpoint = {
      baseUrl: `${model.url}/v1`,
      apiKeyEnv: 'OPENAI_GATEWAY_SPEC_KEY',
      models: ['scripted'],
      efforts: ['low', 'high'],
    };
    await writeFile(
      join(home, 'config.yaml'),
      JSON.stringify({
        engines: {
          default: 'local',
          openai: { local: endpoint, other: { ...endpoint, tools: ['who_am_i'] } },
        },
      }),
    );
    served = await startInstance({ home, port: 0 });
    ({ token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string });
    operator = makeClient(Number(new URL(served.url).port), { authorization: `Bearer ${token}` });
  });
  after(async () => {
    await served.close();
    await model.close();
    await rm(home, { recursive: true, force: true });
    delete process.env['OPENAI_GATEWAY_SPEC_KEY'];
  });
  const settled = async (id: string): Promise<any> =>
    // the session's record as the API shows it
    (
      await poll(
        () => operator.get(`/api/sessions/${id}`),
        ({ body }) => !['running'].includes(body.status),
      )
    ).body;
  const ask = async (prompt: string, rest: object = {}): Promise<any> =>
    settled((await operator.post('/api/sessions', { prompt, ...rest })).body.id as string);
  const said = ({ messages }: { messages: { content: string }[] }): string => messages.at(-1)?.content ?? '';

  it('stands in the list of engines, each endpoint under its own name', async () => {
    const { engines } = (await operator.get('/api/engines')).body;
    expect(engines.local).to.include({
      available: true,
      defaultModel: 'scripted',
      effortMechanism: 'reasoning_effort',
    });
    expect(engines.other).to.include({ available: true });
    expect(
      (await operator.post('/api/sessions', { prompt: 'x', engine: 'local', model: '--yolo' })).status,
    ).to.equal(400);
  });

  it("lets a model use the gateway's tools as its own session", async () => {
    const done = await ask('[[tool who_am_i {}]]', { effortLevel: 'high' });
    expect(done).to.include({ status: 'idle' });
    expect(said(done)).to.include(done.id);
    expect(model.turns.at(-1)).to.include({ effort: 'high' });
    const offered = model.turns.at(-1)?.tools ?? [];
    expect(offered).to.include('list_work_items').and.include('delegate_task');
    await ask('[[say x]]', { engine: 'other' });
    expect(model.turns.at(-1)?.tools).to.deep.equal(['who_am_i']);
  });

  it('lets it do no more than its session may: a refusal tells what to do instead', async () => {
    const mine = (await operator.post('/api/work-items', { title: 'of a person' })).body;
    const done = await ask(`[[tool update_work_item ${JSON.stringify({ id: mine.id, status: 'done' })}]]`);
    expect(said(done)).to.match(/Refused \([A-Z_]+\)[^]*Instead:/);
    expect((await operator.get(`/api/work-items/${mine.id}`)).body.status).to.not.equal('done');
  });

  it('keeps the half of a stopped answer and goes on with what was said before', async () => {
    const { id } = (await operator.post('/api/sessions', { prompt: '[[say one]] pear' })).body;
    await settled(id);
    const watching = await watch(`${served.url.replace('http', 'ws')}/ws`, {
      authorization: `Bearer ${token}`,
    });
    await operator.post(`/api/sessions/${id}/message`, { message: '[[slow half of it]]' });
    await watching.until(
      (frame) => frame.event === 'session:delta' && JSON.stringify(frame).includes('half'),
    );
    watching.ws.terminate();
    await operator.post(`/api/sessions/${id}/stop`, {});
    // the session stops at once; the half of the answer follows when the engine has let go
    const stopped = await poll(
      () => operator.get(`/api/sessions/${id}`),
      ({ body }) => said(body).startsWith('half'),
    );
    expect(stopped.body.status).to.equal('stopped');
    await operator.post(`/api/sessions/${id}/message`, { message: '[[recall]]' });
    expect(said(await settled(id))).to.equal('first: [[say one]] pear');
  });

  it('waits where the endpoint sets a limit', async () => {
    const limited = await ask('[[fail 429]]');
    expect(limited.status).to.equal('waiting');
  });

  it('writes the key down nowhere', async () => {
    await ask('[[fail 401]]');
    const holders: string[] = [];
    for (const name of await readdir(home, { recursive: true })) {
      const path = join(home, name);
      if ((await stat(path)).isFile() && (await readFile(path)).includes(key)) holders.push(name);
    }
    expect(holders).to.deep.equal([]);
    expect(model.headers.at(-1)?.authorization).to.equal(`Bearer ${key}`);
    expect(JSON.stringify(model.headers)).to.not.include(token);
  });
});
