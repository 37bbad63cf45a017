import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import type { Json } from '../../../machines/ground.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Inherited, StepOutcome } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { ActorView } from '../../supervisor/contract.js';
import type { Asking, Desk, Done } from '../desk.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';
import type { InnerWish } from './wish.js';

export interface RerunWish { readonly nodeId: string; readonly input?: Json | undefined; readonly idempotencyKey?: string | undefined }

/**
 * Do a run again from one step on: a new run of the same version, which inherits what was done before that step and
 * does everything after it anew, with another input if one is given. Both runs know of the other's place in the line.
 */
export async function rerun(desk: Desk, run: RunView, { nodeId, input, idempotencyKey }: RerunWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const definition = await definitionAt(desk, run.workflowId, run.definitionVersion);
  if (definition?.nodes.some(({ id }) => id === nodeId) !== true) return refuse('NOT_FOUND', { runId: run.runId, nodeId }, `Run ${run.runId} has no node "${nodeId}".`);
  const rows = await desk.supervisor.rows({ kind: 'workflow-run', id: run.runId }, 'outcomes', { limit: 1_000 });
  const outcomes = new Map(rows.map(({ row }) => [(row as { nodeId: string }).nodeId, (row as { outcome?: StepOutcome }).outcome ?? null]));
  const [given] = await desk.supervisor.rows({ kind: 'workflow-run', id: run.runId }, 'given', { last: 1 });
  const { input: before = null } = (given?.row ?? {}) as { input?: Json };
  const inherited = inheritedBy(definition, run, nodeId, outcomes);
  const wish: InnerWish = {
    workflowId: run.workflowId, version: run.definitionVersion, input: input === undefined ? before : input, inherited, rerunOf: { runId: run.runId, nodeId },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }), workItemId: run.workItemId,
  };
  return startRun(desk, wish, asking);
}

/** What has come to its end and does not follow from the node, in an order in which each stands behind what led to it. */
function inheritedBy({ nodes, edges }: WorkflowDefinition, { spots }: RunView, from: string, outcomes: ReadonlyMap<string, StepOutcome | null>): readonly Inherited[] {
  const forward = edges.filter(({ kind }) => kind !== 'loop');
  const after = new Set([from]);
  for (const id of after) for (const edge of forward) if (edge.from === id) after.add(edge.to); // a set may grow while it is walked
  const left = new Map(nodes.map(({ id }) => [id, forward.filter(({ to }) => to === id).length]));
  const order: string[] = [...left].flatMap(([id, count]) => (count === 0 ? [id] : []));
  for (const id of order) {
    for (const edge of forward) {
      if (edge.from !== id) continue;
      const rest = (left.get(edge.to) ?? 1) - 1;
      left.set(edge.to, rest);
      if (rest === 0) order.push(edge.to); // an array, too
    }
  }
  return order.flatMap((nodeId): readonly Inherited[] => {
    const spot = spots[nodeId];
    if (spot === undefined || after.has(nodeId) || ['running', 'waiting', 'parked'].includes(spot.status)) return [];
    return [{ nodeId, status: spot.status, outcome: outcomes.get(nodeId) ?? null }];
  });
}
