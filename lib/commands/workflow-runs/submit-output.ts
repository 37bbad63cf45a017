import { misfits } from '../../../machines/graph/value-shape.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import type { StepOutcome } from '../../../machines/workflow-run/context.js';
import type { RunView } from '../../../machines/workflow-run/view.js';
import type { GatewayActor } from '../app.js';
import { askActor, type Request, type Reply } from '../request.js';
import { definitionAt } from './definitions.js';

export type Submission = Pick<StepOutcome, 'summary' | 'notes' | 'artifacts'> & {
  readonly fields?: Readonly<Record<string, Json>> | undefined;
};

/**
 * The output of a step, handed in by the session that does it. What does not fit is refused with every fault;
 * what fits ends the step.
 */
export async function submitOutput(
  request: Request,
  run: RunView,
  nodeId: string,
  submission: Submission,
): Promise<Reply<GatewayActor<'workflow-run'>> | Refusal> {
  const definition = await definitionAt(request.app, run.workflowId, run.definitionVersion);
  const step = definition?.nodes.find(({ id }) => id === nodeId);
  const now = run.steps[nodeId];
  if (step?.type !== 'step' || now === undefined)
    return refuse(
      'NOT_FOUND',
      { runId: run.runId, nodeId },
      `Run ${run.runId} is not at a step "${nodeId}".`,
    );
  const errors = step.output === null ? [] : misfits(step.output, (submission.fields ?? {}) as Json);
  if (errors.length > 0)
    return refuse(
      'BAD_REQUEST',
      { path: 'fields', errors: errors.map((message) => ({ code: 'bad-output', message, ref: nodeId })) },
      `Invalid output: ${errors.slice(0, 4).join('; ')}.`,
    );
  const worker = now.worker?.kind === 'session' ? { sessionId: now.worker.id } : {};
  const outcome = JSON.parse(
    JSON.stringify({ ...submission, ...worker, extractedFrom: 'submitted' }),
  ) as StepOutcome;
  return askActor(request, 'workflow-run', run.runId, {
    type: 'step.submitted',
    nodeId,
    round: now.round,
    attempt: now.attempt,
    outcome,
  });
}
