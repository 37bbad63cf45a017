import { createSessionTokens } from '../../actors/engines/tokens.js';
import { createEngineRegistry } from '../../actors/engines/registry.js';
import { defineEngine } from '../../actors/engines/engine.js';
import { createGateway, type Gateway } from '../../lib/gateway/server.js';
import type { Store } from '../../lib/store/contract.js';
import { memoryStore } from '../../lib/store/memory.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import { counters, populate, type Subject } from '../bench/actors.js';
import { operatorToken } from '../lib/gateway/fixture.js';

/** A gateway over very many actors, the least that there can be or others: for what only numbers can show. */
export interface Group {
  readonly gateway: Gateway;
  readonly supervisor: Supervisor;
  close(): Promise<void>;
}

export async function openGroup(
  count: number,
  store: Store = memoryStore(),
  subject: Subject = counters,
): Promise<Group> {
  const supervisor = await createSupervisor({ kinds: [subject.kind], store });
  await populate(supervisor, subject, count);
  const registry = createEngineRegistry({ engines: [idle], default: 'idle' });
  const gateway = await createGateway({
    operatorToken,
    instance: {
      tokens: createSessionTokens(),
      app: {
        supervisor,
        engines: registry,
        settings: {
          home: '/nowhere',
          sessionRoots: [],
          interruptOnNewMessage: true,
          turnDeadlineMs: 1_000,
          companyName: 'Crowd',
        },
      },
    },
  });
  return {
    gateway,
    supervisor,
    async close() {
      await gateway.close(1_000);
      await supervisor.stop({ drainMs: 1_000 });
    },
  };
}

const idle = defineEngine({
  name: 'idle',
  effortMechanism: 'none',
  discover: async () => ({ available: true, defaultModel: null, models: [] }),
  turn: () => Promise.reject(new Error('nobody asks it')),
});
