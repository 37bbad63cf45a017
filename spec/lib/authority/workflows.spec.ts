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

  describe('that nobody approved', () => {
    it("archive no stranger's item and finish none of their own author's", async () => {
      const strangers = await newItem(house.operator);
      const archive = idOf(
        await write(ann, line('Archive', [step('a', item('archive', strangers))], { owner: 'ann' })),
      );
      expect((await outcome(ann, archive)).status).to.equal('failed');
      expect(await statusOf(strangers)).to.equal('backlog');

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

    it("start no workflow that author and starter may not start, and speak in nobody's session", async () => {
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

    it('act with no more than who starts them has, whoever wrote them', async () => {
      const strangers = await newItem(house.operator, { assignee: 'cat' });
      const id = idOf(
        await write(
          bob,
          line('Tidy', [step('a', item('archive', strangers))], { owner: 'bob', runners: ['ann'] }),
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
      const strangers = await newItem(house.operator, { assignee: 'cat' });
      const definition = line('Close', [step('a', item('archive', strangers))], { owner: 'ann' });
      const id = idOf(await write(ann, definition));
      const answer = await approve(id);
      expect(answer.body.outcomes[0].authority).to.include({ state: 'approved', approvedBy: 'operator' });
      const done = await outcome(ann, id);
      expect(done, JSON.stringify(done.errors)).to.deep.include({
        status: 'completed',
        authority: { onBehalfOf: ['operator'], lent: true },
        requester: { employee: 'ann', sessionId: annId },
      });
      const history = await house.operator.get(`/api/inspect/actors/work-item/${strangers}/history`);
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
      const strangers = await newItem(house.operator, { assignee: 'cat' });
      const nodes = [
        step('say', { kind: 'engine', ref: 'pen' }, { instructions: 'hello' }),
        step('a', item('archive', strangers)),
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

    it("are not a person's because a person paused, resumed or retitled them", async () => {
      const strangers = await newItem(house.operator, { assignee: 'cat' });
      const id = idOf(
        await write(ann, line('Sneak', [step('a', item('archive', strangers))], { owner: 'ann' })),
      );
      expect((await house.operator.post(`${root}/${id}/pause`)).status).to.equal(200);
      expect((await house.operator.post(`${root}/${id}/resume`)).status).to.equal(200);
      expect((await outcome(ann, id)).status).to.equal('failed');
      const patch = { title: 'Sneakier' };
      expect(
        (await house.operator.post(`${root}/mutate`, { operation: 'update', workflowId: id, patch })).status,
      ).to.equal(200);
      expect((await run(ann, id)).body).to.include({ code: 'PENDING_APPROVAL' });
      expect(await statusOf(strangers)).not.to.equal('cancelled');
    });
  });
});
