import { expect } from 'chai';
import type { AtLeastOnceEffect } from '../../../actors/contracts.js';
import { connectorKind } from '../../../actors/connector/kind.js';
import { alignConnectors, sendThrough } from '../../../lib/commands/connectors.js';
import type { App } from '../../../lib/commands/app.js';
import { expected } from '../../../lib/commands/request.js';
import { memoryStore } from '../../../lib/store/memory.js';
import type { Supervisor } from '../../../lib/supervisor/contract.js';
import { createSupervisor } from '../../../lib/supervisor/supervisor.js';
import { operator } from '../../../machines/caller.js';
import { refuse } from '../../../machines/refusals.js';

const connection: AtLeastOnceEffect<unknown, void> = {
  guarantee: 'at-least-once',
  async run(input, { signal }) {
    if ((input as { mode: string }).mode === 'hold')
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
  },
};
const open = () =>
  createSupervisor({
    kinds: [
      connectorKind({
        connection,
        delivery: {
          guarantee: 'at-most-once',
          run: async () => ({ outcome: 'sent' }),
          recover: async () => ({ outcome: 'unknown', reason: 'it was cut' }),
        },
      }),
    ],
    store: memoryStore(),
  });

describe('alignConnectors', () => {
  it('starts the others where one was halted: the gateway did not start any more', async () => {
    const supervisor: Supervisor = await open();
    const named = (...names: string[]) => ({
      types: [],
      instances: () =>
        names.map((name) => ({ name, type: 'hook', employee: null, allowFrom: [], settings: {} })) as never,
      reread: async () => undefined,
    });
    await alignConnectors(supervisor, named('a', 'gone'));
    const ask: Supervisor['ask'] = async (kind, id, ...rest) =>
      id === 'a' ? refuse('ACTOR_HALTED', { kind, id }) : supervisor.ask(kind, id, ...rest);
    const { stopped, errors } = await alignConnectors(
      Object.create(supervisor, { ask: { value: ask } }) as Supervisor,
      named('a', 'b'),
    );
    expect([stopped, [...errors.keys()], (await supervisor.get('connector', 'b'))?.id]).to.deep.equal([
      ['gone'],
      ['a'],
      'b',
    ]);
    await supervisor.stop({ drainMs: 100 });
  });
});

describe('sendThrough', () => {
  it('tells what became of a message also after two hundred others: asked again, it was "pending" for ever', async () => {
    const supervisor = await open();
    const connectors = {
      types: [],
      instances: () => [{ name: 'a', type: 'hook', employee: null, allowFrom: [], settings: {} }] as never,
      reread: async () => undefined,
    };
    const app = { supervisor, connectors } as unknown as App; // sending looks at no more of it
    await alignConnectors(supervisor, connectors);
    await supervisor.ask(
      'connector',
      'a',
      { type: 'connector.start' },
      { until: ({ view }) => (view as { status: string }).status === 'running' },
    );
    const send = (key: string) =>
      sendThrough({ app, caller: operator, idempotency: { scope: 'operator', key, hash: key } }, 'a', {
        channel: 'c',
        text: key,
      });
    const first = expected(await send('first'));
    expect(first.body.status).to.equal('sent');
    for (let n = 0; n < 201; n += 1) await send(`other ${n}`);
    const again = expected(await send('first'));
    expect([again.replayed, again.body]).to.deep.equal([true, first.body]);
    await supervisor.stop({ drainMs: 100 });
  });
});
