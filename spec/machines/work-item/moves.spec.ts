import { expect } from 'chai';
import { isPerson } from '../../../machines/caller.js';
import { edges, statuses, type WorkStatus } from '../../../machines/work-item/edges.js';
import {
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
} from './beings.js';

/**
 * Every edge from every status by everybody. What must come out is said here in words of its own (not by
 * calling the policy), so that a slip in the policy cannot hide.
 */
const agentMay: readonly WorkStatus[] = ['executing', 'in_review', 'blocked', 'escalated', 'done'];
const owners: readonly CallerName[] = [
  'operator',
  'device',
  'owner',
  'attempt',
  'belowAttempt',
  'manager',
  'root',
];
const workers: readonly CallerName[] = ['attempt', 'belowAttempt'];

function expected(who: CallerName, from: WorkStatus, to: WorkStatus): string | undefined {
  const person = isPerson(callers[who]);
  if (!owners.includes(who)) return 'NOT_OWNER';
  if (from === to) return undefined;
  if (to === 'cancelled') return 'CANCEL_BY_ARCHIVE';
  if (!edges[from].includes(to)) return 'ILLEGAL_TRANSITION';
  if (!person && ['escalated', 'done', 'cancelled'].includes(from)) return 'PERSON_REQUIRED';
  if (!person && !agentMay.includes(to)) return 'PERSON_REQUIRED';
  if (to === 'done' && workers.includes(who)) return 'SELF_REVIEW';
  return undefined;
}

describe('moving a work item', () => {
  for (const who of Object.keys(callers) as CallerName[]) {
    it(`follows the table from every status, asked by ${who}`, () => {
      for (const from of statuses) {
        for (const to of statuses) {
          // To backlog takes the assignee away, so that an item in backlog has none to be assigned to.
          const item = inStatus(from);
          const ownerless = from === 'backlog' && to === 'assigned' && isPerson(callers[who]);
          const code = ask(item, as(who, move(to)));
          expect(code, `${from} to ${to}`).to.equal(
            ownerless ? 'ASSIGNEE_REQUIRED' : expected(who, from, to),
          );
          expect(work(item), `${from} to ${to}`).to.equal(code === undefined ? to : from);
        }
      }
    });
  }

  it('has the edges of the contract and no others', () => {
    const count = Object.values(edges).reduce((sum, targets) => sum + targets.length, 0);
    expect(count).to.equal(7 + 7 + 5 + 5 + 7 + 7 + 1 + 1);
  });

  it('to the same status changes nothing and writes nothing', () => {
    for (const status of statuses) {
      const item = inStatus(status);
      const [before, wishes] = [item.json, item.wishes.length];
      expect(ask(item, as('operator', move(status)))).to.equal(undefined);
      expect(item.json).to.equal(before);
      expect(item.wishes).to.have.length(wishes);
    }
  });

  it('to blocked or escalated needs a note', () => {
    for (const status of ['blocked', 'escalated'] as const) {
      expect(ask(inStatus('executing'), as('operator', { type: 'item.move', status, note: '  ' }))).to.equal(
        'NOTE_REQUIRED',
      );
      expect(ask(inStatus('executing'), as('operator', { type: 'item.move', status }))).to.equal(
        'NOTE_REQUIRED',
      );
    }
  });

  // Through the embedding face, where nothing judges a note, `null` ended in a dead letter
  it('refuses a note that is no text', () => {
    for (const note of [null, 7, {}]) {
      const moved = as('operator', { type: 'item.move', status: 'in_review', note });
      expect(ask(inStatus('executing'), moved), String(note)).to.equal('BAD_REQUEST');
      const archived = as('operator', { type: 'item.archive', note });
      expect(ask(inStatus('executing'), archived), String(note)).to.equal('BAD_REQUEST');
    }
  });

  it('may be asked by the session that made it, no matter who is to do it', () => {
    const by = { type: 'session', id: 'maker-1', employee: 'zoe', ancestors: [] } as const;
    const item = fresh({ assignee: 'ann', createdBy: 'session:maker-1', by });
    expect(ask(item, { ...move('blocked'), by, facts: roster })).to.equal(undefined);
    expect(
      ask(item, { type: 'item.comment', commentId: 'c1', text: 'Waits for the shovel.', by, facts: roster }),
    ).to.equal(undefined);
    expect(ask(item, { ...move('executing'), by: { ...by, id: 'maker-2' }, facts: roster })).to.equal(
      'NOT_OWNER',
    );
  });

  it('is recorded with who, from, to and why', () => {
    const item = inStatus('executing');
    item.send(as('owner', move('blocked', 'no water')));
    expect(ledger(item).at(-1)).to.deep.include({
      kind: 'status_change',
      fromStatus: 'executing',
      toStatus: 'blocked',
      actor: 'session:ann-1',
    });
    expect(ledger(item).at(-1)?.detail).to.deep.include({
      note: 'no water',
      todoProvenance: { source: 'human', department: null, assignee: 'ann' },
    });
    expect(ledger(item).at(-1)?.id).to.match(/^wie_[0-9a-f]{12}$/);
  });

  it('sets closedAt in done and cancelled, and takes it away when a person reopens', () => {
    for (const status of ['done', 'cancelled'] as const) {
      const item = inStatus(status);
      expect(view(item).closedAt).to.be.a('string');
      item.send(as('operator', move('backlog')));
      expect(view(item)).to.deep.include({ status: 'backlog', closedAt: null, assignee: null });
    }
  });

  describe('back from review (a bounce)', () => {
    it('counts rounds, and escalates at the ceiling of two', () => {
      const item = inStatus('in_review');
      item.send(as('operator', move('executing')));
      expect(view(item)).to.deep.include({ status: 'executing', rounds: 1 });
      expect(ledger(item).at(-1)?.detail).to.deep.include({ bounce: true, rounds: 1 });
      item.send(as('owner', move('in_review')));
      item.send(as('operator', move('executing')));
      expect(view(item)).to.deep.include({ status: 'escalated', rounds: 2 });
      expect(ledger(item).at(-1)).to.deep.include({ kind: 'escalated' });
      expect(ledger(item).at(-1)?.detail).to.deep.include({ reason: 'max-rounds-exhausted', maxRounds: 2 });
    });

    for (const [policy, ceiling] of [
      [{ mode: 'thorough' }, 3],
      [{ mode: 'verify', maxRounds: 1 }, 1],
      [{ mode: 'trust', maxRounds: 5 }, 5],
    ] as const) {
      it(`escalates at round ${ceiling} with ${JSON.stringify(policy)}`, () => {
        const item = inStatus('in_review', { verifyPolicy: policy });
        for (let round = 1; round < ceiling; round += 1) {
          item.send(as('operator', move('executing')));
          expect(view(item)).to.deep.include({ status: 'executing', rounds: round });
          item.send(as('operator', move('in_review')));
        }
        item.send(as('operator', move('executing')));
        expect(view(item)).to.deep.include({ status: 'escalated', rounds: ceiling });
      });
    }

    it('starts again when a person takes the item out of escalated', () => {
      const item = inStatus('in_review', { verifyPolicy: { mode: 'verify', maxRounds: 1 } });
      item.send(as('operator', move('executing')));
      item.send(as('operator', move('executing')));
      expect(view(item)).to.deep.include({ status: 'executing', rounds: 0 });
    });
  });

  describe('by its attempts', () => {
    const start = (sessionId = 's-9') => ({ type: 'attempt.started', sessionId, employee: 'ann' });
    const end = (outcome: string, sessionId = 's-9') => ({
      type: 'attempt.ended',
      sessionId,
      outcome,
      summary: 'so it went',
    });

    it('is executing as soon as a session works on it, and in review when that succeeds', () => {
      const item = fresh();
      item.send(start());
      expect(view(item)).to.deep.include({ status: 'executing', sessionRef: 's-9' });
      item.send(end('succeeded'));
      expect(work(item)).to.equal('in_review');
      expect(ledger(item).map(({ kind }) => kind)).to.deep.equal([
        'created',
        'session_linked',
        'status_change',
        'status_change',
      ]);
    });

    it('is done at once where the work is trusted: by policy, or by its source', () => {
      for (const input of [{ verifyPolicy: { mode: 'trust' } }, { source: 'cron' }, { source: 'workflow' }]) {
        const item = fresh(input);
        item.send(start());
        item.send(end('succeeded'));
        expect(view(item).status).to.equal('done');
        expect(view(item).closedAt).to.be.a('string');
        expect(ledger(item).at(-1)?.actor).to.equal('policy:trust');
      }
      const item = fresh({ source: 'cron', verifyPolicy: { mode: 'verify' } });
      item.send(start());
      item.send(end('succeeded'));
      expect(work(item)).to.equal('in_review');
    });

    for (const outcome of ['failed', 'interrupted']) {
      it(`is blocked with the reason when it ${outcome}, and executing again with the next attempt`, () => {
        const item = fresh();
        item.send(start());
        item.send(end(outcome));
        expect(work(item)).to.equal('blocked');
        expect(ledger(item).at(-1)?.detail).to.deep.include({ outcome, summary: 'so it went' });
        item.send(start());
        expect(work(item)).to.equal('executing');
        expect(view(item).rounds).to.equal(0);
      });
    }

    it('goes on executing while another attempt is at work', () => {
      const item = fresh();
      item.send(start('one'));
      item.send(start('two'));
      item.send(end('succeeded', 'one'));
      expect(work(item)).to.equal('executing');
      item.send(end('failed', 'two'));
      expect(work(item)).to.equal('blocked');
    });

    for (const status of ['done', 'cancelled', 'escalated', 'blocked', 'in_review'] as const) {
      it(`stays ${status} where that was decided or declared, whatever attempts do`, () => {
        const item = inStatus('executing');
        item.send(start());
        if (status === 'cancelled') item.send(as('operator', { type: 'item.archive' }));
        else item.send(as('owner', move(status)));
        for (const event of [
          end('succeeded'),
          start('another'),
          end('failed', 'another'),
          start('a third'),
          end('succeeded', 'a third'),
        ]) {
          item.send(event);
          expect(work(item), JSON.stringify(event)).to.equal(status);
        }
        expect(item.snapshot.context.attempts.filter(({ live }) => live)).to.deep.equal([]);
      });
    }

    it('hears an end that was told twice, or of an outsider, once or never', () => {
      const item = fresh();
      item.send(start());
      item.send(end('failed', 'nobody'));
      expect(work(item)).to.equal('executing');
      item.send(end('succeeded'));
      const before = item.json;
      item.send(end('failed'));
      expect(item.json).to.equal(before);
    });

    it('counts a beginning that was told twice once', () => {
      const item = fresh();
      item.send(start());
      const [before, wishes] = [item.json, item.wishes.length];
      item.send(start());
      expect(item.json).to.equal(before);
      expect(item.wishes).to.have.length(wishes);
    });

    it('knows a session that began again as one attempt of the second run, linked once', () => {
      const item = fresh();
      item.send(start());
      item.send(end('failed'));
      item.send(move('executing'));
      item.send(start());
      expect(item.snapshot.context.attempts).to.have.length(1);
      expect(item.snapshot.context.attempts[0]).to.include({ sessionId: 's-9', live: true, n: 2 });
      expect(ledger(item).filter(({ kind }) => kind === 'session_linked')).to.have.length(1);
      expect(item.rows('attempts').map(({ n }) => n)).to.deep.equal([1, 1, 2]); // begun, ended, begun again
    });

    it('begins what a person had only put in its place; what a person declared blocked or in review it leaves', () => {
      const item = fresh({ assignee: 'ann' });
      item.send(move('blocked'));
      item.send(move('assigned'));
      item.send(start());
      expect(work(item)).to.equal('executing');
      for (const declared of ['blocked', 'in_review'] as const) {
        const other = fresh({ assignee: 'ann' });
        other.send(move(declared));
        other.send(start());
        expect(work(other)).to.equal(declared);
      }
    });

    // Else the one who worked on it last could decide what was asked for by the first.
    it("makes an item that is no one's that of the first who worked on it, and of no other", () => {
      const item = fresh();
      item.send(start('ann-9'));
      item.send({ type: 'attempt.started', sessionId: 'ben-9', employee: 'ben' });
      expect(ask(item, as('owner', { type: 'item.archive' }))).to.equal(undefined);
      const other = fresh();
      other.send({ type: 'attempt.started', sessionId: 'sue-9', employee: 'sue' });
      other.send(start('ann-9'));
      expect(ask(other, as('owner', { type: 'item.archive' }))).to.equal('NOT_OWNER');
    });

    it('believes only the session itself', () => {
      expect(ask(fresh(), { ...start(), by: callers.sibling })).to.equal('FORBIDDEN');
      expect(ask(fresh(), { ...start('ben-1'), by: callers.sibling })).to.equal(undefined);
    });

    it('remembers a bounded number of attempts, living ones first', () => {
      const item = fresh();
      item.send(start('alive'));
      for (let n = 0; n < 60; n += 1) {
        item.send(start(`s-${n}`));
        item.send(end('failed', `s-${n}`));
      }
      expect(item.snapshot.context.attempts).to.have.length(40);
      expect(item.snapshot.context.attempts.some(({ sessionId }) => sessionId === 'alive')).to.equal(true);
    });
  });
});

describe('claiming a work item', () => {
  const claim = { type: 'item.assign', assignee: 'ben', department: null };

  it("is for an agent that takes for itself what is no one's and lies in backlog", () => {
    expect(ask(fresh(), as('sibling', claim))).to.equal(undefined);
    expect(ask(fresh(), as('sibling', { ...claim, assignee: 'ann' }))).to.equal('NOT_OWNER');
  });

  it('takes nothing from who has worked on it, though it lies in backlog without an assignee again', () => {
    const item = inStatus('backlog');
    expect(view(item)).to.include({ status: 'backlog', assignee: null });
    expect(ask(item, as('sibling', claim))).to.equal('NOT_OWNER');
  });

  it('takes nothing that a person has put elsewhere: what is blocked waits for someone', () => {
    const item = fresh();
    item.send(move('blocked'));
    expect(ask(item, as('sibling', claim))).to.equal('NOT_OWNER');
  });
});

describe('changing a comment', () => {
  const edit = (edition: number) => ({
    type: 'comment.edit',
    commentId: 'c1',
    n: 1,
    author: 'ann',
    createdAt: '2026-01-01T00:00:00.000Z',
    edition,
    text: 'Mended.',
  });

  it('is refused to who has not seen the last change: two edits at the same time would lose one', () => {
    const item = fresh({ assignee: 'ann' });
    item.send({ type: 'item.comment', commentId: 'c1', text: 'Written.' });
    expect(ask(item, as('owner', edit(1)))).to.equal('VERSION_CONFLICT');
    expect(ask(item, as('owner', edit(0)))).to.equal(undefined);
    expect(ask(item, as('owner', edit(0)))).to.equal('VERSION_CONFLICT');
    expect(ask(item, as('owner', { ...edit(0), type: 'comment.delete' }))).to.equal('VERSION_CONFLICT');
    expect(ask(item, as('owner', edit(1)))).to.equal(undefined);
  });
});
