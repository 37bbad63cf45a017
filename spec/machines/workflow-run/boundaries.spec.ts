import { expect } from 'chai';
import { isRefusal } from '../../../machines/refusals.js';
import { memoryStore } from '../../../lib/store/memory.js';
import { openHouse, unclosable, type House } from '../../fixtures/house.js';
import {
  definitionOf,
  edge,
  farSide,
  noop,
  receiptsOf,
  runInput,
  runKind,
  runOf,
  step,
  type Receipt,
} from '../../fixtures/workflow.js';

/**
 * A run with everything in it: parallel branches, a retry, a fenced act, a wait, a gate, a switch and a loop.
 */
const flow = definitionOf({
  nodes: [
    step('a'),
    step('flaky', { options: { retry: { maxAttempts: 2, on: ['error'], delayMs: 1_000 } } }),
    step('once', { method: 'POST', options: { onError: 'continue' } }),
    { id: 'join', type: 'merge' },
    { id: 'wait', type: 'wait', waitMinutes: 1 },
    { id: 'gate', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' } },
    noop('l1'),
    step('l2'),
    { id: 'which', type: 'switch' },
    step('x'),
    noop('y'),
  ],
  edges: [
    edge('a', 'flaky'),
    edge('a', 'once'),
    edge('flaky', 'join'),
    edge('once', 'join'),
    edge('join', 'wait'),
    edge('wait', 'gate'),
    edge('gate', 'l1'),
    edge('l1', 'l2'),
    edge('l2', 'l1', { kind: 'loop', maxRounds: 2 }),
    edge('l2', 'which'),
    edge('which', 'x', { when: [{ path: 'run.rounds', op: 'gte', value: 3 }] }),
    edge('which', 'y'),
  ],
});

interface Life {
  readonly receipts: readonly string[];
  readonly acts: readonly string[];
  readonly writes: number;
  readonly status: string;
  readonly died: boolean;
  readonly faults: readonly string[];
}
interface Death {
  readonly at: number;
  readonly when: 'before' | 'after';
  /** And once more, so many writes into the next life. */ readonly again?: number;
}

/** The run from beginning to end, on a store that dies once. The one who asks and gets no answer asks again. */
async function live(death?: Death): Promise<Life> {
  const far = farSide(flow);
  far.answer = ({ nodeId, attempt, round }) => {
    if (nodeId === 'flaky' && attempt === 1) throw new Error('not yet');
    return { fields: { of: `${nodeId}@${round}` } };
  };
  const house: House = await openHouse([runKind(far)], { inner: unclosable(memoryStore()) });
  if (death !== undefined) house.mortal.dieAt(death.at, death.when);
  let died = false;
  let again = death?.again;
  let writes = 0;
  const goOn = async (ms = 0): Promise<void> => {
    if (ms > 0) await house.environment.advance(ms);
    await house.environment.settle();
    if (!house.mortal.dead) return;
    died = true;
    writes += house.mortal.writes;
    await house.crash();
    if (again !== undefined) house.mortal.dieAt(again, 'before');
    again = undefined;
    await house.environment.settle();
    if (house.mortal.dead) await goOn();
  };
  const say = async (deed: () => Promise<unknown>): Promise<void> => {
    for (let tries = 0; tries < 3; tries += 1) {
      const answer = deed().catch(() => undefined);
      await goOn();
      const now = await Promise.race([answer, Promise.resolve('silence')]);
      if (isRefusal(now) || (now !== 'silence' && now !== undefined)) return;
    }
  };
  await say(() => house.supervisor.spawn('workflow-run', { id: 'r', input: runInput(flow) }));
  for (const ms of [500, 600, 1_000, 59_000, 2_000]) await goOn(ms);
  await say(() => house.supervisor.ask('workflow-run', 'r', { type: 'gate.resolve', decision: 'approve' }));
  for (const ms of [1_000, 1_000]) await goOn(ms);
  const receipts = (await receiptsOf(house.supervisor)).map(shown).sort();
  const { status } = await runOf(house.supervisor);
  writes += house.mortal.writes;
  const left = await house.mortal.page({ gte: 'o/', lt: 'o/\x7f' });
  expect(left, 'effects that are left over').to.deep.equal([]);
  await house.stop();
  return { receipts, acts: far.acts, writes, status, died, faults: house.faults };
}

/** Acts that may be done again under their key, each named once. */
const repeatable = (acts: readonly string[]): readonly string[] =>
  [...new Set(acts)].filter((act) => !act.startsWith('once')).sort();

const shown = ({ nodeId, status, round, attempt, detail, outcome, route }: Receipt): string =>
  JSON.stringify({
    nodeId,
    round,
    attempt,
    status,
    detail: detail?.startsWith('until') === true ? 'until' : detail,
    outcome,
    route,
  });

describe('a run whose process dies', () => {
  it('has twelve nodes, with a loop, a retry, branches side by side, a gate, a timer and an act that must not be repeated', () => {
    expect(flow.nodes).to.have.length(12);
    expect(new Set(flow.nodes.map(({ type }) => type))).to.deep.equal(
      new Set(['trigger', 'step', 'merge', 'wait', 'gate', 'switch']),
    );
    expect(flow.edges.filter(({ kind }) => kind === 'loop')).to.have.length(1);
    expect(flow.edges.filter(({ from }) => from === 'a')).to.have.length(2);
  });

  it('does everything when nothing fails', async () => {
    const { status, acts, receipts } = await live();
    expect(status).to.equal('completed');
    expect([...acts].sort()).to.deep.equal([
      'a@1:1',
      'flaky@1:1',
      'flaky@1:2',
      'l2@1:1',
      'l2@2:1',
      'l2@3:1',
      'once@1:1',
      'x@3:1',
    ]);
    expect(receipts).to.have.length(17);
  });

  it('has the same receipts whichever write it dies at, and does nothing twice that is fenced', async function () {
    this.timeout(180_000);
    const whole = await live();
    expect(whole.writes).to.be.greaterThan(10);
    let interrupted = 0;
    for (let at = 1; at <= whole.writes; at += 1) {
      for (const when of ['before', 'after'] as const) {
        const life = await live({ at, when });
        const where = `write ${at}, ${when}`;
        // Which commits share a write may differ by a few
        expect(life.died || at > whole.writes - 3, where).to.equal(true);
        expect(life.status, where).to.equal('completed');
        expect(
          life.acts.filter((act) => act.startsWith('once')),
          where,
        ).to.have.length.at.most(1);
        const honest = life.receipts.some((receipt) => receipt.includes('outcome is unknown'));
        if (honest) interrupted += 1;
        // only the fenced act may tell another story, and only that it does not know
        const others = (receipts: readonly string[]) =>
          receipts.filter((receipt) => !honest || !receipt.includes('"once"'));
        expect(others(life.receipts), where).to.deep.equal(others(whole.receipts));
        expect(repeatable(life.acts), where).to.deep.equal(repeatable(whole.acts));
        expect(
          life.faults.filter((line) => !line.includes('died')),
          where,
        ).to.deep.equal([]);
      }
    }
    expect(interrupted, 'deaths in the middle of the fenced act').to.be.greaterThan(0);
  });

  it('does so when it dies again soon after', async function () {
    this.timeout(180_000);
    const whole = await live();
    for (let at = 1; at <= whole.writes; at += 1) {
      const death = { at, when: at % 2 === 0 ? 'before' : 'after', again: 1 + (at % 3) } as const;
      const life = await live(death);
      const where = JSON.stringify(death);
      expect(life.status, where).to.equal('completed');
      expect(
        life.acts.filter((act) => act.startsWith('once')),
        where,
      ).to.have.length.at.most(1);
      const honest = life.receipts.some((receipt) => receipt.includes('outcome is unknown'));
      const others = (receipts: readonly string[]) =>
        receipts.filter((receipt) => !honest || !receipt.includes('"once"'));
      expect(others(life.receipts), where).to.deep.equal(others(whole.receipts));
      expect(
        life.faults.filter((line) => !line.includes('died')),
        where,
      ).to.deep.equal([]);
    }
  });
});
