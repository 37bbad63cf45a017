import { createHash } from 'node:crypto';
import type { Inspection } from '../supervisor/inspection-answers.js';
import type { Json } from '../../machines/outputs.js';
import { activeStates } from '../../machines/state-names.js';
import type { MachineAnswer, Machines } from './answers.js';
import { chartOf } from './chart/chart-of.js';
import type { Chart, ChartState } from './chart/definition.js';
import { svgOf } from './chart/svg-of.js';

/** The machines of this supervisor as data, as hashes and as pictures. */
export function machines(inspection: Inspection): Machines {
  return {
    machines: inspection.kinds().map(({ kind, version, machine }) => {
      const chart = chartOf(machine);
      return {
        kind,
        version,
        hash: machineHash(chart),
        states: count(chart.root),
        events: [...new Set(chart.edges.map(({ type }) => type))]
          .filter((type) => type !== '' && !type.startsWith('xstate.'))
          .sort(),
      };
    }),
  };
}

export function machineOf(inspection: Inspection, kind: string): MachineAnswer | undefined {
  const known = inspection.kinds().find((one) => one.kind === kind);
  if (known === undefined) return undefined;
  const chart = chartOf(known.machine);
  return { kind, version: known.version, hash: machineHash(chart), chart };
}

/** The picture. `states`: paths to light, `running,work.executing`; the states around them are lit too. */
export async function pictureOf(
  inspection: Inspection,
  kind: string,
  states: readonly string[],
): Promise<string | undefined> {
  const answer = machineOf(inspection, kind);
  if (answer === undefined) return undefined;
  const { layOut } = await import('./chart/lay-out.js'); // pages draw for themselves: few gateways are ever asked
  return svgOf(layOut(answer.chart), {
    lit: [...new Set(states.flatMap((path) => activeStates(nested(path))))],
  });
}

/**
 * SHA-256 of what a machine is, without its functions: states, transitions, guards, actions and effects by
 * name. Conditions say once more what guards say, and bundles from before them must still match.
 */
export const machineHash = (chart: Chart): string =>
  createHash('sha256')
    .update(JSON.stringify(chart, (name, value: unknown) => (name === 'condition' ? undefined : value)))
    .digest('hex');

const nested = (path: string): Json =>
  path.split('.').reduceRight<Json>((inner, part) => (inner === null ? part : { [part]: inner }), null);
const count = (state: ChartState): number => state.states.reduce((sum, inner) => sum + count(inner), 1);
