import { expect } from 'chai';
import { standardQuotas as quotas } from '../../../lib/home/agent-settings.js';
import { openHouse, type Client, type House } from '../gateway/fixture.js';

/** An agent in a circle once opened 500 sessions in 1.4 seconds. */
describe('quotas of an agent', () => {
  let house: House;
  let ann: Client;
  let annId: string;
  beforeEach(async () => {
    house = await openHouse({ withRoster: true });
    annId = (await house.operator.post('/api/sessions', { prompt: 'hello', employee: 'ann' })).body
      .id as string;
    ann = house.agent(annId);
  });
  afterEach(() => house.close());

  const hourMs = 3_600_000;
  /** As if it had begun so much already. */
  const used = async (inHour: object, total: object, hoursAgo = 0, agent = 'employee:ann'): Promise<void> => {
    const none = { sessions: 0, items: 0, runs: 0, bytes: 0 };
    await house.supervisor.transact({
      name: 'used',
      actors: [],
      run: (tx) => {
        tx.put(`agent-quota/${Buffer.from(agent).toString('base64url')}`, {
          agent,
          hour: Math.floor(tx.at / hourMs) - hoursAgo,
          inHour: { ...none, ...inHour },
          total: { ...none, ...total },
        });
        return null;
      },
    });
  };

  it('end with the hour, hold for all its sessions, and count no rehearsal and nothing of people', async () => {
    await used({ sessions: quotas.sessions.hour - 1, items: quotas.items.hour }, {});
    const rehearsed = await ann.post('/api/sessions?dryRun=true', { prompt: 'x' });
    expect(rehearsed.body.allowed, rehearsed.text).to.equal(true);
    const last = await ann.post('/api/sessions', { prompt: 'x' });
    expect(last.status).to.equal(201);
    const child = house.agent(
      (await house.operator.post('/api/sessions', { prompt: 'x', employee: 'ann', parent: annId })).body
        .id as string,
    );
    for (const client of [ann, child]) {
      const full = await client.post('/api/sessions', { prompt: 'x' });
      expect(full.body).to.include({ code: 'AGENT_QUOTA', quota: 'sessions', per: 'hour' });
      expect([
        full.status,
        full.body.resetAt % hourMs,
        Number(full.headers['retry-after']) > 0,
      ]).to.deep.equal([429, 0, true]);
    }
    expect((await ann.post('/api/work-items', { title: 'x' })).body).to.include({
      code: 'AGENT_QUOTA',
      quota: 'items',
    });
    expect((await ann.post('/api/delegations', { task: 'x', employee: 'ann' })).status).to.equal(429);
    expect((await house.operator.post('/api/sessions', { prompt: 'x' })).status).to.equal(201);
    const seen = await house.operator.get('/api/inspect/quotas');
    expect(seen.body.agents[0]).to.deep.include({ agent: 'employee:ann' });
    expect(seen.body.agents[0].inHour.sessions).to.equal(quotas.sessions.hour);
    expect(seen.body.agents[0].resetAt % hourMs).to.equal(0);
    expect((await ann.get('/api/inspect/quotas')).status).to.equal(403);
    // the last that it met, and one row an hour however often it is refused
    const { met } = seen.body.agents[0];
    expect(met).to.include({ quota: 'sessions', per: 'hour' });
    expect((await ann.post('/api/sessions', { prompt: 'x' })).status).to.equal(429);
    expect((await house.operator.get('/api/inspect/quotas')).body.agents[0].met).to.deep.equal(met);
  });

  // Each report of a manager had quotas of its own, so the manager had those of all of them
  it('hold for what an agent begins by others whom it opens', async () => {
    const boss = house.agent(
      (await house.operator.post('/api/sessions', { prompt: 'hello', employee: 'bob' })).body.id as string,
    );
    const opened = await boss.post('/api/sessions', { prompt: 'hello', employee: 'ann' });
    expect([opened.status, opened.body.actsAs], opened.text).to.deep.equal([201, 'ann']);
    const report = house.agent(opened.body.id as string);
    expect((await report.post('/api/work-items', { title: 'x' })).status).to.equal(201);
    const seen = (await house.operator.get('/api/inspect/quotas')).body.agents as {
      agent: string;
      inHour: object;
    }[];
    const items = Object.fromEntries(seen.map(({ agent, inHour }) => [agent, inHour]));
    expect(items['employee:bob']).to.deep.include({ sessions: 1, items: 1 });
    expect(items['employee:ann']).to.deep.include({ sessions: 0, items: 1 });
    await used({ items: quotas.items.hour }, {}, 0, 'employee:bob');
    expect((await report.post('/api/work-items', { title: 'x' })).body).to.include({
      code: 'AGENT_QUOTA',
      agent: 'employee:bob',
    });
  });

  it('are those of config.yaml', async () => {
    const own = await openHouse({
      withRoster: true,
      settings: {
        home: house.home,
        sessionRoots: [house.home],
        interruptOnNewMessage: true,
        turnDeadlineMs: 60_000,
        agentQuotas: { ...quotas, items: { hour: 1, total: 1 } },
      },
    });
    const { id } = (await own.operator.post('/api/sessions', { prompt: 'x', employee: 'ann' })).body;
    const agent = own.agent(id as string);
    expect((await agent.post('/api/work-items', { title: 'x' })).status).to.equal(201);
    expect((await agent.post('/api/work-items', { title: 'x' })).body).to.include({ limit: 1 });
    const seen = await own.operator.get('/api/inspect/quotas');
    expect(seen.body.limits).to.deep.include({ items: { hour: 1, total: 1 } });
    await own.close();
  });

  it('are shown as of this hour, also to who looks in a later one', async () => {
    await used({ sessions: 7 }, { sessions: 9 }, 1);
    const [usage] = (await house.operator.get('/api/inspect/quotas')).body.agents;
    expect([usage.inHour.sessions, usage.total.sessions]).to.deep.equal([0, 9]);
    expect(usage.resetAt).to.be.greaterThan(Date.now());
  });

  it('hold in all, whatever the hour', async () => {
    await used({}, { sessions: quotas.sessions.total });
    expect((await ann.post('/api/sessions', { prompt: 'x' })).body).to.include({
      code: 'AGENT_QUOTA',
      per: 'total',
    });
  });
});
