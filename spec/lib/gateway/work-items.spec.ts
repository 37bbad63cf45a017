import { expect } from 'chai';
import { openHouse, type House } from './fixture.js';

describe('/api/work-items', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  const mint = async (title = 'Buy milk'): Promise<string> =>
    (await house.operator.post('/api/work-items', { title })).body.workItem.id;

  describe('POST', () => {
    it('records an intent under the next id of the company', async () => {
      const { status, headers, body } = await house.operator.post('/api/work-items', {
        title: 'Buy milk',
        body: 'Two litres.',
        colour: 'ignored',
      });
      expect(status).to.equal(201);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(body.workItem).to.include({
        title: 'Buy milk',
        body: 'Two litres.',
        status: 'backlog',
        source: 'human',
        version: 1,
      });
      expect(body.workItem.id).to.match(/^ACM-\d+$/);
      const second = await house.operator.post('/api/work-items', { title: 'Bread' });
      expect(Number(second.body.workItem.id.slice(4))).to.equal(Number(body.workItem.id.slice(4)) + 1);
    });

    it('names the member that is missing or wrong', async () => {
      const missing = await house.operator.post('/api/work-items', {});
      expect(missing.status).to.equal(400);
      expect(missing.body).to.include({ code: 'BAD_REQUEST', path: 'title', error: 'title is required' });
      const wrong = await house.operator.post('/api/work-items', {
        title: 'x',
        verifyPolicy: { mode: 'never' },
      });
      expect(wrong.status).to.equal(400);
      expect(wrong.body.path).to.equal('verifyPolicy.mode');
      expect(
        (
          await house.operator.post('/api/work-items', {
            title: 'x',
            verifyPolicy: { mode: 'trust', colour: 1 },
          })
        ).body.path,
      ).to.equal('verifyPolicy.colour');
      expect((await house.operator.post('/api/work-items', { title: '  ' })).status).to.equal(400);
    });

    for (const member of ['provenance', 'approvalState', 'approval', 'source', 'status']) {
      it(`refuses a smuggled ${member}`, async () => {
        const { status, body } = await house.operator.post('/api/work-items', {
          title: 'x',
          [member]: 'done',
        });
        expect(status).to.equal(400);
        expect(body.path).to.equal(member);
      });
    }
  });

  describe('GET /:id', () => {
    it('shows the item with its ledger and its cost', async () => {
      const id = await mint();
      const { status, body } = await house.operator.get(`/api/work-items/${id}`);
      expect(status).to.equal(200);
      expect(body.workItem.id).to.equal(id);
      expect(body.spendUsd).to.equal(0);
      expect(body.events.map((event: { kind: string }) => event.kind)).to.deep.equal(['created']);
    });

    it('refuses a malformed id and does not find an absent one', async () => {
      expect((await house.operator.get('/api/work-items/acm-3')).status).to.equal(400);
      expect((await house.operator.get('/api/work-items/ACM-0')).status).to.equal(400);
      const absent = await house.operator.get('/api/work-items/ACM-99999');
      expect(absent.status).to.equal(404);
      expect(absent.body.code).to.equal('NOT_FOUND');
      expect((await house.operator.get('/api/work-items/ACM-99999/sessions')).status).to.equal(404);
    });
  });

  describe('POST /:id/status', () => {
    it('moves along a legal edge and refuses the rest with the code of the reason', async () => {
      const id = await mint();
      const move = (body: object) => house.operator.post(`/api/work-items/${id}/status`, body);
      expect((await move({ status: 'executing' })).body).to.deep.include({ escalated: false });
      expect((await move({ status: 'backlog' })).body.code).to.equal('ILLEGAL_TRANSITION');
      expect((await move({ status: 'blocked' })).body.code).to.equal('NOTE_REQUIRED');
      expect((await move({ status: 'blocked', note: 'no milk' })).body.workItem.status).to.equal('blocked');
      const cancel = await move({ status: 'cancelled' });
      expect([cancel.status, cancel.body.code]).to.deep.equal([403, 'CANCEL_BY_ARCHIVE']);
      expect((await move({ status: 'flying' })).status).to.equal(400);
      expect((await move({ status: 'executing' })).body.workItem.status).to.equal('executing');
    });

    it('says escalated when the review rounds are used up', async () => {
      const { body } = await house.operator.post('/api/work-items', {
        title: 'x',
        verifyPolicy: { mode: 'verify', maxRounds: 1 },
      });
      const move = (status: string) =>
        house.operator.post(`/api/work-items/${body.workItem.id}/status`, { status });
      await move('in_review');
      const bounced = await move('executing');
      expect(bounced.body.escalated).to.equal(true);
      expect(bounced.body.workItem.status).to.equal('escalated');
    });
  });

  it('moves by PUT for the consoles of people, where cancelling archives', async () => {
    const id = await mint();
    const put = (body: object, client = house.operator) =>
      client.call('PUT', `/api/work-items/${id}/status`, body);
    const moved = await put({ status: 'executing' });
    expect([moved.status, Object.keys(moved.body), moved.body.workItem.status]).to.deep.equal([
      200,
      ['workItem', 'escalated'],
      'executing',
    ]);
    expect((await put({ status: 'blocked' })).body.code).to.equal('NOTE_REQUIRED');
    const { body: session } = await house.operator.post('/api/sessions', { prompt: 'hi' });
    expect((await put({ status: 'done' }, house.agent(session.id))).status).to.equal(403);
    const gone = await put({ status: 'cancelled', note: 'nobody is thirsty' });
    expect([gone.status, gone.body.workItem.status, gone.body.escalated]).to.deep.equal([
      200,
      'cancelled',
      false,
    ]);
    expect((await put({ status: 'done' })).status).to.equal(400);
  });

  it('assigns, and refuses to assign what is closed', async () => {
    const id = await mint();
    const assigned = await house.operator.post(`/api/work-items/${id}/assign`, { assignee: 'ann' });
    expect(assigned.body.workItem).to.include({ assignee: 'ann', status: 'assigned' });
    await house.operator.post(`/api/work-items/${id}/archive`);
    const late = await house.operator.post(`/api/work-items/${id}/assign`, { assignee: 'ann' });
    expect([late.status, late.body.code]).to.deep.equal([409, 'TERMINAL']);
  });

  it('archives once and again, with or without a body, but not what is done', async () => {
    const id = await mint();
    const archived = await house.operator.call('POST', `/api/work-items/${id}/archive`);
    expect(archived.body).to.include({ archived: true });
    expect(archived.body.workItem.status).to.equal('cancelled');
    expect((await house.operator.post(`/api/work-items/${id}/archive`, { note: 'again' })).status).to.equal(
      200,
    );
    const done = await mint();
    await house.operator.post(`/api/work-items/${done}/status`, { status: 'done' });
    expect((await house.operator.post(`/api/work-items/${done}/archive`)).status).to.equal(409);
  });

  describe('PATCH /:id', () => {
    const patch = (id: string, body: unknown, headers = {}) =>
      house.operator.call('PATCH', `/api/work-items/${id}`, body, headers);

    it('edits against the version that was read, in the body or as If-Match', async () => {
      const id = await mint();
      const first = await patch(id, { title: 'Oat milk', expectedVersion: 1 });
      expect(first.status).to.equal(200);
      expect(first.body.workItem).to.include({ title: 'Oat milk', version: 2 });
      expect((await patch(id, { priority: 0 }, { 'if-match': '"2"' })).body.workItem.priority).to.equal(0);
    });

    it('wants a version, and the right one', async () => {
      const id = await mint();
      expect((await patch(id, { title: 'x' })).status).to.equal(428);
      const stale = await patch(id, { title: 'x', expectedVersion: 7 });
      expect([stale.status, stale.body.code, stale.body.currentVersion]).to.deep.equal([
        409,
        'VERSION_CONFLICT',
        1,
      ]);
    });

    it('refuses status, unknown members and oversized bodies', async () => {
      const id = await mint();
      expect((await patch(id, { status: 'done', expectedVersion: 1 })).body.path).to.equal('status');
      expect((await patch(id, { colour: 'red', expectedVersion: 1 })).body.path).to.equal('colour');
      expect((await patch(id, { body: 'x'.repeat(70_000), expectedVersion: 1 })).status).to.equal(413);
    });
  });

  describe('GET', () => {
    it('pages, filters and totals', async () => {
      const own = await openHouse();
      try {
        const ids: string[] = [];
        for (let n = 0; n < 5; n++)
          ids.push(
            (
              await own.operator.post('/api/work-items', {
                title: `Item ${n}`,
                ...(n < 2 && { department: 'build' }),
              })
            ).body.workItem.id,
          );
        await own.operator.post(`/api/work-items/${ids[0]}/status`, { status: 'executing' });
        const page = (await own.operator.get('/api/work-items?limit=2')).body;
        expect(page).to.deep.include({ total: 5, limit: 2, offset: 0, nextOffset: 2 });
        expect(page.totals).to.deep.include({ backlog: 4, executing: 1, done: 0 });
        expect(page.workItems[0].id).to.equal(ids[0]); // changed last
        expect(page.workItems[0]).to.have.all.keys(
          'id',
          'title',
          'status',
          'version',
          'assignee',
          'department',
          'source',
          'sourceRef',
          'rank',
          'approvalState',
          'approvalRequest',
          'approvalRef',
          'approvalTarget',
          'approvalEscalatedAt',
          'sessionRef',
          'updatedAt',
          'attemptCount',
          'costUsd',
          'statusSince',
        );
        expect((await own.operator.get('/api/work-items?limit=2&offset=4')).body).to.deep.include({
          nextOffset: null,
          offset: 4,
        });
        const filtered = (await own.operator.get('/api/work-items?department=build&status=backlog')).body;
        expect(filtered.workItems.map((item: { id: string }) => item.id)).to.deep.equal([ids[1]]);
        expect(filtered.totals).to.deep.include({ backlog: 1, executing: 1 });
        expect((await own.operator.get('/api/work-items?q=item%203')).body.total).to.equal(1);
        expect((await own.operator.get('/api/work-items?since=2999-01-01')).body.total).to.equal(0);
      } finally {
        await own.close();
      }
    });

    it('refuses malformed filters and doubled parameters', async () => {
      for (const query of [
        'limit=0',
        'limit=x',
        'status=flying',
        'status=done,blocked',
        'source=moon',
        'since=yesterday',
        'limit=1&limit=2',
      ]) {
        expect((await house.operator.get(`/api/work-items?${query}`)).status, query).to.equal(400);
      }
      expect((await house.operator.get('/api/work-items?limit=500&colour=red')).body.limit).to.equal(100);
    });
  });

  describe('approvals', () => {
    it('are requested, decided once, and move the item under review', async () => {
      const id = await mint();
      await house.operator.post(`/api/work-items/${id}/status`, { status: 'in_review' });
      expect(
        (await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'approve' })).body.code,
      ).to.equal('NO_PENDING_APPROVAL');
      const asked = await house.operator.post(`/api/work-items/${id}/approval/request`, {
        request: 'Ship it?',
      });
      expect(asked.body.workItem.approvalState).to.equal('pending');
      expect(
        (await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'maybe' })).status,
      ).to.equal(400);
      const decided = await house.operator.post(`/api/work-items/${id}/approval`, {
        decision: 'approve',
        note: 'Fine.',
      });
      expect(decided.status).to.equal(200);
      expect(decided.body.workItem.approvalState).to.equal('approved');
      expect(
        (await house.operator.post(`/api/work-items/${id}/approval`, { decision: 'reject' })).status,
      ).to.equal(409);
      expect((await house.operator.post(`/api/work-items/${id}/approval/escalate`, {})).status).to.equal(409);
    });
  });
});
