import { z } from 'zod';
import { bindingOf, createTrigger, deleteTrigger, listTriggers, receiveEvent } from '../../commands/triggers.js';
import type { Json } from '../../../machines/ground.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { perMinute, type Limiter } from '../limiter.js';
import { route, type Call, type Route } from '../route.js';
import { idempotencyKey, text } from '../shapes.js';

const word = z.string().min(1).max(128).regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'must be A-Z, a-z or 0-9, then those or . _ : -');
const rule = z.object({ path: z.string().min(1).max(256), op: z.enum(['equals', 'notEquals', 'exists', 'matches']), value: z.union([z.string().max(512), z.number(), z.boolean(), z.null()]).default(null) });
const bindingBody = z.object({
  kind: z.literal('webhook'), name: word.describe('Names it for ever; also in the path that deletes it.'), event: word, targetWorkflowId: text(200).min(1),
  filter: z.array(rule).max(20).optional().describe('All rules must hold for the payload; `matches` takes linear time.'),
  secretToken: z.string().min(16).max(200).optional().describe('A secret of your own. Default: one is made and told once.'), idempotencyKey,
});
const trigger = z.looseObject({ name: z.string(), kind: z.string(), event: z.string(), targetWorkflowId: z.string(), activation: z.string(), secretTokenPreview: z.string() }).meta({ id: 'Trigger' });

const eventBody = z.object({ event: word, payload: z.record(z.string(), z.unknown()).describe('At most 64 KiB.'), fireRef: text(256).min(1).optional().describe('Names this occurrence: told again, it starts nothing new.') });
const outcome = z.looseObject({ triggerName: z.string(), outcome: z.enum(['started', 'missing-workflow']) });

const eventsPerMinute = 60;
const limiters = new WeakMap<object, Map<string, Limiter>>();

/** What starts workflows from outside. */
export const workflowTriggerRoutes: readonly Route[] = [
  route('GET', '/api/workflow-triggers', 'trigger.read', { about: 'The bindings of events to workflows; no secrets.', answer: z.object({ triggers: z.array(trigger), evidenceConfigured: z.boolean(), evidenceReason: z.string().optional() }) }, async ({ desk }) => ({
    body: { triggers: await listTriggers(desk), evidenceConfigured: desk.evidence?.configured === true, ...(desk.evidence?.reason != null && { evidenceReason: desk.evidence.reason }) },
  })),
  route('POST', '/api/workflow-triggers', 'trigger.write', {
    about: 'Bind an event to a workflow. The secret is told in this answer and never again.', body: bindingBody, answer: z.object({ trigger, secretToken: z.string().optional() }), status: 201, plan: true,
    refusals: ['NOT_FOUND', 'EXISTS', 'FORBIDDEN', 'WORKFLOWS_DISABLED'],
  }, async ({ desk, body, asking }) => {
    const done = await createTrigger(desk, body, asking);
    return isRefusal(done) ? done : { ...done, body: done.value };
  }),
  route('DELETE', '/api/workflow-triggers/:name', 'trigger.write', { about: 'Take a binding away; its secret opens nothing any more.', body: z.object({}), plan: true, answer: z.object({ deleted: z.literal(true), name: z.string(), orphaned: z.literal(true).optional() }), refusals: ['NOT_FOUND', 'FORBIDDEN'] }, async ({ desk, params, asking }) => {
    const done = await deleteTrigger(desk, params['name'] ?? '', asking);
    return isRefusal(done) ? done : { ...done, body: done.value };
  }),
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
