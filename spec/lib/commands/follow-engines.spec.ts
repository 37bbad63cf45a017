import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defineEngine } from '../../../actors/engines/engine.js';
import { limitsMemory, limitWindow } from '../../../actors/engines/limits.js';
import { homeId, homeKind } from '../../../actors/home/kind.js';
import { createAgents } from '../../../lib/agents.js';
import { followEngines } from '../../../lib/commands/follow-engines.js';
import { createGateway } from '../../../lib/gateway/server.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { makeClient, operatorToken, watch } from '../gateway/fixture.js';

describe('followEngines', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  it('tells watchers when a turn was told other limits, and when an engine offers something else', async () => {
    const home = await mkdtemp(join(tmpdir(), 'engines-'));
    undo.push(() => rm(home, { recursive: true, force: true }));
    const limits = limitsMemory('turns');
    let models = ['small'];
    const tell = defineEngine({
      name: 'tell',
      effortMechanism: 'none',
      limits: async () => limits.read(),
      discover: async () => ({
        available: true,
        defaultModel: null,
        models: models.map((id) => ({ id, label: id, supportsEffort: false, effortLevels: [] })),
      }),
      turn: async ({ prompt }) => {
        if (prompt !== 'say nothing') limits.report([limitWindow('primary', Number(prompt), 300, null)]);
        return { outcome: 'succeeded', text: 'done' };
      },
    });
    const { kinds, registry, tokens } = createAgents({ engines: [tell], workFolder: join(home, 'work') });
    const supervisor = await createSupervisor({ kinds: [...kinds, homeKind()], store: memoryStore() });
    undo.push(() => supervisor.stop({ drainMs: 2_000 }));
    await supervisor.spawn('home', { id: homeId });
    const following = followEngines(supervisor, registry);
    undo.push(async () => following.close());
    const gateway = await createGateway({
      operatorToken,
      instance: {
        tokens,
        app: {
          supervisor,
          engines: registry,
          settings: {
            home,
            sessionRoots: [home],
            interruptOnNewMessage: true,
            turnDeadlineMs: 60_000,
            companyName: 'Acme Works',
          },
        },
      },
    });
    undo.push(() => gateway.close(2_000));
    const headers = { authorization: `Bearer ${operatorToken}` };
    const client = makeClient(gateway.port, headers);
    const socket = await watch(`ws://127.0.0.1:${gateway.port}/ws`, headers);
    undo.push(async () => socket.ws.terminate());
    const told = () => socket.frames.filter(({ event }) => event === 'engines:updated');
    const nth = (count: number) => socket.until(() => told().length === count);
    const play = async (prompt: string): Promise<void> => {
      const { id } = (await client.post('/api/sessions', { prompt })).body;
      await socket.until(({ event, payload }) => event === 'session:completed' && payload.sessionId === id);
    };

    await play('12');
    await nth(1);
    expect(told()[0]).to.deep.include({ payload: {} });
    expect(
      (await client.get('/api/engine-limits?engine=tell')).body.engines.tell.windows[0].usedPercent,
    ).to.equal(12);
    await play('say nothing');
    await play('12');
    await play('13');
    await nth(2);
    models = ['small', 'large'];
    registry.refresh();
    await client.get('/api/engines');
    await nth(3);
    expect(told()).to.have.length(3);
  });
});
