import { expect } from 'chai';
import { openHouse, type House } from './fixture.js';

describe('idempotency keys', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  const create = (title: string, key: string) =>
    house.operator.post('/api/work-items', { title }, { 'idempotency-key': key });

  it("answer a repetition with the first one's thing, and say so", async () => {
    const first = await create('Buy milk', 'k1');
    const again = await create('Buy milk', 'k1');
    expect([first.status, again.status]).to.deep.equal([201, 201]);
    expect(again.body.workItem.id).to.equal(first.body.workItem.id);
    expect([first.headers['idempotency-replayed'], again.headers['idempotency-replayed']]).to.deep.equal([
      undefined,
      'true',
    ]);
  });

  it('let parallel twins make one thing', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('Twins', 'k2')));
    expect(new Set(answers.map(({ body }) => body.workItem.id)).size).to.equal(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).to.have.length(7);
  });

  it('refuse another body, and another route, under the same key', async () => {
    await create('One', 'k3');
    const other = await create('Other', 'k3');
    expect([other.status, other.body.code]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
    expect(
      (await house.operator.post('/api/sessions', { prompt: 'x' }, { 'idempotency-key': 'k3' })).status,
    ).to.equal(409);
  });

  it("refuse the same words said to another thing: its answer would be the first one's", async () => {
    const ids = await Promise.all(
      ['k3-a', 'k3-b'].map(async (key) => (await create('To be archived', key)).body.workItem.id),
    );
    const archive = (id: string) =>
      house.operator.post(
        `/api/work-items/${id}/archive`,
        { note: 'done with' },
        { 'idempotency-key': 'k3-c' },
      );
    expect((await archive(ids[0])).status).to.equal(200);
    const other = await archive(ids[1]);
    expect([other.status, other.body.code]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
    expect((await house.operator.get(`/api/work-items/${ids[1]}`)).body.workItem.status).to.equal('backlog');
  });

  it('know the same wish in another order of its members', async () => {
    const [one, two] = [
      '{"title":"Order","body":"b","priority":1}',
      '{"priority":1,"body":"b","title":"Order"}',
    ];
    const first = await house.operator.post('/api/work-items', one, { 'idempotency-key': 'k4-a' });
    const again = await house.operator.post('/api/work-items', two, { 'idempotency-key': 'k4-a' });
    expect([again.status, again.body.workItem?.id]).to.deep.equal([201, first.body.workItem.id]);
  });

  it('are one namespace in header and body, whatever the order of members', async () => {
    const first = await create('Same', 'k4');
    const again = await house.operator.post('/api/work-items', '{"idempotencyKey":"k4","title":"Same"}');
    expect(again.body.workItem.id).to.equal(first.body.workItem.id);
    const both = await house.operator.post(
      '/api/work-items',
      { title: 'Same', idempotencyKey: 'k4' },
      { 'idempotency-key': 'k5' },
    );
    expect([both.status, both.body.code]).to.deep.equal([400, 'IDEMPOTENCY_KEYS_DIFFER']);
  });

  it('belong to the caller', async () => {
    const { body: session } = await house.operator.post('/api/sessions', { prompt: 'x' });
    const mine = await create('Whose', 'k6');
    const theirs = await house
      .agent(session.id)
      .post('/api/work-items', { title: 'Whose' }, { 'idempotency-key': 'k6' });
    expect(theirs.status).to.equal(201);
    expect(theirs.body.workItem.id).not.to.equal(mine.body.workItem.id);
  });

  it('remember success only', async () => {
    expect(
      (await house.operator.post('/api/work-items', { title: 5 }, { 'idempotency-key': 'k7' })).status,
    ).to.equal(400);
    expect((await create('Now well', 'k7')).status).to.equal(201);
    const { body } = await create('Item', 'k8');
    const move = (status: string) =>
      house.operator.post(
        `/api/work-items/${body.workItem.id}/status`,
        { status },
        { 'idempotency-key': `k9-${status}` },
      );
    expect((await move('assigned')).body.code).to.equal('ASSIGNEE_REQUIRED');
    await house.operator.post(`/api/work-items/${body.workItem.id}/assign`, { assignee: 'ann' });
    expect((await move('assigned')).status).to.equal(200);
  });

  it('must not be blank or endless', async () => {
    expect(
      (await house.operator.post('/api/work-items', { title: 'x', idempotencyKey: ' ' })).status,
    ).to.equal(400);
    expect(
      (await house.operator.post('/api/work-items', { title: 'x' }, { 'idempotency-key': 'x'.repeat(257) }))
        .status,
    ).to.equal(400);
    expect((await house.operator.post('/api/work-items', { title: 'x', idempotencyKey: 7 })).status).to.equal(
      400,
    );
  });

  it('keep a message from being said twice, and a delegation from being done twice', async () => {
    const { body: session } = await house.operator.post('/api/sessions', { prompt: 'hang' });
    for (let n = 0; n < 3; n++)
      expect(
        (
          await house.operator.post(`/api/sessions/${session.id}/message`, {
            message: 'hang on',
            idempotencyKey: 'm1',
          })
        ).status,
      ).to.equal(200);
    const { body } = await house.operator.get(`/api/sessions/${session.id}`);
    expect(body.messages.filter(({ content }: { content: string }) => content === 'hang on')).to.have.length(
      1,
    );
    const delegate = () =>
      house.operator.post('/api/delegations', { task: 'x', engine: 'pen', idempotencyKey: 'd1' });
    const first = await delegate();
    const again = await delegate();
    expect([first.status, again.status, again.body.replayed]).to.deep.equal([201, 200, true]);
    expect(again.body).to.include({ sessionId: first.body.sessionId, workItemId: first.body.workItemId });
  });
});

describe('?dryRun=true', () => {
  let house: House;
  before(async () => {
    house = await openHouse();
  });
  after(() => house.close());

  it('does nothing for good that was asked as a rehearsal in other letters', async () => {
    for (const name of ['dryrun', 'dry_run', 'dry-run', 'DryRun']) {
      const answer = await house.operator.post(`/api/work-items?${name}=true`, { title: 'x' });
      expect([answer.status, answer.body.path], name).to.deep.equal([400, name]);
    }
    expect((await house.operator.get('/api/work-items')).body.total).to.equal(0);
  });

  it('tells the steps and writes nothing', async () => {
    const before = house.supervisor.status.position;
    const create = await house.operator.post('/api/work-items?dryRun=true', { title: 'x' });
    expect(create.status).to.equal(200);
    expect(create.body).to.deep.include({ allowed: true });
    expect(create.body.steps).to.have.length(1);
    expect(create.body.steps[0]).to.include({ kind: 'work-item', from: null });
    const open = await house.operator.post('/api/sessions?dryRun=true', { prompt: 'x' });
    expect(open.body.steps[0].effects).to.deep.equal(['engine-turn']);
    expect(
      (await house.operator.post('/api/delegations?dryRun=true', { task: 'x', engine: 'pen' })).body.steps,
    ).to.have.length(2);
    expect(house.supervisor.status.position).to.equal(before);
    expect((await house.operator.get('/api/work-items')).body.total).to.equal(0);
  });

  it('tells the refusal that the action would meet', async () => {
    const { body } = await house.operator.post('/api/work-items', { title: 'x' });
    const seq = house.supervisor.status.position;
    const move = await house.operator.post(`/api/work-items/${body.workItem.id}/status?dryRun=true`, {
      status: 'blocked',
    });
    expect(move.status).to.equal(200);
    expect(move.body).to.deep.include({ allowed: false, steps: [] });
    expect(move.body.refusal).to.include({ code: 'NOTE_REQUIRED', httpStatus: 400 });
    const legal = await house.operator.post(`/api/work-items/${body.workItem.id}/archive?dryRun=true`);
    expect(legal.body.allowed).to.equal(true);
    expect(house.supervisor.status.position).to.equal(seq);
    expect((await house.operator.get(`/api/work-items/${body.workItem.id}`)).body.workItem.status).to.equal(
      'backlog',
    );
  });

  it('remembers no key, and is refused where it cannot be had', async () => {
    await house.operator.post('/api/work-items?dryRun=true', { title: 'x' }, { 'idempotency-key': 'dry' });
    expect(
      (await house.operator.post('/api/work-items', { title: 'y' }, { 'idempotency-key': 'dry' })).status,
    ).to.equal(201);
    expect((await house.operator.post('/api/inspect/dead-letters/d1/retry?dryRun=true')).body.code).to.equal(
      'DRY_RUN_UNSUPPORTED',
    );
    expect((await house.operator.post('/api/work-items?dryRun=yes', { title: 'x' })).status).to.equal(400);
    expect((await house.client().post('/api/work-items?dryRun=true', { title: 'x' })).status).to.equal(401);
  });
});
