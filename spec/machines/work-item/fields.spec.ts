import { expect } from 'chai';
import { admitWorkItem } from '../../../machines/work-item/policy.js';
import type { WorkItemInput } from '../../../machines/work-item/context.js';
import { workItemIndex } from '../../../machines/work-item/view.js';
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
} from './beings.js';

const assign = (assignee: string, department: string | null = null) => ({
  type: 'item.assign',
  assignee,
  department,
});
const edit = (patch: object, expectedVersion?: number) => ({
  type: 'item.edit',
  patch,
  ...(expectedVersion === undefined ? {} : { expectedVersion }),
});

describe('a work item', () => {
  describe('at creation', () => {
    it('waits in backlog, or is assigned to whom it names', () => {
      expect(view(fresh())).to.deep.include({
        status: 'backlog',
        priority: 2,
        version: 1,
        rounds: 0,
        approvalState: null,
        closedAt: null,
      });
      expect(view(fresh({ assignee: 'ann' }))).to.deep.include({ status: 'assigned', assignee: 'ann' });
      expect(ledger(fresh({ assignee: 'ann' }))[0]).to.deep.include({
        kind: 'created',
        fromStatus: null,
        toStatus: 'assigned',
        actor: 'operator',
      });
    });

    it('belongs to the employee whose session created it', () => {
      const item = fresh({ by: callers.sibling, createdBy: 'session:ben-1', source: 'session' });
      expect(ask(item, as('sibling', move('executing')))).to.equal(undefined);
      expect(ask(fresh(), as('sibling', move('executing')))).to.equal('NOT_OWNER');
    });

    it('is refused with the member that does not fit', () => {
      const input = {
        title: 'x',
        body: null,
        acceptance: null,
        assignee: null,
        department: null,
        verifyPolicy: null,
      } as unknown as WorkItemInput; // what authentication hands on
      const paths = [
        { title: ' ' },
        { body: 'ü'.repeat(20_000) },
        { acceptance: 'x'.repeat(9_000) },
        { priority: 4 },
        { priority: 1.5 },
        { dueAt: 8.65e15 },
        { verifyPolicy: { mode: 'blindly' } },
        { verifyPolicy: { mode: 'verify', maxRounds: 21 } },
        { verifyPolicy: { mode: 'verify', extra: 1 } },
        { verifyPolicy: { mode: 'verify', verifier: { employee: '' } } },
      ].map((members) => admitWorkItem({ ...input, ...members } as WorkItemInput)?.details['path']);
      expect(paths).to.deep.equal([
        'title',
        'body',
        'acceptance',
        'priority',
        'priority',
        'dueAt',
        'verifyPolicy.mode',
        'verifyPolicy.maxRounds',
        'verifyPolicy.extra',
        'verifyPolicy.verifier.employee',
      ]);
      expect(admitWorkItem(input)).to.equal(undefined);
      const unknown = {
        ...input,
        assignee: 'anne',
        facts: { ...roster, named: { known: false, department: null, suggestion: 'ann' } },
      };
      expect(admitWorkItem(unknown)?.message).to.include('Did you mean "ann"?');
    });
  });

  describe('assigned', () => {
    it('leaves backlog, keeps every other open status, and takes the department of the roster', () => {
      for (const status of ['backlog', 'assigned', 'executing', 'in_review', 'blocked'] as const) {
        const item = inStatus(status);
        const facts = { ...roster, named: { known: true, department: 'build', suggestion: null } };
        expect(ask(item, { ...assign('ben'), facts })).to.equal(undefined);
        expect(view(item)).to.deep.include({
          status: status === 'backlog' ? 'assigned' : status,
          assignee: 'ben',
          department: 'build',
        });
      }
    });

    it('is refused where the item is closed or escalated', () => {
      expect(
        ['done', 'cancelled', 'escalated'].map((status) => ask(inStatus(status as 'done'), assign('ben'))),
      ).to.deep.equal(['TERMINAL', 'TERMINAL', 'CONFLICT']);
    });

    it('is for the owner, the managers above and the root; and anybody may claim what no one owns', () => {
      const allowed = (Object.keys(callers) as CallerName[]).filter(
        (who) => ask(inStatus('executing'), as(who, assign('ben'))) === undefined,
      );
      expect(allowed).to.deep.equal([
        'operator',
        'device',
        'owner',
        'attempt',
        'belowAttempt',
        'manager',
        'root',
      ]);
      expect(ask(fresh(), as('sibling', assign('ben')))).to.equal(undefined);
      expect(ask(fresh(), as('sibling', assign('ann')))).to.equal('NOT_OWNER');
    });

    it('again to the same changes nothing', () => {
      const item = inStatus('executing');
      const before = item.json;
      item.send(assign('ann'));
      expect(item.json).to.equal(before);
    });
  });

  describe('archived', () => {
    it('is cancelled from every open status, and archiving again changes nothing', () => {
      for (const status of [
        'backlog',
        'assigned',
        'executing',
        'in_review',
        'blocked',
        'escalated',
      ] as const) {
        const item = inStatus(status);
        expect(ask(item, as('operator', { type: 'item.archive', note: 'no use' }))).to.equal(undefined);
        expect(view(item).status).to.equal('cancelled');
        expect(ledger(item).at(-1)?.detail).to.deep.include({ action: 'archive', note: 'no use' });
        const before = item.json;
        expect(ask(item, as('owner', { type: 'item.archive' }))).to.equal(undefined);
        expect(item.json).to.equal(before);
      }
    });

    it('is refused when done, and from escalated for all but people', () => {
      expect(ask(inStatus('done'), as('operator', { type: 'item.archive' }))).to.equal('TERMINAL');
      expect(ask(inStatus('escalated'), as('root', { type: 'item.archive' }))).to.equal('PERSON_REQUIRED');
    });

    it('takes a pending approval with it', () => {
      const item = inStatus('executing');
      item.send(
        as('owner', { type: 'approval.request', requestId: 'r1', request: 'May I?', target: 'bob-lead' }),
      );
      item.send(as('operator', { type: 'item.archive' }));
      expect([work(item), approval(item), item.timers.size]).to.deep.equal(['cancelled', 'none', 0]);
      expect(item.rows('approvals').at(-1)?.row).to.deep.include({ state: 'cancelled' });
    });

    it('is for people, creator, owner and those above', () => {
      const allowed = (Object.keys(callers) as CallerName[]).filter(
        (who) => ask(inStatus('executing'), as(who, { type: 'item.archive' })) === undefined,
      );
      expect(allowed).to.deep.equal([
        'operator',
        'device',
        'owner',
        'attempt',
        'belowAttempt',
        'manager',
        'root',
      ]);
    });
  });

  describe('edited', () => {
    it('needs the version that was read, and grows it', () => {
      const item = inStatus('executing');
      const { version } = view(item);
      expect(ask(item, edit({ title: 'Dig deeper' }))).to.equal('PRECONDITION_REQUIRED');
      expect(ask(item, edit({ title: 'Dig deeper' }, version - 1))).to.equal('VERSION_CONFLICT');
      expect(ask(item, edit({ title: 'Dig deeper', rank: 1.5 }, version))).to.equal(undefined);
      expect(view(item)).to.deep.include({
        title: 'Dig deeper',
        rank: 1.5,
        version: version + 1,
        status: 'executing',
      });
    });

    it('is for people, and names what does not fit', () => {
      const item = inStatus('executing');
      const { version } = view(item);
      expect(ask(item, as('owner', edit({ title: 'mine' }, version)))).to.equal('PERSON_REQUIRED');
      for (const patch of [
        {},
        { status: 'done' },
        { title: '' },
        { title: 'x'.repeat(201) },
        { priority: 9 },
        { rank: Number.NaN },
      ]) {
        expect(ask(item, edit(patch, version)), JSON.stringify(patch)).to.equal('BAD_REQUEST');
      }
      expect(
        ask(inStatus('assigned'), edit({ assignee: null }, view(inStatus('assigned')).version)),
      ).to.equal('ASSIGNEE_REQUIRED');
    });

    it('with an assignee takes it out of backlog', () => {
      const item = fresh();
      expect(ask(item, edit({ assignee: 'ann' }, 1))).to.equal(undefined);
      expect(view(item)).to.deep.include({ status: 'assigned', assignee: 'ann' });
      expect(ledger(item).map(({ kind }) => kind)).to.deep.equal([
        'created',
        'metadata_edited',
        'status_change',
      ]);
    });

    it('to a lower ceiling keeps rounds within it', () => {
      const item = inStatus('in_review', { verifyPolicy: { mode: 'verify', maxRounds: 5 } });
      for (let n = 0; n < 3; n += 1) {
        item.send(as('operator', move('executing')));
        item.send(as('operator', move('in_review')));
      }
      expect(view(item).rounds).to.equal(3);
      item.send(edit({ verifyPolicy: { mode: 'verify', maxRounds: 2 } }, view(item).version));
      expect(view(item).rounds).to.equal(2);
    });
  });

  it('keeps comments as rows', () => {
    const item = inStatus('executing');
    expect(ask(item, as('owner', { type: 'item.comment', commentId: 'c1', text: 'stone below' }))).to.equal(
      undefined,
    );
    expect(ask(item, as('outsider', { type: 'item.comment', commentId: 'c2', text: 'hi' }))).to.equal(
      'NOT_OWNER',
    );
    expect(ask(item, as('owner', { type: 'item.comment', commentId: 'c3', text: ' ' }))).to.equal(
      'BAD_REQUEST',
    );
    expect(item.rows('comments').map(({ row }) => row as { text: string; author: string })).to.have.length(1);
    expect(ledger(item).at(-1)).to.deep.include({ kind: 'comment_added', actor: 'ann' });
  });

  it('stands in its lists: by rank first, without one last, then the last changed first', () => {
    const key = (item: ReturnType<typeof fresh>, index: string) =>
      workItemIndex(item.snapshot.value, item.snapshot.context).find((row) => row.index === index)?.key ?? '';
    const ranked = (rank: number) => {
      const item = fresh();
      item.send(edit({ rank }, 1));
      return item;
    };
    const older = fresh();
    const newer = fresh();
    newer.at += 5_000;
    newer.send(edit({ title: 'newer' }, 1));
    const inOrder = [ranked(-2), ranked(1), ranked(30), newer, older].map((item) => key(item, 'all'));
    expect([...inOrder].sort()).to.deep.equal(inOrder);
    expect(key(inStatus('blocked'), 'group')).to.match(/^blocked\/human\/\/[01]/);
    expect(
      workItemIndex(older.snapshot.value, older.snapshot.context).map(({ index }) => index),
    ).to.deep.equal(['all', 'group']);
  });
});
