import { z } from 'zod';
import { deleteBinding, filterRulesMax, listBindings } from '../../commands/bindings.js';
import { createPoll, steerPoll } from '../../commands/polls.js';
import { bindingOf, createTrigger, receiveEvent } from '../../commands/triggers.js';
import { outputBytes } from '../../../actors/effects/poll-contract.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Done } from '../../commands/desk.js';
import { readSignature, signatureAlgorithm, windowSeconds } from '../../commands/signatures.js';
import { perMinute, type Limiter } from '../limiter.js';
import { route, type Call, type Reply, type Route } from '../route.js';
import { idempotencyKey, text } from '../shapes.js';

const word = z.string().min(1).max(128).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'must be A-Z, a-z or 0-9, then those or . _ : -');
const rule = z.object({ path: z.string().min(1).max(256), op: z.enum(['equals', 'notEquals', 'exists', 'matches']), value: z.union([z.string().max(512), z.number(), z.boolean(), z.null()]).default(null) });
const bindingBody = z.object({
  kind: z.enum(['webhook', 'poll']).describe('`webhook`: the event is told. `poll`: a program of this machine looks for it, once a person has approved that.'), name: word.describe('Names it for ever; also in the path that deletes it.'), event: word, targetWorkflowId: text(200).min(1),
  filter: z.array(rule).max(filterRulesMax).optional().describe('All rules must hold for the payload; `matches` takes linear time.'),
  command: z.array(text(4_096).min(1)).min(1).max(32).optional().describe('Of a poll: the program by its absolute path, and its arguments. It prints `{"fire": true, "payload": {…}, "fireRef": "…"}` when there is something.'),
  signature: z.enum([signatureAlgorithm]).optional().describe('Events of this webhook are signed with the secret instead of carrying it. Default: they carry it.'),
  intervalSeconds: z.int().min(10).max(86_400).optional().describe('Of a poll. Default 300.'),
  timeoutMs: z.int().min(100).max(300_000).optional().describe('Of a poll. Default 30,000.'),
  stdoutMaxBytes: z.int().min(1).max(outputBytes.stdoutMaxBytes).optional().describe('Of a poll: printing more is a failure. Default: the most.'),
  stderrMaxBytes: z.int().min(1).max(outputBytes.stderrMaxBytes).optional().describe('Of a poll: of more only the end is kept. Default: the most.'), idempotencyKey,
});
const decisionBody = z.object({
  decision: z.enum(['approve', 'reject']), activationContractHash: z.string().max(100).optional().describe('Of the contract that was looked at; another one is not decided.'), note: z.string().max(2_000).optional(), idempotencyKey,
});
const escalationBody = z.object({ reason: z.string().max(2_000).optional(), idempotencyKey });
const trigger = z.looseObject({ name: z.string(), kind: z.string(), event: z.string(), targetWorkflowId: z.string(), activation: z.enum(['active', 'pending_approval', 'disabled']) }).meta({ id: 'Trigger' });

const eventBody = z.object({ event: word, payload: z.record(z.string(), z.unknown()).describe('At most 64 KiB.'), fireRef: text(256).min(1).optional().describe('Names this occurrence: told again, it starts nothing new.') });
const outcome = z.looseObject({ triggerName: z.string(), outcome: z.enum(['started', 'missing-workflow', 'refused']).describe('refused: with `code` and `reason`; only beside others.') });

const eventHeaders = {
  'x-svc-workflow-event-token': 'The secret of a webhook binding.',
  'x-svc-workflow-trigger': 'The name of a webhook binding whose events are signed.',
  'x-svc-workflow-signature': `\`t=<unix seconds>,v1=<hex>\`: HMAC-SHA256, under the binding's secret, of \`<unix seconds>.<the body as it is sent>\`. Good for ${windowSeconds} s; the same signature never starts two runs.`,
};

const eventsPerMinute = 60;
const limiters = new WeakMap<object, Map<string, Limiter>>();

/** What starts workflows from outside. */
export const workflowTriggerRoutes: readonly Route[] = [
  route('GET', '/api/workflow-triggers', 'trigger.read', { about: 'The bindings of events to workflows; no secrets.', answer: z.object({ triggers: z.array(trigger), evidenceConfigured: z.boolean(), evidenceReason: z.string().optional() }) }, async ({ desk, by }) => ({
    body: { triggers: await listBindings(desk, by), evidenceConfigured: desk.evidence?.configured === true, ...(desk.evidence?.reason != null && { evidenceReason: desk.evidence.reason }) },
  })),
  route('POST', '/api/workflow-triggers', 'trigger.write', {
    about: 'Bind an event to a workflow. The secret of a webhook is told in this answer and never again; a poll waits for approval.', body: bindingBody, forbidden: ['secretToken'], answer: z.object({ trigger, secretToken: z.string().optional(), secretOmitted: z.literal(true).optional().describe('A repetition: the secret was told the first time.') }), status: 201, plan: true,
    refusals: ['NOT_FOUND', 'EXISTS', 'FORBIDDEN', 'PERSON_REQUIRED', 'BAD_REQUEST', 'WORKFLOWS_DISABLED'],
  }, bind),
  route('DELETE', '/api/workflow-triggers/:name', 'trigger.write', { about: 'Take a binding away; its secret opens nothing any more, and its program is ended.', body: z.object({}), plan: true, answer: z.object({ deleted: z.literal(true), name: z.string(), orphaned: z.literal(true).optional() }), refusals: ['NOT_FOUND', 'FORBIDDEN', 'PERSON_REQUIRED'] }, async ({ desk, params, asking }) => {
    const done = await deleteBinding(desk, params['name'] ?? '', asking);
    return isRefusal(done) ? done : { ...done, body: done.value };
  }),
  route('POST', '/api/workflow-triggers/:name/activation-approval', 'trigger.activate', { about: 'Approve or reject the program of a poll, exactly as its contract says. Rejecting an active one ends it.', body: decisionBody, plan: true, answer: z.object({ trigger }), refusals: ['NOT_FOUND', 'CONFLICT'] }, async ({ desk, params, body, asking }) => {
    const { decision, activationContractHash, note } = body;
    return shown(await steerPoll(desk, params['name'] ?? '', { type: 'activation.decide', decision, ...(activationContractHash !== undefined && { contractHash: activationContractHash }), ...(note !== undefined && { note }) }, asking));
  }),
  route('POST', '/api/workflow-triggers/:name/activation-approval/escalate', 'trigger.activate', { about: 'Mark a waiting approval as urgent.', body: escalationBody, plan: true, answer: z.object({ trigger }), refusals: ['NOT_FOUND', 'CONFLICT'] }, async ({ desk, params, body: { reason }, asking }) =>
    shown(await steerPoll(desk, params['name'] ?? '', { type: 'activation.escalate', ...(reason !== undefined && { reason }) }, asking))),
  route('POST', '/api/workflow-events', 'event.receive', {
    about: 'Something happened outside. With the gateway\'s bearer for every binding of the event; for one binding with its own secret, or signed with that. At most 60 a minute for each.',
    headers: eventHeaders, keepsBytes: true, body: eventBody, answer: z.object({ outcomes: z.array(outcome) }), bodyBytesMax: 64 * 1024, refusals: ['UNAUTHENTICATED', 'TOO_MANY', 'NO_BINDING', 'IDEMPOTENCY_CONFLICT', 'WORKFLOWS_DISABLED', 'QUEUE_FULL', 'BAD_REQUEST'],
  }, async (call) => {
    const shownKey = await keyOf(call);
    if (isRefusal(shownKey)) return shownKey;
    const { key, ref } = shownKey;
    const resetAt = limiterOf(call, key ?? '').take();
    if (resetAt !== undefined) return refuse('TOO_MANY', { resetAt }, 'Workflow event rate limit exceeded');
    const { event, payload, fireRef } = call.body;
    const outcomes = await receiveEvent(call.desk, { event, payload: payload as Record<string, Json>, fireRef, ref: fireRef ?? ref }, key); // parsed from JSON
    return isRefusal(outcomes) ? outcomes : { status: 202, body: { outcomes } };
  }),
];

async function bind({ desk, body, asking }: Call<z.output<typeof bindingBody>>): Promise<Reply | Refusal> {
  const { kind, command, intervalSeconds, timeoutMs, stdoutMaxBytes, stderrMaxBytes, signature, ...wish } = body;
  if (kind === 'poll') {
    if (command === undefined) return refuse('BAD_REQUEST', { path: 'command' }, 'command is required: the program by its absolute path, and its arguments.');
    if (signature !== undefined) return refuse('BAD_REQUEST', { path: 'signature' }, 'A poll is called by nobody, and nothing of it is signed.');
    return shown(await createPoll(desk, { ...wish, command, intervalSeconds: intervalSeconds ?? 300, timeoutMs: timeoutMs ?? 30_000, stdoutMaxBytes: stdoutMaxBytes ?? outputBytes.stdoutMaxBytes, stderrMaxBytes: stderrMaxBytes ?? outputBytes.stderrMaxBytes }, asking));
  }
  const strange = Object.entries({ command, intervalSeconds, timeoutMs, stdoutMaxBytes, stderrMaxBytes }).find(([, value]) => value !== undefined)?.[0];
  if (strange !== undefined) return refuse('BAD_REQUEST', { path: strange }, `${strange} belongs to a poll; a webhook runs nothing.`);
  const done = await createTrigger(desk, { ...wish, signature }, asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

const shown = (done: Done<Json> | Refusal): Reply | Refusal => (isRefusal(done) ? done : { ...done, body: { trigger: done.value } });

/** The binding whose secret was shown or used; no `key`: the gateway's own credential. Agents tell no events. */
async function keyOf({ desk, header, bytes, authenticated, by }: Call<unknown, unknown>): Promise<{ readonly key?: string; readonly ref?: string } | Refusal> {
  const refused = refuse('UNAUTHENTICATED', {}, 'Workflow event authentication required');
  const signature = header('x-svc-workflow-signature');
  if (signature !== undefined) {
    const name = header('x-svc-workflow-trigger') ?? '';
    const signed = bytes === undefined ? undefined : await readSignature(desk, { name, signature, bytes });
    if (signed?.is === 'stale') return refuse('UNAUTHENTICATED', { windowSeconds }, `The time of the signature is more than ${windowSeconds} s away from the gateway's.`);
    return signed === undefined ? refused : { key: name, ref: signed.ref };
  }
  const token = header('x-svc-workflow-event-token');
  if (token === undefined) return authenticated && by.type !== 'session' ? {} : refused;
  const key = await bindingOf(desk, token);
  return key === undefined ? refused : { key };
}

function limiterOf({ desk: { supervisor } }: Call<unknown, unknown>, key: string): Limiter {
  const known = limiters.get(supervisor) ?? new Map<string, Limiter>();
  limiters.set(supervisor, known);
  const limiter = known.get(key) ?? perMinute(eventsPerMinute, () => supervisor.world.steady());
  known.set(key, limiter);
  return limiter;
}
