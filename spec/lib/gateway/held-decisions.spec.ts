import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { testEnvironment } from '../../../lib/testing/test-environment.js';
import { Troupe, type Running } from '../cli/troupe.js';
import { makeClient, openHouse, watch, type Client, type House, type Watching } from './fixture.js';

/** Decisions with a few seconds for second thoughts, over HTTP. */
describe('held decisions', () => {
  let house: House;
  let socket: Watching;
  let folder: string;
  const environment = testEnvironment();
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'held-decisions-'));
    house = await openHouse({ holds: true, environment, evidence: await openEvidence({ standard: folder }) });
    socket = await house.socket('/ws');
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const post = (path: string, body: object = {}) => house.operator.post(path, body);
  const waiting = async () => (await house.operator.get('/api/attention')).body.waiting;
  const asking = async (title: string): Promise<string> => {
    const { id } = (await post('/api/work-items', { title })).body.workItem as { id: string };
    await post(`/api/work-items/${id}/approval/request`, { request: `May I, for ${title}?` });
    return id;
  };
  const approvalOf = (id: string) => ({ kind: 'work-item', id, waitingId: 'approval' });
  const hold = (thing: object, more: object = {}) =>
    post('/api/held-decisions', { ...thing, decision: 'approve', holdSeconds: 5, ...more });
  const approval = async (id: string): Promise<unknown> =>
    (await house.operator.get(`/api/work-items/${id}`)).body.workItem.approvalState;
  /** Its time passes; the frame that says how it ended. */
  const outcome = async (decisionId: string) => {
    await environment.advance(5_000);
    return socket.until(
      ({ event, payload }) =>
        /^decision:(?!held)/.test(event) && (payload as { decisionId?: string }).decisionId === decisionId,
    );
  };

  it('counts when their time is over: an approval, a permission, a gate, each by its own route', async () => {
    const item = await asking('the fence');
    const session = (await post('/api/sessions', { prompt: 'hang' })).body.id as string;
    await house.supervisor.ask('session', session, {
      type: 'permission.asked',
      permissionId: 'p1',
      turnId: `${session}:1`,
      tool: 'Bash',
      title: 'make',
      text: '{"command":"make"}',
      waitMs: 600_000,
    });
    const gate = { kind: 'approval', approvalRef: 'go', description: 'Go on?' };
    const nodes = [
      { id: 'ask', type: 'gate', gate },
      { id: 'send', type: 'step', actor: { kind: 'noop' } },
    ];
    const definition = { id: 'sail', title: 'Sail', nodes, edges: [{ id: 'e', from: 'ask', to: 'send' }] };
    const drawn = await post('/api/workflow-definitions/mutate', { operation: 'create', definition });
    expect(drawn.status, drawn.text).to.equal(201);
    const begun = await post('/api/workflow-definitions/sail/run');
    expect(begun.status, begun.text).to.equal(201);
    await socket.until(({ event }) => event === 'run:parked');
    const runId = begun.body.runId as string;
    const things = (await waiting()) as { kind: string; id: string; waitingId: string; what: string }[];
    expect(things.map(({ what }) => what)).to.have.members(['approval', 'permission', 'gate']);
    for (const { kind, id, waitingId, what } of things) {
      const made = await hold({ kind, id, waitingId }, what === 'permission' ? { decision: 'reject' } : {});
      expect(made.status, made.text).to.equal(201);
      expect(made.body.decision).to.include({ status: 'held', reason: null, decidedBy: 'operator' });
      expect((await outcome(made.body.decision.id)).event, what).to.equal('decision:carried-out');
    }
    expect(await approval(item)).to.equal('approved');
    const [asked] = (await house.operator.get(`/api/sessions/${session}/permissions`)).body;
    expect(asked).to.include({ state: 'denied', decidedBy: 'operator' });
    const run = (await house.operator.get(`/api/workflow-definitions/sail/runs/${runId}`)).body;
    expect(run.parked ?? null).to.equal(null);
    expect(await waiting()).to.deep.equal([]);
    await post(`/api/sessions/${session}/stop`);
  });

  it('can be withdrawn as long as they are held, and is shown as held to everyone until then', async () => {
    const item = await asking('the roof');
    const made = (await hold(approvalOf(item))).body.decision;
    const [row] = await waiting();
    expect(row.held).to.deep.equal({
      decisionId: made.id,
      decision: 'approve',
      decidedBy: 'operator',
      until: made.until,
    });
    const twice = await hold(approvalOf(item), { decision: 'reject' });
    expect([twice.status, twice.body.decisionId]).to.deep.equal([409, made.id]);
    const path = `/api/held-decisions/${made.id}`;
    expect((await house.operator.call('DELETE', path)).body.decision.status).to.equal('withdrawn');
    expect((await waiting())[0]).to.not.have.property('held');
    expect(await approval(item)).to.equal('pending');
    expect((await house.operator.call('DELETE', path)).status).to.equal(409);
    expect((await house.operator.get(path)).body.decision.status).to.equal('withdrawn');
    await post(`/api/work-items/${item}/approval`, { decision: 'reject' });
  });

  it('is one decision however often a client sends it with its key', async () => {
    const item = await asking('the gutter');
    const body = { ...approvalOf(item), decision: 'approve', idempotencyKey: 'k-1' };
    const [one, again] = [await post('/api/held-decisions', body), await post('/api/held-decisions', body)];
    expect([again.status, again.body]).to.deep.equal([one.status, one.body]);
    await outcome(one.body.decision.id);
    expect((await post('/api/held-decisions', body)).body.decision.id).to.equal(one.body.decision.id);
  });

  it('gives way to a decision that was made elsewhere meanwhile, and says so', async () => {
    const item = await asking('the cellar');
    const { id } = (await hold(approvalOf(item))).body.decision;
    await post(`/api/work-items/${item}/approval`, { decision: 'reject' });
    const { event, payload } = await outcome(id);
    expect(event).to.equal('decision:refused');
    expect((payload as { reason: string }).reason).to.equal('Rejected by the operator.');
    expect(await approval(item)).to.equal('rejected');
  });

  // The route that stops a session does not ask whether it is still silent
  it('stops no agent that was silent and has said something since', async () => {
    const { id } = (await post('/api/sessions', { prompt: 'hang' })).body as { id: string };
    const by = { type: 'system', part: 'engine-turn' } as const;
    const turnId = `${id}:1`;
    await house.supervisor.ask(
      'session',
      id,
      { type: 'turn.began', turnId, silence: { ms: 10_000, action: 'show' } },
      { by },
    );
    await environment.advance(11_000);
    await socket.until(({ event }) => event === 'session:silent');
    const made = await hold({ kind: 'session', id, waitingId: `silent:${turnId}` }, { decision: 'reject' });
    expect(made.status, made.text).to.equal(201);
    await house.supervisor.ask('session', id, { type: 'turn.heard', turnId, quietMs: 0 }, { by });
    const { event, payload } = await outcome(made.body.decision.id);
    expect([event, (payload as { reason: string }).reason]).to.deep.equal([
      'decision:refused',
      'It waits no more.',
    ]);
    expect((await house.operator.get(`/api/sessions/${id}`)).body.status).to.equal('running');
    await post(`/api/sessions/${id}/stop`);
  });

  // An agent could ask for something harmless, and replace that by something else while the decision is held
  it('does not count for something else than was read', async () => {
    const item = await asking('a new lamp');
    const { id } = (await hold(approvalOf(item))).body.decision;
    await post(`/api/work-items/${item}/approval/request`, { request: 'May I, for a new house?' });
    const { event, payload } = await outcome(id);
    expect([event, (payload as { reason: string }).reason]).to.deep.equal([
      'decision:refused',
      'It has changed since it was read. Read it again.',
    ]);
    expect(await approval(item)).to.equal('pending');
    await post(`/api/work-items/${item}/approval`, { decision: 'reject' });
  });

  it('refuses what does not wait, cannot be decided so, lacks its amount, and every agent', async () => {
    const item = await asking('the attic');
    const session = (await post('/api/sessions', { prompt: 'hello' })).body.id as string;
    expect((await hold(approvalOf('TRP-999'))).body.error).to.match(/^It waits no more/);
    expect((await hold(approvalOf(item), { decision: 'allow' })).status).to.equal(400);
    expect((await hold(approvalOf(item), { holdSeconds: 61 })).status).to.equal(400);
    const agent = house.agent(session);
    const body = { ...approvalOf(item), decision: 'approve' };
    expect((await agent.post('/api/held-decisions', body)).status).to.equal(403);
    const dry = await post('/api/held-decisions?dryRun=true', body);
    expect([dry.body.allowed, (await waiting())[0].held]).to.deep.equal([true, undefined]);
  });
});

describe('held decisions of a gateway that is killed', () => {
  let troupe: Troupe;
  let running: Running;
  let client: Client;
  before(async () => {
    troupe = await Troupe.create();
    await start();
  });
  after(() => troupe.clear());

  async function start(): Promise<void> {
    running = await troupe.start();
    client = makeClient((await troupe.announcement()).port, {
      authorization: `Bearer ${(await troupe.announcement()).token}`,
    });
  }

  it('are carried out by the next one, and what was withdrawn is not', async function () {
    this.timeout(60_000);
    const hold = async (title: string, holdSeconds: number) => {
      const { id } = (await client.post('/api/work-items', { title })).body.workItem as { id: string };
      await client.post(`/api/work-items/${id}/approval/request`, { request: title });
      const thing = { kind: 'work-item', id, waitingId: 'approval', decision: 'approve', holdSeconds };
      const { body } = await client.post('/api/held-decisions', thing);
      return { id, decisionId: body.decision.id as string };
    };
    const withdrawn = await hold('withdrawn', 5);
    const kept = await hold('kept', 3);
    const gone = await client.call('DELETE', `/api/held-decisions/${withdrawn.decisionId}`);
    expect(gone.status).to.equal(200);
    await running.kill('SIGKILL');
    await start();
    const { port, token } = await troupe.announcement();
    const socket = await watch(`ws://127.0.0.1:${port}/ws?since=0`, { authorization: `Bearer ${token}` });
    await socket.until(
      ({ event, payload }) =>
        event === 'decision:carried-out' &&
        (payload as { decisionId?: string }).decisionId === kept.decisionId,
    );
    const state = async (id: string) =>
      (await client.get(`/api/work-items/${id}`)).body.workItem.approvalState;
    expect([await state(kept.id), await state(withdrawn.id)]).to.deep.equal(['approved', 'pending']);
    socket.ws.terminate();
  });
});
