import { measured, type Measured, type PollTerms } from '../../actors/effects/poll-contract.js';
import { system } from '../../machines/caller.js';
import type { FilterRule } from '../../machines/filter-rule.js';
import type { Json } from '../../machines/ground.js';
import type { Fired, PollFields } from '../../machines/poll/context.js';
import type { FireInput } from '../../machines/poll/machine.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { EventObject } from '../supervisor/contract.js';
import { bindingNamed, fitFilter, mayBind, noBinding, passes, runKey, withCapability, withName } from './bindings.js';
import { asked, doneWith, type Asking, type Desk, type Done } from './desk.js';
import { definitionAt } from './workflow-runs/definitions.js';
import { startRun } from './workflow-runs/start-run.js';
import { workflowsOff } from './workflows/read-workflow.js';

/** Bindings that look for their event by a program: set up, allowed and taken away by people only. */

export interface PollWish extends PollTerms {
  readonly name: string;
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter?: readonly FilterRule[] | undefined;
}

/** A poll that waits for approval: nothing runs before. The value is the binding with the contract to be approved. */
export async function createPoll(desk: Desk, wish: PollWish, asking: Asking): Promise<Done<Json> | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const { name, event, targetWorkflowId, filter = [] } = wish;
  if (asking.by.type === 'session') return refuse('PERSON_REQUIRED', { path: 'kind' }, 'A poll runs a program on this machine: only a person sets one up.');
  const refusal = await mayBind(desk, targetWorkflowId, asking.by) ?? fitFilter(filter);
  if (refusal) return refusal;
  const now = await measured(wish).catch((error: unknown): Refusal => refuse('BAD_REQUEST', { path: 'command' }, (error as Error).message));
  if (isRefusal(now)) return now;
  const binding: PollFields = { event, targetWorkflowId, filter, ...(now satisfies Measured) };
  const made = await withName(desk, name, 'poll', async () => ((await desk.supervisor.get('poll', name))?.value === 'deleted'
    ? desk.supervisor.ask('poll', name, { type: 'binding.revive', binding: binding as unknown as Json }, asked(asking)) // plain values, all of them
    : desk.supervisor.spawn('poll', { id: name, input: binding as unknown as Json, ...asked(asking) })));
  return isRefusal(made) ? made : doneWith(made, withCapability(made.view, asking.by));
}

/** Decide about a poll's activation, or carry the question further up. */
export async function steerPoll(desk: Desk, name: string, event: EventObject, asking: Asking): Promise<Done<Json> | Refusal> {
  const known = await bindingNamed(desk, name);
  if (known === undefined) return noBinding(name);
  if (known.kind !== 'poll') return refuse('CONFLICT', { name, kind: 'webhook' }, `The workflow trigger "${name}" is a webhook: it needs no activation.`);
  const view = await desk.supervisor.ask('poll', name, event, asked(asking));
  return isRefusal(view) ? view : doneWith(view, withCapability(view.view, asking.by));
}

/** What a look found starts its run, under the occurrence's own name: done again, it is the same run. Throws what may go better in a moment. */
export async function firePoll(desk: Desk, { name, event, targetWorkflowId, filter, occurrence }: FireInput): Promise<Fired> {
  const { payload, fireRef, ref } = occurrence;
  if (!filter.every((rule) => passes(rule, payload))) return { outcome: 'no-fire', reason: 'The filter does not let the payload through.' };
  const definition = await definitionAt(desk, targetWorkflowId);
  if (definition === undefined || definition.status === 'retired') return { outcome: 'missing-workflow', reason: `There is no workflow "${targetWorkflowId}".` };
  const run = await startRun(desk, {
    workflowId: targetWorkflowId, idempotencyKey: runKey(name, fireRef ?? ref), trigger: { source: 'check-poll', event, payload, ...(fireRef !== null && { fireRef }) },
  }, { by: system('workflow-events') });
  if (isRefusal(run) && (run.status >= 500 || run.status === 429)) throw new Error(run.message);
  return isRefusal(run) ? { outcome: 'refused', reason: run.message } : { outcome: 'fired', runId: run.value.id };
}
