import { expect } from 'chai';
import { poll } from '../lib/gateway/fixture.js';
import { engineStep, line, noop, openClientHouse, type ClientHouse } from './fixture.js';

const root = '/api/workflow-definitions';
const trigger = { id: 't', type: 'trigger', label: 'By hand' };

/** The workflow calls of consoles and agent tools that were written for this API, and the members they read. */
describe('clients of this API, workflows', () => {
  let house: ClientHouse;
  before(async () => void (house = await openClientHouse()));
  after(() => house.close());

  const saved = async (definition: object): Promise<any> => {
    const { status, body } = await house.operator.post(root, definition);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const finished = async (id: string, runId: string): Promise<any> =>
    (
      await poll(
        () => house.operator.get(`${root}/${id}/runs/${runId}`),
        ({ body }) => body.status === 'completed',
      )
    ).body;

  describe('definitions', () => {
    it('answers direct routes with the bare definition, mutate with a wrapped one', async () => {
      const made = await saved(line('Bare', trigger, noop('a')));
      expect(made).to.include({ id: 'bare', title: 'Bare', version: 1, status: 'active' });
      const put = await house.operator.call('PUT', `${root}/bare`, { title: 'Barer' });
      expect([put.status, put.body.title, put.body.definition]).to.deep.equal([200, 'Barer', undefined]);
      const copy = await house.operator.post(`${root}/bare/duplicate`, { newId: 'bare-two' });
      expect([copy.status, copy.body.id, copy.body.version]).to.deep.equal([201, 'bare-two', 1]);
      const retired = await house.operator.post(`${root}/bare-two/retire`);
      expect([retired.status, retired.body.id, retired.body.status]).to.deep.equal([
        200,
        'bare-two',
        'retired',
      ]);
      const mutated = await house.operator.post(`${root}/mutate`, {
        operation: 'update',
        workflowId: 'bare',
        patch: { title: 'Bare again' },
      });
      expect(mutated.body.definition).to.include({ id: 'bare', title: 'Bare again' });
    });

    it('replaces by PUT the members that were sent and no others', async () => {
      const made = await saved({
        ...line('Kept', trigger, noop('a'), noop('b')),
        owner: 'ann',
        department: 'build',
        description: 'Stays.',
        concurrency: 3,
        loop: { maxRoundsPerRun: 4 },
      });
      // consoles send the graph, and stamps as they have read them
      const { status, body } = await house.operator.call('PUT', `${root}/kept`, {
        nodes: [trigger, noop('a')],
        edges: [{ id: 'e0', from: 't', to: 'a' }],
        version: made.version,
        updatedAt: '2020-01-01T00:00:00.000Z',
        createdBy: 'elsewhere',
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.nodes.map(({ id }: { id: string }) => id)).to.deep.equal(['t', 'a']);
      expect(body).to.include({
        title: 'Kept',
        owner: 'ann',
        department: 'build',
        description: 'Stays.',
        concurrency: 3,
        version: 2,
        createdBy: 'operator',
      });
      expect(body.loop).to.deep.include({ maxRoundsPerRun: 4 });
      const cleared = await house.operator.call('PUT', `${root}/kept`, { owner: null });
      expect([cleared.body.owner, cleared.body.department]).to.deep.equal([null, 'build']);
    });

    it('lends no rights to what an agent wrote when a person puts a part of it', async () => {
      const ann = await house.as('ann');
      const step = { id: 'post', type: 'step', actor: { kind: 'http', method: 'POST', url: 'http://far/' } };
      const made = await ann.post(root, { ...line('Sends', trigger, step), description: 'By an agent.' });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      const authority = async () => {
        const { body } = await house.operator.get('/api/workflow-approvals');
        return body.pending.find(({ workflowId }: { workflowId: string }) => workflowId === 'sends')?.state;
      };
      await house.operator.call('PUT', `${root}/sends`, { title: 'Sends more' });
      expect(await authority()).to.equal('pending_approval');
      const { body: whole } = await house.operator.get(`${root}/sends`);
      await house.operator.call('PUT', `${root}/sends`, { ...whole, title: 'Read and sent whole' });
      expect(await authority(), 'all of it came from a person').to.equal(undefined);
    });

    it('accepts layoutIntent wherever a definition is sent', async () => {
      await saved({ ...line('Laid out', trigger, noop('a')), layoutIntent: 'auto' });
      const nodes = [trigger, noop('a')].map((node, x) => ({ ...node, position: { x: 7 * x, y: 9 } }));
      const put = await house.operator.call('PUT', `${root}/laid-out`, { nodes, layoutIntent: 'manual' });
      expect([put.status, put.body.nodes[1].position]).to.deep.equal([200, { x: 7, y: 9 }]);
      expect(put.body).to.not.have.property('layoutIntent');
      const planned = await house.operator.post(`${root}/plan`, {
        definition: { ...line('Laid out', trigger, noop('a')), layoutIntent: 'normalize' },
        layoutIntent: 'normalize',
      });
      expect([planned.status, planned.body.ok]).to.deep.equal([200, true]);
    });

    it('saves a lone trigger as a draft, and does not run it', async () => {
      const made = await saved({ title: 'Draft', nodes: [trigger], edges: [] });
      expect(made.nodes).to.have.lengthOf(1);
      const planned = await house.operator.get(`${root}/draft/plan`);
      expect([planned.body.validation.ok, planned.body.execution.ok]).to.deep.equal([true, false]);
      expect(planned.body.execution.errors[0].code).to.equal('no-steps');
      const run = await house.operator.post(`${root}/draft/run`);
      expect([run.status, run.body.status, run.body.errors[0].code]).to.deep.equal([
        422,
        'failed',
        'no-steps',
      ]);
      const clock = { ...trigger, trigger: { kind: 'schedule', cron: '0 6 * * *' } };
      const scheduled = await house.operator.post(root, { title: 'Clock draft', nodes: [clock], edges: [] });
      expect(scheduled.status, JSON.stringify(scheduled.body)).to.equal(201);
      const { status, body } = await house.operator.post(root, {
        title: 'Two triggers',
        nodes: [trigger, { ...trigger, id: 'u' }],
      });
      expect([status, body.code]).to.deep.equal([400, 'WORKFLOW_INVALID']);
    });

    it('shows the normalized preview of a plan as a definition', async () => {
      const { body } = await house.operator.post(`${root}/plan`, {
        definition: line('Preview', trigger, noop('a')),
      });
      const { normalizedPreview } = body.layout;
      expect(normalizedPreview).to.include({ id: 'preview', schemaVersion: 1, title: 'Preview' });
      expect(normalizedPreview.nodes[1]).to.include({ id: 'a', type: 'step' });
      expect(normalizedPreview.nodes[1].position).to.have.keys('x', 'y');
    });

    it("gives an agent's new definition to its employee when it names no owner", async () => {
      const cat = await house.as('cat');
      const made = await cat.post(`${root}/mutate`, {
        operation: 'create',
        definition: line('Of cat', trigger, noop('a')),
      });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      expect(made.body.definition.owner).to.equal('cat');
      const sop = await cat.post(`${root}/mutate`, {
        operation: 'create',
        sop: { title: 'Sop of cat', steps: [{ title: 'Do', employee: 'cat', instructions: 'Do it.' }] },
      });
      expect([sop.status, sop.body.definition?.owner]).to.deep.equal([201, 'cat']);
      const others = await cat.post(`${root}/mutate`, {
        operation: 'create',
        definition: { ...line('Of ann', trigger, noop('a')), owner: 'ann' },
      });
      expect(others.status).to.equal(403);
      expect((await saved(line('Of people', trigger, noop('a')))).owner).to.equal(null);
    });

    it('lists workflows under their short path', async () => {
      const { status, body } = await house.operator.get('/api/workflows');
      expect(status).to.equal(200);
      expect(body.evidenceConfigured).to.equal(true);
      expect(body.workflows).to.deep.equal(body.definitions);
      expect(body.workflows[0]).to.include.all.keys('id', 'name', 'title', 'status', 'version', 'nodeCount');
    });
  });

  describe('runs', () => {
    it('names the event, and shows steps without the trigger', async () => {
      await saved(line('Shown', trigger, noop('a')));
      const { body: run } = await house.operator.post(`${root}/shown/run`, { input: { n: 1 } });
      expect(run.trigger).to.include({ source: 'manual', event: 'manual' });
      const ended = await finished('shown', run.runId);
      expect(ended.steps.map(({ nodeId }: { nodeId: string }) => nodeId)).to.deep.equal(['a']);
      const { body: listed } = await house.operator.get(`${root}/shown/runs`);
      expect(listed.runs[0].trigger.event).to.equal('manual');
    });

    it('shows prompts that were replaced at the start, and those edited later', async () => {
      await saved(line('Edited', trigger, engineStep('first', 'Write.'), engineStep('then', 'Check.')));
      const { status, body: run } = await house.operator.post(`${root}/edited/run`, {
        stepOverrides: { first: { prompt: 'hang on' } },
      });
      expect(status, JSON.stringify(run)).to.equal(201);
      expect(run.stepOverrides).to.deep.equal({ first: { prompt: 'hang on' } });
      const edited = await house.operator.call(
        'PATCH',
        `${root}/edited/runs/${run.runId}/pending-steps/then`,
        { prompt: 'Check twice.' },
      );
      expect(edited.status, JSON.stringify(edited.body)).to.equal(200);
      expect(edited.body.stepPromptEdits).to.have.lengthOf(1);
      expect(edited.body.stepPromptEdits[0]).to.include({ nodeId: 'then', prompt: 'Check twice.' });
      expect(edited.body.stepOverrides).to.deep.equal({ first: { prompt: 'hang on' } });
      await house.operator.post(`${root}/edited/runs/${run.runId}/cancel`);
    });

    it('says that a run waits for room, and where it stands', async () => {
      await saved(line('Narrow', trigger, engineStep('only', 'hang')));
      const runs = [];
      for (let n = 0; n < 3; n += 1) runs.push((await house.operator.post(`${root}/narrow/run`)).body);
      expect(runs.map(({ queued, queuePosition }) => [queued, queuePosition])).to.deep.equal([
        [false, null],
        [true, 1],
        [true, 2],
      ]);
      const { body } = await house.operator.get(`${root}/narrow/runs`);
      expect(body.runs.filter(({ queued }: { queued: boolean }) => queued)).to.have.lengthOf(2);
      for (const { runId } of runs.reverse())
        await house.operator.post(`${root}/narrow/runs/${runId}/cancel`);
    });
  });

  describe('bindings', () => {
    const bind = (name: string, filter: readonly object[], event = 'deploy') =>
      house.operator.post('/api/workflow-triggers', {
        kind: 'webhook',
        name,
        event,
        targetWorkflowId: 'bound',
        filter,
      });
    const fired = async (body: object): Promise<readonly string[]> => {
      const { body: answer } = await house.operator.post('/api/workflow-events', body);
      return answer.outcomes.map(({ triggerName }: { triggerName: string }) => triggerName);
    };
    before(() => saved({ ...line('Bound', trigger, noop('a')), concurrency: 8 }));

    it('reads filter paths from the occurrence, and bare ones below the payload', async () => {
      const rules = {
        prefixed: { path: 'payload.repo.name', op: 'equals', value: 'troupe' },
        bare: { path: 'repo.name', op: 'equals', value: 'troupe' },
        event: { path: 'event', op: 'equals', value: 'deploy' },
        'fire-ref': { path: 'fireRef', op: 'matches', value: '^v' },
        elsewhere: { path: 'payload.repo.name', op: 'equals', value: 'other' },
      };
      for (const [name, rule] of Object.entries(rules))
        expect((await bind(name, [rule])).status, name).to.equal(201);
      const payload = { repo: { name: 'troupe' } };
      expect(await fired({ event: 'deploy', payload, fireRef: 'v1' })).to.have.members([
        'prefixed',
        'bare',
        'event',
        'fire-ref',
      ]);
      expect(await fired({ event: 'deploy', payload, fireRef: 'w1' })).to.not.include('fire-ref');
    });

    it('refuses filters that can never match', async () => {
      const impossible: readonly (readonly object[])[] = [
        [{ path: 'event', op: 'equals', value: 'release' }],
        [{ path: 'event', op: 'notEquals', value: 'deploy' }],
        [{ path: 'event', op: 'matches', value: '^rel' }],
        [{ path: 'event.name', op: 'exists' }],
        [{ path: 'fireRef', op: 'equals', value: 7 }],
        [{ path: 'fireRef.id', op: 'exists' }],
        [{ path: 'payload', op: 'equals', value: 'x' }],
        [{ path: 'payload.', op: 'exists' }],
        [{ path: 'payload..x', op: 'exists' }],
        [{ path: 'payload.x', op: 'matches', value: 7 }],
        [
          { path: 'payload.x', op: 'equals', value: 'a' },
          { path: 'x', op: 'equals', value: 'b' },
        ],
        [
          { path: 'payload.x', op: 'equals', value: 'a' },
          { path: 'payload.x', op: 'notEquals', value: 'a' },
        ],
      ];
      for (const [at, filter] of impossible.entries()) {
        const { status, body } = await bind(`never-${at}`, filter);
        expect([status, body.code], JSON.stringify(filter)).to.deep.equal([400, 'BAD_REQUEST']);
        expect(body.path, JSON.stringify(filter)).to.match(/^filter\.\d/);
      }
    });
  });
});
