import { misfits } from '../../../machines/graph/value-shape.js';
import type { Json } from '../../../machines/ground.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { ActorView } from '../../supervisor/contract.js';
import { askOne, type Asking, type Desk, type Done } from '../desk.js';
import { definitionAt } from './definitions.js';

export type Submission = Pick<StepOutcome, 'summary' | 'notes' | 'artifacts'> & { readonly fields?: Readonly<Record<string, Json>> | undefined };

/** The output of a step, handed in by the session that does it. What does not fit is refused with every fault; what fits ends the step. */
export async function submitOutput(desk: Desk, run: RunView, nodeId: string, submission: Submission, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const definition = await definitionAt(desk, run.workflowId, run.definitionVersion);
  const step = definition?.nodes.find(({ id }) => id === nodeId);
  const spot = run.spots[nodeId];
  if (step?.type !== 'step' || spot === undefined) return refuse('NOT_FOUND', { runId: run.runId, nodeId }, `Run ${run.runId} is not at a step "${nodeId}".`);
  const errors = step.output === null ? [] : misfits(step.output, (submission.fields ?? {}) as Json);
  if (errors.length > 0) return refuse('BAD_REQUEST', { path: 'fields', errors: errors.map((message) => ({ code: 'bad-output', message, ref: nodeId })) }, `The output does not fit: ${errors.slice(0, 4).join('; ')}.`);
  const worker = spot.worker?.kind === 'session' ? { sessionId: spot.worker.id } : {};
  const outcome = JSON.parse(JSON.stringify({ ...submission, ...worker, extractedFrom: 'submitted' })) as Json;
  return askOne(desk, 'workflow-run', run.runId, { type: 'step.submitted', nodeId, round: spot.round, attempt: spot.attempt, outcome }, asking);
}
