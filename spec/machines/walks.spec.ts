import { expect } from 'chai';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { childrenOf, edgesOf, nodesOf, pathOf } from '../charts/edges.js';
import type { Life } from './step.js';
import { worlds, type SmallWorld } from './worlds.js';

/**
 * Breadth first through every machine: every state is reached, every state that is not an end is left again,
 * every arrow of the chart is taken.
 */
interface Step {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly deed: string;
}

function walk(
  world: SmallWorld,
  situationsMax = 4_000,
): { readonly reached: ReadonlySet<string>; readonly steps: readonly Step[] } {
  const first = world.fresh();
  const seen = new Map([[world.same(first), first]]);
  const steps: Step[] = [];
  const queue: Life<AnyStateMachine>[] = [first];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const [deed, happens] of Object.entries(world.deeds)) {
      const life = next.fork();
      happens(life);
      world.holds(life);
      steps.push({ from: leaves(next), to: leaves(life), deed });
      const key = world.same(life);
      if (seen.has(key)) continue;
      if (seen.size >= situationsMax)
        throw new Error(`more than ${situationsMax} situations of ${world.name}: make the world smaller`);
      seen.set(key, life);
      queue.push(life);
    }
  }
  return { reached: new Set([...seen.values()].flatMap(leaves)), steps };
}

const leaves = (life: Life<AnyStateMachine>): readonly string[] =>
  (life.snapshot as AnyMachineSnapshot)._nodes.filter((node) => childrenOf(node).length === 0).map(pathOf);

describe('walking through', () => {
  for (const world of worlds) {
    describe(world.name, () => {
      let walked: ReturnType<typeof walk>;
      before(() => {
        walked = walk(world);
      });
      const { machine } = world.fresh();
      const states = nodesOf(machine.root).filter(
        (node) => childrenOf(node).length === 0 && !(pathOf(node) in (world.never ?? {})),
      );

      it('reaches every state', () => {
        expect([...walked.reached].sort()).to.deep.equal(states.map(pathOf).sort());
      });

      it('leaves every state that is not an end', () => {
        const more = states.length > 1 ? states : []; // a machine of one state has nowhere else to be
        for (const state of more.filter(({ type }) => type !== 'final')) {
          expect(
            walked.steps.some(({ from, to }) => from.includes(pathOf(state)) && !to.includes(pathOf(state))),
            pathOf(state),
          ).to.equal(true);
        }
      });

      it('takes every arrow of the chart', () => {
        const arrows = nodesOf(machine.root).flatMap((node) =>
          edgesOf(node).flatMap((edge) =>
            edge.to.map((to) => ({ ...edge, to, inside: nodesOf(node).map(pathOf) })),
          ),
        );
        const untaken = arrows.filter(
          ({ event, inside, to }) =>
            event !== 'always' &&
            !(to in (world.never ?? {})) &&
            !walked.steps.some(
              (step) => step.from.some((leaf) => inside.includes(leaf)) && step.to.includes(to),
            ),
        );
        expect(untaken.map(({ from, event, to }) => `${from} ${event} ${to}`)).to.deep.equal([]);
      });
    });
  }
});

describe('every delay', () => {
  for (const world of worlds) {
    it(`of ${world.name} is a number or a function that exists: XState fires a misspelt one at once`, () => {
      const { machine } = world.fresh();
      for (const node of nodesOf(machine.root)) {
        for (const { delay } of node.after) {
          const made = typeof delay === 'string' ? machine.implementations.delays[delay] : delay;
          expect(['number', 'function'], `${pathOf(node)} after ${String(delay)}`).to.include(typeof made);
        }
      }
    });

    it(`of ${world.name} resolves to a number of milliseconds wherever it is met`, () => {
      const life = world.fresh();
      for (const happens of Object.values(world.deeds)) {
        happens(life);
        for (const [id, { due }] of life.timers)
          expect(Number.isFinite(due) && due >= life.at, id).to.equal(true);
      }
    });
  }
});
