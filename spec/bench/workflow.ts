import type { Group } from '../../lib/store/contract.js';
import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import type { WorkflowDefinition } from '../../machines/graph/definition.js';
import type { RunView } from '../../machines/workflow-run/view.js';
import {
  chain,
  definitionOf,
  farSide,
  noop,
  runInput,
  runKind,
  step,
  type Far,
} from '../fixtures/workflow.js';
import { mustHold, openBare, recording, replay } from './actors.js';
import { median, timed, withHome, type Figure, type Measure } from './measure.js';

/**
 * Runs of workflows: ten plain actions in a loop of a hundred rounds. *Inline* actions need nothing of the
 * world and many pass in one commit; *acts* go out through a hand each, so that every one is a commit of its
 * own. Both are compared with the bytes that the very same run wrote, put and synced one after another.
 */
const nodes = 10;
const rounds = 100;
const steps = nodes * rounds;

export const workflow: Measure = {
  name: 'workflow',
  about: 'runs of workflows, 10 plain actions looped 100 rounds',
  async run(options) {
    const figures: Figure[] = [];
    for (const [name, make] of [
      ['inline', noop],
      ['acts', step],
    ] as const) {
      const flow = looped(make);
      figures.push(...(await alone(name, flow, options.rounds)), await together(name, flow, options.rounds));
    }
    return [...figures, await instant(options.rounds * 20)];
  },
};

function looped(make: (id: string) => object): WorkflowDefinition {
  const ids = Array.from({ length: nodes }, (_, n) => `n${n}`);
  return definitionOf({
    nodes: ids.map(make),
    edges: [
      ...chain(...ids),
      { id: 'back', from: `n${nodes - 1}`, to: 'n0', kind: 'loop', maxRounds: rounds - 1 },
    ],
  });
}

async function alone(name: string, flow: WorkflowDefinition, times: number): Promise<Figure[]> {
  const ratios: number[] = [];
  const rates: number[] = [];
  const slopes: number[] = [];
  const commits: number[] = [];
  for (let time = 0; time < times; time += 1) {
    await withHome((home) =>
      withHome(async (other) => {
        const groups: Group[] = [];
        const far = farSide(flow);
        const began = stamped(far);
        const supervisor = await createSupervisor({
          kinds: [runKind(far)],
          store: recording(await openLevelStore({ directory: home }), groups),
        });
        const level = await openBare(other);
        await toTheEnd(supervisor, flow, 'warm'); // the machine and the disk have run once
        groups.splice(0);
        began.splice(0);
        const own = await timed(() => toTheEnd(supervisor, flow, 'r'));
        const written = groups.splice(0);
        const raw = await timed(() => replay(level, written, 1));
        rates.push((steps / own) * 1000);
        ratios.push(steps / own / (written.length / raw));
        commits.push(written.length);
        if (began.length > 0) slopes.push(perStep(began, rounds - 11, rounds - 1) / perStep(began, 0, 10));
        await supervisor.stop();
        await level.close();
      }),
    );
  }
  return [
    {
      name: `${name}: steps/s ÷ serial synced commits/s`,
      value: median(ratios),
      unit: 'ratio',
      target: { atLeast: 0.2 },
    },
    { name: `${name}: steps`, value: median(rates), unit: '/s' },
    { name: `${name}: commits of one run`, value: median(commits), unit: 'commits' },
    ...(slopes.length === 0
      ? []
      : [
          {
            name: `${name}: cost per step, last ten rounds ÷ first ten`,
            value: median(slopes),
            unit: 'ratio',
            target: { atMost: 1.5 },
          },
        ]),
  ];
}

async function together(name: string, flow: WorkflowDefinition, times: number): Promise<Figure> {
  const runs = 64;
  const rates: number[] = [];
  for (let time = 0; time < times; time += 1) {
    await withHome(async (home) => {
      const supervisor = await createSupervisor({
        kinds: [runKind(farSide(flow))],
        store: await openLevelStore({ directory: home }),
      });
      const took = await timed(() =>
        Promise.all(Array.from({ length: runs }, (_, n) => toTheEnd(supervisor, flow, `r${n}`))),
      );
      rates.push(((runs * steps) / took) * 1000);
      await supervisor.stop();
    });
  }
  return {
    name: `${name}: steps of ${runs} such runs at once`,
    value: median(rates),
    unit: '/s',
    target: { atLeast: 2_000 },
  };
}

/** Two steps whose far side answers at once, from the start to the end of the run. */
async function instant(times: number): Promise<Figure> {
  const flow = definitionOf({ nodes: [step('a'), step('b')], edges: chain('a', 'b') });
  const took: number[] = [];
  await withHome(async (home) => {
    const supervisor = await createSupervisor({
      kinds: [runKind(farSide(flow))],
      store: await openLevelStore({ directory: home }),
    });
    for (let n = 0; n < times; n += 1) took.push(await timed(() => toTheEnd(supervisor, flow, `r${n}`)));
    await supervisor.stop();
  });
  return { name: 'two instant steps, end to end', value: median(took), unit: 'ms', target: { atMost: 20 } };
}

async function toTheEnd(supervisor: Supervisor, flow: WorkflowDefinition, id: string): Promise<void> {
  const handle = supervisor.handle('workflow-run', id);
  const ended = new Promise<void>((resolve) => {
    const { unsubscribe } = handle.subscribe((snapshot) => {
      if (!['completed', 'failed'].includes((snapshot as { value: string }).value)) return;
      unsubscribe();
      resolve();
    });
  });
  mustHold(await supervisor.spawn('workflow-run', { id, input: runInput(flow) }));
  await ended;
  const { status, rounds: went } = (
    (await supervisor.get('workflow-run', id)) as unknown as { view: RunView }
  ).view;
  if (status !== 'completed' || (flow.edges.some(({ kind }) => kind === 'loop') && went !== rounds))
    throw new Error(`the run ${id} ${status} after ${went} rounds`);
}

/** When each act began. */
function stamped(far: Far): number[] {
  const began: number[] = [];
  far.answer = () => {
    began.push(performance.now());
    return {};
  };
  return began;
}

const perStep = (began: readonly number[], from: number, to: number): number =>
  ((began[to * nodes] ?? 0) - (began[from * nodes] ?? 0)) / ((to - from) * nodes);
