import { expect } from 'chai';
import { connectorKind } from '../../../actors/kinds/connector.js';
import { alignConnectors } from '../../../lib/commands/connectors.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/create.js';
import { refuse } from '../../../machines/refusals.js';

describe('alignConnectors', () => {
  it('starts the others where one was halted: the gateway did not start any more', async () => {
    const supervisor = await createSupervisor({
      kinds: [connectorKind({ connection: { fence: false, run: async () => undefined }, delivery: { fence: true, run: async () => ({ outcome: 'sent' }), recover: async () => ({ outcome: 'unknown' }) } })], store: memoryStore(),
    });
    const named = (...names: string[]) => ({ types: [], instances: () => names.map((name) => ({ name, type: 'hook', employee: null, allowFrom: [], settings: {} })) as never, reread: async () => undefined });
    await alignConnectors(supervisor, named('a', 'gone'));
    const ask: Supervisor['ask'] = async (kind, id, ...rest) => (id === 'a' ? refuse('ACTOR_HALTED', { kind, id }) : supervisor.ask(kind, id, ...rest));
    const { stopped, errors } = await alignConnectors(Object.create(supervisor, { ask: { value: ask } }) as Supervisor, named('a', 'b'));
    expect([stopped, [...errors.keys()], (await supervisor.get('connector', 'b'))?.id]).to.deep.equal([['gone'], ['a'], 'b']);
    await supervisor.stop({ drainMs: 100 });
  });
});
