import { expect } from 'chai';
import fc from 'fast-check';
import { operator, system } from '../../../machines/caller.js';
import { parseDefinition } from '../../../machines/graph/read-definition.js';
import { firstContext, type RunContext, type RunEvent, type RunInput, type StepResult } from '../../../machines/workflow-run/context.js';
import { born, hearCall, take } from '../../../machines/workflow-run/events.js';
import type { Pass } from '../../../machines/workflow-run/pass.js';
import { edge, noop, runInput, step } from '../../fixtures/workflow.js';

/**
 * Random graphs under random fates, on the pure functions alone: whatever the graph and in whatever order its steps end,
 * the run comes to an end, no node begins twice in a round, and none begins before its ways are decided.
 */
const kinds = ['step', 'noop', 'switch', 'merge', 'any', 'wait', 'gate', 'flaky'] as const;

const graphs = fc.record({
  nodes: fc.array(fc.constantFrom(...kinds), { minLength: 2, maxLength: 9 }),
  /** Whom each node comes after, at least. */
  after: fc.array(fc.nat(8), { minLength: 9, maxLength: 9 }),
  edges: fc.array(fc.tuple(fc.nat(8), fc.nat(8), fc.boolean()), { maxLength: 6 }),
  loop: fc.option(fc.tuple(fc.nat(8), fc.nat(8), fc.integer({ min: 1, max: 3 }))),
});

function definitionFrom({ nodes, after, edges, loop }: { nodes: readonly (typeof kinds)[number][]; after: readonly number[]; edges: readonly (readonly [number, number, boolean])[]; loop: readonly [number, number, number] | null }): object {
  const tree = nodes.slice(1).map((_, at) => ({ ...edge(`n${(after[at] ?? 0) % (at + 1)}`, `n${at + 1}`), id: `t${at}` }));
  const leads = edges.filter(([from, to]) => from < to && to < nodes.length);
  const made = nodes.map((kind, n) => {
    const id = `n${n}`;
    switch ((kind === 'merge' || kind === 'any') && !leads.some(([, to]) => to === n) ? 'noop' : kind) { // a merge of one is refused
      case 'step': return step(id, { options: { onError: 'continue' } });
      case 'flaky': return step(id, { options: { onError: 'continue', retry: { maxAttempts: 2, on: ['error'] } } });
      case 'noop': return noop(id);
      case 'switch': return { id, type: 'switch' };
      case 'merge': return { id, type: 'merge' };
      case 'any': return { id, type: 'merge', mode: 'any' };
      case 'wait': return { id, type: 'wait', waitMinutes: 1 };
      case 'gate': return { id, type: 'gate', gate: { kind: 'approval', approvalRef: 'x', description: 'x' } };
    }
  });
  const more = leads.map(([from, to, conditional], at) =>
    ({ ...edge(`n${from}`, `n${to}`), id: `e${at}`, ...(conditional ? { when: [{ path: `steps.n${from}.status`, op: 'eq', value: 'done' }] } : {}) }));
  const back = loop !== null && loop[1] < loop[0] && loop[0] < nodes.length ? [{ id: 'loop', from: `n${loop[0]}`, to: `n${loop[1]}`, kind: 'loop', maxRounds: loop[2] }] : [];
  const ends = nodes.flatMap((_, n) => ([...tree, ...more].some(({ from, when }: { from: string; when?: object }) => from === `n${n}` && when === undefined) ? [] : [{ ...edge(`n${n}`, 'last'), id: `l${n}` }]));
  return { title: 'Random', nodes: [...made, noop('last')], edges: [...tree, ...more, ...ends, ...back] };
}

/** What is under way: effects, timers, gates. */
class Play {
  context: RunContext;
  readonly under = new Map<string, () => Pass>();
  readonly begun = new Set<string>();
  steps = 0;
  at = 1_000;

  constructor(input: RunInput) {
    this.context = firstContext(input);
    this.apply(born(this.context, input, undefined));
  }

  apply(pass: Pass): void {
    this.context = pass.finish(this.context);
    const told = JSON.stringify(this.context).length;
    if (told > 64 * 1024) throw new Error(`the snapshot has ${told} characters`);
    for (const id of [...pass.stops, ...pass.cancels]) this.under.delete(id);
    for (const { id, input } of pass.starts) {
      const name = `${input.nodeId}@${input.round}#${input.attempt}`;
      if (this.begun.has(name)) throw new Error(`${name} has begun twice`);
      this.begun.add(name);
      this.under.set(id, () => hearCall(this.context, { type: `xstate.done.actor.${id}`, ...this.stamp() } as never, this.outcome(input.attempt), undefined));
    }
    for (const { id, event } of pass.timers) if (!id.startsWith('timeout') && !id.startsWith('answer')) this.under.set(id, () => take(this.context, { ...event, ...this.stamp() } as RunEvent, undefined));
    for (const key of Object.keys(this.context.gates)) this.under.set(`decide:${key}`, () => take(this.context, { type: 'gate.resolve', gateKey: key, decision: 'approve', at: this.at, by: operator }, undefined));
    for (const key of this.under.keys()) {
      const [, place, round, attempt] = /^step:(\d+):(\d+):(\d+)$/.exec(key) ?? [];
      if (place === undefined) continue;
      const spot = this.context.spots[pass.nodes[Number(place)]?.id ?? ''];
      if (spot?.status !== 'running' || spot.round !== Number(round) || spot.attempt !== Number(attempt)) throw new Error(`${key} works on and nobody waits for it`);
    }
    for (const wish of pass.wishes) if (wish.type === 'kernel.tell' && wish.event.type === 'run.continue') this.under.set('continue', () => take(this.context, { type: 'run.continue', ...this.stamp() } as RunEvent, undefined));
  }

  /** One thing that is under way comes to its end. */
  next(choice: number): boolean {
    const keys = [...this.under.keys()];
    const key = keys[choice % Math.max(1, keys.length)];
    if (key === undefined) return false;
    const deed = this.under.get(key) as () => Pass;
    this.under.delete(key);
    this.at += 1;
    this.steps += 1;
    this.fate = choice;
    this.apply(deed());
    return true;
  }

  private fate = 0;
  private stamp = () => ({ at: this.at, by: system('test') });
  private outcome = (attempt: number): StepResult => (this.fate % 3 === 0 && attempt === 1 ? { state: 'failed', reason: 'error', message: 'no' } : { state: 'done', outcome: {} });
}

describe('random runs', () => {
  it('always come to an end, each node once a round', () => {
    let played = 0;
    fc.assert(fc.property(graphs, fc.array(fc.nat(1_000), { minLength: 1, maxLength: 60 }), (graph, choices) => {
      const { definition, faults } = parseDefinition(definitionFrom(graph));
      if (faults.length > 0) return; // refused at the door: never run
      played += 1;
      const play = new Play({ id: 'r', at: 1, by: operator, ...(runInput(definition) as object) } as unknown as RunInput);
      for (let n = 0; play.next(choices[n % choices.length] ?? 0); n += 1) if (play.steps > 2_000) expect.fail('it does not end');
      expect(play.context.status, JSON.stringify({ spots: play.context.spots, paths: play.context.paths })).to.be.oneOf(['completed', 'failed']);
      if (play.context.status !== 'completed') return;
      for (const { id } of definition.nodes) expect(play.context.spots[id], `${id} ${JSON.stringify(definition.edges)}`).to.not.equal(undefined);
    }), { numRuns: 3_000 });
    expect(played).to.be.greaterThan(1_000);
  });
});
