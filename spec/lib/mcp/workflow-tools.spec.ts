import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, type House } from '../gateway/fixture.js';
import { chain } from '../../machines/graph/graphs.js';

/** An agent plans, writes and retires a workflow of its own. */
describe('tools of workflows', () => {
  let house: House;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'workflow-tools-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
    const input = {
      engine: 'pen',
      model: null,
      effort: null,
      employee: 'ann',
      parentSessionId: null,
      ancestors: [],
      workItemId: null,
      title: null,
      cwd: house.home,
      source: 'web',
      sourceRef: null,
      interruptOnNewMessage: true,
      turnDeadlineMs: 1000,
    };
    await house.supervisor.spawn('session', { id: 'anns', input });
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });
  const use = async (name: string, args: object = {}): Promise<{ failed: boolean; answer: any }> => {
    // an agent sees JSON of any kind
    const { body } = await house
      .agent('anns')
      .post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
    const {
      content: [{ text }],
      isError = false,
    } = body.result;
    return { failed: isError, answer: isError ? text : JSON.parse(text) };
  };

  it('go from a plan to a workflow that is retired', async () => {
    const definition = { ...chain('dig', 'rest'), title: 'Dig', owner: 'ann' };
    expect(
      (
        await use('validate_workflow', { definition: { title: 'Dig', nodes: [{ id: 'x', type: 'switch' }] } })
      ).answer.validation.errors.map(({ code }: { code: string }) => code),
    ).to.include('dead-end');
    expect((await use('plan_workflow', { definition })).answer.execution.plan.stepOrder).to.deep.equal([
      'dig',
      'rest',
    ]);
    expect((await use('create_workflow', { definition })).answer.definition).to.include({
      id: 'dig',
      version: 1,
      createdBy: 'session:anns',
    });
    expect(
      (await use('update_workflow', { workflowId: 'dig', patch: { title: 'Dig deep' }, expectedVersion: 1 }))
        .answer.definition.version,
    ).to.equal(2);
    expect((await use('get_workflow', { workflowId: 'dig' })).answer.title).to.equal('Dig deep');
    expect(
      (await use('list_workflows')).answer.definitions.map(({ id }: { id: string }) => id),
    ).to.deep.equal(['dig']);
    expect((await use('retire_workflow', { workflowId: 'dig' })).answer.status).to.equal('retired');
  });

  it('tell an agent what stands in its way', async () => {
    const outsider = await use('create_workflow', {
      definition: { ...chain('a'), title: 'Theirs', owner: 'bob' },
    });
    expect([outsider.failed, outsider.answer]).to.satisfy(
      ([failed, text]: [boolean, string]) => failed && text.includes('belongs to bob'),
    );
    const faulty = await use('create_workflow', {
      definition: { title: 'Bad', owner: 'ann', nodes: [{ id: 'w', type: 'wait' }] },
    });
    expect(faulty.answer).to.include('bad-wait').and.include('dead-end');
  });
});
