import { expect } from 'chai';
import type { Json } from '../../machines/outputs.js';
import type { Store } from '../../lib/store/contract.js';
import { memoryStore } from '../../lib/store/memory.js';
import { eventually, house, item, say, session, viewOf, type House } from './house.js';

async function copyOf(store: Store): Promise<Store> {
  const copy = memoryStore();
  await copy.write({
    first: 1,
    last: store.head.seq,
    chain: store.head.chain,
    ops: await store.page({ gte: '', lt: '\uffff' }),
  });
  return copy;
}

const first = { id: 'm1', content: 'please m1', role: 'user', kind: 'user' } as const;
const messages = async ({ supervisor }: House, id: string) =>
  (await supervisor.rows({ kind: 'session', id }, 'messages')).map(({ row }) => row as Record<string, Json>);

describe('kinds under a supervisor', () => {
  let open: House[] = [];
  const opened = async (...options: Parameters<typeof house>): Promise<House> => {
    const made = await house(...options);
    open.push(made);
    return made;
  };
  afterEach(async () => {
    for (const { supervisor } of open) await supervisor.stop({ drainMs: 1_000 });
    open = [];
  });

  describe('a session', () => {
    it('begins its turn after the commit, and its answer is a message', async () => {
      const home = await opened();
      expect(
        viewOf(await home.supervisor.spawn('session', { id: 's1', input: session({ message: first }) })),
      ).to.include({ status: 'running', transportState: 'queued' });
      const turn = await home.turn();
      expect(turn.input).to.deep.include({ turnId: 's1:1', messageIds: ['m1'] });
      await turn.context.send({ type: 'turn.began', turnId: 's1:1' });
      expect((await home.supervisor.get('session', 's1'))?.view).to.include({ transportState: 'running' });
      turn.end({ text: 'dug', usage: { costUsd: 0.5 } });
      expect(
        await eventually(home.supervisor, 'session', 's1', ({ status }) => status === 'idle'),
      ).to.include({ totalCost: 0.5, attemptOutcome: 'succeeded' });
      expect((await messages(home, 's1')).map(({ role, content }) => [role, content])).to.deep.equal([
        ['user', 'please m1'],
        ['assistant', 'dug'],
      ]);
    });

    it('aborts the turn that a newer message interrupts, keeps what it had said, and runs the newer one', async () => {
      const home = await opened();
      await home.supervisor.spawn('session', { id: 's1', input: session({ message: first }) });
      const old = await home.turn();
      viewOf(await home.supervisor.ask('session', 's1', say('m2')));
      expect([old.context.signal.aborted, old.context.reason()]).to.deep.equal([true, 'left']);
      const next = await home.turn();
      expect(next.input.messageIds).to.deep.equal(['m2']);
      await old.context.send({ type: 'turn.partial', turnId: 's1:1', text: 'half', usage: {} });
      next.end({});
      await eventually(home.supervisor, 'session', 's1', ({ status }) => status === 'idle');
      expect((await messages(home, 's1')).find(({ partial }) => partial === true)?.['content']).to.equal(
        'half',
      );
    });

    it('is interrupted by a crash and goes on with what waited, running nothing twice', async () => {
      const dying = await opened();
      await dying.supervisor.spawn('session', {
        id: 's1',
        input: session({ message: first, interruptOnNewMessage: false }),
      });
      await dying.turn();
      viewOf(await dying.supervisor.ask('session', 's1', say('m2')));
      // What a disk holds at the moment of a kill
      const home = await opened({ store: await copyOf(dying.store) });
      const turn = await home.turn();
      expect(home.recovered.map(({ turnId }) => turnId)).to.deep.equal(['s1:1']);
      expect(turn.input).to.deep.include({ turnId: 's1:2', messageIds: ['m2'] });
      turn.end({});
      expect(
        await eventually(home.supervisor, 'session', 's1', ({ status }) => status === 'idle'),
      ).to.include({ totalTurns: 2 });
    });

    it('stops again without a fuss', async () => {
      const home = await opened();
      await home.supervisor.spawn('session', { id: 's1', input: session() });
      for (let again = 0; again < 2; again += 1)
        expect(viewOf(await home.supervisor.ask('session', 's1', { type: 'session.stop' }))).to.include({
          status: 'stopped',
        });
    });

    it('wakes its parent once when its work is done', async () => {
      const home = await opened();
      await home.supervisor.spawn('session', { id: 'mother', input: session() });
      await home.supervisor.spawn('session', {
        id: 'child',
        input: session({ parentSessionId: 'mother', ancestors: ['mother'], message: first, title: 'dig' }),
      });
      (await home.turn()).end({ text: 'found gold' });
      const woken = await home.turn();
      expect(woken.context.actor.id).to.equal('mother');
      woken.end({ text: 'well done' });
      await eventually(
        home.supervisor,
        'session',
        'mother',
        ({ status, totalTurns }) => status === 'idle' && totalTurns === 1,
      );
      expect((await messages(home, 'mother')).map(({ role, content }) => [role, content])).to.deep.equal([
        ['notification', 'Session "dig" (child) succeeded.\n\nfound gold'],
        ['assistant', 'well done'],
      ]);
    });

    it('stands in its lists', async () => {
      const home = await opened();
      await home.supervisor.spawn('session', { id: 'a', input: session({ employee: 'ann' }) });
      await home.supervisor.spawn('session', {
        id: 'b',
        input: session({ parentSessionId: 'a', ancestors: ['a'], workItemId: 'TRP-1' }),
      });
      const ids = async (index: string, prefix: string) =>
        (await home.supervisor.list('session', { index, prefix })).items.map(({ id }) => id).sort();
      expect([
        await ids('all', ''),
        await ids('group', 'ann/'),
        await ids('group', '__direct__/'),
        await ids('parent', 'a/'),
        await ids('work-item', 'TRP-1/'),
      ]).to.deep.equal([['a', 'b'], ['a'], ['b'], ['b'], ['b']]);
    });

    it('is not created from an input that lacks something', async () => {
      const home = await opened();
      expect(await home.supervisor.spawn('session', { id: 's1', input: { engine: 'clerk' } })).to.include({
        code: 'BAD_REQUEST',
      });
    });
  });

  describe('a work item', () => {
    it('is driven by the session that works on it', async () => {
      const home = await opened();
      await home.supervisor.spawn('work-item', { id: 'TRP-1', input: item() });
      await home.supervisor.spawn('session', {
        id: 's1',
        input: session({ workItemId: 'TRP-1', message: first, employee: 'ann' }),
      });
      await eventually(home.supervisor, 'work-item', 'TRP-1', ({ status }) => status === 'executing');
      (await home.turn()).end({ text: 'dug' });
      await eventually(home.supervisor, 'work-item', 'TRP-1', ({ status }) => status === 'in_review');
      expect(
        (await home.supervisor.rows({ kind: 'work-item', id: 'TRP-1' }, 'events')).map(
          ({ row }) => (row as { kind: string }).kind,
        ),
      ).to.deep.equal(['created', 'session_linked', 'status_change', 'status_change']);
    });

    it('answers a request for what is as it answers any other', async () => {
      const home = await opened();
      await home.supervisor.spawn('work-item', { id: 'TRP-1', input: item() });
      expect(
        viewOf(await home.supervisor.ask('work-item', 'TRP-1', { type: 'item.move', status: 'backlog' })),
      ).to.include({ status: 'backlog', version: 1 });
      viewOf(
        await home.supervisor.ask('work-item', 'TRP-1', {
          type: 'approval.request',
          requestId: 'r1',
          request: 'May I?',
          target: null,
        }),
      );
      expect(
        viewOf(
          await home.supervisor.ask('work-item', 'TRP-1', {
            type: 'approval.request',
            requestId: 'r1',
            request: 'May I?',
            target: null,
          }),
        ),
      ).to.include({ approvalState: 'pending' });
      viewOf(await home.supervisor.ask('work-item', 'TRP-1', { type: 'item.archive' }));
      expect(viewOf(await home.supervisor.ask('work-item', 'TRP-1', { type: 'item.archive' }))).to.include({
        status: 'cancelled',
      });
    });

    it('asks the roster that the supervisor knows at that moment', async () => {
      const employees = [
        { name: 'chief', rank: 'executive' },
        { name: 'bob', rank: 'manager', reportsTo: 'chief', department: 'build' },
        { name: 'ann', rank: 'employee', reportsTo: 'bob', department: 'build' },
      ];
      const home = await opened({ facts: { roster: { employees } } });
      const bob = { type: 'session', id: 'bob-1', employee: 'bob', ancestors: [] } as const;
      expect(
        await home.supervisor.spawn('work-item', { id: 'TRP-0', input: item({ assignee: 'anne' }) }),
      ).to.include({ code: 'UNKNOWN_EMPLOYEE' });
      await home.supervisor.spawn('work-item', { id: 'TRP-1', input: item() });
      expect(
        viewOf(
          await home.supervisor.ask('work-item', 'TRP-1', {
            type: 'item.assign',
            assignee: 'ann',
            department: null,
          }),
        ),
      ).to.include({ status: 'assigned', department: 'build' });
      const asked = viewOf(
        await home.supervisor.ask('work-item', 'TRP-1', {
          type: 'approval.request',
          requestId: 'r1',
          request: 'May I?',
          target: null,
        }),
      );
      expect(asked).to.include({ approvalTarget: 'bob', approvalTargetKind: 'employee' });
      expect(
        await home.supervisor.ask('work-item', 'TRP-1', { type: 'approval.decide', decision: 'approve' }),
      ).to.include({ code: 'NOT_ROUTED' });
      home.supervisor.setFact('roster', {
        employees: employees.map((employee) =>
          employee.name === 'ann' ? { ...employee, reportsTo: 'chief' } : employee,
        ),
      });
      expect(
        viewOf(
          await home.supervisor.ask(
            'work-item',
            'TRP-1',
            { type: 'approval.decide', decision: 'approve' },
            { by: bob },
          ),
        ),
      ).to.include({ approvalState: 'approved', approvalDecidedBy: 'bob' });
    });

    it('escalates an approval by itself, and lets one run out', async () => {
      const home = await opened({ escalateAfterMs: 5 });
      await home.supervisor.spawn('work-item', { id: 'TRP-1', input: item() });
      await home.supervisor.ask('work-item', 'TRP-1', {
        type: 'approval.request',
        requestId: 'r1',
        request: 'May I?',
        target: null,
      });
      await eventually(
        home.supervisor,
        'work-item',
        'TRP-1',
        ({ approvalEscalatedAt }) => approvalEscalatedAt !== null,
      );
      await home.supervisor.ask('work-item', 'TRP-1', {
        type: 'approval.request',
        requestId: 'r2',
        request: 'May I soon?',
        target: null,
        expiresAt: home.supervisor.environment.clock.now() + 5,
      });
      await eventually(home.supervisor, 'work-item', 'TRP-1', ({ approvalState }) => approvalState === null);
      expect(
        (await home.supervisor.rows({ kind: 'work-item', id: 'TRP-1' }, 'approvals')).map(
          ({ row }) => (row as { state: string }).state,
        ),
      ).to.deep.equal(['superseded', 'expired']);
    });

    it('stands in its lists and leaves them as it moves', async () => {
      const home = await opened();
      await home.supervisor.spawn('work-item', {
        id: 'TRP-1',
        input: item({ assignee: 'ann', department: 'build' }),
      });
      await home.supervisor.spawn('work-item', { id: 'TRP-2', input: item() });
      const ids = async (index: string, prefix: string) =>
        (await home.supervisor.list('work-item', { index, prefix })).items.map(({ id }) => id).sort();
      expect([
        await ids('all', ''),
        await ids('group', 'assigned/'),
        await ids('assignee-group', 'ann/'),
        await ids('group', 'assigned/human/build/'),
        await ids('group', 'backlog/human/'),
      ]).to.deep.equal([['TRP-1', 'TRP-2'], ['TRP-1'], ['TRP-1'], ['TRP-1'], ['TRP-2']]);
      await home.supervisor.ask('work-item', 'TRP-1', { type: 'item.move', status: 'done' });
      expect([await ids('group', 'assigned/'), await ids('group', 'done/')]).to.deep.equal([[], ['TRP-1']]);
    });

    it('keeps texts that a person may erase out of the log', async () => {
      const home = await opened();
      await home.supervisor.spawn('work-item', { id: 'TRP-1', input: item() });
      await home.supervisor.ask('work-item', 'TRP-1', {
        type: 'item.comment',
        commentId: 'c1',
        text: 'the vault is under the well',
      });
      const [entry] = await home.supervisor.history({ kind: 'work-item', id: 'TRP-1' });
      expect(JSON.stringify(entry)).to.include('sha256');
      expect(JSON.stringify(entry)).to.not.include('vault');
    });
  });

  describe('a connector', () => {
    const input = {
      name: 'hook',
      connectorType: 'webhook',
      employee: null,
      capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
    };

    it('opens, sends what it is given, and tells its fate', async () => {
      const home = await opened();
      await home.supervisor.spawn('connector', { id: 'hook', input });
      await eventually(home.supervisor, 'connector', 'hook', ({ status }) => status === 'running');
      const sent = await home.supervisor.ask(
        'connector',
        'hook',
        { type: 'delivery.request', deliveryId: 'd1', channel: '#ops', text: 'hello', thread: null },
        { until: ({ view }) => (view as { sent: number }).sent === 1 },
      );
      expect(viewOf(sent)['last']).to.include({ deliveryId: 'd1', outcome: 'sent' });
      expect(home.sent).to.deep.equal([
        { n: 1, deliveryId: 'd1', channel: '#ops', text: 'hello', thread: null },
      ]);
      expect(await home.supervisor.rows({ kind: 'connector', id: 'hook' }, 'outbox')).to.deep.equal([]);
    });

    it('refuses to take what it cannot send', async () => {
      const home = await opened({ refuseLink: 1 });
      await home.supervisor.spawn('connector', { id: 'hook', input });
      await eventually(home.supervisor, 'connector', 'hook', ({ status }) => status === 'error');
      expect(
        await home.supervisor.ask('connector', 'hook', {
          type: 'delivery.request',
          deliveryId: 'd1',
          channel: '#ops',
          text: 'hello',
          thread: null,
        }),
      ).to.include({ code: 'CONNECTOR_UNAVAILABLE', status: 503 });
    });
  });
});
