import type { GatewayEvent } from '../../../actors/gateway-kinds.js';
import { measured, type Measured, type PollTerms } from '../../../actors/poll/contract.js';
import type { FilterRule } from '../../../machines/graph/conditions.js';
import type { Json } from '../../../machines/outputs.js';
import type { Fired, PollFields } from '../../../machines/poll/context.js';
import type { FireInput } from '../../../machines/poll/machine.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import {
  bindingNamed,
  mayBind,
  noBinding,
  runKey,
  startBound,
  withCapability,
  withName,
} from './bindings.js';
import { fitFilter, passes } from './filters.js';
import type { App } from '../app.js';
import { optionsOf, replyWith, type Request, type Reply } from '../request.js';
import { definitionAt } from '../workflow-runs/definitions.js';
import { workflowsOff } from './read-workflow.js';

/** Bindings that look for their event by a program: set up, allowed and taken away by people only. */

export interface PollInput extends PollTerms {
  readonly name: string;
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter?: readonly FilterRule[] | undefined;
}

/**
 * A poll that waits for approval: nothing runs before. The value is the binding with the contract to be
 * approved.
 */
export async function createPoll(request: Request, input: PollInput): Promise<Reply<Json> | Refusal> {
  const off = workflowsOff(request.app);
  if (off) return off;
  const { name, event, targetWorkflowId, filter = [] } = input;
  if (request.caller.type === 'session')
    return refuse(
      'PERSON_REQUIRED',
      { path: 'kind' },
      'A poll runs a program on this machine: only people may create one.',
    );
  const refusal = (await mayBind(request.app, targetWorkflowId, request.caller)) ?? fitFilter(filter, event);
  if (refusal) return refusal;
  const now = await measured(input).catch((error: unknown): Refusal =>
    refuse('BAD_REQUEST', { path: 'command' }, (error as Error).message),
  );
  if (isRefusal(now)) return now;
  const binding: PollFields = { event, targetWorkflowId, filter, ...(now satisfies Measured) };
  const made = await withName(request.app, name, 'poll', async () =>
    (await request.app.supervisor.get('poll', name))?.value === 'deleted'
      ? request.app.supervisor.ask('poll', name, { type: 'binding.revive', binding }, optionsOf(request))
      : request.app.supervisor.spawn('poll', {
          id: name,
          input: binding,
          ...optionsOf(request),
        }),
  );
  return isRefusal(made) ? made : replyWith(made, withCapability(made.view, request.caller));
}

/** Decide about a poll's activation, or carry the question further up. */
export async function steerPoll(
  request: Request,
  name: string,
  event: GatewayEvent<'poll'>,
): Promise<Reply<Json> | Refusal> {
  const known = await bindingNamed(request.app, name);
  if (known === undefined) return noBinding(name);
  if (known.kind !== 'poll')
    return refuse(
      'CONFLICT',
      { name, kind: 'webhook' },
      `The workflow trigger "${name}" is a webhook: it needs no activation.`,
    );
  const view = await request.app.supervisor.ask('poll', name, event, optionsOf(request));
  return isRefusal(view) ? view : replyWith(view, withCapability(view.view, request.caller));
}

/**
 * What a look found starts its run, under the occurrence's own name: done again, it is the same run. Throws
 * what may go better in a moment.
 */
export async function firePoll(
  app: App,
  { name, createdBy, event, targetWorkflowId, filter, occurrence }: FireInput,
): Promise<Fired> {
  const { payload, fireRef, ref } = occurrence;
  if (!passes(filter, { event, payload, fireRef: fireRef ?? undefined }))
    return { outcome: 'no-fire', reason: 'The event does not match the filter.' };
  const definition = await definitionAt(app, targetWorkflowId);
  if (definition === undefined || definition.status === 'retired')
    return { outcome: 'missing-workflow', reason: `Unknown workflow "${targetWorkflowId}".` };
  const run = await startBound(
    app,
    { name, createdBy },
    {
      workflowId: targetWorkflowId,
      idempotencyKey: runKey(name, fireRef ?? ref),
      trigger: { source: 'check-poll', event, payload, ...(fireRef !== null && { fireRef }) },
    },
  );
  if (isRefusal(run) && (run.status >= 500 || run.status === 429)) throw new Error(run.message);
  return isRefusal(run)
    ? { outcome: 'refused', reason: run.message }
    : { outcome: 'fired', runId: run.body.id };
}
