import { createHash } from 'node:crypto';
import { system } from '../../machines/caller.js';
import type { Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { sortableText } from '../../machines/sortable.js';
import type { FilterRule } from '../../machines/filter-rule.js';
import type { BindingFields } from '../../machines/trigger/machine.js';
import { fitFilter, mayBind, passes, runKey, withName, withoutSalt } from './bindings.js';
import { asked, doneWith, recordOf, type Asking, type Desk, type Done } from './desk.js';
import { signingSecret, type signatureAlgorithm } from './signatures.js';
import { idsOf } from './walk.js';
import { definitionAt } from './workflow-runs/definitions.js';
import { startRun } from './workflow-runs/start-run.js';
import { workflowsOff } from './workflows/read-workflow.js';

/** Bindings of events that are told from outside, and what such an event starts. */

export interface BindingWish {
  readonly name: string;
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter?: readonly FilterRule[] | undefined;
  /** Its events are signed; they do not carry the secret, which is always made here. */
  readonly signature?: typeof signatureAlgorithm | undefined;
}

export async function createTrigger(desk: Desk, wish: BindingWish, asking: Asking): Promise<Done<{ readonly trigger: Json; readonly secretToken?: string; readonly secretOmitted?: true }> | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const refusal = await mayBind(desk, wish.targetWorkflowId, asking.by) ?? fitFilter(wish.filter ?? []);
  if (refusal) return refusal;
  const signingSalt = wish.signature === undefined ? null : desk.supervisor.world.secret(16);
  const secretToken = signingSalt === null ? `svcwe_${desk.supervisor.world.secret(32)}` : signingSecret(desk, wish.name, signingSalt);
  if (secretToken === undefined) return refuse('BAD_REQUEST', { path: 'signature' }, 'This gateway cannot check signatures.');
  const binding: BindingFields = {
    event: wish.event, targetWorkflowId: wish.targetWorkflowId, filter: wish.filter ?? [], tokenHash: signingSalt === null ? hashOf(secretToken) : '', tokenPreview: `${secretToken.slice(0, 5)}…${secretToken.slice(-4)}`, signingSalt,
  };
  const made = await withName(desk, wish.name, 'trigger', async () => ((await desk.supervisor.get('trigger', wish.name))?.value === 'deleted'
    ? desk.supervisor.ask('trigger', wish.name, { type: 'binding.revive', binding }, asked(asking))
    : desk.supervisor.spawn('trigger', { id: wish.name, input: binding as unknown as Json, ...asked(asking) }))); // plain values, all of them
  if (isRefusal(made)) return made;
  // told once: who asks again with the same key gets the binding, and no secret
  return doneWith(made, { trigger: withoutSalt(made.view), ...(made.replayed === true ? { secretOmitted: true as const } : { secretToken }) });
}

export interface Occurrence { readonly event: string; readonly payload: Readonly<Record<string, Json | undefined>>; readonly fireRef?: string | undefined; /** Names the telling where `fireRef` names nothing: told again, it starts nothing new either. */ readonly ref?: string | undefined }
export type EventOutcome = { readonly triggerName: string } & (
  | { readonly outcome: 'started'; readonly run: Json }
  | { readonly outcome: 'missing-workflow'; readonly targetWorkflowId: string }
  /** Of several: the others' runs were started. */
  | { readonly outcome: 'refused'; readonly targetWorkflowId: string; readonly code: string; readonly reason: string }
);

/** The binding that a secret opens; undefined: none. */
export async function bindingOf(desk: Desk, token: string): Promise<string | undefined> {
  if (token.length < tokenCharsMin || token.length > tokenCharsMax) return undefined;
  return (await idsOf(desk.supervisor, 'trigger', { index: 'token', prefix: `${sortableText(hashOf(token))}` }))[0]; // looked up by hash: no time tells how much of a secret was right
}

/**
 * Something happened outside. Every binding of the event whose filter lets the payload pass starts a run, under the
 * event's own `fireRef`: told again, it is the same run; with another payload it is IDEMPOTENCY_CONFLICT. One that cannot
 * start does not keep the others from it; where none can, its refusal is the answer. `only`: the binding whose secret
 * was shown.
 */
export async function receiveEvent(desk: Desk, { event, payload, fireRef, ref = fireRef }: Occurrence, only: string | undefined): Promise<readonly EventOutcome[] | Refusal> {
  const off = workflowsOff(desk);
  if (off) return off;
  const names = (await idsOf(desk.supervisor, 'trigger', { index: 'event', prefix: sortableText(event) })).filter((name) => only === undefined || name === only);
  const outcomes: EventOutcome[] = [];
  const refusals: Refusal[] = [];
  const by = system('workflow-events');
  for (const triggerName of names) {
    const binding = await desk.supervisor.get('trigger', triggerName);
    if (binding?.value !== 'active') continue; // taken away since the list was read
    const { event: bound, filter, targetWorkflowId } = recordOf(binding) as unknown as BindingFields; // the view holds them
    if (bound !== event || !filter.every((rule) => passes(rule, payload))) continue;
    const definition = await definitionAt(desk, targetWorkflowId);
    if (definition === undefined) {
      outcomes.push({ triggerName, outcome: 'missing-workflow', targetWorkflowId });
      continue;
    }
    if (definition.status !== 'active') continue;
    const run = await startRun(desk, {
      workflowId: targetWorkflowId, trigger: { source: 'event-webhook', event, payload, ...(fireRef !== undefined && { fireRef }) },
      ...(ref !== undefined && { idempotencyKey: runKey(triggerName, ref) }),
    }, { by });
    if (isRefusal(run)) {
      refusals.push(run);
      outcomes.push({ triggerName, outcome: 'refused', targetWorkflowId, code: run.code, reason: run.message });
      continue;
    }
    outcomes.push({ triggerName, outcome: 'started', run: run.value.view });
    if (!run.replayed) await desk.supervisor.ask('trigger', triggerName, { type: 'binding.fired', outcome: 'started' }, { by });
  }
  return outcomes.length > refusals.length ? outcomes : refusals[0] ?? refuse('NO_BINDING', { outcomes: [] });
}

const tokenCharsMin = 16;
const tokenCharsMax = 200;
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
