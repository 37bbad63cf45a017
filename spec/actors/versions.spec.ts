import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Op } from '../../lib/store/contract.js';
import { openLevelStore } from '../../lib/store/level.js';
import { isRefusal } from '../../machines/refusals.js';
import { eventually, house, say, type House } from './house.js';

/**
 * Stores of today must open. `rows-of-version-1.jsonl` is a whole store that the build before version 2 of
 * session and work item wrote: one actor in each state that they knew.
 */
const path = fileURLToPath(new URL('../../../spec/actors/rows-of-version-1.jsonl', import.meta.url));

describe('sessions and work items of version 1', () => {
  let directory: string;
  let home: House;
  const viewOf = async (kind: string, id: string) =>
    (await home.supervisor.get(kind, id))?.view as Record<string, unknown>;
  const valueOf = async (kind: string, id: string) => (await home.supervisor.get(kind, id))?.value;
  const send = async (kind: string, id: string, event: { readonly type: string }) => {
    const answer = await home.supervisor.ask(kind, id, event);
    return isRefusal(answer) ? answer.code : (answer as { value: unknown }).value;
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'troupe-version-1-'));
    const [head, ...rows] = (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    const { seq, chain } = head as { seq: number; chain: string };
    const store = await openLevelStore({ directory });
    await store.write({ first: 1, last: seq, chain, ops: rows as Op[] });
    await store.close();
    home = await house({ store: await openLevelStore({ directory }) });
  });
  afterEach(async () => {
    await home.supervisor.stop({ drainMs: 1_000 });
    await rm(directory, { recursive: true, force: true });
  });

  for (const state of ['idle', 'error', 'interrupted', 'stopped'] as const) {
    it(`rest in ${state} as before, and do there what may be done at rest`, async () => {
      expect(await valueOf('session', state)).to.deep.equal({ resting: state });
      expect(await viewOf('session', state)).to.include({ status: state, archivedAt: null });
      expect(await send('session', state, { type: 'session.archive' })).to.deep.equal({ resting: state });
      expect((await viewOf('session', state))['archivedAt']).to.be.a('string');
      expect(await send('session', state, say('m2'))).to.equal('running');
      expect((await home.turn()).input).to.deep.include({ messageIds: ['m2'] });
    });
  }

  it('wait for their limit as before, with the timer that they had', async () => {
    expect(await valueOf('session', 'waiting')).to.equal('waiting');
    expect(await send('session', 'waiting', { type: 'session.archive' })).to.equal('CONFLICT');
    const why = await home.supervisor.why({ kind: 'session', id: 'waiting' }, { type: 'operator' });
    expect(why?.timers.map(({ name }) => name)).to.deep.equal(['untilReset']);
    expect(await send('session', 'waiting', { type: 'queue.resume' })).to.equal('running');
  });

  it('end the turn that the death of the process cut, and withdraw what it asked for', async () => {
    const view = await eventually(
      home.supervisor,
      'session',
      'running',
      ({ status }) => status === 'interrupted',
    );
    expect(view).to.deep.include({ pendingPermissions: [] });
    expect(home.recovered.map(({ turnId }) => turnId)).to.deep.equal(['running:1']);
  });

  it('stay deleted, and stay put away', async () => {
    expect(await send('session', 'deleted', say('m2'))).to.equal('CONFLICT');
    expect(await viewOf('session', 'archived')).to.include({ status: 'idle' });
    expect((await viewOf('session', 'archived'))['archivedAt']).to.be.a('string');
  });

  it('stand in the lists where they stood, and in the list of their state once something happened', async () => {
    const { items } = await home.supervisor.list('session', { index: 'status', prefix: 'idle/' });
    expect(items.map(({ id }) => id)).to.deep.equal(['idle']);
    const { inspection } = home.supervisor;
    const inState = async (name: string) =>
      (await inspection.places('session', name, { limit: 10 })).map(({ id }) => id);
    expect(await inState('error')).to.deep.equal(['error']);
    await send('session', 'error', { type: 'session.archive' });
    expect([await inState('error'), await inState('resting.error')]).to.deep.equal([[], ['error']]);
  });

  for (const status of [
    'backlog',
    'assigned',
    'executing',
    'in_review',
    'blocked',
    'escalated',
    'done',
    'cancelled',
  ] as const) {
    it(`go on as work items from ${status}`, async () => {
      const id = `W-${status}`;
      expect(await viewOf('work-item', id)).to.include({ status });
      const to = status === 'backlog' ? 'executing' : 'backlog';
      const reachable = !['executing', 'in_review'].includes(status);
      const moved = await send('work-item', id, { type: 'item.move', status: to } as never);
      expect(moved).to.deep.equal(reachable ? { work: to, approval: 'none' } : 'ILLEGAL_TRANSITION');
    });
  }

  for (const [state, decided] of [
    ['pending', { work: 'backlog', approval: 'approved' }],
    ['approved', 'NO_PENDING_APPROVAL'],
    ['rejected', 'NO_PENDING_APPROVAL'],
  ] as const) {
    it(`are decided or not as before where their approval is ${state}`, async () => {
      expect(await viewOf('work-item', `A-${state}`)).to.include({ approvalState: state });
      const decision = { type: 'approval.decide', decision: 'approve' };
      expect(await send('work-item', `A-${state}`, decision)).to.deep.equal(decided);
    });
  }
});
