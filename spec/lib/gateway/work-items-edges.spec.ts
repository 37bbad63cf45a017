import { expect } from 'chai';
import { limits } from '../../../machines/work-item/context.js';
import { openHouse, type House } from './fixture.js';

/**
 * What a line-by-line audit of the specification found at the edges of work items: each case was once
 * answered otherwise.
 */
describe('/api/work-items, at the edges', () => {
  let house: House;
  before(async () => {
    house = await openHouse({ withRoster: true });
  });
  after(() => house.close());

  const mint = async (input: object = {}): Promise<{ id: string; [member: string]: unknown }> =>
    (await house.operator.post('/api/work-items', { title: 'Buy milk', ...input })).body.workItem;

  it('cuts a long title between characters, never within one', async () => {
    const { title } = await mint({ title: `a${'😀'.repeat(150)}` });
    // Half of a pair is no text: strict clients refuse the whole answer
    expect(title).to.equal(`a${'😀'.repeat(99)}`);
  });

  it('puts what is created with an assignee into their department, as assigning does', async () => {
    expect(await mint({ assignee: 'ann' })).to.include({
      assignee: 'ann',
      department: 'build',
      status: 'assigned',
    });
    expect(await mint({ assignee: 'ann', department: 'sales' })).to.include({ department: 'sales' });
    const { body } = await house.operator.get('/api/work-items?department=build');
    expect(body.total).to.be.greaterThan(0); // it was not to be found by its department
  });

  it('refuses empty filters: no one can tell whether they mean all or none', async () => {
    for (const filter of ['department', 'assignee', 'label', 'needsAttentionFor']) {
      const { status, body } = await house.operator.get(`/api/work-items?${filter}=`);
      // ?department= told a total of all, and no items
      expect([status, body.path], filter).to.deep.equal([400, filter]);
    }
  });

  it('shows the operator what is escalated, also while an approval of it waits for someone else', async () => {
    const { id } = await mint({ assignee: 'ann' });
    await house.operator.post(`/api/work-items/${id}/status`, { status: 'escalated', note: 'stuck' });
    const waiting = async (): Promise<string[]> =>
      (await house.operator.get('/api/work-items?needsAttentionFor=operator')).body.workItems.map(
        (item: { id: string }) => item.id,
      );
    expect(await waiting()).to.include(id);
    await house.operator.post(`/api/work-items/${id}/approval/request`, { request: 'May I?', target: 'bob' });
    expect(await waiting(), 'still only a person can move it').to.include(id);
  });

  it('refuses days that no calendar has', async () => {
    for (const day of ['2026-02-30', '2026-13-01', '2026-02-30T10:00Z', '2025-02-29']) {
      const { status, body } = await house.operator.get(`/api/work-items?since=${day}`);
      expect([status, body.path], day).to.deep.equal([400, 'since']);
    }
    for (const day of ['2028-02-29', '2026-12-31T23:59:59.999Z', '2026-01-01T00:30%2B02:00'])
      expect((await house.operator.get(`/api/work-items?since=${day}`)).status, day).to.equal(200);
  });

  it('says that a status is missing, and which there are', async () => {
    const { id } = await mint();
    const { status, body } = await house.operator.post(`/api/work-items/${id}/status`, {});
    expect(status).to.equal(400);
    expect(body.error).to.equal(
      'status is required: backlog, assigned, executing, in_review, blocked, escalated, done, cancelled',
    );
  });

  it('refuses an id whose number no program can count', async () => {
    expect((await house.operator.get('/api/work-items/ACM-9007199254740993')).status).to.equal(400);
  });

  it('refuses an edit whose two versions contradict each other', async () => {
    const { id } = await mint();
    const { status, body } = await house.operator.call(
      'PATCH',
      `/api/work-items/${id}`,
      { title: 'x', expectedVersion: 1 },
      { 'if-match': '"2"' },
    );
    expect([status, body.path]).to.deep.equal([400, 'expectedVersion']);
    expect(
      (
        await house.operator.call(
          'PATCH',
          `/api/work-items/${id}`,
          { title: 'x', expectedVersion: 1 },
          { 'if-match': '"1"' },
        )
      ).status,
    ).to.equal(200);
  });

  it('refuses an approval that has run out before it was asked for', async () => {
    const { id } = await mint({ assignee: 'ann' });
    const { status, body } = await house.operator.post(`/api/work-items/${id}/approval/request`, {
      request: 'May I?',
      expiresAt: '2020-01-01T00:00:00.000Z',
    });
    expect([status, body.path]).to.deep.equal([400, 'expiresAt']); // it answered "pending" for a moment
    expect((await house.operator.get(`/api/work-items/${id}`)).body.workItem.approvalState).to.equal(null);
  });

  it('documents the sizes that it enforces', async () => {
    const { body } = await house.operator.get('/api/openapi.json');
    const { properties } = body.paths['/api/work-items'].post.requestBody.content['application/json'].schema;
    expect(JSON.stringify(properties.body)).to.include(`"maxLength":${limits.bodyBytesMax}`);
    expect(JSON.stringify(properties.acceptance)).to.include(`"maxLength":${limits.acceptanceBytesMax}`);
    expect(
      (
        await house.operator.post('/api/work-items', {
          title: 'x',
          body: 'b'.repeat(limits.bodyBytesMax - 2),
        })
      ).status,
    ).to.equal(201);
    const wide = await house.operator.post('/api/work-items', {
      title: 'x',
      body: 'é'.repeat(limits.bodyBytesMax - 2),
    });
    expect([wide.status, wide.body.error]).to.deep.equal([
      413,
      `body is larger than ${limits.bodyBytesMax} bytes.`,
    ]);
  });

  it('names what is too large in a request and in a note', async () => {
    const { id } = await mint({ assignee: 'ann' });
    const asked = await house.operator.post(`/api/work-items/${id}/approval/request`, {
      request: 'é'.repeat(limits.requestBytesMax - 2),
    });
    expect([asked.status, asked.body.error]).to.deep.equal([
      413,
      `request is larger than ${limits.requestBytesMax} bytes.`,
    ]);
    const noted = await house.operator.post(`/api/work-items/${id}/status`, {
      status: 'blocked',
      note: 'n'.repeat(limits.noteCharsMax + 1),
    });
    expect([noted.status, noted.body.path]).to.deep.equal([400, 'note']);
  });

  it('lets consoles PUT a status, also cancelled, which archives', async () => {
    const { id } = await mint();
    const put = (status: string) => house.operator.call('PUT', `/api/work-items/${id}/status`, { status });
    expect((await put('executing')).body).to.deep.include({ escalated: false });
    const { status, body } = await put('cancelled');
    expect(status).to.equal(200);
    expect(body.workItem).to.include({ status: 'cancelled' });
    expect(body).to.have.all.keys('workItem', 'escalated');
  });
});
