import { expect } from 'chai';
import { system } from '../../../machines/caller.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { openHouse, settled, type House } from '../../fixtures/house.js';
import {
  chain,
  definitionOf,
  edge,
  farSide,
  noop,
  receiptsOf,
  runInput,
  runKind,
  runOf,
  step,
  told,
  type Far,
} from '../../fixtures/workflow.js';

describe('a step', () => {
  let house: House;
  let far: Far;
  afterEach(async () => {
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });
  async function begin(
    raw: object,
    answer?: Far['answer'],
    more: Parameters<typeof runInput>[1] = {},
  ): Promise<void> {
    const definition = definitionOf(raw);
    far = farSide(definition);
    if (answer !== undefined) far.answer = answer;
    house = await openHouse([
      runKind(far),
      sessionKind({
        turn: {
          guarantee: 'at-most-once',
          run: async () => ({ outcome: 'succeeded', text: '' }),
          recover: async () => ({ outcome: 'interrupted', text: '' }),
        },
      }),
    ]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition, more) });
    await house.environment.settle();
  }
  const view = () => runOf(house.supervisor);
  const receipts = async () => told(await receiptsOf(house.supervisor));
  const say = (event: { type: string; [member: string]: unknown }, by = system('session:s')) =>
    settled(house, house.supervisor.ask('workflow-run', 'r', event, { by }));
  const failing =
    (times: number): Far['answer'] =>
    ({ nodeId, attempt }) => {
      if (nodeId === 'a' && attempt <= times) throw new Error(`no ${attempt}`);
      return {};
    };
  const agent = (id: string, more: object = {}) => ({
    id,
    type: 'step',
    actor: { kind: 'engine', ref: 'pen' },
    instructions: `Do ${id}.`,
    ...more,
  });
  const ended = (more: object = {}) => ({
    type: 'step.ended',
    nodeId: 'a',
    round: 1,
    attempt: 1,
    worker: { kind: 'session', id: 'session-1' },
    outcome: 'succeeded',
    text: 'done',
    error: null,
    costUsd: 0.5,
    ...more,
  });

  describe('that fails', () => {
    it('fails the run, and says why', async () => {
      await begin({ nodes: [step('a'), noop('b')], edges: chain('a', 'b') }, failing(9));
      expect(await view()).to.deep.include({
        status: 'failed',
        errors: [{ code: 'STEP_FAILED', message: 'no 1', ref: 'a' }],
      });
      expect(await receipts()).to.equal('trigger:fired a:failed');
    });

    it('is tried again after pauses that double, also over a crash', async () => {
      await begin(
        { nodes: [step('a', { options: { retry: { maxAttempts: 3, on: ['error'], delayMs: 10_000 } } })] },
        failing(2),
      );
      expect(far.acts).to.deep.equal(['a@1:1']);
      await house.environment.advance(9_000);
      await house.crash();
      await house.environment.advance(1_100);
      expect(far.acts).to.deep.equal(['a@1:1', 'a@1:2']);
      await house.environment.advance(19_000);
      expect(far.acts).to.have.length(2);
      await house.environment.advance(1_100);
      expect(await receipts()).to.equal('trigger:fired a:failed a#2:failed a#3:done');
      expect((await view()).status).to.equal('completed');
    });

    it('is not tried again for a reason that its rules do not name', async () => {
      await begin(
        { nodes: [step('a', { options: { retry: { maxAttempts: 3, on: ['timeout'] } } })] },
        failing(1),
      );
      expect((await view()).status).to.equal('failed');
    });

    it('is let pass with "continue"', async () => {
      await begin(
        { nodes: [step('a', { options: { onError: 'continue' } }), noop('b')], edges: chain('a', 'b') },
        failing(9),
      );
      expect(await receipts()).to.equal('trigger:fired a:failed b:done');
    });

    it('takes its error lane alone, and no lane when it succeeds', async () => {
      const raw = {
        nodes: [step('a', { options: { onError: 'error-edge' } }), noop('b'), noop('mend')],
        edges: [edge('a', 'b'), edge('a', 'mend', { lane: 'error' })],
      };
      await begin(raw, failing(9));
      expect(await receipts()).to.equal('trigger:fired a:failed b:skipped mend:done');
      await house.stop();
      await begin(raw);
      expect(await receipts()).to.equal('trigger:fired a:done b:done mend:skipped');
    });

    it('is skipped where it is optional', async () => {
      await begin({ nodes: [step('a', { optional: true }), noop('b')], edges: chain('a', 'b') }, failing(9));
      expect(
        (await receiptsOf(house.supervisor)).map(({ nodeId, status }) => `${nodeId}:${status}`),
      ).to.deep.equal(['trigger:fired', 'a:failed', 'b:done']);
      expect((await view()).steps['a']?.status).to.equal('skipped');
    });
  });

  it('that takes too long is left, and its late answer changes nothing', async () => {
    let late = (): void => undefined;
    await begin(
      { nodes: [step('a', { options: { timeoutMinutes: 1, retry: { maxAttempts: 2, on: ['timeout'] } } })] },
      ({ attempt }) =>
        attempt === 1
          ? new Promise((resolve) => {
              late = () => resolve({ fields: { late: true } });
            })
          : { fields: { late: false } },
    );
    await house.environment.advance(60_001);
    late();
    await house.environment.settle();
    expect(await receipts()).to.equal('trigger:fired a:failed a#2:done');
    expect((await receiptsOf(house.supervisor)).at(-1)?.outcome?.fields).to.deep.equal({ late: false });
  });

  it('whose outcome does not fit its shape has failed', async () => {
    await begin({ nodes: [step('a', { output: { type: 'object', required: ['n'] } })] }, () => ({
      fields: { m: 1 },
    }));
    expect((await view()).errors[0]?.message).to.equal('n is required');
  });

  it('that must not be repeated is not, when its process dies in the middle', async () => {
    await begin(
      {
        nodes: [
          step('a', {
            method: 'POST',
            options: { onError: 'continue', retry: { maxAttempts: 3, on: ['interrupted', 'error'] } },
          }),
        ],
      },
      () => new Promise(() => undefined),
    );
    await house.crash();
    await house.environment.settle();
    expect(far.acts).to.deep.equal(['a@1:1']);
    expect((await receiptsOf(house.supervisor)).at(-1)).to.deep.include({
      status: 'failed',
      reason: 'interrupted',
    });
  });

  describe('of an agent', () => {
    it('ends with what its session says, once', async () => {
      await begin({ nodes: [agent('a'), agent('b')], edges: chain('a', 'b') });
      expect(far.opened.map(({ nodeId }) => nodeId)).to.deep.equal(['a']);
      await say(
        ended({
          text: 'All good.\n```json\n{"summary":"good","fields":{"n":1},"artifacts":["out.txt"]}\n```',
        }),
      );
      expect(far.opened.map(({ nodeId }) => nodeId)).to.deep.equal(['a', 'b']);
      expect(
        (await receiptsOf(house.supervisor)).find(({ nodeId }) => nodeId === 'a')?.outcome,
      ).to.deep.include({
        summary: 'good',
        fields: { n: 1 },
        artifacts: ['out.txt'],
        extractedFrom: 'handoff-block',
      });
      await say(ended({ text: 'Once more.' }));
      expect(await receipts()).to.equal('trigger:fired a:done b:running');
      expect((await view()).costUsd).to.equal(0.5);
    });

    it('is asked again when its answer does not fit, and fails after that', async () => {
      await begin({
        nodes: [
          agent('a', { output: { type: 'object', required: ['n'], properties: { n: { type: 'number' } } } }),
        ],
      });
      for (let asked = 1; asked <= 2; asked += 1) {
        await say(ended({ text: 'I will not tell.' }));
        expect((await view()).steps['a']).to.deep.include({ status: 'running', reminders: asked });
      }
      await say(ended({ text: 'Still not.' }));
      expect(await view()).to.deep.include({ status: 'failed' });
      expect((await view()).errors[0]?.message).to.equal('n is required');
    });

    it('is begun again when its session was interrupted, once', async () => {
      await begin({ nodes: [agent('a')] });
      await say(ended({ outcome: 'interrupted', text: '' }));
      expect(far.opened).to.have.length(2);
      await say(ended({ attempt: 2, outcome: 'interrupted', text: '', error: 'The gateway ended.' }));
      expect((await view()).errors).to.deep.equal([
        { code: 'STEP_FAILED', message: 'The gateway ended.', ref: 'a' },
      ]);
    });

    it('ends with what its agent hands in, and refuses what comes from someone else', async () => {
      await begin({ nodes: [agent('a'), agent('b')], edges: chain('a', 'b') });
      const submitted = {
        type: 'step.submitted',
        nodeId: 'a',
        round: 1,
        attempt: 1,
        outcome: { fields: { n: 2 } },
      };
      expect(
        await say(submitted, { type: 'session', id: 'other', employee: null, ancestors: [] } as never),
      ).to.include({ code: 'FORBIDDEN' });
      await say(submitted, { type: 'session', id: 'session-1', employee: null, ancestors: [] } as never);
      expect(await receipts()).to.equal('trigger:fired a:done b:running');
      expect(
        await say(submitted, { type: 'session', id: 'session-1', employee: null, ancestors: [] } as never),
      ).to.include({ code: 'CONFLICT' });
    });

    it('is stopped when its run is cancelled', async () => {
      await begin({ nodes: [agent('a'), agent('b')], edges: [] });
      await say({ type: 'run.cancel', reason: 'no more' });
      expect((await view()).status).to.equal('cancelled');
      expect(await receipts()).to.equal('trigger:fired a:skipped b:skipped');
      expect((await view()).cancellation?.reason).to.equal('no more');
    });
  });

  it('of the largest graph that may be written fits a snapshot in every round', async () => {
    const ids = Array.from({ length: 95 }, (_, n) => `step-number-${n}`);
    const extra = Array.from({ length: 260 }, (_, n) => ({
      ...edge(ids[n % 90] as string, ids[(n % 90) + 2 + (n % 3)] as string, {
        when: n < 40 ? [{ path: `steps.${ids[n % 90]}.status`, op: 'eq', value: 'done' }] : [],
      }),
      id: `x${n}`,
    }));
    await begin({
      nodes: ids.map((id) => step(id)),
      edges: [
        ...chain(...ids),
        ...extra.filter(
          ({ from, to }, n) => extra.findIndex((other) => other.from === from && other.to === to) === n,
        ),
        edge(ids[94] as string, ids[0] as string, { kind: 'loop', maxRounds: 1 }),
      ],
    });
    for (let n = 0; n < 200 && (await view()).status === 'running'; n += 1) await house.environment.settle();
    expect(await view()).to.deep.include({ status: 'completed', rounds: 2 });
  });

  it('keeps the snapshot small, however long its prose and its outcomes are', async () => {
    const words = 'x'.repeat(30_000);
    await begin(
      {
        nodes: Array.from({ length: 5 }, (_, n) => ({ ...step(`s${n}`), instructions: words })),
        edges: chain('s0', 's1', 's2', 's3', 's4'),
      },
      () => ({ fields: { words }, summary: words }),
    );
    expect((await view()).status).to.equal('completed');
    const state = JSON.stringify(
      await house.supervisor.past({ kind: 'workflow-run', id: 'r' }, house.supervisor.status.position),
    );
    expect(state.length).to.be.lessThan(8_000);
  });
});
