import { expect } from 'chai';
import { operator, system } from '../../../machines/caller.js';
import { edges, statuses, type WorkStatus } from '../../../machines/work-item/edges.js';
import { openHouse, type Answer, type Client, type House } from './fixture.js';

/**
 * Who may do what with a work item, asked over HTTP cell by cell. What must come out is written here in words
 * of its own, after the contract: nothing is looked up in the tables that the server reads.
 *
 * The people: ann owns the item, bob manages her, chief is the root; ben is her colleague, sue another
 * manager, vp another executive. `helper` works below ann's session, `attempt` is a session that worked on
 * the item.
 */
const people = [
  { name: 'chief', rank: 'executive', department: 'board', reportsTo: null },
  { name: 'vp', rank: 'executive', department: 'board', reportsTo: 'chief' },
  { name: 'bob', rank: 'manager', department: 'build', reportsTo: 'chief' },
  { name: 'sue', rank: 'manager', department: 'sales', reportsTo: 'chief' },
  { name: 'ann', rank: 'employee', department: 'build', reportsTo: 'bob' },
  { name: 'ben', rank: 'employee', department: 'build', reportsTo: 'bob' },
];

type Who =
  | 'none'
  | 'bad'
  | 'operator'
  | 'owner'
  | 'helper'
  | 'attempt'
  | 'manager'
  | 'otherManager'
  | 'sibling'
  | 'root'
  | 'executive'
  | 'outsider';
const agents = [
  'owner',
  'helper',
  'attempt',
  'manager',
  'otherManager',
  'sibling',
  'root',
  'executive',
  'outsider',
] as const;
const everybody: readonly Who[] = ['none', 'bad', 'operator', ...agents];

describe('work items: every caller over HTTP', () => {
  let house: House;
  let clients: Record<Who, Client>;
  let made = 0;

  before(async () => {
    house = await openHouse({ roster: () => ({ employees: people }) });
    house.supervisor.setFact('roster', { employees: people });
    const session = async (
      id: string,
      employee: string | null,
      ancestors: readonly string[] = [],
    ): Promise<Client> => {
      await house.supervisor.spawn('session', {
        id,
        input: {
          engine: 'pen',
          model: null,
          effort: null,
          employee,
          parentSessionId: ancestors[0] ?? null,
          ancestors: [...ancestors],
          workItemId: null,
          title: null,
          cwd: house.home,
          source: 'web',
          sourceRef: null,
          interruptOnNewMessage: true,
          turnDeadlineMs: 1000,
        },
      });
      return house.agent(id);
    };
    clients = {
      none: house.client(),
      bad: house.client({ authorization: 'Bearer of-an-event-token-or-of-nothing' }),
      operator: house.operator,
      owner: await session('s-ann', 'ann'),
      helper: await session('s-helper', 'ben', ['s-attempt']),
      attempt: await session('s-attempt', null),
      manager: await session('s-bob', 'bob'),
      otherManager: await session('s-sue', 'sue'),
      sibling: await session('s-ben', 'ben'),
      root: await session('s-chief', 'chief'),
      executive: await session('s-vp', 'vp'),
      outsider: await session('s-nobody', null),
    };
  });
  after(() => house.close());

  /** An item of ann's on which `attempt` worked, moved to a status by a person. */
  async function item(status: WorkStatus = 'blocked'): Promise<string> {
    const id = `ACM-${++made + 1000}`;
    const key = ['work-item', id] as const;
    await house.supervisor.spawn('work-item', {
      id,
      by: operator,
      input: {
        title: 'Dig',
        body: null,
        acceptance: null,
        assignee: 'ann',
        department: null,
        verifyPolicy: null,
        source: 'human',
        sourceRef: null,
        createdBy: 'operator',
      },
    });
    await house.supervisor.ask(
      ...key,
      { type: 'attempt.started', sessionId: 's-attempt', employee: null },
      { by: system('session:s-attempt') },
    );
    await house.supervisor.ask(
      ...key,
      { type: 'attempt.ended', sessionId: 's-attempt', outcome: 'failed', summary: 'no shovel' },
      { by: system('session:s-attempt') },
    );
    if (status === 'cancelled') await house.supervisor.ask(...key, { type: 'item.archive' });
    else if (status !== 'blocked')
      await house.supervisor.ask(...key, { type: 'item.move', status, note: 'because' });
    return id;
  }

  const outcome = ({ status, body }: Answer): string => (status < 300 ? 'ok' : body.code);

  describe('every edge', () => {
    const works: readonly Who[] = ['attempt', 'helper'];
    const owns: readonly Who[] = ['operator', 'owner', 'manager', 'root', ...works];

    function expected(who: Who, from: WorkStatus, to: WorkStatus): string {
      if (who === 'none' || who === 'bad') return 'UNAUTHENTICATED';
      if (!owns.includes(who)) return 'NOT_OWNER';
      if (from === to) return 'ok';
      if (to === 'cancelled') return 'CANCEL_BY_ARCHIVE';
      if (!edges[from].includes(to)) return 'ILLEGAL_TRANSITION';
      if (who === 'operator') return to === 'assigned' && from === 'backlog' ? 'ASSIGNEE_REQUIRED' : 'ok';
      if (['escalated', 'done', 'cancelled'].includes(from) || ['backlog', 'assigned'].includes(to))
        return 'PERSON_REQUIRED';
      return to === 'done' && works.includes(who) ? 'SELF_REVIEW' : 'ok';
    }

    for (const who of everybody) {
      it(`is taken or refused as the contract says, asked by ${who}`, async () => {
        for (const from of statuses) {
          // An item in backlog has no assignee any more: it is its first attempt's, then its creator's, so
          // no one's.
          if (from === 'backlog' && ['owner', 'manager'].includes(who)) continue;
          for (const to of statuses) {
            const id = await item(from);
            const answer = await clients[who].post(`/api/work-items/${id}/status`, {
              status: to,
              note: 'because',
            });
            expect(outcome(answer), `${who}: ${from} to ${to}`).to.equal(expected(who, from, to));
          }
        }
      });
    }
  });

  describe('every route', () => {
    const ok: readonly Who[] = ['operator', 'owner', 'attempt', 'helper', 'manager', 'root'];
    const post = (path: string, body: unknown) => (client: Client, id: string) =>
      client.post(`/api/work-items/${id}/${path}`, body);
    const get = (path: string) => (client: Client, id: string) => client.get(`/api/work-items/${id}${path}`);
    const routes: Readonly<
      Record<
        string,
        readonly [ask: (client: Client, id: string) => Promise<Answer>, may: readonly Who[], refused: string]
      >
    > = {
      'GET /:id': [get(''), ok, 'FORBIDDEN'],
      'GET /:id/sessions': [get('/sessions'), ok, 'FORBIDDEN'],
      'GET /:id/comments': [get('/comments'), ok, 'FORBIDDEN'],
      'GET /:id/children': [get('/children'), ok, 'FORBIDDEN'],
      'GET /:id/attempts': [get('/attempts'), ok, 'FORBIDDEN'],
      'GET /:id/approvals': [get('/approvals'), ok, 'FORBIDDEN'],
      'GET why': [(client, id) => client.get(`/api/inspect/actors/work-item/${id}/why`), ok, 'FORBIDDEN'],
      'PATCH /:id': [
        async (client, id) =>
          client.call('PATCH', `/api/work-items/${id}`, {
            title: 'y',
            expectedVersion: (await house.operator.get(`/api/work-items/${id}`)).body.workItem.version,
          }),
        ['operator'],
        'FORBIDDEN',
      ],
      'POST /:id/assign': [post('assign', { assignee: 'ben' }), ok, 'NOT_OWNER'],
      'POST /:id/archive': [post('archive', {}), ok, 'NOT_OWNER'],
      'POST /:id/comments': [post('comments', { text: 'hm' }), ok, 'NOT_OWNER'],
      'POST /:id/labels': [post('labels', { add: ['wet'] }), ok, 'NOT_OWNER'],
      'POST /:id/approval/request': [post('approval/request', { request: 'May I?' }), ok, 'NOT_OWNER'],
      'POST /:id/handoff': [
        post('handoff', { summary: 'dug', sessionId: 's-attempt' }),
        ['operator', 'attempt'],
        'FORBIDDEN',
      ],
    };
    for (const [name, [ask, may, refused]] of Object.entries(routes)) {
      it(`${name}: ${may.join(', ')}; no one else`, async () => {
        for (const who of everybody) {
          const answer = await ask(clients[who], await item());
          const expected =
            who === 'none' || who === 'bad' ? 'UNAUTHENTICATED' : may.includes(who) ? 'ok' : refused;
          expect(outcome(answer), who).to.equal(expected);
        }
      });
    }
  });

  describe('deciding an approval', () => {
    const columns = [
      'nothing pending',
      'routed to a manager',
      'routed to the root',
      'escalated',
      'already decided',
    ] as const;
    const rows: Readonly<Record<Who, readonly number[]>> = {
      none: [401, 401, 401, 401, 401],
      bad: [401, 401, 401, 401, 401],
      operator: [409, 403, 200, 200, 409],
      owner: [403, 403, 403, 403, 403],
      helper: [403, 403, 403, 403, 403],
      attempt: [403, 403, 403, 403, 403],
      manager: [409, 200, 403, 200, 409],
      otherManager: [403, 403, 403, 403, 403],
      sibling: [403, 403, 403, 403, 403],
      root: [409, 200, 200, 200, 409],
      executive: [403, 403, 403, 200, 409],
      outsider: [403, 403, 403, 403, 403],
    };

    async function prepared(column: (typeof columns)[number]): Promise<string> {
      const id = await item();
      if (column === 'nothing pending') return id;
      await clients.owner.post(`/api/work-items/${id}/approval/request`, {
        request: 'May I?',
        ...(column === 'routed to the root' && { target: 'chief' }),
      });
      if (column === 'escalated') await clients.root.post(`/api/work-items/${id}/approval/escalate`);
      if (column === 'already decided')
        await clients.root.post(`/api/work-items/${id}/approval`, { decision: 'approve' });
      return id;
    }

    for (const who of everybody) {
      it(`${who}: ${columns.map((column, at) => `${column} ${rows[who][at]}`).join(', ')}`, async () => {
        for (const [at, column] of columns.entries()) {
          const answer = await clients[who].post(`/api/work-items/${await prepared(column)}/approval`, {
            decision: 'approve',
          });
          expect(answer.status, `${column}: ${answer.text.slice(0, 200)}`).to.equal(rows[who][at]);
        }
      });
    }

    it('is judged by the roster at the time of the decision', async () => {
      const id = await prepared('routed to a manager');
      const promoted = people.map((person) =>
        person.name === 'ben'
          ? { ...person, rank: 'executive', reportsTo: null }
          : person.name === 'chief'
            ? { ...person, rank: 'manager', reportsTo: 'ben' }
            : person,
      );
      house.supervisor.setFact('roster', { employees: promoted });
      try {
        expect(
          (await clients.root.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).body.code,
        ).to.equal('NOT_ROUTED');
        expect(
          (await clients.sibling.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).status,
        ).to.equal(200); // ben is the root now
      } finally {
        house.supervisor.setFact('roster', { employees: people });
      }
    });
  });

  describe('creating', () => {
    it('makes one item of forty requests with one key at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, () =>
          house.operator.post(
            '/api/work-items',
            { title: 'Only one' },
            { 'idempotency-key': 'one-of-forty' },
          ),
        ),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.workItem?.id}`)).size).to.equal(1);
      expect((await house.operator.get('/api/work-items?q=only%20one')).body.total).to.equal(1);
    });

    it("names the member that would smuggle in what is not the caller's to say", async () => {
      for (const member of [
        'provenance',
        'approvalState',
        'approvalTarget',
        'source',
        'sourceRef',
        'status',
        'createdBy',
        'rootId',
        'depth',
        'rounds',
      ]) {
        const created = await house.operator.post('/api/work-items', { title: 'x', [member]: 'x' });
        expect([created.status, created.body.path], `POST ${member}`).to.deep.equal([400, member]);
        const edited = await house.operator.call('PATCH', `/api/work-items/${await item()}`, {
          title: 'x',
          expectedVersion: 1,
          [member]: 'x',
        });
        expect([edited.status, edited.body.path], `PATCH ${member}`).to.deep.equal([400, member]);
      }
    });
  });

  describe('why', () => {
    const why = async (who: Who, id: string): Promise<any> =>
      (await clients[who].get(`/api/inspect/actors/work-item/${id}/why`)).body;
    const move = (answer: { next: any[] }, to: string): any =>
      answer.next.find((next) => next.to?.[0] === to);

    it('says what this caller may do next, and for the rest what stands in the way', async () => {
      const id = await item('executing');
      const [attempt, person] = [await why('attempt', id), await why('operator', id)];
      expect(move(attempt, 'done')).to.deep.include({ event: 'item.move', allowed: false });
      expect(move(attempt, 'done').refusal.code).to.equal('SELF_REVIEW');
      expect(move(attempt, 'blocked')).to.deep.include({ allowed: true, needs: ['note'] });
      expect(move(attempt, 'backlog').refusal.code).to.equal('ILLEGAL_TRANSITION');
      expect(move(person, 'done').allowed).to.equal(true);
    });

    it('promises exactly what then happens', async () => {
      for (const who of ['operator', 'attempt', 'root'] as const) {
        for (const { event, to, allowed } of (await why(who, await item('in_review'))).next as {
          event: string;
          to?: string[];
          allowed: boolean;
        }[]) {
          if (event !== 'item.move') continue;
          const answer = await clients[who].post(`/api/work-items/${await item('in_review')}/status`, {
            status: to?.[0],
            note: 'because',
          });
          expect(answer.status === 200, `${who} ${to?.[0]}`).to.equal(allowed);
        }
      }
    });

    it('names who holds the key and the deadline that will move it', async () => {
      const id = await item();
      await clients.owner.post(`/api/work-items/${id}/approval/request`, {
        request: 'May I?',
        expiresAt: '2100-01-01T00:00:00.000Z',
      });
      const answer = await why('owner', id);
      expect(answer.awaits.approval).to.deep.include({
        target: 'bob',
        escalated: false,
        keyHolders: ['bob', 'chief'],
      });
      expect(move(answer, 'approved').refusal.code).to.equal('OWN_APPROVAL');
      expect(answer.timers.map(({ name }: { name: string }) => name)).to.have.members([
        'escalation',
        'approval.expired',
      ]);
      await clients.root.post(`/api/work-items/${id}/approval/escalate`);
      expect((await why('operator', id)).awaits.approval.keyHolders).to.have.members([
        'operator',
        'bob',
        'chief',
        'vp',
      ]);
    });
  });
});
