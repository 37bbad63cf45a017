import { expect } from 'chai';
import { openHouse, roster, type Client, type House } from '../gateway/fixture.js';

/**
 * An agent may open sessions as anybody: delegating is asking. What it may not do itself it cannot have done by
 * one that it opens under a higher name.
 */
describe('rights of sessions', () => {
  let house: House;
  beforeEach(async () => {
    house = await openHouse({ withRoster: true });
  });
  afterEach(() => house.close());

  const open = async (client: Client, employee: string | null, more: object = {}): Promise<string> =>
    (await client.post('/api/sessions', { prompt: 'hello', ...(employee && { employee }), ...more })).body
      .id as string;
  const actsAs = async (id: string): Promise<unknown> =>
    (await house.operator.get(`/api/sessions/${id}`)).body.session?.actsAs ??
    (await house.operator.get(`/api/sessions/${id}`)).body.actsAs;

  it("does not let an agent approve its own work through a session under its manager's name", async () => {
    const ann = house.agent(await open(house.operator, 'ann'));
    const item = (await ann.post('/api/work-items', { title: 'rob the bank', assignee: 'ann' })).body.workItem
      .id;
    expect(
      (await ann.post(`/api/work-items/${item}/approval/request`, { request: 'may I?' })).status,
    ).to.equal(200);
    for (const boss of ['bob', 'chief']) {
      const hand = house.agent(await open(ann, boss));
      const decided = await hand.post(`/api/work-items/${item}/approval`, { decision: 'approve' });
      expect(decided.status, boss).to.equal(403);
    }
    const delegated = await ann.post('/api/delegations', { employee: 'bob', task: 'approve it' });
    const hand = house.agent(delegated.body.sessionId as string);
    expect((await hand.post(`/api/work-items/${item}/approval`, { decision: 'approve' })).body).to.include({
      code: 'OWN_APPROVAL',
    });
    const bob = house.agent(await open(house.operator, 'bob'));
    expect((await bob.post(`/api/work-items/${item}/approval`, { decision: 'approve' })).status).to.equal(
      200,
    );
  });

  // A child used to be confined as its own employee alone: who was caged opened one that was not.
  it('keeps the cages of all agents behind it, however many steps up', async () => {
    const cages = async (id: string): Promise<unknown> => {
      const { body } = await house.operator.get(`/api/sessions/${id}`);
      return (body.session ?? body).confinedAs;
    };
    expect(await cages(await open(house.operator, 'bob')), 'of a person').to.deep.equal([]);
    const ann = house.agent(await open(house.operator, 'ann'));
    const plain = await open(ann, null);
    expect(await cages(plain)).to.deep.equal(['ann']);
    expect(await cages(await open(house.agent(plain), 'bob'))).to.deep.equal(['ann']);
    const asBob = await open(ann, 'bob');
    expect(await cages(await open(house.agent(asBob), 'cat'))).to.deep.equal(['bob', 'ann']);
    const delegated = await ann.post('/api/delegations', { employee: 'bob', task: 'do it' });
    expect(await cages(delegated.body.sessionId as string)).to.deep.equal(['ann']);
  });

  it('gives the rights of an employee down the line, and of no one who stands beside or above', async () => {
    const chief = house.agent(await open(house.operator, 'chief'));
    const ann = house.agent(await open(house.operator, 'ann'));
    const plain = house.agent(await open(house.operator, null));
    expect(await actsAs(await open(chief, 'bob'))).to.equal('bob');
    expect(await actsAs(await open(ann, 'ann'))).to.equal('ann');
    expect(await actsAs(await open(ann, 'bob')), 'above').to.equal('ann');
    expect(await actsAs(await open(ann, 'cat')), 'beside').to.equal('ann');
    expect(await actsAs(await open(plain, 'ann')), 'of nobody').to.equal(null);
    const asChief = house.agent(await open(ann, 'chief'));
    expect(await actsAs(await open(asChief, 'bob')), 'in two steps').to.equal('ann');
  });

  it('keeps them narrow in the copy that a person makes', async () => {
    const ann = house.agent(await open(house.operator, 'ann'));
    const asChief = await open(ann, 'chief');
    const copy = await house.operator.post(`/api/sessions/${asChief}/duplicate`);
    expect(await actsAs(copy.body.id as string)).to.equal('ann');
  });

  describe('tools', () => {
    const tools = async (opener: string, employee: string): Promise<unknown> => {
      const client = house.agent(await open(house.operator, opener));
      return (await house.operator.get(`/api/sessions/${await open(client, employee)}`)).body.toolPolicy;
    };
    const [, bob, ann] = roster.employees as unknown as { permissions?: unknown }[];
    afterEach(() => {
      delete bob?.permissions;
      delete ann?.permissions;
    });

    it("are at most the opener's, unless the employee's file lends them", async () => {
      if (bob === undefined || ann === undefined) throw new Error('the roster has changed');
      bob.permissions = 'full';
      expect(await tools('ann', 'bob')).to.deep.equal({ mode: 'ask', allow: [] });
      ann.permissions = { mode: 'allow-list', allow: ['Read', 'Bash'] };
      expect(await tools('ann', 'bob')).to.deep.equal({ mode: 'allow-list', allow: ['Read', 'Bash'] });
      for (const lendTo of ['reports', 'anyone', ['ann']]) {
        bob.permissions = { mode: 'full', lendTo };
        expect(await tools('ann', 'bob'), String(lendTo)).to.deep.equal({ mode: 'full', allow: [] });
      }
      bob.permissions = { mode: 'full', lendTo: ['cat'] };
      expect(await tools('ann', 'bob')).to.deep.equal({ mode: 'allow-list', allow: ['Read', 'Bash'] });
    });

    it('are what a person chooses at the start, and of an agent at most its own', async () => {
      if (bob === undefined || ann === undefined) throw new Error('the roster has changed');
      const cwd = async (id: string) => (await house.operator.get(`/api/sessions/${id}`)).body.cwd as string;
      const start = async (client: typeof house.operator, permissions: string, employee: string | null) => {
        const { status, body } = await client.post('/api/sessions', { prompt: 'hi', permissions, employee });
        expect(status, JSON.stringify(body)).to.equal(201);
        return body as { id: string; toolPolicy: unknown };
      };
      const edits = await start(house.operator, 'edits', null);
      const rules = { mode: 'allow-list', allow: [`Edit(/${await cwd(edits.id)}/**)`] };
      expect(edits.toolPolicy).to.deep.equal(rules);
      // its child works in another folder, where it may change nothing unasked
      const child = await start(house.agent(edits.id), 'full', null);
      expect(child.toolPolicy, 'at most its own').to.deep.equal(rules);
      expect((await start(house.agent(edits.id), 'edits', null)).toolPolicy).to.deep.include({ allow: [] });
      expect((await start(house.operator, 'full', 'ann')).toolPolicy).to.deep.include({ mode: 'full' });
      const asking = house.agent((await start(house.operator, 'ask', null)).id);
      expect((await start(asking, 'full', null)).toolPolicy).to.deep.equal({ mode: 'ask', allow: [] });
      // what an employee lends is as much as its file says, whatever is asked for
      bob.permissions = { mode: 'allow-list', allow: ['Bash(git *)'], lendTo: 'anyone' };
      expect((await start(asking, 'full', 'bob')).toolPolicy).to.deep.include({ allow: ['Bash(git *)'] });
    });

    it('are shown, replaced and taken away by people', async () => {
      const id = await open(house.operator, null);
      const put = (client: typeof house.operator, body: object) =>
        client.call('PUT', `/api/sessions/${id}/permissions`, body);
      expect((await put(house.agent(id), { mode: 'full' })).body.code).to.equal('PERSON_REQUIRED');
      expect((await put(house.operator, { mode: 'allow-list', allow: ['Bash(git'] })).status).to.equal(400);
      const set = await put(house.operator, { mode: 'edits', allow: ['Bash(git *)'] });
      expect(set.body.toolPolicy).to.deep.include({ mode: 'allow-list' });
      expect((set.body.toolPolicy as { allow: string[] }).allow)
        .to.have.length(2)
        .and.include('Bash(git *)');
      expect((await put(house.operator, { mode: 'ask' })).body.toolPolicy).to.deep.equal({
        mode: 'ask',
        allow: [],
      });
    });
  });
});
