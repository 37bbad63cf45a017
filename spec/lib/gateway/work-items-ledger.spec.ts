import { expect } from 'chai';
import { openHouse, poll, type Answer, type Client, type House } from './fixture.js';

/** What stands around a work item, over HTTP: comments, labels, links, sub-tasks, attempts, approvals. */
describe('/api/work-items/:id, what stands around it', () => {
  let house: House;
  let made = 0;
  before(async () => {
    house = await openHouse({ withRoster: true });
  });
  after(() => house.close());

  const mint = async (body: object = {}, client: Client = house.operator): Promise<string> =>
    (await client.post('/api/work-items', { title: 'Dig a well', ...body })).body.workItem.id;
  const kinds = async (id: string): Promise<string[]> =>
    (await house.operator.get(`/api/work-items/${id}`)).body.events.map(
      (event: { kind: string }) => event.kind,
    );
  const brief = ({ status, body }: Answer): unknown[] => [status, body.code];

  async function agent(
    employee: string | null,
    parents: readonly string[] = [],
  ): Promise<Client & { id: string }> {
    const id = `w${++made}`;
    await house.supervisor.spawn('session', {
      id,
      input: {
        engine: 'pen',
        model: null,
        effort: null,
        employee,
        parentSessionId: parents[0] ?? null,
        ancestors: [...parents],
        workItemId: null,
        title: null,
        cwd: house.home,
        source: 'web',
        sourceRef: null,
        interruptOnNewMessage: true,
        turnDeadlineMs: 1000,
      },
    });
    return { ...house.agent(id), id };
  }

  describe('sub-tasks', () => {
    it('nest three deep, know their root, and are told to the parent in the same commit', async () => {
      const root = await mint();
      const chain = [root];
      for (let depth = 1; depth <= 3; depth += 1) {
        const { status, body } = await house.operator.post('/api/work-items', {
          title: `level ${depth}`,
          parentId: chain.at(-1),
        });
        expect(status).to.equal(201);
        expect(body.workItem).to.include({ parentId: chain.at(-1), rootId: root, depth });
        chain.push(body.workItem.id);
      }
      const fourth = await house.operator.post('/api/work-items', {
        title: 'too deep',
        parentId: chain.at(-1),
      });
      expect([...brief(fourth), fourth.body.path]).to.deep.equal([400, 'BAD_REQUEST', 'parentId']);
      expect(await kinds(root)).to.deep.equal(['created', 'child_created']);
      const { body } = await house.operator.get(`/api/work-items/${root}/children`);
      expect(body.workItems.map((item: { id: string }) => item.id)).to.deep.equal([chain[1]]);
    });

    it("need a parent that is there, open, and one's own", async () => {
      expect(
        (await house.operator.post('/api/work-items', { title: 'x', parentId: 'ACM-99999' })).status,
      ).to.equal(404);
      const archived = await mint();
      await house.operator.post(`/api/work-items/${archived}/archive`);
      expect(
        brief(await house.operator.post('/api/work-items', { title: 'x', parentId: archived })),
      ).to.deep.equal([409, 'TERMINAL']);
      const others = await mint({ assignee: 'cat' });
      expect(
        brief(await (await agent('ann')).post('/api/work-items', { title: 'x', parentId: others })),
      ).to.deep.equal([403, 'NOT_OWNER']);
      expect((await house.operator.get(`/api/work-items/${others}/children`)).body.workItems).to.deep.equal(
        [],
      );
    });
  });

  describe('comments', () => {
    it('are added, edited and deleted by their author, and each leaves its mark in the ledger', async () => {
      const ann = await agent('ann');
      const id = await mint({ assignee: 'ann' });
      const added = await ann.post(`/api/work-items/${id}/comments`, { text: 'Which well?' });
      expect([added.status, added.body.comment.text, added.body.comment.author]).to.deep.equal([
        201,
        'Which well?',
        'ann',
      ]);
      const path = `/api/work-items/${id}/comments/${added.body.comment.id}`;
      const edited = await ann.call('PATCH', path, { text: 'Which of the wells?' });
      expect(edited.body.comment).to.include({
        text: 'Which of the wells?',
        createdAt: added.body.comment.createdAt,
      });
      expect(edited.body.comment.editedAt).to.be.a('string');
      expect(brief(await (await agent('bob')).call('PATCH', path, { text: 'mine now' }))).to.deep.equal([
        403,
        'FORBIDDEN',
      ]);
      expect((await house.operator.call('DELETE', path)).status).to.equal(200);
      expect((await ann.get(`/api/work-items/${id}/comments`)).body).to.deep.equal({
        comments: [],
        hasOlder: false,
        nextCursor: null,
      });
      expect((await ann.call('PATCH', path, { text: 'again' })).status).to.equal(404);
      expect((await kinds(id)).slice(1)).to.deep.equal([
        'comment_added',
        'comment_edited',
        'comment_deleted',
      ]);
    });

    it('survive being changed by many at once: each change counts, none is lost half way', async () => {
      const id = await mint();
      const ids: string[] = [];
      for (let n = 0; n < 4; n += 1)
        ids.push(
          (await house.operator.post(`/api/work-items/${id}/comments`, { text: `n${n}` })).body.comment.id,
        );
      const answers = await Promise.all(
        ids.map((comment, n) =>
          house.operator.call('PATCH', `/api/work-items/${id}/comments/${comment}`, { text: `edited ${n}` }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      const { body } = await house.operator.get(`/api/work-items/${id}/comments`);
      expect(body.comments.map(({ text }: { text: string }) => text)).to.deep.equal([
        'edited 0',
        'edited 1',
        'edited 2',
        'edited 3',
      ]);
    });

    it('page backwards, and are written once for one key', async () => {
      const id = await mint();
      for (let n = 0; n < 3; n += 1)
        await house.operator.post(`/api/work-items/${id}/comments`, { text: `n${n}` });
      const page = (await house.operator.get(`/api/work-items/${id}/comments?limit=2`)).body;
      expect([page.comments.map(({ text }: { text: string }) => text), page.hasOlder]).to.deep.equal([
        ['n1', 'n2'],
        true,
      ]);
      const key = { 'idempotency-key': 'say-once' };
      const first = await house.operator.post(`/api/work-items/${id}/comments`, { text: 'once' }, key);
      const second = await house.operator.post(`/api/work-items/${id}/comments`, { text: 'once' }, key);
      expect([second.body.comment.id, second.headers['idempotency-replayed']]).to.deep.equal([
        first.body.comment.id,
        'true',
      ]);
    });
  });

  it('labels are added and removed, bounded, and nothing changes where nothing changes', async () => {
    const id = await mint({ labels: ['urgent'] });
    const relabel = (body: object) => house.operator.post(`/api/work-items/${id}/labels`, body);
    expect((await relabel({ add: ['later', 'urgent'], remove: [] })).body.workItem.labels).to.deep.equal([
      'urgent',
      'later',
    ]);
    const { version } = (await relabel({ remove: ['urgent'] })).body.workItem;
    expect((await relabel({ add: ['later'] })).body.workItem).to.deep.include({ labels: ['later'], version });
    expect((await relabel({ add: Array.from({ length: 20 }, (_, n) => `l${n}`) })).status).to.equal(400);
    expect((await kinds(id)).slice(1)).to.deep.equal(['label_changed', 'label_changed']);
  });

  describe('links', () => {
    it('stand at both ends, in the words of each, and go from both', async () => {
      const [one, two] = [await mint(), await mint()];
      await house.operator.post(`/api/work-items/${one}/links`, { relation: 'blocks', workItemId: two });
      const linksOf = async (id: string) =>
        (await house.operator.get(`/api/work-items/${id}`)).body.workItem.links;
      expect([await linksOf(one), await linksOf(two)]).to.deep.equal([
        [{ relation: 'blocks', id: two }],
        [{ relation: 'blocked_by', id: one }],
      ]);
      expect(
        brief(
          await house.operator.post(`/api/work-items/${two}/links`, { relation: 'blocks', workItemId: one }),
        ),
      ).to.deep.equal([409, 'CONFLICT']);
      expect(
        (await house.operator.call('DELETE', `/api/work-items/${two}/links/blocked_by/${one}`)).status,
      ).to.equal(200);
      expect([await linksOf(one), await linksOf(two)]).to.deep.equal([[], []]);
      expect([(await kinds(one)).slice(1), (await kinds(two)).slice(1)]).to.deep.equal([
        ['relation_added', 'relation_removed'],
        ['relation_added', 'relation_removed'],
      ]);
    });

    it('lead nowhere else: not to itself, to nothing, or to what one may not read', async () => {
      const [own, others] = [await mint({ assignee: 'ann' }), await mint({ assignee: 'cat' })];
      const itself = await house.operator.post(`/api/work-items/${own}/links`, {
        relation: 'relates',
        workItemId: own,
      });
      expect([itself.status, itself.body.path], 'the member as the caller knows it').to.deep.equal([
        400,
        'workItemId',
      ]);
      expect(
        (
          await house.operator.post(`/api/work-items/${own}/links`, {
            relation: 'relates',
            workItemId: 'ACM-99999',
          })
        ).status,
      ).to.equal(404);
      expect(
        brief(
          await (
            await agent('ann')
          ).post(`/api/work-items/${own}/links`, { relation: 'blocks', workItemId: others }),
        ),
      ).to.deep.equal([403, 'NOT_OWNER']);
    });
  });

  it('due dates are set at creation and edited', async () => {
    const id = await mint({ dueAt: '2031-05-01' });
    const patched = await house.operator.call('PATCH', `/api/work-items/${id}`, {
      dueAt: '2031-06-01T10:00:00Z',
      expectedVersion: 1,
    });
    expect(patched.body.workItem.dueAt).to.equal('2031-06-01T10:00:00.000Z');
    expect(
      (await house.operator.call('PATCH', `/api/work-items/${id}`, { dueAt: null, expectedVersion: 2 })).body
        .workItem.dueAt,
    ).to.equal(null);
  });

  it('attempts are told one by one: outcome, summary, and what was handed over', async () => {
    const id = await mint();
    const { body } = await house.operator.post('/api/delegations', {
      task: 'dig',
      engine: 'pen',
      workItemId: id,
    });
    await poll(
      () => house.operator.get(`/api/work-items/${id}/attempts`),
      (answer) => answer.body.attempts[0]?.outcome === 'succeeded',
    );
    await house.operator.post(`/api/work-items/${id}/handoff`, {
      sessionId: body.sessionId,
      summary: 'dug',
      changedFiles: ['well.md'],
      verification: 'looked',
    });
    const { attempts } = (await house.operator.get(`/api/work-items/${id}/attempts`)).body;
    expect(attempts).to.have.length(1);
    expect(attempts[0]).to.deep.include({
      n: 1,
      sessionId: body.sessionId,
      outcome: 'succeeded',
      changedFiles: ['well.md'],
    });
    expect(attempts[0].summary).to.match(/^did: /);
    expect(attempts[0].handoff).to.include({ summary: 'dug', verification: 'looked' });
    expect(
      brief(
        await (
          await agent('ann')
        ).post(`/api/work-items/${id}/handoff`, { sessionId: body.sessionId, summary: 'lies' }),
      ),
    ).to.deep.equal([403, 'FORBIDDEN']);
  });

  describe('approvals', () => {
    const decide = (client: Client, id: string, decision: string, note?: string) =>
      client.post(`/api/work-items/${id}/approval`, { decision, ...(note && { note }) });

    it('keep the history of who asked, who decided, what and when', async () => {
      const id = await mint();
      await house.operator.post(`/api/work-items/${id}/approval/request`, {
        request: 'Dig here?',
        target: 'operator',
      });
      await house.operator.post(`/api/work-items/${id}/approval/request`, {
        request: 'Dig there?',
        target: 'operator',
      });
      await decide(house.operator, id, 'reject', 'Too wet.');
      const { approvals } = (await house.operator.get(`/api/work-items/${id}/approvals`)).body;
      expect(
        approvals.map(({ request, state, decidedBy, note }: Record<string, unknown>) => [
          request,
          state,
          decidedBy,
          note,
        ]),
      ).to.deep.equal([
        ['Dig here?', 'superseded', null, null],
        ['Dig there?', 'rejected', 'operator', 'Too wet.'],
      ]);
      expect(approvals[1].decidedAt).to.be.a('string');
    });

    it('bring the word and the note to the session that asked', async () => {
      const ann = await agent('ann');
      const id = await mint({ assignee: 'ann' });
      await ann.post(`/api/work-items/${id}/approval/request`, { request: 'May I dig?' });
      await decide(await agent('bob'), id, 'approve', 'Mind the roots.');
      const { body } = await poll(
        () => house.operator.get(`/api/sessions/${ann.id}`),
        (answer) => answer.body.messages.length > 0,
      );
      expect(body.messages[0]).to.include({ role: 'notification' });
      expect(body.messages[0].content).to.match(/approved \(by bob\)[\s\S]*Mind the roots\./);
      expect(body.messages[0].meta).to.include({
        kind: 'approval',
        workItemId: id,
        state: 'approved',
        decidedBy: 'bob',
      });
    });

    it('are decided once: of two at the same time one is told who was first', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await mint();
        await house.operator.post(`/api/work-items/${id}/approval/request`, {
          request: 'Which?',
          target: 'operator',
        });
        const answers = await Promise.all([
          decide(house.operator, id, 'approve'),
          decide(house.operator, id, 'reject'),
        ]);
        expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 409]);
        const late = answers.find(({ status }) => status === 409);
        const won = answers.find(({ status }) => status === 200)?.body.workItem.approvalState;
        expect(late?.body).to.include({
          code: 'NO_PENDING_APPROVAL',
          approvalState: won,
          approvalDecidedBy: 'operator',
        });
      }
    });

    it('run out at their deadline, and a late decision finds nothing pending', async () => {
      const id = await mint();
      await house.operator.post(`/api/work-items/${id}/approval/request`, {
        request: 'Now?',
        target: 'operator',
        expiresAt: new Date(house.supervisor.environment.clock.now() + 1_000).toISOString(),
      });
      await poll(
        () => house.operator.get(`/api/work-items/${id}/approvals`),
        (answer) => answer.body.approvals[0].state === 'expired',
      );
      const late = await decide(house.operator, id, 'approve');
      expect([
        late.status,
        late.body.code,
        late.body.approvalState,
        late.body.approvalDecidedBy,
      ]).to.deep.equal([409, 'NO_PENDING_APPROVAL', 'expired', null]);
    });

    it('that mirror a parked gate are neither decided alone, nor replaced, nor archived away', async () => {
      const id = await mint();
      await house.supervisor.ask('work-item', id, {
        type: 'approval.request',
        requestId: 'r1',
        request: 'Go on?',
        target: null,
        targetKind: 'virtual',
        gate: { runId: 'run-1', gateKey: 'gate-a' },
      });
      const archived = await house.operator.post(`/api/work-items/${id}/archive`);
      expect([...brief(archived), archived.body.runId]).to.deep.equal([409, 'GATE_PARKED', 'run-1']);
      expect(
        brief(
          await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'Something else?' }),
        ),
      ).to.deep.equal([409, 'GATE_PARKED']);
      const alone = await house.supervisor.ask('work-item', id, {
        type: 'approval.decide',
        decision: 'approve',
      });
      expect(alone).to.include({ code: 'GATE_PARKED' });
      const together = await house.supervisor.ask('work-item', id, {
        type: 'approval.decide',
        decision: 'approve',
        resolves: 'run-1',
      });
      expect((together as { view: object }).view).to.include({
        approvalState: 'approved',
        approvalRef: 'workflow-run:run-1/gate-a',
      });
    });
  });
});
