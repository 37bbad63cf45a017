import { expect } from 'chai';
import { Troupe } from './cli/troupe.js';
import { makeClient, watch, type Client } from './gateway/fixture.js';

/**
 * Real processes, killed in the middle of a run. (Every boundary of a commit:
 * spec/machines/workflow-run/boundaries.spec.ts.)
 */
describe('a gateway that is killed in the middle of a run', () => {
  let troupe: Troupe;
  beforeEach(async () => {
    troupe = await Troupe.create();
  });
  afterEach(() => troupe.clear());

  const root = '/api/workflow-definitions';
  const noop = (id: string) => ({ id, type: 'step', actor: { kind: 'noop' } });
  const item = (id: string) => ({
    id,
    type: 'step',
    actor: {
      kind: 'work-item',
      operation: 'create',
      fields: { title: `Made by ${id} in round {{run.rounds}}` },
    },
  });
  const flow = {
    title: 'Killed',
    nodes: [
      noop('a'),
      item('b'),
      { id: 'c', type: 'step', actor: { kind: 'engine', ref: 'clerk' }, instructions: 'Say something.' },
      noop('d'),
    ],
    edges: [
      { id: 'ab', from: 'a', to: 'b' },
      { id: 'bc', from: 'b', to: 'c' },
      { id: 'cd', from: 'c', to: 'd' },
      { id: 'back', from: 'd', to: 'a', kind: 'loop', maxRounds: 3 },
    ],
  };

  it('has the receipts of an undisturbed run, and made every work item once', async function () {
    this.timeout(180_000);
    let running = await troupe.start();
    let client = await clientOf();
    expect((await client.post(`${root}/mutate`, { operation: 'create', definition: flow })).status).to.equal(
      201,
    );
    const {
      body: { runId },
    } = await client.post(`${root}/killed/run`);
    for (const frames of [1, 2, 3]) {
      const { port, token } = await troupe.announcement();
      const socket = await watch(`ws://127.0.0.1:${port}/ws`, { authorization: `Bearer ${token}` });
      let seen = 0;
      await Promise.race([
        socket.until(({ event }) => event === 'run:step' && (seen += 1) >= frames),
        ended(runId as string).catch(() => undefined),
      ]);
      await running.kill('SIGKILL');
      running = await troupe.start();
      client = await clientOf();
    }
    const run = await ended(runId as string);
    expect(run.body.status, run.text).to.equal('completed');
    const {
      body: { receipts },
    } = await client.get(`${root}/killed/runs/${runId}/receipts?limit=500`);
    const told = (receipts as { nodeId: string; round: number; status: string; attempt: number }[])
      .filter(({ status }) => status !== 'failed')
      .map(({ nodeId, round, status }) => `${nodeId}@${round}:${status}`);
    expect(told.sort()).to.deep.equal(
      [
        'trigger@1:fired',
        ...[1, 2, 3, 4].flatMap((round) => ['a', 'b', 'c', 'd'].map((id) => `${id}@${round}:done`)),
      ].sort(),
    );
    const {
      body: { workItems },
    } = await client.get('/api/work-items?limit=100');
    expect((workItems as { title: string }[]).map(({ title }) => title).sort()).to.deep.equal(
      [1, 2, 3, 4].map((round) => `Made by b in round ${round}`),
    );

    async function clientOf(): Promise<Client> {
      const { port, token } = await troupe.announcement();
      return makeClient(port, { authorization: `Bearer ${token}` });
    }
    /** Told by the feed from its beginning on: the one who dies first, the run or the gateway. */
    async function ended(id: string) {
      const { port, token } = await troupe.announcement();
      const socket = await watch(`ws://127.0.0.1:${port}/ws?since=0`, { authorization: `Bearer ${token}` });
      await Promise.race([
        socket.until(
          ({ event, payload }) => ['run:completed', 'run:failed'].includes(event) && payload.runId === id,
        ),
        socket.closed,
      ]);
      return client.get(`${root}/killed/runs/${id}`);
    }
  });
});
