import { z } from 'zod';
import { deleteBinding, listBindings } from '../../commands/bindings.js';
import { createPoll, steerPoll } from '../../commands/polls.js';
import { bindingOf, createTrigger, receiveEvent } from '../../commands/triggers.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Done } from '../../commands/desk.js';
import { perMinute, type Limiter } from '../limiter.js';
import { route, type Call, type Reply, type Route } from '../route.js';
import { idempotencyKey, text } from '../shapes.js';

const word = z.string().min(1).max(128).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'must be A-Z, a-z or 0-9, then those or . _ : -');
const rule = z.object({ path: z.string().min(1).max(256), op: z.enum(['equals', 'notEquals', 'exists', 'matches']), value: z.union([z.string().max(512), z.number(), z.boolean(), z.null()]).default(null) });
const bindingBody = z.object({
  kind: z.enum(['webhook', 'poll']).describe('`webhook`: the event is told. `poll`: a program of this machine looks for it, once a person has approved that.'), name: word.describe('Names it for ever; also in the path that deletes it.'), event: word, targetWorkflowId: text(200).min(1),
  filter: z.array(rule).max(20).optional().describe('All rules must hold for the payload; `matches` takes linear time.'),
  secretToken: z.string().min(16).max(200).optional().describe('A secret of your own. Default: one is made and told once.'), command: z.array(text(4_096).min(1)).min(1).max(32).optional().describe('Of a poll: the program by its absolute path, and its arguments. It prints `{"fire": true, "payload": {…}, "fireRef": "…"}` when there is something.'),
  intervalSeconds: z.int().min(10).max(86_400).optional().describe('Of a poll. Default 300.'),
  timeoutMs: z.int().min(100).max(300_000).optional().describe('Of a poll. Default 30,000.'), idempotencyKey,
});
const decisionBody = z.object({
  decision: z.enum(['approve', 'reject']), activationContractHash: z.string().max(100).optional().describe('Of the contract that was looked at; another one is not decided.'), note: z.string().max(2_000).optional(), idempotencyKey,
});
const escalationBody = z.object({ reason: z.string().max(2_000).optional(), idempotencyKey });
const trigger = z.looseObject({ name: z.string(), kind: z.string(), event: z.string(), targetWorkflowId: z.string(), activation: z.enum(['active', 'pending_approval', 'disabled']) }).meta({ id: 'Trigger' });

const eventBody = z.object({ event: word, payload: z.record(z.string(), z.unknown()).describe('At most 64 KiB.'), fireRef: text(256).min(1).optional().describe('Names this occurrence: told again, it starts nothing new.') });
const outcome = z.looseObject({ triggerName: z.string(), outcome: z.enum(['started', 'missing-workflow']) });

const eventsPerMinute = 60;
const limiters = new WeakMap<object, Map<string, Limiter>>();

/** What starts workflows from outside. */
export const workflowTriggerRoutes: readonly Route[] = [
  route('GET', '/api/workflow-triggers', 'trigger.read', { about: 'The bindings of events to workflows; no secrets.', answer: z.object({ triggers: z.array(trigger), evidenceConfigured: z.boolean(), evidenceReason: z.string().optional() }) }, async ({ desk, by }) => ({
    body: { triggers: await listBindings(desk, by), evidenceConfigured: desk.evidence?.configured === true, ...(desk.evidence?.reason != null && { evidenceReason: desk.evidence.reason }) },
  })),
  route('POST', '/api/workflow-triggers', 'trigger.write', {
    about: 'Bind an event to a workflow. The secret of a webhook is told in this answer and never again; a poll waits for approval.', body: bindingBody, answer: z.object({ trigger, secretToken: z.string().optional() }), status: 201, plan: true,
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
    about: 'Something happened outside. With the gateway\'s bearer for every binding of the event, or with a binding\'s own secret in `x-svc-workflow-event-token`. At most 60 a minute for each.',
    body: eventBody, answer: z.object({ outcomes: z.array(outcome) }), bodyBytesMax: 64 * 1024, refusals: ['UNAUTHENTICATED', 'TOO_MANY', 'NO_BINDING', 'IDEMPOTENCY_CONFLICT', 'WORKFLOWS_DISABLED', 'QUEUE_FULL', 'BAD_REQUEST'],
  }, async (call) => {
    const key = await keyOf(call);
    if (isRefusal(key)) return key;
    const resetAt = limiterOf(call, key ?? '').take();
    if (resetAt !== undefined) return refuse('TOO_MANY', { resetAt }, 'Workflow event rate limit exceeded');
    const { event, payload, fireRef } = call.body;
    const outcomes = await receiveEvent(call.desk, { event, payload: payload as Record<string, Json>, fireRef }, key); // parsed from JSON
    return isRefusal(outcomes) ? outcomes : { status: 202, body: { outcomes } };
  }),
];

async function bind({ desk, body, asking }: Call<z.output<typeof bindingBody>>): Promise<Reply | Refusal> {
  const { kind, command, intervalSeconds, timeoutMs, secretToken, ...wish } = body;
  if (kind === 'poll') {
    if (command === undefined) return refuse('BAD_REQUEST', { path: 'command' }, 'command is required: the program by its absolute path, and its arguments.');
    if (secretToken !== undefined) return refuse('BAD_REQUEST', { path: 'secretToken' }, 'A poll is called by nobody and has no secret.');
    return shown(await createPoll(desk, { ...wish, command, intervalSeconds: intervalSeconds ?? 300, timeoutMs: timeoutMs ?? 30_000 }, asking));
  }
  const strange = Object.entries({ command, intervalSeconds, timeoutMs }).find(([, value]) => value !== undefined)?.[0];
  if (strange !== undefined) return refuse('BAD_REQUEST', { path: strange }, `${strange} belongs to a poll; a webhook runs nothing.`);
  const done = await createTrigger(desk, { ...wish, secretToken }, asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

const shown = (done: Done<Json> | Refusal): Reply | Refusal => (isRefusal(done) ? done : { ...done, body: { trigger: done.value } });

/** The binding whose secret was shown; undefined: the gateway's own credential. Agents tell no events. */
async function keyOf({ desk, header, authenticated, by }: Call<unknown, unknown>): Promise<string | undefined | ReturnType<typeof refuse>> {
  const token = header('x-svc-workflow-event-token');
  if (token === undefined) return authenticated && by.type !== 'session' ? undefined : refuse('UNAUTHENTICATED', {}, 'Workflow event authentication required');
  return await bindingOf(desk, token) ?? refuse('UNAUTHENTICATED', {}, 'Workflow event authentication required');
}

function limiterOf({ desk: { supervisor } }: Call<unknown, unknown>, key: string): Limiter {
  const known = limiters.get(supervisor) ?? new Map<string, Limiter>();
  limiters.set(supervisor, known);
  const limiter = known.get(key) ?? perMinute(eventsPerMinute, () => supervisor.world.steady());
  known.set(key, limiter);
  return limiter;
}
