import { expect } from 'chai';
import fc from 'fast-check';
import { operator, system } from '../../../machines/caller.js';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import type { RunContext } from '../../../machines/workflow-run/context.js';
import { parkedGates } from '../../../machines/workflow-run/gates.js';
import { graphOf } from '../../../machines/workflow-run/graph.js';
import { workflowRunMachine } from '../../../machines/workflow-run/machine.js';
import { Life } from '../step.js';
import { edge, noop, runInput, step } from '../../fixtures/workflow.js';

/**
 * Random graphs under random fates, on the bare machine: whatever the graph and in whatever order its
 * steps end, the run comes to an end, no node begins twice in a round, and none begins before its ways are
 * decided.
 */
const kinds = ['step', 'noop', 'switch', 'merge', 'any', 'wait', 'gate', 'flaky'] as const;

const graphs = fc.record({
  nodes: fc.array(fc.constantFrom(...kinds), { minLength: 2, maxLength: 9 }),
  /** Whom each node comes after, at least. */
  after: fc.array(fc.nat(8), { minLength: 9, maxLength: 9 }),
  edges: fc.array(fc.tuple(fc.nat(8), fc.nat(8), fc.boolean()), { maxLength: 6 }),
  loop: fc.option(fc.tuple(fc.nat(8), fc.nat(8), fc.integer({ min: 1, max: 3 }))),
});

function definitionFrom({
  nodes,
  after,
  edges,
  loop,
}: {
  nodes: readonly (typeof kinds)[number][];
  after: readonly number[];
  edges: readonly (readonly [number, number, boolean])[];
  loop: readonly [number, number, number] | null;
}): object {
  const tree = nodes
    .slice(1)
    .map((_, at) => ({ ...edge(`n${(after[at] ?? 0) % (at + 1)}`, `n${at + 1}`), id: `t${at}` }));
  const leads = edges.filter(([from, to]) => from < to && to < nodes.length);
  const made = nodes.map((kind, n) => {
    const id = `n${n}`;
    switch (
      // A merge of one is refused
      (kind === 'merge' || kind === 'any') && !leads.some(([, to]) => to === n) ? 'noop' : kind
    ) {
      case 'step':
        return step(id, { options: { onError: 'continue' } });
      case 'flaky':
        return step(id, { options: { onError: 'continue', retry: { maxAttempts: 2, on: ['error'] } } });
      case 'noop':
        return noop(id);
      case 'switch':
        return { id, type: 'switch' };
      case 'merge':
        return { id, type: 'merge' };
      case 'any':
        return { id, type: 'merge', mode: 'any' };
      case 'wait':
        return { id, type: 'wait', waitMinutes: 1 };
      case 'gate':
        return { id, type: 'gate', gate: { kind: 'approval', approvalRef: 'x', description: 'x' } };
    }
  });
  const more = leads.map(([from, to, conditional], at) => ({
    ...edge(`n${from}`, `n${to}`),
    id: `e${at}`,
    ...(conditional ? { when: [{ path: `steps.n${from}.status`, op: 'eq', value: 'done' }] } : {}),
  }));
  const back =
    loop !== null && loop[1] < loop[0] && loop[0] < nodes.length
      ? [{ id: 'loop', from: `n${loop[0]}`, to: `n${loop[1]}`, kind: 'loop', maxRounds: loop[2] }]
      : [];
  const ends = nodes.flatMap((_, n) =>
    [...tree, ...more].some(
      ({ from, when }: { from: string; when?: object }) => from === `n${n}` && when === undefined,
    )
      ? []
      : [{ ...edge(`n${n}`, 'last'), id: `l${n}` }],
  );
  return { title: 'Random', nodes: [...made, noop('last')], edges: [...tree, ...more, ...ends, ...back] };
}

/** A run in the hands of fate: whatever is under way (effects, timers, gates) comes to its end in any order. */
class Play {
  readonly life: Life<typeof workflowRunMachine>;
  private told = 0;
  private begun = 0;
  private readonly names = new Set<string>();
  steps = 0;

  constructor(input: Record<string, unknown>) {
    this.life = new Life(workflowRunMachine, { ...input, id: 'r' });
    this.check();
  }

  get state(): unknown {
    return this.life.value;
  }
  get context(): RunContext {
    return this.life.snapshot.context;
  }

  /** One thing that is under way comes to its end. */
  next(choice: number): boolean {
    const { life } = this;
    const ways = [
      ...[...life.effects.keys()].map((id) => () => life.finish(id, this.outcome(id, choice))),
      ...[...life.timers]
        .filter(([id]) => !/^(?:timeout|answer):/.test(id))
        .map(([id, { event }]) => () => {
          life.timers.delete(id);
          life.step({ ...event, at: life.at, by: system('timers') } as { type: string });
        }),
      ...parkedGates(this.context.steps).map(([gateKey]) => () => {
        life.step({ type: 'gate.resolve', gateKey, decision: 'approve', at: life.at, by: operator } as never);
      }),
      ...(life.tells('run.continue').length > this.told
        ? [
            () => {
              this.told += 1;
              life.step({ type: 'run.continue', at: life.at, by: system('run') } as never);
            },
          ]
        : []),
    ];
    const way = ways[choice % Math.max(1, ways.length)];
    if (way === undefined) return false;
    life.at += 1;
    this.steps += 1;
    way();
    this.check();
    return true;
  }

  private outcome(id: string, fate: number): unknown {
    if (!id.startsWith('step:')) return { evidence: 'off' };
    return fate % 3 === 0 && id.endsWith(':1')
      ? { state: 'failed', reason: 'error', message: 'no' }
      : { state: 'done', outcome: {} };
  }

  private check(): void {
    const chars = JSON.stringify(this.context).length;
    if (chars > 64 * 1024) throw new Error(`the snapshot has ${chars} characters`);
    for (const { id } of this.life.started.slice(this.begun)) {
      this.begun += 1;
      if (!id.startsWith('step:')) continue;
      if (this.names.has(id)) throw new Error(`${id} has begun twice`);
      this.names.add(id);
    }
    const { nodes } = graphOf(this.context);
    for (const id of this.life.effects.keys()) {
      const [, place, round, attempt] = /^step:(\d+):(\d+):(\d+)$/.exec(id) ?? [];
      if (place === undefined) continue;
      const step = this.context.steps[nodes[Number(place)]?.id ?? ''];
      if (
        step?.state.startsWith('running') !== true ||
        step.round !== Number(round) ||
        step.attempt !== Number(attempt)
      )
        throw new Error(`${id} works on and nobody waits for it`);
    }
  }
}

describe('random runs', () => {
  it('always come to an end, each node once a round', () => {
    let played = 0;
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 60 }), (graph, choices) => {
        const { definition, faults } = parseDefinition(definitionFrom(graph));
        if (faults.length > 0) return; // refused at authentication: never run
        played += 1;
        const play = new Play(runInput(definition) as Record<string, unknown>);
        for (let n = 0; play.next(choices[n % choices.length] ?? 0); n += 1)
          if (play.steps > 2_000) expect.fail('it does not end');
        expect(play.state, JSON.stringify(play.context)).to.be.oneOf(['completed', 'failed']);
        if (play.state !== 'completed') return;
        for (const { id } of definition.nodes)
          expect(play.context.steps[id], `${id} ${JSON.stringify(definition.edges)}`).to.not.equal(undefined);
      }),
      { numRuns: 1_000 },
    );
    expect(played).to.be.greaterThan(300);
  });
});
