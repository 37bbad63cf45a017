import type { WorkflowDefinition } from '../../../machines/graph/definition.js';
import { callerName, isPerson, isPersonName } from '../../../machines/caller.js';
import { reachable } from '../../../machines/graph/order.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { Inherited, StepOutcome } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { GatewayActor } from '../app.js';
import type { Request, Reply } from '../request.js';
import { causesOf } from '../authority/causes.js';
import { definitionAt } from './definitions.js';
import { startRun } from './start-run.js';
import type { InnerRunInput } from './run-input.js';

export interface RerunInput {
  readonly nodeId: string;
  readonly input?: Json | undefined;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Do a run again from one step on: a new run of the same version, which inherits what was done before that
 * step and does everything after it again, with another input if one is given. Both runs know of the other's
 * place in the line.
 */
export async function rerun(
  request: Request,
  run: RunView,
  { nodeId, input, idempotencyKey }: RerunInput,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const definition = await definitionAt(request.app, run.workflowId, run.definitionVersion);
  if (definition?.nodes.some(({ id }) => id === nodeId) !== true)
    return refuse('NOT_FOUND', { runId: run.runId, nodeId }, `Run ${run.runId} has no node "${nodeId}".`);
  const rows = await request.app.supervisor.rows({ kind: 'workflow-run', id: run.runId }, 'outcomes', {
    limit: 1_000,
  });
  const outcomes = new Map(
    rows.map(({ row }) => [
      (row as { nodeId: string }).nodeId,
      (row as { outcome?: StepOutcome }).outcome ?? null,
    ]),
  );
  const [given] = await request.app.supervisor.rows({ kind: 'workflow-run', id: run.runId }, 'given', {
    last: 1,
  });
  const { input: before = null } = (given?.row ?? {}) as { input?: Json };
  const inherited = inheritedBy(definition, run, nodeId, outcomes);
  const wanted: InnerRunInput = {
    workflowId: run.workflowId,
    version: run.definitionVersion,
    input: input === undefined ? before : input,
    newInput: input !== undefined,
    lent:
      run.authority?.lent === true ||
      (hasInputOfOthers(request, run) && !isAllNew(request, definition, { input, inherited })),
    inherited,
    rerunOf: { runId: run.runId, nodeId },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    workItemId: run.workItemId,
  };
  return startRun(request, wanted);
}

/** Agents caused the run who do not cause the rerun: what they gave it decides no address with others' rights. */
function hasInputOfOthers(request: Request, { authority, startedBy }: RunView): boolean {
  const causes = new Set(causesOf(request).map(callerName));
  return (authority?.onBehalfOf ?? [startedBy]).some((name) => !isPersonName(name) && !causes.has(name));
}

/** A person wrote all that its steps read: nothing but the trigger is done already. */
const isAllNew = (
  request: Request,
  { nodes }: WorkflowDefinition,
  { input, inherited }: { readonly input: Json | undefined; readonly inherited: readonly Inherited[] },
): boolean =>
  input !== undefined &&
  causesOf(request).every(isPerson) &&
  inherited.every(({ nodeId, outcome }) => {
    const node = nodes.find(({ id }) => id === nodeId);
    return node?.type === 'trigger' && outcome === null;
  });

/**
 * What has come to its end and does not follow from the node, in an order in which each stands behind what
 * led to it.
 */
function inheritedBy(
  { nodes, edges }: WorkflowDefinition,
  { steps }: RunView,
  from: string,
  outcomes: ReadonlyMap<string, StepOutcome | null>,
): readonly Inherited[] {
  const forward = edges.filter(({ kind }) => kind !== 'loop');
  const after = reachable([from], forward);
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
    const step = steps[nodeId];
    if (step === undefined || after.has(nodeId) || ['running', 'waiting', 'parked'].includes(step.status))
      return [];
    return [{ nodeId, status: step.status, outcome: outcomes.get(nodeId) ?? null }];
  });
}
