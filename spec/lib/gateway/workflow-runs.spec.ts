import { expect } from 'chai';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  authorityIds,
  verdict,
  type AuthorityId,
  type callerKinds,
} from '../../../lib/gateway/authorization.js';
import { openEvidence } from '../../../lib/records/evidence/evidence.js';
import { openHouse, poll, type Answer, type Client, type House } from './fixture.js';

const root = '/api/workflow-definitions';
const noop = (id: string, more: object = {}) => ({ id, type: 'step', actor: { kind: 'noop' }, ...more });
const agent = (id: string, instructions: string, more: object = {}) => ({
  id,
  type: 'step',
  actor: { kind: 'engine', ref: 'pen' },
  instructions,
  ...more,
});
const gate = (id: string, more: object = {}) => ({
  id,
  type: 'gate',
  gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?', ...more },
});
const chain = (...ids: string[]) =>
  ids.slice(1).map((id, at) => ({ id: `${ids[at]}-${id}`, from: ids[at], to: id }));
const line = (
  title: string,
  nodes: readonly { readonly id: string; readonly [member: string]: unknown }[],
  more: object = {},
) => ({ title, nodes, edges: chain(...nodes.map(({ id }) => id)), ...more });

describe('/api/workflow-definitions/:id/runs', () => {
  let house: House;
  let folder: string;
  let agents: Readonly<Record<'ann' | 'bob' | 'cat' | 'chief', Client>>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runs-'));
    house = await openHouse({ withRoster: true, evidence: await openEvidence({ standard: folder }) });
    const as = async (employee: string): Promise<Client> => {
      await house.supervisor.spawn('session', {
        id: `of-${employee}`,
        input: {
          engine: 'pen',
          model: null,
          effort: null,
          employee,
          parentSessionId: null,
          ancestors: [],
          workItemId: null,
          title: null,
          cwd: house.home,
          source: 'web',
          sourceRef: null,
          interruptOnNewMessage: true,
          turnDeadlineMs: 60_000,
        },
      });
      return house.agent(`of-${employee}`);
    };
    agents = { ann: await as('ann'), bob: await as('bob'), cat: await as('cat'), chief: await as('chief') };
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function defined(definition: object): Promise<string> {
    const { status, body } = await house.operator.post(`${root}/mutate`, { operation: 'create', definition });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.definition.id as string;
  }
  const start = (id: string, body: object = {}, client: Client = house.operator): Promise<Answer> =>
    client.post(`${root}/${id}/run`, body);
  const read = (id: string, runId: string, client: Client = house.operator): Promise<Answer> =>
    client.get(`${root}/${id}/runs/${runId}`);
  const reached = (id: string, runId: string, ...statuses: string[]): Promise<Answer> =>
    poll(
      () => read(id, runId),
      ({ body }) => statuses.includes(body.status as string),
    );
  const told = ({ body }: Answer): string =>
    body.steps
      .map(({ nodeId, status }: { nodeId: string; status: string }) => `${nodeId}:${status}`)
      .join(' ');

  describe('start', () => {
    it('answers 201 with the run record, its ready steps already done where they need nothing', async () => {
      const id = await defined(line('Plain', [noop('a'), noop('b')]));
      const { status, body } = await start(id, { input: { n: 1 } });
      expect(status).to.equal(201);
      expect(body).to.include({
        schemaVersion: 3,
        workflowId: id,
        definitionVersion: 1,
        title: 'Plain',
        status: 'completed',
        rounds: 1,
      });
      expect(body.runId).to.match(/^run-\d{14}-[0-9a-f]{8}$/);
      expect(body.trigger).to.deep.equal({
        source: 'manual',
        event: 'manual',
        fireRef: null,
        payload: { n: 1 },
      });
      expect(body.parameters).to.deep.equal({ input: { n: 1 } });
      expect(told({ body } as Answer)).to.equal('a:done b:done');
      expect(body.definitionSnapshot).to.include({ id, version: 1 });
    });

    it('answers the same key and input with the same run, and another input with 409 and its id', async () => {
      const id = await defined(line('Keyed', [noop('a')]));
      const first = await start(id, { input: { a: 1, b: 2 }, idempotencyKey: 'k' });
      const again = await start(id, { input: { b: 2, a: 1 }, idempotencyKey: 'k' });
      expect([first.status, again.status, again.body.runId]).to.deep.equal([201, 200, first.body.runId]);
      const other = await start(id, { input: { a: 3 }, idempotencyKey: 'k' });
      expect([other.status, other.body.code, other.body.runId]).to.deep.equal([
        409,
        'IDEMPOTENCY_CONFLICT',
        first.body.runId,
      ]);
      const both = await Promise.all([
        start(id, { idempotencyKey: 'twin' }),
        start(id, { idempotencyKey: 'twin' }),
      ]);
      expect(new Set(both.map(({ body }) => body.runId)).size).to.equal(1);
      expect((await house.operator.get(`${root}/${id}/runs`)).body.runs).to.have.length(2);
    });

    it('finds the run of a key among many keys that begin alike: it once looked at ten of them', async () => {
      const id = await defined(line('Alike', [noop('a')]));
      for (let n = 0; n < 12; n += 1)
        expect((await start(id, { idempotencyKey: `k-${n}` })).status).to.equal(201);
      const {
        body: { runId },
      } = await start(id, { idempotencyKey: 'k' });
      const again = await start(id, { idempotencyKey: 'k' });
      expect([again.status, again.body.runId]).to.deep.equal([200, runId]);
    });

    it('starts by name, and answers 404 for a name that there is not', async () => {
      await defined(line('Named Flow', [noop('a')]));
      expect(
        (await house.operator.post('/api/workflow-runs/by-name', { name: 'named-flow' })).status,
      ).to.equal(201);
      const { status, body } = await house.operator.post('/api/workflow-runs/by-name', { name: 'named' });
      expect([status, body.error]).to.deep.equal([404, 'workflow name "named" not found']);
    });

    it('refuses an input that does not fit, with every fault', async () => {
      const id = await defined(
        line('Typed', [noop('a')], {
          input: { type: 'object', required: ['to', 'n'], properties: { n: { type: 'number' } } },
        }),
      );
      const { status, body } = await start(id, { input: { n: 'x' } });
      expect(status).to.equal(400);
      expect(body.errors.map(({ message }: { message: string }) => message)).to.have.members([
        'to is required',
        'n must be number',
      ]);
    });

    it('answers 422 with the failed run where a step names someone who is not there', async () => {
      const id = await defined(
        line('Orphan', [
          { id: 'a', type: 'step', actor: { kind: 'employee', ref: 'zoe' }, instructions: 'x' },
        ]),
      );
      const { status, body } = await start(id);
      expect([status, body.status, body.errors[0].code, body.errors[0].ref]).to.deep.equal([
        422,
        'failed',
        'UNKNOWN_EMPLOYEE',
        'a',
      ]);
      // Without these two clients took it for the answer of something else: "The gateway does not answer"
      expect([body.code, body.error]).to.deep.equal([
        'RUN_FAILED',
        'The run cannot start: unknown employee "zoe". Did you mean "bob"? GET /api/org lists valid employees.',
      ]);
    });

    it('answers 201 with a run that began, also where it has failed already', async () => {
      const id = await defined(
        line('Fails', [noop('a'), { id: 'f', type: 'fail', failMessage: 'as planned' }]),
      );
      // 422 says that nothing could begin; this run did what its definition says
      const { status, body } = await start(id);
      expect([status, body.status, body.errors[0].message]).to.deep.equal([201, 'failed', 'as planned']);
    });

    it('starts nothing of a definition that is paused or retired', async () => {
      const id = await defined(line('Resting', [noop('a')]));
      await house.operator.post(`${root}/${id}/pause`);
      expect((await start(id)).status).to.equal(409);
      await house.operator.post(`${root}/${id}/retire`);
      expect((await start(id)).status).to.equal(409);
    });

    it('can be rehearsed: it says what would happen, and nothing does', async () => {
      const id = await defined(line('Rehearsed', [noop('a')]));
      const { status, body } = await house.operator.post(`${root}/${id}/run?dryRun=true`, {
        idempotencyKey: 'x',
      });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.allowed).to.equal(true);
      expect(body.steps.map(({ kind, to }: { kind: string; to: unknown }) => [kind, to])).to.deep.equal([
        ['workflow-run', 'completed'],
      ]);
      expect((await house.operator.get(`${root}/${id}/runs`)).body.runs).to.deep.equal([]);
    });

    it('lets as many run as the definition says; the others wait, and begin in order', async () => {
      const id = await defined(line('Narrow', [gate('g'), noop('a')], { concurrency: 2 }));
      const runs = [await start(id), await start(id), await start(id), await start(id)].map(
        ({ body }) => body as { runId: string; status: string; queued: boolean },
      );
      expect(runs.map(({ status, queued }) => `${status}${queued ? ' queued' : ''}`)).to.deep.equal([
        'parked',
        'parked',
        'running queued',
        'running queued',
      ]);
      await house.operator.post(`${root}/${id}/runs/${runs[1]?.runId}/cancel`);
      await reached(id, runs[2]?.runId as string, 'parked');
      expect((await read(id, runs[3]?.runId as string)).body.queued).to.equal(true);
      await house.operator.post(`${root}/${id}/runs/${runs[0]?.runId}/resolve-gate`, { decision: 'approve' });
      await reached(id, runs[3]?.runId as string, 'parked');
      const more = [await start(id), await start(id)].map(({ body }) => body.runId as string);
      // with all runs parked at their gates, those that waited once waited on, however much room the
      // definition was given
      expect(
        (
          await house.operator.post(`${root}/mutate`, {
            operation: 'update',
            workflowId: id,
            patch: { concurrency: 4 },
          })
        ).status,
      ).to.equal(200);
      for (const runId of more) await reached(id, runId, 'parked');
    });
  });

  describe('steps of agents', () => {
    it('are sessions of their own, whose answers are the outcomes', async () => {
      const id = await defined(
        line('Talk', [agent('a', 'Say {{input.word}}.'), agent('b', 'And then?')], {}),
      );
      const {
        body: { runId },
      } = await start(id, { input: { word: 'hello' } });
      const run = await reached(id, runId, 'completed', 'failed');
      expect(told(run)).to.equal('a:done b:done');
      const [first, second] = run.body.steps;
      expect(first.outcome.finalMessage).to.include('hello');
      expect(first.outcome.sessionId).to.equal(first.sessionId);
      expect(first.input.prompt).to.include('Your task:\nSay hello.');
      expect(second.input.prompt).to.include('The outcome of "a"').and.to.include('hello');
      const session = await house.operator.get(`/api/sessions/${first.sessionId}`);
      expect(session.body).to.include({
        source: 'workflow',
        sourceRef: `workflow-run:${runId}:a:1`,
        status: 'idle',
      });
      expect(session.body.workflowProvenance).to.deep.equal({
        kind: 'phase',
        runId,
        phase: { nodeId: 'a', round: 1, attempt: 1 },
      });
    });

    it('share one session of the run, or work in one that is there, where they say so', async () => {
      const shared = { options: { session: { mode: 'workflow' } } };
      await house.supervisor.spawn('session', {
        id: 'standing',
        input: {
          engine: 'pen',
          model: null,
          effort: null,
          employee: null,
          parentSessionId: null,
          ancestors: [],
          workItemId: null,
          title: null,
          cwd: house.home,
          source: 'web',
          sourceRef: null,
          interruptOnNewMessage: true,
          turnDeadlineMs: 60_000,
        },
      });
      const id = await defined(
        line('Shared', [
          agent('a', 'one', shared),
          agent('b', 'two', shared),
          agent('c', 'three', { options: { session: { mode: 'existing', sessionId: 'standing' } } }),
          agent('d', 'four'),
        ]),
      );
      const {
        body: { runId },
      } = await start(id);
      const run = await reached(id, runId, 'completed', 'failed');
      expect(run.body.status, JSON.stringify(run.body.errors)).to.equal('completed');
      const [a, b, c, d] = run.body.steps.map(
        ({ sessionId }: { sessionId: string }) => sessionId,
      ) as string[];
      expect([a === b, c, d === a]).to.deep.equal([true, 'standing', false]);
      expect(run.body.steps[1].outcome.finalMessage).to.include('two').and.not.to.include('Your task:\none');
    });

    it('tell their run when they are begun again after an interruption, and fail it after the second', async () => {
      const id = await defined(line('Cut', [agent('a', 'hang')]));
      const {
        body: { runId },
      } = await start(id);
      const sessionOf = async (attempt: number): Promise<string> =>
        (
          await poll(
            () => read(id, runId),
            ({ body }) => body.steps[0].attempt === attempt && body.steps[0].sessionId !== undefined,
          )
        ).body.steps[0].sessionId as string;
      await house.operator.post(`/api/sessions/${await sessionOf(1)}/stop`);
      await house.operator.post(`/api/sessions/${await sessionOf(2)}/stop`);
      const run = await reached(id, runId, 'failed');
      expect(
        (await house.operator.get(`${root}/${id}/runs/${runId}/receipts`)).body.receipts.map(
          ({ nodeId, status, attempt }: { nodeId: string; status: string; attempt: number }) =>
            `${nodeId}#${attempt}:${status}`,
        ),
      ).to.deep.equal(['trigger#1:fired', 'a#1:failed', 'a#2:failed']);
      expect(run.body.errors[0].code).to.equal('STEP_FAILED');
    });

    it('end when their agent hands in an output that fits, and not before', async () => {
      const id = await defined(
        line('Typed step', [
          agent('a', 'hang', {
            output: { type: 'object', required: ['score'], properties: { score: { type: 'number' } } },
          }),
          { id: 'end', type: 'end', result: { score: 'steps.a.outcome.fields.score' } },
        ]),
      );
      const {
        body: { runId },
      } = await start(id);
      const running = await poll(
        () => read(id, runId),
        ({ body }) => body.steps[0].sessionId !== undefined,
      );
      const worker = house.agent(running.body.steps[0].sessionId as string);
      const wrong = await worker.post(`${root}/${id}/runs/${runId}/steps/a/output`, {
        fields: { score: 'high' },
      });
      expect([wrong.status, wrong.body.errors[0].message]).to.deep.equal([400, 'score must be number']);
      expect(
        (await agents.cat.post(`${root}/${id}/runs/${runId}/steps/a/output`, { fields: { score: 1 } }))
          .status,
      ).to.equal(403);
      const right = await worker.post(`${root}/${id}/runs/${runId}/steps/a/output`, { fields: { score: 9 } });
      expect(right.status, JSON.stringify(right.body)).to.equal(200);
      const done = await poll(
        () => read(id, runId),
        ({ body }) => body.status === 'completed' && body.result !== null,
      );
      expect(done.body.result).to.deep.equal({ score: 9 });
    });
  });

  describe('gates', () => {
    it('park the run until someone decides, and once only', async () => {
      const id = await defined(line('Gated', [noop('a'), gate('g'), noop('b')]));
      const { body } = await start(id);
      expect(body.status).to.equal('parked');
      expect(body.parked).to.deep.include({
        scope: 'gateNode',
        nodeId: 'g',
        kind: 'approval',
        evaluator: 'human-approval',
        ref: 'go',
        description: 'Go on?',
      });
      expect(body.approvalCapability).to.include({ canDecide: true, needsYou: true, escalated: false });
      expect(body.parked.approval, 'the operator decides what is routed to the root').to.include({
        target: 'chief',
        operatorEntitled: true,
        canDecide: true,
      });
      const gated = `${root}/${id}/runs/${body.runId}/resolve-gate`;
      expect((await house.operator.post(gated, { decision: 'maybe' })).status).to.equal(400);
      const approved = await house.operator.post(gated, { decision: 'approve', note: 'fine' });
      expect([approved.status, approved.body.status, told(approved)]).to.deep.equal([
        200,
        'completed',
        'a:done g:checkpoint b:done',
      ]);
      expect(approved.body.gateDecisions[0]).to.include({
        decision: 'approve',
        actor: 'operator',
        note: 'fine',
      });
      expect(approved.body.gateDecisions[0].approval).to.include({
        state: 'approved',
        decidedBy: 'operator',
        requestedBy: 'operator',
        requestedAt: body.parked.at,
        target: body.parked.approval.target,
      });
      expect(approved.body.steps[1].detail).to.equal('approved by operator');
      const late = await house.operator.post(gated, { decision: 'approve' });
      expect([late.status, late.body.status]).to.deep.equal([409, 'completed']);
    });

    it('fail the run when they are rejected', async () => {
      const id = await defined(line('Refused', [gate('g'), noop('b')]));
      const {
        body: { runId },
      } = await start(id);
      const { body } = await house.operator.post(`${root}/${id}/runs/${runId}/resolve-gate`, {
        decision: 'reject',
        note: 'no money',
      });
      expect(body.status).to.equal('failed');
      expect(body.steps[0]).to.include({ status: 'failed', detail: 'rejected by operator: no money' });
    });

    it('are decided by whom they are routed to, never by who asked for the run', async () => {
      const id = await defined(line('Routed', [gate('g'), noop('b')], { runners: ['ann', 'cat'] }));
      const { status, body } = await start(id, {}, agents.ann);
      expect(status, JSON.stringify(body)).to.equal(201);
      expect([status, body.parked.approval.target, body.parked.approval.operatorEntitled]).to.deep.equal([
        201,
        'bob',
        false,
      ]);
      expect(body.parked.approval.requesterEmployee, 'an employee, not their session').to.equal('ann');
      const decide = (client: Client) =>
        client.post(`${root}/${id}/runs/${body.runId}/resolve-gate`, { decision: 'approve' });
      expect((await decide(agents.ann)).body.code).to.equal('OWN_APPROVAL');
      expect((await decide(agents.cat)).body.code).to.equal('NOT_ROUTED');
      expect((await decide(house.operator)).body.code).to.equal('NOT_ROUTED');
      expect(
        (await house.operator.post(`${root}/${id}/runs/${body.runId}/gate-approval/escalate`)).status,
      ).to.equal(403);
      expect(
        (
          await agents.bob.post(`${root}/${id}/runs/${body.runId}/gate-approval/escalate`, {
            reason: 'not mine',
          })
        ).status,
      ).to.equal(200);
      const decided = await decide(house.operator);
      expect([decided.status, decided.body.status]).to.deep.equal([200, 'completed']);
    });

    it('tell an agent that decides what came of it: it once heard 403 after the gate had opened', async () => {
      const id = await defined(line('Passed by', [gate('g'), noop('b')], { runners: ['ann'] }));
      const {
        body: { runId },
      } = await start(id, {}, agents.ann);
      const decide = () =>
        agents.bob.post(`${root}/${id}/runs/${runId}/resolve-gate`, {
          decision: 'approve',
          idempotencyKey: 'once',
        }); // bob may not run it, and no gate waits for him any more
      const decided = await decide();
      expect([decided.status, decided.body.status, decided.body.gateDecisions?.[0].actor]).to.deep.equal([
        200,
        'completed',
        'bob',
      ]);
      expect((await decide()).status, 'asked again with the same key').to.equal(200);
      expect((await read(id, runId, agents.bob)).status).to.equal(200);
      expect((await read(id, runId, agents.cat)).status).to.equal(403);
    });

    it("are mirrored by the run's work item: it cannot be archived, and deciding either decides both", async () => {
      const id = await defined(line('Mirrored', [gate('g'), noop('b')], { concurrency: 3 }));
      const item = async (): Promise<string> =>
        (await house.operator.post('/api/work-items', { title: 'Ship' })).body.workItem.id as string;
      const pending = (workItemId: string) =>
        poll(
          () => house.operator.get(`/api/work-items/${workItemId}`),
          ({ body }) => body.workItem.approvalState === 'pending',
        );
      const [one, two, three] = [await item(), await item(), await item()];
      const runs: string[] = [];
      for (const workItemId of [one, two, three]) {
        runs.push((await start(id, { workItemId })).body.runId as string);
        await pending(workItemId as string);
      }
      const archived = await house.operator.post(`/api/work-items/${one}/archive`);
      expect([archived.status, archived.body.code, archived.body.runId]).to.deep.equal([
        409,
        'GATE_PARKED',
        runs[0],
      ]);
      expect(
        (await house.operator.post(`/api/work-items/${one}/approval`, { decision: 'approve' })).status,
      ).to.equal(200);
      expect((await read(id, runs[0] as string)).body.status).to.equal('completed');
      expect(
        (await house.operator.post(`${root}/${id}/runs/${runs[1]}/resolve-gate`, { decision: 'reject' })).body
          .status,
      ).to.equal('failed');
      expect((await house.operator.get(`/api/work-items/${two}`)).body.workItem.approvalState).to.equal(
        'rejected',
      );
      await house.operator.post(`${root}/${id}/runs/${runs[2]}/cancel`, { reason: 'changed my mind' });
      await poll(
        () => house.operator.get(`/api/work-items/${three}`),
        ({ body }) => body.workItem.approvalState === 'rejected',
      );
      expect((await house.operator.post(`/api/work-items/${three}/archive`)).status).to.equal(200);
    });
  });

  it('cancels a run with its session, and once more is 200', async () => {
    const id = await defined(line('Stopped', [agent('a', 'hang'), noop('b')]));
    const {
      body: { runId },
    } = await start(id);
    const running = await poll(
      () => read(id, runId),
      ({ body }) => body.steps[0].sessionId !== undefined,
    );
    const first = await house.operator.post(`${root}/${id}/runs/${runId}/cancel`, { reason: 'enough' });
    expect([first.status, first.body.status, first.body.cancellation.reason]).to.deep.equal([
      200,
      'cancelled',
      'enough',
    ]);
    expect(told(first)).to.equal('a:skipped b:pending');
    await poll(
      () => house.operator.get(`/api/sessions/${running.body.steps[0].sessionId}`),
      ({ body }) => body.status === 'stopped',
    );
    const again = await house.operator.post(`${root}/${id}/runs/${runId}/cancel`);
    expect([again.status, again.body.cancellation.reason]).to.deep.equal([200, 'enough']);
  });

  it('edits the prompt of a step that has not begun, and of no other', async () => {
    const id = await defined(line('Edited', [noop('z'), gate('g'), agent('a', 'old words')]));
    const {
      body: { runId },
    } = await start(id);
    expect(
      (await house.operator.call('PATCH', `${root}/${id}/runs/${runId}/pending-steps/z`, { prompt: 'x' }))
        .status,
    ).to.equal(409);
    expect(
      (
        await house.operator.call('PATCH', `${root}/${id}/runs/${runId}/pending-steps/nobody`, {
          prompt: 'x',
        })
      ).status,
    ).to.equal(404);
    expect(
      (
        await house.operator.call('PATCH', `${root}/${id}/runs/${runId}/pending-steps/a`, {
          prompt: 'new words',
        })
      ).status,
    ).to.equal(200);
    await house.operator.post(`${root}/${id}/runs/${runId}/resolve-gate`, { decision: 'approve' });
    const run = await reached(id, runId, 'completed');
    expect(run.body.steps[2].input.prompt).to.include('new words').and.not.to.include('old words');
  });

  it('does a run again from one step on, with what was before it as it was', async () => {
    const id = await defined(line('Again', [agent('a', 'First.'), agent('b', 'Second {{input.n}}.')]));
    const {
      body: { runId },
    } = await start(id, { input: { n: 1 } });
    const before = await reached(id, runId, 'completed');
    const again = await house.operator.post(`${root}/${id}/runs/${runId}/rerun`, {
      nodeId: 'b',
      input: { n: 2 },
    });
    expect([again.status, again.body.rerunOf]).to.deep.equal([201, { runId, nodeId: 'b' }]);
    const run = await reached(id, again.body.runId as string, 'completed');
    const { sessionId: _of, ...outcome } = before.body.steps[0].outcome;
    expect(run.body.steps[0], 'no session of this run').to.deep.include({ inherited: true, outcome });
    expect(run.body.steps[1].input.prompt).to.include('Second 2.');
    expect((await read(id, runId)).body.status).to.equal('completed');
    const keyed = () =>
      house.operator.post(`${root}/${id}/runs/${runId}/rerun`, { nodeId: 'b', idempotencyKey: 'twice' });
    const [first, second] = [await keyed(), await keyed()];
    expect([first.status, second.status, second.body.runId]).to.deep.equal([201, 200, first.body.runId]);
  });

  it('runs another workflow as a step, and takes what it gives back', async () => {
    const child = await defined(
      line('Child', [noop('c'), { id: 'end', type: 'end', result: { twice: 'input.n' } }]),
    );
    const id = await defined(
      line('Parent', [
        {
          id: 'call',
          type: 'step',
          actor: { kind: 'workflow', workflowId: child, input: { n: '{{input.n}}' } },
        },
        {
          id: 'item',
          type: 'step',
          actor: {
            kind: 'work-item',
            operation: 'create',
            fields: { title: 'From {{steps.call.outcome.fields.twice}}' },
          },
        },
      ]),
    );
    const {
      body: { runId },
    } = await start(id, { input: { n: 21 } });
    const run = await reached(id, runId, 'completed', 'failed');
    expect(run.body.status, JSON.stringify(run.body.errors)).to.equal('completed');
    expect(run.body.steps[0].outcome.fields).to.deep.equal({ twice: 21 });
    const made = await house.operator.get(`/api/work-items/${run.body.steps[1].outcome.fields.workItemId}`);
    expect(made.body.workItem).to.include({ title: 'From 21', source: 'workflow' });
  });

  it('lets workflows call each other eight deep, and no deeper', async () => {
    await defined(line('Depth 10', [noop('end')]));
    for (let n = 9; n >= 0; n -= 1)
      await defined(
        line(`Depth ${n}`, [
          { id: 'down', type: 'step', actor: { kind: 'workflow', workflowId: `depth-${n + 1}`, input: {} } },
        ]),
      );
    const {
      body: { runId },
    } = await start('depth-0');
    const run = await reached('depth-0', runId, 'failed', 'completed');
    expect(run.body.errors[0].message).to.include('at most 8 deep');
    expect((await house.operator.get(`${root}/depth-8/runs`)).body.runs).to.have.length(1);
    expect((await house.operator.get(`${root}/depth-9/runs`)).body.runs).to.have.length(0);
    const { body: shallow } = await start('depth-2');
    expect((await reached('depth-2', shallow.runId as string, 'failed', 'completed')).body.status).to.equal(
      'completed',
    );
  });

  it('refuses to fetch from private addresses', async () => {
    const id = await defined(
      line('Private', [
        { id: 'get', type: 'step', actor: { kind: 'http', method: 'GET', url: 'http://127.0.0.1:9/' } },
      ]),
    );
    const {
      body: { runId },
    } = await start(id);
    const run = await reached(id, runId, 'failed');
    expect(run.body.errors[0]).to.include({ code: 'STEP_FAILED', ref: 'get' });
    expect(run.body.errors[0].message).to.include('not fetchable');
  });

  it('keeps the receipts as evidence files, and pages through all of them', async () => {
    const id = await defined({
      ...line('Looped', [noop('a'), noop('b')]),
      edges: [...chain('a', 'b'), { id: 'back', from: 'b', to: 'a', kind: 'loop', maxRounds: 4 }],
    });
    const {
      body: { runId },
    } = await start(id);
    await poll(
      () => read(id, runId),
      ({ body }) => body.evidence === 'written',
    );
    const lines = (await readFile(join(folder, 'runs', id, runId, 'receipts.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as { nodeId: string });
    expect(lines).to.have.length(11);
    const page = await house.operator.get(`${root}/${id}/runs/${runId}/receipts?limit=4&after=4`);
    expect(page.body.receipts.map(({ receipt }: { receipt: number }) => receipt)).to.deep.equal([5, 6, 7, 8]);
    expect([page.body.total, page.body.nextAfter]).to.deep.equal([11, 8]);
  });

  // A failed write of evidence was shown in the run's record alone, where no one looks.
  it('ends a run whose evidence cannot be written, and logs why it is missing', async () => {
    const id = await defined(line('Unkept', [noop('a')]));
    await mkdir(join(folder, 'runs'), { recursive: true });
    await writeFile(join(folder, 'runs', id), 'a file where a folder belongs');
    const warnings: unknown[][] = [];
    const log = house.supervisor.environment.log as { warn: (...words: unknown[]) => void };
    const { warn } = log;
    log.warn = (...words) => void warnings.push(words);
    try {
      const {
        body: { runId },
      } = await start(id);
      const run = await poll(
        () => read(id, runId),
        ({ body }) => body.evidence === 'failed',
      );
      expect(run.body.status).to.equal('completed');
      expect(warnings.map(([facts, text]) => [(facts as { run: string }).run, text])).to.deep.equal([
        [runId, 'could not write the evidence of a run'],
      ]);
    } finally {
      log.warn = warn;
    }
  });

  it('tells the session that asked for the run how it ended', async () => {
    const id = await defined(line('Told', [noop('a')], { owner: 'ann' }));
    const {
      body: { runId },
    } = await start(id, {}, agents.ann);
    const heard = await poll(
      () => house.operator.get('/api/sessions/of-ann/messages'),
      ({ body }) => JSON.stringify(body).includes(runId),
    );
    expect(JSON.stringify(heard.body)).to.include(`Workflow run ${runId} (\\"Told\\") is completed.`);
  });

  it('fills pages of one status, however many runs of others lie between', async () => {
    const id = await defined(line('Mixed', [gate('g'), noop('b')], { concurrency: 8 }));
    const runs: string[] = [];
    for (let n = 0; n < 7; n += 1) runs.push((await start(id)).body.runId as string);
    for (const n of [1, 2, 3, 5]) await house.operator.post(`${root}/${id}/runs/${runs[n]}/cancel`);
    const page = async (query: string) =>
      (await house.operator.get(`${root}/${id}/runs?${query}`)).body as {
        runs: { runId: string; status: string }[];
        nextOffset: number | null;
      };
    const all = (await page('limit=100')).runs;
    const parked = all.filter(({ status }) => status === 'parked').map(({ runId }) => runId);
    expect(parked).to.have.lengthOf(3);
    const first = await page('status=parked&limit=2');
    expect(first.runs.map(({ runId }) => runId)).to.deep.equal(parked.slice(0, 2));
    const rest = await page(`status=parked&limit=2&offset=${first.nextOffset}`);
    expect([rest.runs.map(({ runId }) => runId), rest.nextOffset]).to.deep.equal([parked.slice(2), null]);
    expect((await page('limit=7')).nextOffset).to.equal(null);
    expect((await page('limit=6')).nextOffset).to.equal(6);
  });

  it('tells a session that wants silence nothing', async () => {
    const id = await defined(line('Silent', [noop('a')], { owner: 'ann' }));
    const { body } = await start(id, { reportMode: 'silent' }, agents.ann);
    expect(body.invocation).to.deep.equal({ sessionId: 'of-ann', reportMode: 'silent' });
    expect((await read(id, body.runId as string)).body.reportEpisodes).to.deep.equal([]);
    expect((await start(id, { reportMode: 'loud' })).status).to.equal(400);
  });

  it('begins with other prompts for steps that are named, and refuses steps that are not there, all at once', async () => {
    const id = await defined(line('Overridden', [agent('a', 'old words'), agent('b', 'as written')]));
    const stepOverrides = { a: { prompt: 'new words for {{input.n}}' } };
    const {
      body: { runId },
    } = await start(id, { stepOverrides, input: { n: 'seven' }, idempotencyKey: 'once' });
    const run = await reached(id, runId, 'completed');
    expect(run.body.steps[0].input.prompt).to.include('new words for seven').and.not.to.include('old words');
    expect(run.body.steps[1].input.prompt).to.include('as written');
    expect(run.body.editedSteps).to.deep.equal(['a']);
    expect(
      (await start(id, { stepOverrides, input: { n: 'seven' }, idempotencyKey: 'once' })).body.runId,
    ).to.equal(runId);
    expect(
      (await start(id, { input: { n: 'seven' }, idempotencyKey: 'once' })).status,
      'the same key with other prompts',
    ).to.equal(409);
    const wrong = await start(id, {
      stepOverrides: { nobody: { prompt: 'x' }, trigger: { prompt: 'x' } },
    });
    expect([wrong.status, wrong.body.errors.map(({ ref }: { ref: string }) => ref)]).to.deep.equal([
      400,
      ['nobody', 'trigger'],
    ]);
    for (const bad of [{ a: 'x' }, { a: { prompt: ' ' } }, { a: { prompt: 'x', model: 'y' } }, []])
      expect((await start(id, { stepOverrides: bad })).status, JSON.stringify(bad)).to.equal(400);
  });

  it('announces what a run does on /ws', async () => {
    const socket = await house.socket('/ws');
    const id = await defined(line('Watched', [gate('g'), noop('b')]));
    const {
      body: { runId },
    } = await start(id);
    await house.operator.post(`${root}/${id}/runs/${runId}/resolve-gate`, { decision: 'approve' });
    await socket.until(({ event, payload }) => event === 'run:completed' && payload.runId === runId);
    expect(
      socket.frames
        .filter(({ event, payload }) => event.startsWith('run:') && payload.runId === runId)
        .map(({ event }) => event),
    ).to.deep.equal(['run:started', 'run:step', 'run:parked', 'run:step', 'run:completed']);
    const changes = socket.frames.filter(
      ({ event, payload }) => event === 'company:changed' && payload.runId === runId,
    );
    expect(
      changes.map(({ payload }) => payload.action),
      'as clients of this API know them',
    ).to.deep.equal(['started', 'parked', 'completed']);
  });

  describe('authority', () => {
    const path = (id: string, runId: string) => `${root}/${id}/runs/${runId}`;

    it('lets agents start what lists them, and see what they take part in', async () => {
      const id = await defined(line('Listed', [gate('g'), noop('a')], { owner: 'ann', concurrency: 4 }));
      expect((await start(id, {}, agents.cat)).status).to.equal(403);
      const {
        body: { runId },
      } = await start(id, {}, agents.ann);
      expect((await read(id, runId, agents.bob)).status).to.equal(200); // asked to decide
      expect((await read(id, runId, agents.cat)).status).to.equal(403);
      expect((await agents.cat.get(`${root}/${id}/runs`)).body.runs).to.deep.equal([]);
      expect((await agents.cat.post(`${path(id, runId)}/cancel`)).status).to.equal(403);
      expect((await agents.ann.post(`${path(id, runId)}/cancel`)).status).to.equal(200);
    });

    it('lets whom the definition lists steer a run that someone else started', async () => {
      const id = await defined(
        line('Steered', [gate('g'), agent('a', 'x')], {
          runners: ['cat'],
          department: 'build',
          concurrency: 4,
        }),
      );
      const {
        body: { runId },
      } = await start(id);
      // Who is listed may stop it, not tell its steps what to do
      expect(
        (await agents.cat.call('PATCH', `${path(id, runId)}/pending-steps/a`, { prompt: 'y' })).status,
      ).to.equal(403);
      expect(
        (await agents.bob.call('PATCH', `${path(id, runId)}/pending-steps/a`, { prompt: 'y' })).status,
      ).to.equal(200);
      expect(
        (await agents.ann.call('PATCH', `${path(id, runId)}/pending-steps/a`, { prompt: 'z' })).status,
      ).to.equal(403);
      // Heads the department
      expect((await agents.bob.post(`${path(id, runId)}/cancel`)).body.status).to.equal('cancelled');
      const other = await start(id);
      expect((await agents.cat.post(`${path(id, other.body.runId as string)}/cancel`)).body.status).to.equal(
        'cancelled',
      );
    });

    it('lets agents name only their own work items and sessions, and no one one that is not there', async () => {
      const id = await defined(line('Owned', [noop('a')], { runners: ['cat'] }));
      const {
        body: { workItem },
      } = await house.operator.post('/api/work-items', { title: 'Not yours' });
      expect((await start(id, { workItemId: workItem.id }, agents.cat)).body.code).to.equal('NOT_OWNER');
      expect((await start(id, { workItemId: 'TRP-999' })).status).to.equal(404);
      expect(
        (await start(id, { report: { sessionId: 'of-ann', mode: 'resume' } }, agents.cat)).status,
      ).to.equal(403);
      expect((await start(id, { report: { sessionId: 'nobody', mode: 'resume' } })).status).to.equal(404);
      expect(
        (await start(id, { report: { sessionId: 'of-cat', mode: 'silent' } }, agents.cat)).status,
      ).to.equal(201);
    });

    it("asks for every row of workflows' runs", async () => {
      const id = await defined(line('Asked', [gate('g'), noop('a')], { concurrency: 8 }));
      const asks: Partial<Record<AuthorityId, (client: Client) => Promise<Answer>>> = {
        'workflow-run.start': (client) => start(id, {}, client),
        'workflow-run.list': (client) => client.get(`${root}/${id}/runs`),
        'workflow-run.steer': (client) => client.post(`${path(id, 'run-none')}/cancel`),
      };
      expect(Object.keys(asks)).to.have.members(
        authorityIds.filter((row) => row.startsWith('workflow-run.')),
      );
      const clients: Partial<Record<(typeof callerKinds)[number], Client>> = {
        none: house.client(),
        bad: house.client({ authorization: 'Bearer bad' }),
        operator: house.operator,
        outsider: agents.cat,
      };
      for (const [row, ask] of Object.entries(asks)) {
        for (const [kind, client] of Object.entries(clients)) {
          const cell = verdict(row as AuthorityId, kind as (typeof callerKinds)[number]);
          const { status } = await ask(client);
          if (cell === 'UNAUTHENTICATED') expect(status, `${row} ${kind}`).to.equal(401);
          else expect(status, `${row} ${kind}`).to.not.equal(401);
        }
      }
    });
  });
});
