import { expect } from 'chai';
import type { Kind, Persisted } from '../../../actors/contracts.js';
import { openHouse, settled, type House } from '../../fixtures/house.js';
import { stepsAsMachines } from '../../../machines/workflow-run/migrate.js';
import { packGraph } from '../../../machines/workflow-run/graph.js';
import { compile } from '../../../machines/workflow-run/compile.js';
import { runVersion1 } from '../../fixtures/run-version-1.js';
import { sessionKind } from '../../../actors/session/kind.js';
import { workflowRunKind } from '../../../actors/workflow-run/kind.js';
import {
  chain,
  definitionOf,
  farSide,
  noop,
  receiptsOf,
  runInput,
  runOf,
  step,
  told,
  type Far,
} from '../../fixtures/workflow.js';

/**
 * Runs of version 1 kept status, step runs and gates in the context. Whatever such a run was in the middle of, it
 * goes on after the upgrade: effects, timers and messages that are on their way keep their names.
 */
const gate = { id: 'g', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' } };
const agent = (id: string, more: object = {}) => ({
  id,
  type: 'step',
  actor: { kind: 'engine', ref: 'pen' },
  instructions: `Do ${id}.`,
  ...more,
});

/** Sessions that take what a run sends them. */
const sessions = sessionKind({
  turn: {
    guarantee: 'at-most-once',
    run: async () => ({ outcome: 'succeeded', text: '' }),
    recover: async () => ({ outcome: 'interrupted', text: '' }),
  },
}) as unknown as Kind;

describe('a run of version 1', () => {
  let house: House;
  let far: Far;
  afterEach(async () => {
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });

  /**
   * The kind one version on. Each record that it opens is first put back into the words of version 1, so that
   * its migration has everything to do.
   */
  function upgraded(): Kind {
    const kind = workflowRunKind({ ports: () => far.ports }) as unknown as Kind;
    return {
      ...kind,
      version: kind.version + 1,
      migrate: {
        [kind.version]: (persisted: Persisted) =>
          stepsAsMachines({
            ...persisted,
            ...runVersion1(persisted.value, persisted.context),
          }) as never,
      },
    };
  }
  async function begin(raw: object, more: Parameters<typeof runInput>[1] = {}, answer?: Far['answer']) {
    const definition = definitionOf(raw);
    far = farSide(definition);
    if (answer !== undefined) far.answer = answer;
    house = await openHouse([workflowRunKind({ ports: () => far.ports }), sessions]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition, more) });
    await house.environment.settle();
  }
  const upgrade = async () => {
    await house.restart([upgraded(), sessions]);
    await house.environment.settle();
  };
  const ask = (event: { type: string; [member: string]: unknown }) =>
    settled(house, house.supervisor.ask('workflow-run', 'r', event));
  const receipts = async () => told(await receiptsOf(house.supervisor));

  it('that is parked can be decided, and its deadline still comes', async () => {
    await begin({ nodes: [gate, step('a')], edges: chain('g', 'a') });
    const before = await runOf(house.supervisor);
    await upgrade();
    expect(await runOf(house.supervisor)).to.deep.equal(before);
    await ask({ type: 'gate.resolve', decision: 'approve' });
    expect(await receipts()).to.equal('trigger:fired g:checkpoint a:done');
    await house.stop();
    await begin({
      nodes: [{ ...gate, gate: { ...gate.gate, timeoutMinutes: 1 } }, noop('a')],
      edges: chain('g', 'a'),
    });
    await upgrade();
    await house.environment.advance(60_001);
    expect(await receipts()).to.equal('trigger:fired g:failed');
  });

  it('that is parked before a step begins its first attempt once the gate is open', async () => {
    await begin({ nodes: [step('a', { gates: [gate.gate] })] });
    await upgrade();
    await ask({ type: 'gate.resolve', decision: 'approve' });
    expect(far.acts).to.deep.equal(['a@1:1']);
    expect((await runOf(house.supervisor)).status).to.equal('completed');
  });

  it('with an effect at work takes its result', async () => {
    let answer = (): void => undefined;
    await begin({ nodes: [step('a'), noop('b')], edges: chain('a', 'b') }, {}, () =>
      far.acts.length > 1
        ? {}
        : new Promise((resolve) => {
            answer = () => resolve({});
          }),
    );
    await house.crash([upgraded(), sessions]);
    answer();
    await house.environment.settle();
    expect(await receipts()).to.equal('trigger:fired a:done b:done');
  });

  it('with a fenced effect at work ends it as interrupted', async () => {
    await begin(
      { nodes: [step('a', { method: 'POST', options: { onError: 'continue' } })] },
      {},
      () => new Promise(() => undefined),
    );
    await house.crash([upgraded(), sessions]);
    await house.environment.settle();
    expect(await receipts()).to.equal('trigger:fired a:failed');
    expect(far.acts).to.deep.equal(['a@1:1']);
  });

  it('whose session works hears its end, whether it was asked again or not', async () => {
    const output = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const said = (text: string) => ({
      type: 'step.ended',
      nodeId: 'a',
      round: 1,
      attempt: 1,
      worker: { kind: 'session', id: 'session-1' },
      outcome: 'succeeded',
      text,
      error: null,
    });
    for (const words of [[], ['not yet']]) {
      await begin({ nodes: [agent('a', { output })] });
      for (const text of words) await ask(said(text));
      await upgrade();
      await ask(said('```json\n{"n":1}\n```'));
      expect(await receipts()).to.equal('trigger:fired a:done');
      if (words.length === 0) await house.stop();
    }
  });

  it('that pauses before another attempt, or waits, goes on when the time comes', async () => {
    await begin(
      { nodes: [step('a', { options: { retry: { maxAttempts: 2, on: ['error'], delayMs: 10_000 } } })] },
      {},
      ({ attempt }) => {
        if (attempt === 1) throw new Error('no');
        return {};
      },
    );
    await upgrade();
    await house.environment.advance(10_001);
    expect(await receipts()).to.equal('trigger:fired a:failed a#2:done');
    await house.stop();
    await begin({ nodes: [{ id: 'w', type: 'wait', waitMinutes: 1 }, step('b')], edges: chain('w', 'b') });
    await upgrade();
    await house.environment.advance(60_001);
    expect(await receipts()).to.equal('trigger:fired w:done b:done');
  });

  it('that takes too long is left at its deadline', async () => {
    await begin(
      { nodes: [step('a', { options: { timeoutMinutes: 1 } })] },
      {},
      () => new Promise(() => undefined),
    );
    await house.crash([upgraded(), sessions]);
    await house.environment.advance(60_001);
    expect((await runOf(house.supervisor)).errors[0]?.message).to.equal('The step took longer than 60 s.');
  });

  it('that waits for room is let in', async () => {
    await begin({ nodes: [step('a')] }, { queued: true });
    await upgrade();
    expect(await runOf(house.supervisor)).to.deep.include({ status: 'running', queued: true });
    await house.supervisor.ask(
      'workflow-run',
      'r',
      { type: 'run.admit' },
      { by: { type: 'system', part: 'test' } },
    );
    await house.environment.settle();
    expect(await runOf(house.supervisor)).to.deep.include({ status: 'completed', queued: false });
  });

  it('that has ended stays as it was', async () => {
    for (const [raw, end] of [
      [{ nodes: [step('a')] }, 'completed'],
      [{ nodes: [{ id: 'no', type: 'fail', failMessage: 'No.' }] }, 'failed'],
      [{ nodes: [gate] }, 'cancelled'],
    ] as const) {
      await begin(raw);
      if (end === 'cancelled') await ask({ type: 'run.cancel' });
      const before = await runOf(house.supervisor);
      expect(before.status).to.equal(end);
      await upgrade();
      expect(await runOf(house.supervisor)).to.deep.equal(before);
      await ask({ type: 'run.cancel' });
      expect((await runOf(house.supervisor)).status).to.equal(end);
      if (end !== 'cancelled') await house.stop();
    }
  });

  it('has each of its steps in the state that it was in', () => {
    const graph = packGraph(
      compile(definitionOf({ nodes: [step('a'), step('f', { method: 'POST' }), gate], edges: [] })),
    );
    const stepRun = { round: 1, attempt: 1, row: 1, at: 1 };
    const worker = { kind: 'session', id: 's' };
    const stateOf = (id: string, members: object) => {
      const context = {
        graph,
        status: 'running',
        queued: false,
        paths: '',
        gates: {},
        spots: { [id]: { ...stepRun, ...members } },
      };
      const { context: after } = stepsAsMachines({ value: 'running', context: context as never });
      return (after['steps'] as Record<string, { state: string }>)[id]?.state;
    };
    expect([
      stateOf('a', { status: 'running' }),
      stateOf('f', { status: 'running' }),
      stateOf('a', { status: 'running', worker }),
      stateOf('a', { status: 'running', worker, costUsd: 0 }),
      ...['waiting', 'done', 'failed', 'skipped', 'parked'].map((status) => stateOf('a', { status })),
      stateOf('g', { status: 'checkpoint' }),
    ]).to.deep.equal([
      'running.calling',
      'running.acting',
      'running.working',
      'running.reading',
      'retrying',
      'succeeded',
      'failed',
      'skipped',
      'parked',
      'succeeded',
    ]);
  });
});
