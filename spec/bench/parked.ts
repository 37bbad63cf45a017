import { openLevelStore } from '../../lib/store/level.js';
import { createSupervisor } from '../../lib/supervisor/supervisor.js';
import type { Supervisor } from '../../lib/supervisor/contract.js';
import type { WorkflowDefinition } from '../../machines/graph/definition.js';
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
import { mustHold } from './actors.js';
import { inFlight, median, settledHeap, timed, withHome, type Measure } from './measure.js';

/** Runs that wait for a person, a thousand beyond those that memory may hold: they must lie on disk alone. */
export const parked: Measure = {
  name: 'parked',
  about: 'runs of workflows that are parked at a gate',
  async run({ rounds, size = 1_000 }) {
    if (!('gc' in globalThis)) throw new Error('parked needs node --expose-gc');
    const each: number[] = [];
    const woken: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await withHome(async (home) => {
        const flow = definitionOf({
          nodes: [
            step('a'),
            { id: 'g', type: 'gate', gate: { kind: 'approval', approvalRef: 'go', description: 'Go on?' } },
            noop('b'),
          ],
          edges: chain('a', 'g', 'b'),
        });
        const supervisor = await createSupervisor({
          kinds: [runKind(forgetful(flow))],
          store: await openLevelStore({ directory: home, scrubEveryMs: 0 }),
          limits: { awakeActorsMax: awake },
        }); // the scrubber holds a page of rows, whatever there is
        await park(supervisor, flow, 0, size); // whatever grows with use has grown
        const before = await settledHeap();
        await park(supervisor, flow, size, size * 2);
        each.push(((await settledHeap()) - before) / size);
        if (supervisor.status.awake > awake) throw new Error(`${supervisor.status.awake} are awake`);
        woken.push(
          await timed(async () => {
            mustHold(
              await supervisor.ask('workflow-run', 'r0', { type: 'gate.resolve', decision: 'approve' }),
            );
          }),
        );
        await supervisor.stop();
      });
    }
    const runs = size.toLocaleString('en');
    return [
      {
        name: `heap per run, of ${runs} more parked than may be awake`,
        value: median(each),
        unit: 'B',
        target: { atMost: 256 },
      },
      {
        name: 'the longest parked of them goes on after',
        value: median(woken),
        unit: 'ms',
        target: { atMost: 20 },
      },
    ];
  },
};

const awake = 128;
const lanes = 8; // divides the thousand

/** The specs' far side, but for what it writes down of every run. */
function forgetful(flow: WorkflowDefinition): Far {
  const far = farSide(flow);
  return { ...far, ports: { ...far.ports, request: async () => ({}), keepEvidence: async () => 'written' } };
}

async function park(
  supervisor: Supervisor,
  flow: WorkflowDefinition,
  from: number,
  to: number,
): Promise<void> {
  await inFlight(lanes, to - from, async (lane, turn) => {
    mustHold(
      await supervisor.spawn('workflow-run', { id: `r${from + turn * lanes + lane}`, input: runInput(flow) }),
    );
  });
  for (let n = from; n < to; n += 1) {
    for (
      let tries = 0;
      ((await supervisor.get('workflow-run', `r${n}`))?.view as { status?: string } | undefined)?.status !==
      'parked';
      tries += 1
    ) {
      if (tries > 1_000) throw new Error(`r${n} does not park`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }
}
