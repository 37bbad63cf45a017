import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstance, type Instance } from '../../lib/instance.js';
import { startModelServer, type ModelServer } from '../helpers/model-server/server.js';
import { makeClient, watch, type Client, type Watching } from './gateway/fixture.js';

/** A whole home: real files of the organisation, a real engine at a loopback endpoint, a restart. */
describe('serve with reviews and limits', () => {
  let home: string;
  let model: ModelServer;
  let served: Instance | undefined;
  let left = 60;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'serve-reviews-'));
    model = await startModelServer(({ said }) => ({
      text: `heard ${said.at(-1)?.length} characters`,
      headers: { 'x-ratelimit-limit-requests': '60', 'x-ratelimit-remaining-requests': String(left) },
    }));
    await mkdir(join(home, 'org', 'build'), { recursive: true });
    for (const name of ['ann', 'cat'])
      await writeFile(join(home, 'org', 'build', `${name}.yaml`), 'engine: local\n');
    await writeFile(
      join(home, 'config.yaml'),
      JSON.stringify({
        engines: {
          default: 'local',
          openai: { local: { baseUrl: `${model.url}/v1`, models: ['scripted'] } },
        },
      }),
    );
  });
  afterEach(async () => {
    await served?.close();
    served = undefined;
    await model.close();
    await rm(home, { recursive: true, force: true });
  });
  async function open(): Promise<{ client: Client; feed: Watching }> {
    served = await startInstance({ home, port: 0 });
    const { token } = JSON.parse(await readFile(join(home, 'gateway.json'), 'utf8')) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    const port = Number(new URL(served.url).port);
    return { client: makeClient(port, headers), feed: await watch(`ws://127.0.0.1:${port}/ws`, headers) };
  }

  it('asks the verifier of work that was done, before a restart and after it', async () => {
    for (const life of ['first', 'second']) {
      const { client, feed } = await open();
      const todo = async (more: object) =>
        (await client.post('/api/work-items', { title: `The ${life} well`, ...more })).body.workItem;
      const { id } =
        life === 'first'
          ? await todo({ verifyPolicy: { mode: 'verify', verifier: { employee: 'cat' } } })
          : (await client.get('/api/work-items?q=first')).body.workItems[0];
      if (life === 'second')
        expect(
          (await client.post(`/api/work-items/${id}/status`, { status: 'executing', note: 'Deeper.' }))
            .status,
        ).to.equal(200);
      else {
        const delegated = await client.post('/api/delegations', {
          task: 'dig',
          employee: 'ann',
          workItemId: id,
        });
        expect(delegated.status, delegated.text).to.equal(201);
      }
      await feed.until(
        ({ event, payload }) =>
          event === 'company:changed' && payload.action === 'review-opened' && payload.id === id,
      );
      const { review } = (await client.get(`/api/work-items/${id}`)).body.workItem;
      expect(review).to.include({ employee: 'cat', round: life === 'first' ? 0 : 1 });
      await feed.until(
        ({ event, payload }) => event === 'session:completed' && payload.sessionId === review.sessionId,
      );
      await served?.close();
    }
  });

  it('tells watchers when a provider has told other limits', async () => {
    const { client, feed } = await open();
    const told = () => feed.frames.filter(({ event }) => event === 'engines:updated').length;
    for (const [turn, remaining] of [
      [1, 60],
      [2, 59],
    ] as const) {
      left = remaining;
      await client.post('/api/sessions', { prompt: 'hello' });
      await feed.until(() => told() === turn);
      expect(
        (await client.get('/api/engine-limits?engine=local')).body.engines.local.windows[0].usedPercent,
      ).to.be.closeTo((1 - remaining / 60) * 100, 0.01);
    }
  });
});
