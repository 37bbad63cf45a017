import { expect } from 'chai';
import { operator } from '../../../machines/caller.js';
import { openHouse, type House } from '../../fixtures/house.js';
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

describe('a run advances', () => {
  let house: House;
  let far: Far;
  afterEach(async () => {
    expect(house.faults).to.deep.equal([]);
    await house.stop();
  });

  async function run(raw: object, more: Parameters<typeof runInput>[1] = {}): Promise<string> {
    const definition = definitionOf(raw);
    far = farSide(definition);
    house = await openHouse([runKind(far)]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition, more) });
    await house.environment.settle();
    return told(await receiptsOf(house.supervisor));
  }
  const view = () => runOf(house.supervisor);

  it('from step to step, and completes', async () => {
    expect(await run({ nodes: [step('a'), step('b')], edges: chain('a', 'b') })).to.equal(
      'trigger:fired a:done b:done',
    );
    expect(await view()).to.deep.include({ status: 'completed', settled: 3, evidence: 'written' });
    expect(far.acts).to.deep.equal(['a@1:1', 'b@1:1']);
  });

  it('through steps that need nothing of the world within one commit', async () => {
    await run({ nodes: ['a', 'b', 'c', 'd'].map(noop), edges: chain('a', 'b', 'c', 'd') });
    expect(await view()).to.deep.include({ status: 'completed', revision: 2 }); // creation, and the evidence
  });

  it('in parallel branches at once, and joins them', async () => {
    const waiting: (() => void)[] = [];
    const definition = definitionOf({
      nodes: [noop('start'), step('a'), step('b'), { id: 'join', type: 'merge' }, noop('end')],
      edges: [
        edge('start', 'a'),
        edge('start', 'b'),
        edge('a', 'join'),
        edge('b', 'join'),
        edge('join', 'end'),
      ],
    });
    far = farSide(definition);
    far.answer = () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({}));
      });
    house = await openHouse([runKind(far)]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition) });
    await house.environment.settle();
    expect(far.acts).to.deep.equal(['a@1:1', 'b@1:1']);
    waiting[1]?.();
    await house.environment.settle();
    expect((await view()).status).to.equal('running');
    waiting[0]?.();
    await house.environment.settle();
    expect((await view()).status).to.equal('completed');
    expect(told(await receiptsOf(house.supervisor))).to.equal(
      'trigger:fired start:done a:done b:done join:done end:done',
    );
  });

  it('along the first way of a switch whose conditions hold, and skips what is dead', async () => {
    const told = await run(
      {
        nodes: [
          noop('start'),
          { id: 'which', type: 'switch' },
          noop('small'),
          noop('large'),
          noop('other'),
          noop('after'),
        ],
        edges: [
          edge('start', 'which'),
          edge('which', 'other'),
          edge('which', 'small', { when: [{ path: 'input.n', op: 'lt', value: 10 }] }),
          edge('which', 'large', { when: [{ path: 'input.n', op: 'gte', value: 10 }] }),
          edge('small', 'after'),
          edge('large', 'after'),
          edge('other', 'after'),
        ],
      },
      { input: { n: 12 } },
    );
    expect(told).to.equal(
      'trigger:fired start:done which:routed small:skipped large:done other:skipped after:done',
    );
    expect(
      (await receiptsOf(house.supervisor)).find(({ nodeId }) => nodeId === 'which')?.route,
    ).to.deep.equal(['which-large']);
  });

  it('by what an outcome says', async () => {
    const definition = definitionOf({
      nodes: [step('a'), noop('good'), noop('bad')],
      edges: [
        edge('a', 'good', { when: [{ path: 'steps.a.outcome.fields.score', op: 'gt', value: 5 }] }),
        edge('a', 'bad', { when: [{ path: 'steps.a.outcome.fields.score', op: 'lte', value: 5 }] }),
      ],
    });
    far = farSide(definition);
    far.answer = () => ({ fields: { score: 7 } });
    house = await openHouse([runKind(far)]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition) });
    await house.environment.settle();
    expect(told(await receiptsOf(house.supervisor))).to.equal('trigger:fired a:done good:done bad:skipped');
  });

  it('round a loop until its ceiling, with everything in it done again', async () => {
    expect(
      await run({
        nodes: [noop('a'), step('b'), noop('c')],
        edges: [edge('a', 'b'), edge('b', 'a', { kind: 'loop', maxRounds: 2 }), edge('b', 'c')],
      }),
    ).to.equal('trigger:fired a:done b:done a@2:done b@2:done a@3:done b@3:done c@3:done');
    expect(await view()).to.deep.include({ status: 'completed', rounds: 3, loopExit: 'ceiling' });
  });

  it('round a loop only when everything in the round has come to rest', async () => {
    const waiting: (() => void)[] = [];
    const definition = definitionOf({
      nodes: [
        noop('s'),
        noop('fast'),
        step('slow'),
        { id: 'm', type: 'merge', mode: 'any' },
        noop('e'),
        noop('last'),
      ],
      edges: [
        edge('s', 'fast'),
        edge('s', 'slow'),
        edge('fast', 'm'),
        edge('slow', 'm'),
        edge('m', 'e'),
        edge('e', 's', { kind: 'loop', maxRounds: 1 }),
        edge('e', 'last'),
      ],
    });
    far = farSide(definition);
    far.answer = () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({}));
      });
    house = await openHouse([runKind(far)]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition) });
    await house.environment.settle();
    expect([far.acts, (await view()).rounds]).to.deep.equal([['slow@1:1'], 1]);
    waiting[0]?.();
    await house.environment.settle();
    expect([far.acts, (await view()).rounds]).to.deep.equal([['slow@1:1', 'slow@2:1'], 2]);
    waiting[1]?.();
    await house.environment.settle();
    expect((await view()).status).to.equal('completed');
  });

  it('out of a loop when its condition no longer holds', async () => {
    const definition = definitionOf({
      nodes: [step('a'), noop('c')],
      edges: [
        edge('a', 'a', {
          kind: 'loop',
          maxRounds: 50,
          when: [{ path: 'steps.a.outcome.fields.again', op: 'eq', value: true }],
        }),
        edge('a', 'c'),
      ],
    });
    far = farSide(definition);
    far.answer = ({ round }) => ({ fields: { again: round < 4 } });
    house = await openHouse([runKind(far)]);
    await house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition) });
    await house.environment.settle();
    expect(await view()).to.deep.include({ status: 'completed', rounds: 4, loopExit: 'condition' });
  });

  it('through a thousand nodes without effects in bounded commits', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `n${n}`);
    await run({
      nodes: ids.map(noop),
      edges: [...chain(...ids), edge('n9', 'n0', { kind: 'loop', maxRounds: 99 })],
    });
    expect(await view()).to.deep.include({ status: 'completed', rounds: 100, receipts: 1_001 });
    expect((await view()).revision).to.be.within(15, 20);
    expect(await receiptsOf(house.supervisor)).to.have.length(1_001);
  });

  it('is not ended by an event that comes between two commits of a long way', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `n${n}`);
    const definition = definitionOf({
      nodes: [...ids.map(noop), step('last')],
      edges: [...chain(...ids, 'last'), edge('n9', 'n0', { kind: 'loop', maxRounds: 99 })],
    });
    far = farSide(definition);
    house = await openHouse([runKind(far)]);
    const spawned = house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(definition) });
    const edits = spawned.then(() =>
      Promise.all(
        [1, 2, 3].map(() =>
          house.supervisor.ask('workflow-run', 'r', {
            type: 'step.edit',
            nodeId: 'last',
            prompt: 'otherwise',
          }),
        ),
      ),
    );
    await house.environment.settle();
    await edits;
    await house.environment.settle();
    expect(await view()).to.deep.include({ status: 'completed', rounds: 100, receipts: 1_002 });
    expect(far.acts).to.deep.equal(['last@100:1']);
  });

  it('past a wait when its time has come', async () => {
    await run({
      nodes: [noop('a'), { id: 'w', type: 'wait', waitMinutes: 90 }, step('b')],
      edges: chain('a', 'w', 'b'),
    });
    await house.environment.advance(89 * 60_000);
    expect((await view()).status).to.equal('running');
    await house.crash();
    await house.environment.advance(60_001);
    expect((await view()).status).to.equal('completed');
    expect(far.acts).to.deep.equal(['b@1:1']);
  });

  it('to a failure that a node declares, and stops what is under way', async () => {
    const told = await run({
      nodes: [
        noop('a'),
        { id: 'w', type: 'wait', waitMinutes: 5 },
        noop('never'),
        { id: 'no', type: 'fail', failMessage: 'Not like this.' },
      ],
      edges: [edge('a', 'w'), edge('w', 'never'), edge('a', 'no')],
    });
    expect(told).to.equal('trigger:fired a:done w:skipped no:failed');
    expect(await view()).to.deep.include({ status: 'failed' });
    expect((await view()).errors).to.deep.equal([
      { code: 'FAILED_BY_NODE', message: 'Not like this.', ref: 'no' },
    ]);
    await house.environment.advance(600_000);
    expect((await view()).status).to.equal('failed');
  });

  // Effects were once started after all stops of their commit: one that began in the commit which ended the run
  // acted all the same, and its deadline outlived the run.
  it('to a failure in the commit in which a step begins: that step never acts, and leaves no timer', async () => {
    const shown = await run({
      nodes: [noop('s'), step('a'), { id: 'no', type: 'fail', failMessage: 'No.' }],
      edges: [edge('s', 'a'), edge('s', 'no')],
    });
    expect(shown).to.equal('trigger:fired s:done a:skipped no:failed');
    expect(far.acts).to.deep.equal([]);
    const why = await house.supervisor.why({ kind: 'workflow-run', id: 'r' }, operator);
    expect((why as { timers: unknown }).timers).to.deep.equal([]);
  });

  it('with the first taken branch of a merge that wants any', async () => {
    expect(
      await run({
        nodes: [
          noop('a'),
          noop('b'),
          { id: 'w', type: 'wait', waitMinutes: 5 },
          { id: 'm', type: 'merge', mode: 'any' },
          step('c'),
        ],
        edges: [edge('a', 'b'), edge('a', 'w'), edge('b', 'm'), edge('w', 'm'), edge('m', 'c')],
      }),
    ).to.equal('trigger:fired a:done b:done w:waiting m:done c:done');
    await house.environment.advance(300_001);
    expect(told(await receiptsOf(house.supervisor))).to.equal(
      'trigger:fired a:done b:done w:done m:done c:done',
    );
    expect((await view()).status).to.equal('completed');
  });
});
