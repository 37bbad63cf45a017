import { expect } from 'chai';
import {
  approval,
  as,
  ask,
  fresh,
  callers,
  inStatus,
  ledger,
  move,
  roster,
  view,
  work,
  type CallerName,
  type Item,
} from './beings.js';

/** The matrix of contract and specification, cell by cell, in words of its own. 200 = it happens. */
const columns = ['none', 'manager', 'root', 'escalated', 'decided'] as const;
const rows: readonly [CallerName, readonly [number, number, number, number, number]][] = [
  ['operator', [409, 403, 200, 200, 409]],
  ['device', [409, 403, 200, 200, 409]],
  ['owner', [403, 403, 403, 403, 403]],
  ['attempt', [403, 403, 403, 403, 403]],
  ['belowAttempt', [403, 403, 403, 403, 403]],
  ['manager', [409, 200, 403, 200, 409]],
  ['otherManager', [403, 403, 403, 403, 403]],
  ['sibling', [403, 403, 403, 403, 403]],
  ['outsider', [403, 403, 403, 403, 403]],
  ['root', [409, 200, 200, 200, 409]],
  ['executive', [403, 403, 403, 200, 409]],
];

const request = (target: string | null = null, extra: Record<string, unknown> = {}) => ({
  type: 'approval.request',
  requestId: 'r1',
  request: 'May I dig?',
  target,
  ...extra,
});
const decide = (decision: 'approve' | 'reject' = 'approve') => ({ type: 'approval.decide', decision });

function inColumn(column: (typeof columns)[number]): Item {
  const item = inStatus('executing');
  if (column === 'none') return item;
  item.send(as('owner', request(column === 'root' ? 'chief' : 'bob-lead')));
  if (column === 'escalated') item.send(as('manager', { type: 'approval.escalate' }));
  if (column === 'decided') item.send(as('manager', decide()));
  return item;
}

function statusOf(item: Item, who: CallerName, event: Record<string, unknown> & { type: string }): number {
  const before = item.json;
  const refusal = item.send(as(who, event));
  if (refusal === undefined) return 200;
  expect(item.json, 'nothing moved').to.equal(before);
  return refusal.status;
}

describe('approvals', () => {
  for (const [who, cells] of rows) {
    for (const [place, column] of columns.entries()) {
      it(`answers ${who} with ${cells[place]} when the approval is ${column === 'none' ? 'absent' : column}`, () => {
        for (const decision of ['approve', 'reject'] as const) {
          const item = inColumn(column);
          expect(statusOf(item, who, decide(decision))).to.equal(cells[place]);
          if (cells[place] === 200)
            expect(approval(item)).to.equal(decision === 'approve' ? 'approved' : 'rejected');
        }
      });
    }
  }

  it("lets a manager's session decide what it had written down for someone below: who made an item is its owner only while it is no one else's", () => {
    const decided = (input: object) => {
      const item = fresh({ createdBy: 'session:bob-1', by: callers.manager, ...input });
      item.send(as('operator', request('bob-lead')));
      return ask(item, as('manager', decide()));
    };
    expect(decided({ assignee: 'ann' })).to.equal(undefined);
    expect(decided({})).to.equal('OWN_APPROVAL');
  });

  it('lets the operator decide what would go to the root where there is no roster', () => {
    const item = fresh();
    item.send(request());
    expect(view(item)).to.deep.include({
      approvalState: 'pending',
      approvalTarget: null,
      approvalTargetKind: 'virtual',
    });
    expect(ask(item, decide())).to.equal(undefined);
    expect(view(item)).to.deep.include({ approvalState: 'approved', approvalDecidedBy: 'operator' });
  });

  it("goes to the owner's manager, else to the root, unless it names someone", () => {
    const routed = (facts: object, target: string | null): unknown[] => {
      const item = inStatus('executing');
      item.send({ ...request(target), facts });
      return [view(item).approvalTarget, view(item).approvalTargetKind];
    };
    const facts = roster;
    expect(routed(facts, null)).to.deep.equal(['bob-lead', 'employee']);
    expect(routed({ ...facts, managers: [] }, null)).to.deep.equal(['chief', 'employee']);
    expect(routed({ ...facts, managers: [], root: null }, null)).to.deep.equal([null, 'virtual']);
    expect(routed(facts, 'sue-lead')).to.deep.equal(['sue-lead', 'employee']);
  });

  it('is judged by the roster of the decision, not of the request', () => {
    const item = inColumn('root');
    const demoted = { ...roster, root: 'vp' };
    // Still the routed employee
    expect(item.send({ ...decide(), by: callers.root, facts: demoted })).to.equal(undefined);
    const other = inColumn('root');
    expect(other.send({ ...decide(), by: callers.executive, facts: { ...roster, root: 'vp' } })).to.equal(
      undefined,
    );
  });

  it('refuses an owner even where that owner is the root', () => {
    const item = inStatus('executing', { assignee: 'chief' });
    item.send(as('operator', request('bob-lead')));
    expect(ask(item, as('root', decide()))).to.equal('OWN_APPROVAL');
  });

  it('cannot be routed to the owner', () => {
    expect(ask(inStatus('executing'), as('operator', request('ann')))).to.equal('OWN_APPROVAL');
  });

  describe('requesting', () => {
    it('is for whose item it is', () => {
      for (const who of ['operator', 'owner', 'attempt', 'manager', 'root'] as const)
        expect(ask(inStatus('executing'), as(who, request()))).to.equal(undefined);
      for (const who of ['sibling', 'otherManager', 'outsider', 'executive'] as const)
        expect(ask(inStatus('executing'), as(who, request()))).to.equal('NOT_OWNER');
    });

    it('twice the same asks for nothing new; another text replaces the first', () => {
      const item = inColumn('manager');
      const before = item.json;
      expect(ask(item, as('owner', request('bob-lead')))).to.equal(undefined);
      expect(item.json).to.equal(before);
      item.send(as('owner', { ...request('bob-lead'), requestId: 'r2', request: 'May I blast?' }));
      expect(item.rows('approvals').map(({ n, row }) => [n, (row as { state: string }).state])).to.deep.equal(
        [
          [1, 'pending'],
          [1, 'superseded'],
          [2, 'pending'],
        ],
      );
      expect(approval(item)).to.equal('pending');
    });

    it('with another deadline replaces the first: else it would end at the old one', () => {
      const item = inStatus('executing');
      item.send(as('owner', request('bob-lead', { expiresAt: item.at + 60_000 })));
      item.send(as('owner', request('bob-lead', { requestId: 'r2', expiresAt: item.at + 600_000 })));
      item.advance(60_000);
      expect(approval(item)).to.equal('pending');
      item.advance(540_000);
      expect(approval(item)).to.equal('none');
    });

    it('again gives the one who is asked the whole time again before it escalates by itself', () => {
      const item = inColumn('manager');
      item.advance(23 * 3600 * 1000);
      item.send(as('owner', request('bob-lead', { requestId: 'r2', request: 'May I blast?' })));
      item.advance(23 * 3600 * 1000);
      expect(view(item).approvalEscalatedAt).to.equal(null);
      item.advance(3600 * 1000);
      expect(view(item).approvalEscalatedAt).to.be.a('string');
    });

    it('is refused for a cancelled item, and for one who is not in the roster', () => {
      expect(ask(inStatus('cancelled'), as('operator', request()))).to.equal('TERMINAL');
      const unknown = {
        ...as('operator', request('bobb')),
        facts: { ...roster, named: { known: false, department: null, suggestion: 'bob' } },
      };
      expect(ask(inStatus('executing'), unknown)).to.equal('UNKNOWN_EMPLOYEE');
    });
  });

  it('tells the one who works on it what was decided, also of a gate: a session refused the message by its name', () => {
    const item = inStatus('executing');
    const ask = {
      ...request('bob-lead', {
        requestId: 'run-20261121073000-1a2b3c4d:g/ok@1',
        gate: { runId: 'r', gateKey: 'g/ok@1' },
      }),
      by: { type: 'system', part: 'workflow-run:r' } as const,
    };
    item.send({ ...ask, facts: roster });
    item.send({ ...as('manager', decide()), resolves: 'r', gateKey: 'g/ok@1' });
    const ids = item.tells('message.post').map(({ event }) => (event['message'] as { id: string }).id);
    expect(ids).to.have.lengthOf(1);
    expect(ids[0], 'what a session takes for the id of a message').to.match(/^[A-Za-z0-9._:-]{1,64}$/);
  });

  describe('a decision in review', () => {
    it('approves: the item is done', () => {
      const item = inStatus('in_review');
      item.send(as('owner', request('bob-lead')));
      item.send(as('manager', { ...decide(), note: 'well dug' }));
      expect([work(item), approval(item)]).to.deep.equal(['done', 'approved']);
      expect(
        ledger(item)
          .slice(-2)
          .map(({ kind, actor }) => [kind, actor]),
      ).to.deep.equal([
        ['approval_decided', 'bob-lead'],
        ['status_change', 'bob-lead'],
      ]);
    });

    it('rejects: one round more, with the reason, or escalated at the ceiling', () => {
      const item = inStatus('in_review');
      item.send(as('owner', request('bob-lead')));
      item.send(as('manager', { ...decide('reject'), note: 'too shallow' }));
      expect(view(item)).to.deep.include({ status: 'executing', rounds: 1, approvalState: 'rejected' });
      expect(ledger(item).at(-1)?.detail).to.deep.include({
        rejected: true,
        critique: 'too shallow',
        bounce: true,
      });
      item.send(as('owner', move('in_review')));
      item.send(as('owner', { ...request('bob-lead'), requestId: 'r2', request: 'And now?' }));
      item.send(as('manager', decide('reject')));
      expect(view(item)).to.deep.include({ status: 'escalated', rounds: 2 });
    });

    it('elsewhere records only the decision', () => {
      for (const status of ['backlog', 'assigned', 'executing', 'blocked', 'escalated', 'done'] as const) {
        const item = inStatus(status);
        item.send(as('operator', request('chief')));
        expect(ask(item, as('root', decide('reject')))).to.equal(undefined);
        expect([work(item), approval(item)]).to.deep.equal([status, 'rejected']);
      }
    });
  });

  describe('escalating', () => {
    const expectedStatus: Readonly<
      Record<CallerName, readonly [none: number, manager: number, root: number]>
    > = {
      operator: [409, 403, 200],
      device: [409, 403, 200],
      owner: [403, 403, 403],
      attempt: [403, 403, 403],
      belowAttempt: [403, 403, 403],
      manager: [409, 200, 403],
      otherManager: [403, 403, 403],
      sibling: [403, 403, 403],
      outsider: [403, 403, 403],
      root: [409, 200, 200],
      executive: [403, 403, 403],
    };
    for (const who of Object.keys(expectedStatus) as CallerName[]) {
      it(`answers ${who} as the contract says`, () => {
        const found = (['none', 'manager', 'root'] as const).map((column) =>
          statusOf(inColumn(column), who, { type: 'approval.escalate', reason: 'slow' }),
        );
        expect(found).to.deep.equal(expectedStatus[who]);
      });
    }

    it('happens by itself when no one answered for 24 hours, and is visible', () => {
      const item = inColumn('manager');
      item.advance(24 * 3600 * 1000 - 1);
      expect(view(item).approvalEscalatedAt).to.equal(null);
      item.advance(1);
      expect(view(item).approvalEscalatedAt).to.be.a('string');
      expect(ledger(item).at(-1)?.detail).to.deep.include({ approvalEscalated: true });
      expect(ask(item, as('operator', decide()))).to.equal(undefined);
    });

    it('is not for an executive, who decides what is escalated but was not asked first', () => {
      expect(statusOf(inColumn('escalated'), 'executive', { type: 'approval.escalate' })).to.equal(403);
    });

    it('a second time changes nothing', () => {
      const item = inColumn('escalated');
      const before = item.json;
      expect(ask(item, as('manager', { type: 'approval.escalate' }))).to.equal(undefined);
      item.advance(25 * 3600 * 1000);
      expect(item.json).to.equal(before);
    });
  });

  describe('the deadline', () => {
    it('ends the request; a late decision finds none', () => {
      const item = inStatus('executing');
      item.send(as('owner', request('bob-lead', { expiresAt: item.at + 60_000 })));
      item.advance(60_000);
      expect([approval(item), item.timers.size]).to.deep.equal(['none', 0]);
      expect(item.rows('approvals').at(-1)?.row).to.deep.include({ state: 'expired' });
      expect(ask(item, as('manager', decide()))).to.equal('NO_PENDING_APPROVAL');
    });

    it('is told to the session that waits for the word: it would wait for ever', () => {
      const item = inStatus('executing');
      item.send(as('owner', request('bob-lead', { expiresAt: item.at + 60_000 })));
      item.advance(60_000);
      const told = item.tells('message.post');
      expect(told.map(({ to }) => to)).to.deep.equal([{ kind: 'session', id: 'ann-1' }]);
      expect(
        (told[0]?.event as unknown as { message: { content: string } } | undefined)?.message.content,
      ).to.match(/was expired \(no decision in time\)/);
    });

    it('is no longer waited for once it was decided', () => {
      const item = inStatus('executing');
      item.send(as('owner', request('bob-lead', { expiresAt: item.at + 60_000 })));
      item.send(as('manager', decide()));
      expect(item.timers.size).to.equal(0);
    });

    it('cannot be told from outside', () => {
      for (const type of ['approval.expired', 'approval.given', 'approval.refused', 'item.archived']) {
        for (const who of ['operator', 'root', 'manager'] as const)
          expect(ask(inColumn('manager'), as(who, { type, actor: 'me' }))).to.equal('UNKNOWN_EVENT');
      }
    });
  });
});
