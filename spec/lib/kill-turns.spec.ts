import { expect } from 'chai';
import { Troupe } from './cli/troupe.js';
import { makeClient, watch, type Client, type WatchedFrame } from './gateway/fixture.js';

/** Real processes: what watchers are told of turns that a gateway's death cut off. */
describe('a gateway that is killed in the middle of turns', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());

  const reach = async (): Promise<{ client: Client; feed: (since: number) => ReturnType<typeof watch> }> => {
    const { port, token } = await troupe.announcement();
    const headers = { authorization: `Bearer ${token}` };
    return {
      client: makeClient(port, headers),
      feed: (since) => watch(`ws://127.0.0.1:${port}/ws?since=${since}`, headers),
    };
  };

  it('tells once of all of them after the next start, and of each that takes up work again', async function () {
    this.timeout(180_000);
    const gateway = await troupe.start();
    const { client, feed } = await reach();
    const open = async (prompt: string): Promise<string> =>
      (await client.post('/api/sessions', { prompt, title: prompt })).body.id;
    const alone = await open('count to 600 every 1 seconds');
    const left = await open('count to 500 every 1 seconds');
    const done = await open('help');
    const seen = await feed(0);
    const talking = new Set<string>();
    await seen.until(({ event, payload }) => {
      if (event === 'session:delta') talking.add(payload.sessionId);
      return talking.has(alone) && talking.has(left);
    });
    await seen.until(({ event, payload }) => event === 'session:completed' && payload.sessionId === done);
    // Someone ended this one before
    expect((await client.call('POST', `/api/sessions/${left}/stop`)).status).to.equal(200);
    await gateway.kill('SIGKILL');

    const second = await troupe.start();
    const after = await reach();
    const again = await after.feed(0);
    const told = await again.until(({ event }) => event === 'sessions:interrupted');
    const { lastActivity } = (await after.client.get(`/api/sessions/${alone}?messages=0`)).body;
    expect(told.payload).to.deep.equal({
      count: 1,
      sessions: [
        { id: alone, engine: 'clerk', employee: null, title: 'count to 600 every 1 seconds', lastActivity },
      ],
    });
    expect(
      again.frames
        .slice(0, again.frames.indexOf(told))
        .filter(({ event }) => event === 'session:interrupted')
        .map(({ payload }) => payload.sessionId),
    ).to.deep.equal([alone]);

    expect((await after.client.post(`/api/sessions/${alone}/message`, { message: 'help' })).status).to.equal(
      200,
    );
    const resumed = await again.until(({ event }) => event === 'session:resumed');
    expect(resumed.payload).to.deep.equal({ sessionId: alone });
    const later = (frame: WatchedFrame): boolean =>
      again.frames.indexOf(frame) > again.frames.indexOf(resumed);
    await again.until(
      (frame) => later(frame) && frame.event === 'session:completed' && frame.payload.sessionId === alone,
    );

    const other = (await after.client.post('/api/sessions', { prompt: 'count to 400 every 1 seconds' })).body
      .id as string;
    await again.until(({ event, payload }) => event === 'session:delta' && payload.sessionId === other);
    await second.kill('SIGKILL');
    await troupe.start();
    const third = await (await reach()).feed(0);
    await third.until(
      ({ event, payload }) => event === 'sessions:interrupted' && payload.sessions[0].id === other,
    );
    expect(
      third.frames
        .filter(({ event }) => event === 'sessions:interrupted')
        .map(({ payload }) => payload.sessions.map(({ id }: { id: string }) => id)),
    ).to.deep.equal([[alone], [other]]);
  });
});
