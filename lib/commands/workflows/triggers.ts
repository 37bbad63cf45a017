import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { system } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { sortableText } from '../../../machines/sortable.js';
import type { FilterRule } from '../../../machines/graph/conditions.js';
import type { BindingFields } from '../../../machines/trigger/machine.js';
import { fitFilter, passes } from './filters.js';
import { mayBind, runKey, startBound, withName, withoutSalt } from './bindings.js';
import type { App } from '../app.js';
import { optionsOf, replyWith, type Request, type Reply } from '../request.js';
import { idsOf } from '../iterate.js';
import { definitionAt } from '../workflow-runs/definitions.js';
import { workflowsOff } from './read-workflow.js';

/** Bindings of events that are told from outside, and what such an event starts. */

export interface BindingInput {
  readonly name: string;
  readonly event: string;
  readonly targetWorkflowId: string;
  readonly filter?: readonly FilterRule[] | undefined;
  /** Its events are signed; they do not carry the secret, which is always made here. */
  readonly signature?: typeof signatureAlgorithm | undefined;
}

export async function createTrigger(
  request: Request,
  input: BindingInput,
): Promise<
  Reply<{ readonly trigger: Json; readonly secretToken?: string; readonly secretOmitted?: true }> | Refusal
> {
  const off = workflowsOff(request.app);
  if (off) return off;
  const refusal =
    (await mayBind(request.app, input.targetWorkflowId, request.caller)) ??
    fitFilter(input.filter ?? [], input.event);
  if (refusal) return refusal;
  const signingSalt =
    input.signature === undefined ? null : request.app.supervisor.environment.random.secret(16);
  const secretToken =
    signingSalt === null
      ? `svcwe_${request.app.supervisor.environment.random.secret(32)}`
      : signingSecret(request.app, input.name, signingSalt);
  if (secretToken === undefined)
    return refuse('BAD_REQUEST', { path: 'signature' }, 'This gateway cannot check signatures.');
  const binding: BindingFields = {
    event: input.event,
    targetWorkflowId: input.targetWorkflowId,
    filter: input.filter ?? [],
    tokenHash: signingSalt === null ? hashOf(secretToken) : '',
    tokenPreview: `${secretToken.slice(0, 5)}…${secretToken.slice(-4)}`,
    signingSalt,
  };
  const made = await withName(request.app, input.name, 'trigger', async () =>
    (await request.app.supervisor.get('trigger', input.name))?.value === 'deleted'
      ? request.app.supervisor.ask(
          'trigger',
          input.name,
          { type: 'binding.revive', binding },
          optionsOf(request),
        )
      : request.app.supervisor.spawn('trigger', {
          id: input.name,
          input: binding,
          ...optionsOf(request),
        }),
  );
  if (isRefusal(made)) return made;
  // told once: who asks again with the same key gets the binding, and no secret
  return replyWith(made, {
    trigger: withoutSalt(made.view),
    ...(made.replayed === true ? { secretOmitted: true as const } : { secretToken }),
  });
}

export interface Occurrence {
  readonly event: string;
  readonly payload: Readonly<Record<string, Json | undefined>>;
  readonly fireRef?: string | undefined;
  /** Names the telling where `fireRef` names nothing: told again, it starts nothing new either. */ readonly ref?:
    | string
    | undefined;
}
export type EventOutcome = { readonly triggerName: string } & (
  | { readonly outcome: 'started'; readonly run: Json }
  | { readonly outcome: 'missing-workflow'; readonly targetWorkflowId: string }
  /** Of several: the others' runs were started. */
  | {
      readonly outcome: 'refused';
      readonly targetWorkflowId: string;
      readonly code: string;
      readonly reason: string;
    }
);

/** The binding that a secret opens; undefined: none. */
export async function bindingOf(app: App, token: string): Promise<string | undefined> {
  if (token.length < tokenCharsMin || token.length > tokenCharsMax) return undefined;
  return (
    await idsOf(app.supervisor, 'trigger', { index: 'token', prefix: `${sortableText(hashOf(token))}` })
  )[0]; // looked up by hash: no time tells how much of a secret was right
}

/**
 * Something happened outside. Every binding of the event whose filter lets the payload pass starts a run,
 * under the event's own `fireRef`: told again, it is the same run; with another payload it is
 * IDEMPOTENCY_CONFLICT. One that cannot start does not keep the others from it; where none can, its refusal
 * is the answer. `only`: the binding whose secret was shown.
 */
export async function receiveEvent(
  app: App,
  { event, payload, fireRef, ref = fireRef }: Occurrence,
  only: string | undefined,
): Promise<readonly EventOutcome[] | Refusal> {
  const off = workflowsOff(app);
  if (off) return off;
  const names = (
    await idsOf(app.supervisor, 'trigger', { index: 'event', prefix: sortableText(event) })
  ).filter((name) => only === undefined || name === only);
  const outcomes: EventOutcome[] = [];
  const refusals: Refusal[] = [];
  const by = system('workflow-events');
  for (const triggerName of names) {
    const binding = await app.supervisor.get('trigger', triggerName);
    if (binding?.value !== 'active') continue; // taken away since the list was read
    const { event: bound, filter, targetWorkflowId } = binding.view;
    if (bound !== event || !passes(filter, { event, payload, fireRef })) continue;
    const definition = await definitionAt(app, targetWorkflowId);
    if (definition === undefined) {
      outcomes.push({ triggerName, outcome: 'missing-workflow', targetWorkflowId });
      continue;
    }
    if (definition.status !== 'active') continue;
    const run = await startBound(
      app,
      { name: triggerName, createdBy: String(binding.view.createdBy) },
      {
        workflowId: targetWorkflowId,
        trigger: { source: 'event-webhook', event, payload, ...(fireRef !== undefined && { fireRef }) },
        ...(ref !== undefined && { idempotencyKey: runKey(triggerName, ref) }),
      },
    );
    if (isRefusal(run)) {
      refusals.push(run);
      outcomes.push({
        triggerName,
        outcome: 'refused',
        targetWorkflowId,
        code: run.code,
        reason: run.message,
      });
      continue;
    }
    outcomes.push({ triggerName, outcome: 'started', run: run.body.view });
    if (!run.replayed)
      await app.supervisor.ask('trigger', triggerName, { type: 'binding.fired', outcome: 'started' }, { by });
  }
  return outcomes.length > refusals.length
    ? outcomes
    : (refusals[0] ?? refuse('NO_BINDING', { outcomes: [] }));
}

const tokenCharsMin = 16;
const tokenCharsMax = 200;
const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Events that come signed instead of with a secret: `t=<seconds>,v1=<hex>`, where the hex is HMAC-SHA256 of
 * `<seconds>.<body as it was sent>` under the binding's secret. What is seen on the way can be used for
 * nothing else, and only for a few minutes.
 *
 * A signature is checked with the secret itself, which no hash of it replaces. So that it is kept nowhere, it
 * is made again each time, of the gateway's own token and a number that the binding keeps: a new token makes
 * new secrets.
 */
export const signatureAlgorithm = 'hmac-sha256';

/** `App.keyFor` of a gateway with this token: the same label makes the same key, and a new token other ones. */
export const keysOf =
  (token: string) =>
  (label: string): string =>
    createHmac('sha256', token).update(label).digest('base64url');

/** The secret of a signed binding; undefined where the gateway has nothing to make it of. */
export function signingSecret(app: App, name: string, salt: string): string | undefined {
  const key = app.keyFor?.(`workflow-trigger ${sortableText(name)} ${salt}`);
  return key === undefined ? undefined : `svcwk_${key}`;
}

export interface SignedEvent {
  /** The binding that the sender names. */
  readonly name: string;
  /** `t=<seconds>,v1=<hex>` */
  readonly signature: string;
  readonly bytes: Buffer;
}

/**
 * `fresh`: the binding has signed exactly these bytes, not long ago; `ref` names this signature. `stale`: too
 * long ago, or in the future. Undefined: it has not.
 */
export async function readSignature(
  app: App,
  { name, signature, bytes }: SignedEvent,
): Promise<{ readonly is: 'fresh'; readonly ref: string } | { readonly is: 'stale' } | undefined> {
  const [, seconds = '', given = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (seconds === '' || !soundName.test(name)) return undefined;
  const binding = await app.supervisor.get('trigger', name);
  const salt = binding === undefined || binding.value !== 'active' ? undefined : binding.view.signingSalt;
  // where there is no such binding as much is counted as where there is one
  const secret = signingSecret(app, name, salt ?? '');
  const same = timingSafeEqual(Buffer.from(given, 'hex'), sign(secret ?? '', seconds, bytes));
  // What anybody can compute is no signature
  if (!same || salt == null || secret === undefined) return undefined;
  const awayMs = Math.abs(app.supervisor.environment.clock.now() - Number(seconds) * 1000);
  return awayMs <= windowSeconds * 1000 ? { is: 'fresh', ref: `signature ${given}` } : { is: 'stale' };
}

/** Before the body is there: the form of a signature, and a binding that takes signed events. */
export async function mayBeSigned(
  app: App,
  { name, signature }: Pick<SignedEvent, 'name' | 'signature'>,
): Promise<boolean> {
  if (!/^t=\d{1,12},v1=[0-9a-f]{64}$/.test(signature) || !soundName.test(name)) return false;
  const binding = await app.supervisor.get('trigger', name);
  return binding?.value === 'active' && binding.view.signingSalt !== null;
}

/** How far a signature's time may lie from the gateway's. */
export const windowSeconds = 300;

const sign = (secret: string, seconds: string, bytes: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${seconds}.`).update(bytes).digest();
const soundName = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
