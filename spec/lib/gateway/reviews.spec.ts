import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import type { Follower } from '../../../lib/commands/app.js';
import { followReviews } from '../../../lib/commands/work-items/open-review.js';
import { openLevelStore, type LevelStore } from '../../../lib/store/level.js';
import { openHouse, poll, type House } from './fixture.js';

describe('reviews by a verifier', () => {
  let folder: string;
  let store: LevelStore;
  let house: House;
  let reviews: Follower;
  let following = false;
  const failures: unknown[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reviews-'));
    await open();
  });
  afterEach(async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
    expect(failures.splice(0)).to.deep.equal([]);
  });

  async function open(): Promise<void> {
    store = await openLevelStore({ directory: folder, log: pino({ level: 'silent' }) });
    following = false;
    reviews = followReviews((error) => failures.push(error));
    const poll: Follower['poll'] = async (app) => (following ? reviews.poll(app) : undefined);
    house = await openHouse({ store, withRoster: true, reviews: { ...reviews, poll } });
  }
  async function close(): Promise<void> {
    reviews.close();
    await house.close();
    await store.close();
  }
  async function follow(): Promise<void> {
    following = true;
    await reviews.poll(house.gateway.app);
  }

  const verifyPolicy = { mode: 'verify', maxRounds: 3, verifier: { employee: 'cat' } };
  const create = async (more: object = {}): Promise<string> => {
    const { status, body, text } = await house.operator.post('/api/work-items', {
      title: 'Dig a well',
      body: 'Ten metres.',
      acceptance: 'It holds water.',
      verifyPolicy,
      ...more,
    });
    expect(status, text).to.equal(201);
    return body.workItem.id;
  };
  const work = async (id: string, task = 'dig', employee = 'ann'): Promise<string> => {
    const { status, body, text } = await house.operator.post('/api/delegations', {
      task,
      employee,
      workItemId: id,
    });
    expect(status, text).to.equal(201);
    return body.sessionId;
  };
  const item = async (id: string) => (await house.operator.get(`/api/work-items/${id}`)).body;
  const until = (id: string, test: (workItem: any) => boolean) =>
    poll(
      () => item(id),
      ({ workItem }) => test(workItem),
    ).then(({ workItem }) => workItem); // a foreign client's view
  const reviewed = (id: string, round = 0) =>
    until(id, ({ review }) => review?.round === round && review.sessionId !== null);
  const reviewSessions = async () =>
    ((await house.operator.get('/api/sessions?limit=0')).body as { id: string; source: string }[]).filter(
      ({ source }) => source === 'review',
    );

  const refused = async (path: string, body: object): Promise<string> => {
    const answer = await house.operator.post(path, body);
    return `${answer.status} ${answer.body.error}`;
  };
  const waiting = async (id: string): Promise<string | undefined> =>
    (await house.operator.get('/api/attention')).body.waiting.find((entry: { id: string }) => entry.id === id)
      ?.title;

  it('opens a session of the verifier, who sends the work back and then calls it done', async () => {
    await follow();
    const id = await create();
    const worker = await work(id);
    const {
      review: { sessionId },
    } = await reviewed(id);
    const { body: session } = await house.operator.get(`/api/sessions/${sessionId}`);
    expect(session).to.include({
      employee: 'cat',
      source: 'review',
      sourceRef: `review:${id}:0`,
      parentSessionId: null,
      workItemId: null,
      title: `Review of ${id}: Dig a well`,
    });
    expect(session.cwd).to.equal((await house.operator.get(`/api/sessions/${worker}`)).body.cwd);
    // it reads what the attempt wrote, settings of its engine among it, and was confined as its own employee alone
    expect(session.confinedAs).to.deep.equal(['ann']);
    expect(session.messages[0].content)
      .to.match(/Ten metres/)
      .and.match(/It holds water/)
      .and.match(/did: dig/)
      .and.match(/round 1 of at most 3/);
    expect((await item(id)).events.at(-1).detail).to.deep.equal({
      action: 'review-opened',
      employee: 'cat',
      round: 0,
      sessionId,
    });

    const reviewer = house.agent(sessionId);
    const judge = (client = reviewer, body: object = { status: 'executing', note: 'Deeper.' }) =>
      client.post(`/api/work-items/${id}/status`, body);
    const other = (await house.operator.post('/api/sessions', { prompt: 'hello', employee: 'cat' })).body
      .id as string;
    expect((await judge(house.agent(other))).status, 'another session of the same employee').to.equal(403);
    expect((await judge(house.agent(worker), { status: 'done' })).body.code).to.equal('SELF_REVIEW');
    expect((await reviewer.get(`/api/work-items/${id}`)).body.workItem.title).to.equal('Dig a well');
    expect((await house.agent(other).get(`/api/work-items/${id}`)).status).to.equal(403);
    const watching = await house.socket('/ws', { authorization: `Bearer ${house.tokens.mint(sessionId)}` });
    expect(
      (await reviewer.post(`/api/work-items/${id}/comments`, { text: 'Is this deep?' })).status,
    ).to.equal(201);
    await watching.until(({ event, payload }) => event === 'company:changed' && payload.id === id);
    expect(
      (await reviewer.post('/api/delegations', { task: 'dig', employee: 'ann', workItemId: id })).body.code,
      'it judges, and gives nothing away',
    ).to.equal('NOT_OWNER');
    expect((await judge(reviewer, { status: 'executing' })).body.code).to.equal('NOTE_REQUIRED');
    expect((await judge()).body.workItem).to.include({ status: 'executing', rounds: 1 });
    expect((await judge(reviewer, { status: 'done' })).status, 'its round is over').to.equal(403);

    // why: a review that sent work back went nowhere, and the item stayed executing with no one at work
    const second = (await reviewed(id, 1)).review.sessionId as string;
    const { messages } = (await house.operator.get(`/api/sessions/${worker}`)).body;
    const back = messages.filter(({ meta }: any) => meta?.kind === 'review'); // a foreign client's view
    expect(back).to.have.length(1);
    expect(back[0].content)
      .to.match(new RegExp(`cat reviewed your work on ${id} \\(Dig a well\\)`))
      .and.match(/round 2 of at most 3/)
      .and.match(/<<<\nDeeper\.\n>>>/);
    expect(back[0].meta).to.include({
      kind: 'review',
      workItemId: id,
      round: 1,
      from: `session:${sessionId}`,
    });
    expect(
      (await house.agent(second).post(`/api/work-items/${id}/status`, { status: 'done' })).body.workItem
        .status,
    ).to.equal('done');
    expect(await reviewSessions()).to.have.length(2);
  });

  it('opens what a gateway that ended before left due, once, however often it is looked', async () => {
    const id = await create(); // no one follows: the gateway ends before the session is there
    await work(id);
    await until(id, ({ status }) => status === 'in_review');
    for (let life = 0; life < 3; life++) {
      await close();
      await open();
      await follow();
      await reviewed(id);
    }
    const next = await create({ title: 'Another' });
    await work(next);
    await reviewed(next); // whatever else was due has been looked at before
    expect(
      (await reviewSessions())
        .map((session) => (session as unknown as { sourceRef: string }).sourceRef)
        .sort(),
    ).to.deep.equal([`review:${id}:0`, `review:${next}:0`].sort());
  });

  it('reads from when the first verifier is named, also by an edit', async () => {
    await follow();
    const id = await create({ verifyPolicy: null });
    const {
      workItem: { version },
    } = await item(id);
    expect(
      (
        await house.operator.call('PATCH', `/api/work-items/${id}`, {
          verifyPolicy,
          expectedVersion: version,
        })
      ).status,
    ).to.equal(200);
    await work(id);
    expect((await reviewed(id)).review.employee).to.equal('cat');
  });

  it('says why there is no review, and leaves the item to people', async () => {
    await follow();
    const own = await create({ verifyPolicy: { mode: 'thorough', verifier: { employee: 'ann' } } });
    expect(await refused('/api/delegations', { task: 'dig', employee: 'ann', workItemId: own })).to.match(
      /403 ann works on this item and cannot review it/,
    );
    const policyOf = (employee: string) => ({ mode: 'verify', verifier: { employee } });
    expect(await refused('/api/work-items', { title: 'x', verifyPolicy: policyOf('kat') })).to.match(
      /400 Unknown employee "kat"\. Did you mean "cat"/,
    );
    expect(
      await refused('/api/work-items', { title: 'x', assignee: 'cat', verifyPolicy: policyOf('cat') }),
    ).to.match(/403 cat works on this item/);
    const absent = await create({
      verifyPolicy: { mode: 'verify', verifier: { employee: 'cat', engine: 'ghost' } },
    });
    await work(absent);
    expect((await until(absent, ({ review }) => review?.refused !== undefined)).review.refused).to.match(
      /Install ghost/,
    );
    expect(await waiting(absent)).to.match(/Dig a well: no review\. .*Install ghost/);
    const self = (await house.operator.post('/api/sessions', { prompt: 'hello', employee: 'bob' })).body
      .id as string;
    const made = await house.agent(self).post('/api/work-items', { title: 'Mine', verifyPolicy });
    const mine = made.body.workItem.id as string;
    for (const event of [
      { type: 'attempt.started', employee: 'bob' },
      { type: 'attempt.ended', outcome: 'succeeded', summary: 'done' },
    ]) {
      await house.supervisor.ask(
        'work-item',
        mine,
        { ...event, sessionId: self },
        { by: { type: 'session', id: self, employee: 'bob', ancestors: [] } },
      );
    }
    expect((await until(mine, ({ review }) => review?.refused !== undefined)).review.refused).to.match(
      /would be its descendant/,
    );
    expect(await reviewSessions()).to.deep.equal([]);
    const people = await house.operator.post(`/api/work-items/${mine}/status`, { status: 'done' });
    expect(people.body.workItem.status).to.equal('done');
  });

  it('asks again when the work is done once more, where it could not be asked', async () => {
    await follow();
    const id = await create({
      verifyPolicy: { mode: 'verify', verifier: { employee: 'cat', engine: 'ghost' } },
    });
    await work(id);
    const { version } = await until(id, ({ review }) => review?.refused !== undefined);
    expect(
      (
        await house.operator.call('PATCH', `/api/work-items/${id}`, {
          verifyPolicy,
          expectedVersion: version,
        })
      ).status,
    ).to.equal(200);
    await work(id, 'dig on');
    expect((await reviewed(id)).review).to.include({ employee: 'cat', round: 0 });
  });

  it('waits for a person when the verifier ends without a verdict, who may send it back', async () => {
    await follow();
    const id = await create();
    await work(id);
    const { sessionId } = (await reviewed(id)).review;
    await house.operator.post(`/api/sessions/${sessionId}/stop`); // the fixture's reviewer works until then
    const { review } = await until(id, (now) => now.review?.refused !== undefined);
    expect(review.refused).to.match(/^cat ended without a verdict\./);
    expect(await waiting(id)).to.match(/Dig a well: no review\. cat ended without a verdict/);
    const back = await house.operator.post(`/api/work-items/${id}/status`, { status: 'executing' });
    expect(back.body.workItem).to.include({ status: 'executing', rounds: 1 });
    expect(await waiting(id)).to.equal(undefined);
    await reviewed(id, 1);
  });

  it('gives up with the rounds: the third that sends it back leaves it to a person', async () => {
    await follow();
    const id = await create();
    const worker = await work(id);
    for (const round of [0, 1, 2]) {
      const { review } = await reviewed(id, round);
      await house
        .agent(review.sessionId)
        .post(`/api/work-items/${id}/status`, { status: 'executing', note: `Deeper, ${round}.` });
    }
    expect((await item(id)).workItem).to.include({ status: 'escalated', rounds: 3 });
    expect(await waiting(id)).to.equal('Dig a well');
    const { messages } = (await house.operator.get(`/api/sessions/${worker}`)).body;
    const back = messages.filter(({ meta }: any) => meta?.kind === 'review'); // a foreign client's view
    expect(back.map(({ content }: { content: string }) => /Deeper, (\d)/.exec(content)?.[1])).to.deep.equal([
      '0',
      '1',
    ]);
  });

  it('stands beneath the agent that named the verifier, so that no one borrows rights by it', async () => {
    await follow();
    const bob = (await house.operator.post('/api/sessions', { prompt: 'lead', employee: 'bob' })).body
      .id as string;
    const made = await house.agent(bob).post('/api/work-items', {
      title: 'Dig',
      verifyPolicy: { mode: 'verify', verifier: { employee: 'chief' } },
    });
    const id = made.body.workItem.id as string;
    expect(
      (await house.agent(bob).post('/api/delegations', { task: 'dig', employee: 'ann', workItemId: id }))
        .status,
    ).to.equal(201);
    const {
      review: { sessionId },
    } = await reviewed(id);
    expect((await house.operator.get(`/api/sessions/${sessionId}`)).body).to.deep.include({
      employee: 'chief',
      parentSessionId: bob,
      ancestors: [bob],
    });
    const { agents } = (await house.operator.get('/api/inspect/quotas')).body;
    const used = agents.find(({ agent }: { agent: string }) => agent === 'employee:bob');
    expect(used.inHour, 'a delegation and a review').to.deep.include({ sessions: 2 });
  });
});
