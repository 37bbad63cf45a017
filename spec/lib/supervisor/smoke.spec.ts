import { expect } from 'chai';
import { createSupervisor } from '../../../lib/supervisor/create.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { ActorView, LogEntry } from '../../../lib/supervisor/contract.js';
import { counterKind, workerKind } from '../../fixtures/kinds.js';

const view = (answer: unknown): Record<string, unknown> => {
  if (isRefusal(answer)) throw new Error(answer.message);
  return (answer as ActorView).view as Record<string, unknown>;
};

describe('createSupervisor', () => {
  it('creates, steps, refuses, lists and remembers', async () => {
    const supervisor = await createSupervisor({ kinds: [counterKind()], store: memoryStore() });
    expect(view(await supervisor.spawn('counter', { id: 'c1', input: { n: 2 } }))).to.include({ n: 2, state: 'open' });
    expect(view(await supervisor.ask('counter', 'c1', { type: 'add', n: 3 }))).to.include({ n: 5 });
    expect(await supervisor.ask('counter', 'c1', { type: 'add', n: -3 })).to.include({ code: 'BAD_REQUEST' });
    expect(await supervisor.ask('counter', 'c1', { type: 'unheard' })).to.include({ code: 'UNKNOWN_EVENT' });
    expect(await supervisor.ask('counter', 'nobody', { type: 'add', n: 1 })).to.include({ code: 'NOT_FOUND' });
    expect(await supervisor.spawn('counter', { id: 'c1' })).to.include({ code: 'EXISTS' });
    expect((await supervisor.list('counter', { index: 'all' })).items).to.deep.equal([{ id: 'c1', key: '000005', row: 1 }]);
    const entries = await supervisor.history({ kind: 'counter', id: 'c1' });
    expect(entries.map(({ rev }) => rev)).to.deep.equal([2, 1]);
    expect((await supervisor.past({ kind: 'counter', id: 'c1' }, 1))?.context).to.include({ n: 2 });
    await supervisor.stop();
  });

  it('fires a timer, delivers a message, runs an effect', async () => {
    const supervisor = await createSupervisor({
      kinds: [counterKind(), workerKind({ fence: false, run: async (input) => ({ did: input }) })], store: memoryStore(),
    });
    await supervisor.spawn('counter', { id: 'a' });
    await supervisor.spawn('counter', { id: 'b' });
    await supervisor.spawn('worker', { id: 'w' });
    expect(view(await supervisor.ask('counter', 'a', { type: 'wait', ms: 5 }, { until: ({ value }) => value === 'open' }))).to.include({ rang: 1 });
    const seen: LogEntry[] = [];
    const controller = new AbortController();
    const watching = (async () => { for await (const entry of supervisor.watch({ since: 0, ids: ['b'], signal: controller.signal })) { seen.push(entry); if (seen.length === 2) break; } })();
    await supervisor.ask('counter', 'a', { type: 'pass', to: 'b', n: 7 });
    await watching;
    expect(seen[1]?.frames).to.deep.equal([{ event: 'counter:added', payload: { n: 7 } }]);
    expect(view(await supervisor.ask('worker', 'w', { type: 'go', input: 'x' }, { until: ({ value }) => value === 'idle' }))['results']).to.deep.equal([{ did: 'x' }]);
    await supervisor.stop();
    expect(supervisor.status.state).to.equal('stopped');
  });
});
