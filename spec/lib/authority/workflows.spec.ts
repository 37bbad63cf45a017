import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, poll, type Answer, type Client, type House } from '../gateway/fixture.js';

const root = '/api/workflow-definitions';
const step = (id: string, actor: object, more: object = {}) => ({ id, type: 'step', actor, ...more });
const line = (title: string, nodes: readonly { readonly id: string }[], more: object = {}) => ({
  title,
  nodes,
  edges: nodes.slice(1).map(({ id }, at) => ({ from: nodes[at]?.id, to: id })),
  ...more,
});
const item = (operation: string, id: string | null, fields: object = {}) => ({
  kind: 'work-item',
  operation,
  ...(id !== null && { id }),
  fields,
});

/**
 * Measured before authority travelled with the work: the lowest-ranked employee had all of this done by a workflow
 * of its own, whose steps acted as the gateway itself.
 */
describe('workflows of agents', () => {
  let house: House;
  let folder: string;
  let ann: Client;
  let bob: Client;
  let annId: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'authority-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
    annId = await open('ann');
    ann = house.agent(annId);
    bob = house.agent(await open('bob'));
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (employee: string): Promise<string> =>
    (await house.operator.post('/api/sessions', { prompt: 'hello', employee })).body.id as string;
  const write = async (client: Client, definition: object): Promise<Answer> => {
    const made = await client.post(`${root}/mutate`, { operation: 'create', definition });
    expect(made.status, made.text).to.equal(201);
    return made;
  };
  const idOf = ({ body }: Answer): string => (body.definition ?? body).id as string;
  const run = (client: Client, id: string, body: object = {}): Promise<Answer> =>
    client.post(`${root}/${id}/run`, body);
  const ended = async (id: string, runId: string): Promise<Answer> =>
    poll(
      () => house.operator.get(`${root}/${id}/runs/${runId}`),
      ({ body }) => ['completed', 'failed', 'parked'].includes(body.status as string),
    );
  const outcome = async (client: Client, id: string, body: object = {}): Promise<Answer['body']> => {
    const started = await run(client, id, body);
    expect(started.status, started.text).to.be.oneOf([200, 201, 202]);
    return (await ended(id, started.body.runId as string)).body;
  };
  const newItem = async (client: Client, more: object = {}): Promise<string> =>
    (await client.post('/api/work-items', { title: 'x', ...more })).body.workItem.id as string;
  const statusOf = async (id: string): Promise<unknown> =>
    (await house.operator.get(`/api/work-items/${id}`)).body.workItem.status;

  describe('that no one approved', () => {
    it("archive no outsider's item and finish none of their own author's", async () => {
      const outsiders = await newItem(house.operator);
      const archive = idOf(
        await write(ann, line('Archive', [step('a', item('archive', outsiders))], { owner: 'ann' })),
      );
      expect((await outcome(ann, archive)).status).to.equal('failed');
      expect(await statusOf(outsiders)).to.equal('backlog');

      const delegated = await house.operator.post('/api/delegations', { employee: 'ann', task: 'hang' });
      const { workItemId, sessionId } = delegated.body;
      const self = house.agent(sessionId as string);
      const finish = idOf(
        await write(
          self,
          line('Finish', [step('a', item('status', workItemId, { status: 'done' }))], { owner: 'ann' }),
        ),
      );
      const done = await outcome(self, finish);
      expect(done.status).to.equal('failed');
      expect(JSON.stringify(done.errors)).to.include('cannot declare its own work item done');
      expect(await statusOf(workItemId as string)).not.to.equal('done');
    });

    it("start no workflow that author and starter may not start, and speak in no one's session", async () => {
      const operators = idOf(await write(house.operator, line('Mine', [step('a', { kind: 'noop' })])));
      const call = idOf(
        await write(
          ann,
          line('Call', [step('a', { kind: 'workflow', workflowId: operators, input: {} })], { owner: 'ann' }),
        ),
      );
      expect((await outcome(ann, call)).status).to.equal('failed');
      expect((await house.operator.get(`${root}/${operators}/runs`)).body.runs).to.deep.equal([]);

      const secret = await open('bob');
      const speak = await write(
        ann,
        line(
          'Speak',
          [
            step(
              'a',
              { kind: 'employee', ref: 'ann' },
              { instructions: 'obey', options: { session: { mode: 'existing', sessionId: secret } } },
            ),
          ],
          { owner: 'ann' },
        ),
      );
      expect((await run(ann, idOf(speak))).body).to.include({ code: 'PENDING_APPROVAL' });
    });

    for (const [what, node, more] of [
      ['requests', step('a', { kind: 'http', method: 'GET', url: 'https://example.org/' }), {}],
      ['messages', step('a', { kind: 'connector-send', connector: 'c', channel: 'x', text: 'y' }), {}],
      ['steps of those above', step('a', { kind: 'employee', ref: 'bob' }, { instructions: 'x' }), {}],
      ['steps of those beside', step('a', { kind: 'employee', ref: 'cat' }, { instructions: 'x' }), {}],
      ['schedules', step('a', { kind: 'noop' }), { kind: 'schedule', cron: '0 9 * * *', timezone: 'UTC' }],
      [
        'triggers by the items of others',
        step('a', { kind: 'noop' }),
        { kind: 'todo-status-change', toStatus: 'done' },
      ],
    ] as const) {
      it(`wait for a person where they hold ${what}, also for those above`, async () => {
        const trigger = { id: 't', type: 'trigger', trigger: 'kind' in more ? more : { kind: 'manual' } };
        const id = idOf(await write(ann, line(`Wait ${what}`, [trigger, node], { owner: 'ann' })));
        for (const client of [ann, house.operator])
          expect((await run(client, id)).body).to.include({
            code: 'PENDING_APPROVAL',
            authority: 'pending_approval',
          });
        const { pending } = (await house.operator.get('/api/workflow-approvals')).body;
        const [mine] = pending.filter(({ workflowId }: { workflowId: string }) => workflowId === id);
        expect(mine).to.include({ version: 1, writtenBy: `session:${annId}` });
        expect(
          (await ann.post('/api/workflow-approvals', { decision: 'approve', versions: [] })).status,
        ).to.equal(403);
      });
    }

    it('are shown beside the version that was approved last', async () => {
      const archive = step('a', item('archive', await newItem(house.operator)));
      const posts = step('b', { kind: 'http', method: 'GET', url: 'https://example.org/' });
      const waiting = async (id: string) =>
        (await house.operator.get('/api/workflow-approvals')).body.pending.find(
          ({ workflowId }: { workflowId: string }) => workflowId === id,
        );
      const id = idOf(await write(ann, line('Grows', [archive, posts], { owner: 'ann' })));
      expect(await waiting(id)).to.include({ version: 1, approvedVersion: null });
      const versions = [{ workflowId: id, version: 1 }];
      await house.operator.post('/api/workflow-approvals', { decision: 'approve', versions });
      const elsewhere = { ...posts, actor: { kind: 'http', method: 'GET', url: 'https://example.net/' } };
      const { nodes } = (await ann.get(`${root}/${id}`)).body;
      const changed = nodes.map((node: { id: string }) => (node.id === 'b' ? elsewhere : node));
      const written = await ann.call('PUT', `${root}/${id}`, { nodes: changed });
      expect(written.status, written.text).to.equal(200);
      expect(await waiting(id)).to.include({ version: 2, approvedVersion: 1 });
    });

    // A duplicate was taken for what the person wrote: the agent's steps then ran with that person's rights.
    it("are not a person's because a person duplicated them", async () => {
      const outsiders = await newItem(house.operator);
      const archive = step('a', item('archive', outsiders));
      const posts = step('b', { kind: 'http', method: 'GET', url: 'https://example.org/' });
      const copyOf = async (client: Client, id: string, body: object = {}): Promise<string> => {
        const copied = await client.post(`${root}/${id}/duplicate`, body);
        expect(copied.status, copied.text).to.equal(201);
        return idOf(copied);
      };
      const authorityOf = async (id: string) =>
        (await house.operator.get(`/api/inspect/actors/workflow/${id}`)).body.view.authority;

      const waits = idOf(await write(ann, line('Copied', [archive, posts], { owner: 'ann' })));
      const copy = await copyOf(house.operator, waits, { title: 'Looks better' });
      const kept = { version: 1, writtenBy: `session:${annId}`, state: 'pending_approval', approvedBy: null };
      expect(await authorityOf(copy)).to.deep.include({ ...kept, reasons: ['the step "b" sends a request'] });
      expect((await run(house.operator, copy)).body).to.include({ code: 'PENDING_APPROVAL' });
      const again = await copyOf(house.operator, copy);
      expect(await authorityOf(again), 'of a copy').to.include(kept);

      const plain = idOf(await write(ann, line('Copied plain', [archive], { owner: 'ann' })));
      const plainCopy = await copyOf(house.operator, plain);
      expect(await authorityOf(plainCopy)).to.include({ ...kept, state: 'unapproved' });
      expect((await outcome(ann, plainCopy)).status, 'archives as ann').to.equal('failed');
      expect(await statusOf(outsiders)).to.equal('backlog');

      const decide = (decision: string, workflowId: string) =>
        house.operator.post('/api/workflow-approvals', { decision, versions: [{ workflowId, version: 1 }] });
      await decide('reject', waits);
      const rejected = await copyOf(house.operator, waits);
      expect(await authorityOf(rejected)).to.include({ ...kept, state: 'rejected' });
      await decide('approve', copy);
      const approved = await copyOf(house.operator, copy);
      expect(await authorityOf(approved)).to.include({ state: 'approved', approvedBy: 'operator' });
      const own = await copyOf(ann, waits);
      expect(await authorityOf(own), 'is judged anew').to.include(kept);
    });

    it('act with no more than who starts them has, no matter who wrote them', async () => {
      const outsiders = await newItem(house.operator, { assignee: 'cat' });
      const id = idOf(
        await write(
          bob,
          line('Tidy', [step('a', item('archive', outsiders))], { owner: 'bob', runners: ['ann'] }),
        ),
      );
      expect((await outcome(ann, id)).status).to.equal('failed');
      const anns = await newItem(house.operator, { assignee: 'ann' });
      const own = idOf(
        await write(
          bob,
          line('Tidy own', [step('a', item('archive', anns))], { owner: 'bob', runners: ['ann'] }),
        ),
      );
      expect((await outcome(ann, own)).status, 'both may').to.equal('completed');
    });
  });

  describe('that a person approved', () => {
    const approve = (id: string, version = 1) =>
      house.operator.post('/api/workflow-approvals', {
        decision: 'approve',
        versions: [{ workflowId: id, version }],
      });

    it('lend the rights of that person, for this version alone, and name hand and cause', async () => {
      const outsiders = await newItem(house.operator, { assignee: 'cat' });
      const definition = line('Close', [step('a', item('archive', outsiders))], { owner: 'ann' });
      const id = idOf(await write(ann, definition));
      const answer = await approve(id);
      expect(answer.body.outcomes[0].authority).to.include({ state: 'approved', approvedBy: 'operator' });
      const done = await outcome(ann, id);
      expect(done, JSON.stringify(done.errors)).to.deep.include({
        status: 'completed',
        authority: { onBehalfOf: ['operator'], lent: true },
        requester: { employee: 'ann', sessionId: annId },
      });
      const history = await house.operator.get(`/api/inspect/actors/work-item/${outsiders}/history`);
      expect(history.body.entries[0]).to.deep.include({
        by: `workflow-run:${done.runId}`,
        onBehalfOf: ['operator'],
      });
      const changed = await ann.post(`${root}/mutate`, {
        operation: 'update',
        workflowId: id,
        patch: { description: 'better' },
      });
      expect(changed.status, changed.text).to.equal(200);
      expect((await outcome(ann, id)).status, 'the next version is not approved').to.equal('failed');
      expect((await approve(id, 1)).body.outcomes[0]).to.include({ code: 'VERSION_CONFLICT' });
    });

    it('lend nothing to who writes other words into them, and only managers and owners may', async () => {
      const outsiders = await newItem(house.operator, { assignee: 'cat' });
      const nodes = [
        step('say', { kind: 'engine', ref: 'pen' }, { instructions: 'hello' }),
        step('a', item('archive', outsiders)),
      ];
      const id = idOf(await write(house.operator, line('Say', nodes, { owner: 'bob', runners: ['ann'] })));
      const stepOverrides = { say: { prompt: 'obey me' } };
      expect((await run(ann, id, { stepOverrides })).status).to.equal(403);
      const overridden = await outcome(bob, id, { stepOverrides });
      expect(overridden.authority).to.deep.include({ lent: false });
      expect(overridden.status, 'archives as bob').to.equal('failed');
      expect((await outcome(ann, id)).status).to.equal('completed');
    });

    it('fix where they act: their input opens no channel, host or assignee', async () => {
      const to = { kind: 'object', properties: { who: { type: 'string' } } };
      const listed = { type: 'object', properties: { who: { type: 'string', enum: ['ann', 'cat'] } } };
      const assigns = (title: string, input: object) =>
        line(title, [step('a', item('create', null, { title: 'x', assignee: '{{input.who}}' }))], {
          owner: 'ann',
          input,
        });
      const open1 = idOf(
        await write(house.operator, assigns('Assign', { type: 'object', properties: to.properties })),
      );
      const refused = await outcome(ann, open1, { input: { who: 'chief' } });
      expect(JSON.stringify(refused.errors)).to.include('fixes where it acts');
      expect((await outcome(house.operator, open1, { input: { who: 'chief' } })).status).to.equal(
        'completed',
      );
      const listedId = idOf(await write(house.operator, assigns('Assign listed', listed)));
      expect((await outcome(ann, listedId, { input: { who: 'cat' } })).status).to.equal('completed');
    });

    // The person's rerun took over the agent's input, and sent it with the person's rights.
    it('let no input of an agent decide where they act because a person reruns its run', async () => {
      const input = { type: 'object', properties: { who: { type: 'string' } } };
      const assign = step('a', item('create', null, { title: 'x', assignee: '{{input.who}}' }));
      const say = step('say', { kind: 'engine', ref: 'pen' }, { instructions: 'hello' });
      const id = idOf(await write(house.operator, line('Rerun', [say, assign], { owner: 'bob', input })));
      const body = { input: { who: 'chief' }, stepOverrides: { say: { prompt: 'hello' } } };
      const first = await outcome(bob, id, body);
      expect(first.authority.lent, 'other words in it').to.equal(false);
      const rerun = (client: Client, workflow: string, runId: unknown, from: object): Promise<Answer> =>
        client.post(`${root}/${workflow}/runs/${String(runId)}/rerun`, from);
      const again = async (from: object): Promise<Answer['body']> => {
        const started = await rerun(house.operator, id, first.runId, from);
        expect(started.status, started.text).to.equal(201);
        return (await ended(id, started.body.runId as string)).body;
      };
      for (const from of [{ nodeId: 'a' }, { nodeId: 'say' }, { nodeId: 'a', input: { who: 'chief' } }]) {
        const done = await again(from);
        expect(done.authority, JSON.stringify(from)).to.deep.equal({ onBehalfOf: ['operator'], lent: true });
        expect(JSON.stringify(done.errors)).to.include('fixes where it acts');
      }
      const allNew = await again({ nodeId: 'say', input: { who: 'chief' } });
      expect(allNew.status, "all that it reads is the person's").to.equal('completed');

      const hers = step('say', { kind: 'employee', ref: 'ann' }, { instructions: 'hello' });
      const named = idOf(await write(house.operator, line('Own', [assign, hers], { owner: 'bob', input })));
      const own = await outcome(ann, named, { input: { who: 'chief' } });
      const asBefore = await rerun(ann, named, own.runId, { nodeId: 'a' });
      expect(asBefore.body.authority, asBefore.text).to.deep.equal(own.authority);
      expect(own.authority).to.deep.include({ lent: false });
    });

    it("are not a person's because a person paused, resumed or retitled them", async () => {
      const outsiders = await newItem(house.operator, { assignee: 'cat' });
      const id = idOf(
        await write(ann, line('Sneak', [step('a', item('archive', outsiders))], { owner: 'ann' })),
      );
      expect((await house.operator.post(`${root}/${id}/pause`)).status).to.equal(200);
      expect((await house.operator.post(`${root}/${id}/resume`)).status).to.equal(200);
      expect((await outcome(ann, id)).status).to.equal('failed');
      const patch = { title: 'Sneakier' };
      expect(
        (await house.operator.post(`${root}/mutate`, { operation: 'update', workflowId: id, patch })).status,
      ).to.equal(200);
      expect((await run(ann, id)).body).to.include({ code: 'PENDING_APPROVAL' });
      expect(await statusOf(outsiders)).not.to.equal('cancelled');
    });
  });
});
