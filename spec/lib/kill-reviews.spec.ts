import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startModelServer, type ModelServer } from '../helpers/model-server/server.js';
import { Troupe, type Running } from './cli/troupe.js';
import { makeClient, poll, watch, type Client } from './gateway/fixture.js';

/**
 * A real gateway that is killed while work goes back and forth between its session and its reviews. Why: what a
 * review says must reach the session once, neither lost with the gateway nor said again by the next.
 */
describe('a gateway that is killed while work is sent back', () => {
  let troupe: Troupe;
  let model: ModelServer;
  let running: Running;
  let client: Client;
  before(async () => {
    troupe = await Troupe.create();
    model = await startModelServer(() => ({ text: 'Dug.' }));
    await mkdir(join(troupe.home(), 'org', 'build'), { recursive: true, mode: 0o700 });
    await writeFile(join(troupe.home(), 'org', 'build', 'ann.yaml'), 'engine: local\n');
    await writeFile(
      join(troupe.home(), 'config.yaml'),
      JSON.stringify({
        engines: {
          default: 'local',
          openai: { local: { baseUrl: `${model.url}/v1`, models: ['scripted'] } },
        },
      }),
    );
    await start();
  });
  after(async () => {
    await troupe.clear();
    await model.close();
  });

  async function start(): Promise<void> {
    running = await troupe.start();
    const { port, token } = await troupe.announcement();
    client = makeClient(port, { authorization: `Bearer ${token}` });
  }
  async function committed(id: string): Promise<void> {
    const { port, token } = await troupe.announcement();
    const feed = await watch(`ws://127.0.0.1:${port}/ws`, { authorization: `Bearer ${token}` });
    const sent = client
      .post(`/api/work-items/${id}/status`, { status: 'executing', note: 'Deeper.' })
      .catch(() => undefined);
    await feed.until(({ event, payload }) => event === 'company:changed' && payload.id === id);
    await running.kill('SIGKILL');
    await sent;
  }
  const inReview = (id: string) =>
    poll(
      async () => (await client.get(`/api/work-items/${id}`)).body.workItem,
      ({ status }) => status === 'in_review',
    );

  it('says what the review said once, whenever it dies, and the session goes on', async function () {
    this.timeout(180_000);
    const made = await client.post('/api/work-items', {
      title: 'Dig a well',
      verifyPolicy: { mode: 'verify', maxRounds: 20 },
    });
    const { id } = made.body.workItem;
    const given = await client.post('/api/delegations', { task: 'dig', employee: 'ann', workItemId: id });
    expect(given.status, given.text).to.equal(201);
    await inReview(id);
    const moments: readonly (() => Promise<void>)[] = [
      async () => {
        void client
          .post(`/api/work-items/${id}/status`, { status: 'executing', note: 'Deeper.' })
          .catch(() => undefined);
        await running.kill('SIGKILL'); // while it is asked
      },
      () => committed(id),
      async () => {
        await client.post(`/api/work-items/${id}/status`, { status: 'executing', note: 'Deeper.' });
        await running.kill('SIGKILL'); // when it has answered
      },
    ];
    for (const die of moments) {
      await die();
      await start();
      const { rounds } = (await client.get(`/api/work-items/${id}`)).body.workItem;
      const heard = await poll(
        async () =>
          (await client.get(`/api/sessions/${given.body.sessionId}`)).body.messages.filter(
            ({ meta }: any) => meta?.kind === 'review', // a foreign client's view
          ),
        (messages) => messages.length >= rounds,
      );
      expect(heard.map(({ meta }: any) => meta.round)).to.deep.equal(
        Array.from({ length: rounds }, (_, round) => round + 1),
      );
      const { status } = (await client.get(`/api/work-items/${id}`)).body.workItem;
      if (status === 'blocked')
        // its turn was cut by the kill
        await client.post(`/api/work-items/${id}/status`, { status: 'in_review' });
      await poll(
        async () => (await client.get(`/api/work-items/${id}`)).body.workItem.status,
        (now) => now !== 'executing',
      );
      await client.post(`/api/work-items/${id}/status`, { status: 'in_review' });
    }
    expect((await client.get(`/api/work-items/${id}`)).body.workItem.rounds).to.be.at.least(2);
  });
});
