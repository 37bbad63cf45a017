import { z } from 'zod';
import { deleteBinding, filterRulesMax, listBindings } from '../../../commands/workflows/bindings.js';
import { createPoll, steerPoll } from '../../../commands/workflows/polls.js';
import {
  createTrigger,
  receiveEvent,
  signatureAlgorithm,
  windowSeconds,
} from '../../../commands/workflows/triggers.js';
import { outputBytes } from '../../../../actors/poll/contract.js';
import type { Json } from '../../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import type { Reply } from '../../../commands/request.js';
import { perMinute, type Limiter } from '../../limiter.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idempotencyKey, text } from '../../schemas.js';
import { keyOf, mayPost } from './event-credential.js';

const word = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'must be A-Z, a-z or 0-9, then those or . _ : -');
const rule = z.object({
  path: z.string().min(1).max(256),
  op: z.enum(['equals', 'notEquals', 'exists', 'matches']),
  value: z.union([z.string().max(512), z.number(), z.boolean(), z.null()]).default(null),
});
const bindingBody = z.object({
  kind: z
    .enum(['webhook', 'poll'])
    .describe(
      '`webhook`: the event is posted. `poll`: a program on this machine checks for it, once a ' +
        'person has approved the program.',
    ),
  name: word.describe('The permanent name of the binding; also used in the path that deletes it.'),
  event: word,
  targetWorkflowId: text(200).min(1),
  filter: z
    .array(rule)
    .max(filterRulesMax)
    .optional()
    .describe('All rules must match the payload; `matches` takes linear time.'),
  command: z
    .array(text(4_096).min(1))
    .min(1)
    .max(32)
    .optional()
    .describe(
      'Of a poll: the absolute path of the program, and its arguments. It prints `{"fire": true, ' +
        '"payload": {…}, "fireRef": "…"}` to fire.',
    ),
  signature: z
    .enum([signatureAlgorithm])
    .optional()
    .describe('Events of this webhook are signed with the secret. Default: they contain the secret.'),
  intervalSeconds: z.int().min(10).max(86_400).optional().describe('Of a poll. Default 300.'),
  timeoutMs: z.int().min(100).max(300_000).optional().describe('Of a poll. Default 30,000.'),
  stdoutMaxBytes: z
    .int()
    .min(1)
    .max(outputBytes.stdoutMaxBytes)
    .optional()
    .describe('Of a poll: more output is a failure. Default: the maximum.'),
  stderrMaxBytes: z
    .int()
    .min(1)
    .max(outputBytes.stderrMaxBytes)
    .optional()
    .describe('Of a poll: of longer output only the end is kept. Default: the maximum.'),
  idempotencyKey,
});
const decisionBody = z.object({
  decision: z.enum(['approve', 'reject']),
  activationContractHash: z
    .string()
    .max(100)
    .optional()
    .describe('Of the reviewed contract; if it has changed since, the decision is refused.'),
  note: z.string().max(2_000).optional(),
  idempotencyKey,
});
const escalationBody = z.object({ reason: z.string().max(2_000).optional(), idempotencyKey });
const trigger = z
  .looseObject({
    name: z.string(),
    kind: z.string(),
    event: z.string(),
    targetWorkflowId: z.string(),
    activation: z.enum(['active', 'pending_approval', 'disabled']),
  })
  .meta({ id: 'Trigger' });

const eventBody = z.object({
  event: word,
  payload: z.record(z.string(), z.unknown()).describe('At most 64 KiB.'),
  fireRef: text(256)
    .min(1)
    .optional()
    .describe('Identifies this occurrence: a repeated event with the same value starts no new run.'),
});
const outcome = z.looseObject({
  triggerName: z.string(),
  outcome: z
    .enum(['started', 'missing-workflow', 'refused'])
    .describe('refused: with `code` and `reason`; only in answers with several outcomes.'),
});

const eventHeaders = {
  'x-svc-workflow-event-token': 'The secret of a webhook binding.',
  'x-svc-workflow-trigger': 'The name of a webhook binding with signed events.',
  'x-svc-workflow-signature':
    `\`t=<unix seconds>,v1=<hex>\`: HMAC-SHA256, under the binding's secret, of \`<unix ` +
    `seconds>.<the body as it is sent>\`. Valid for ${windowSeconds} s; the same signature never ` +
    'starts two runs.',
};

const eventsPerMinute = 60;
const limiters = new WeakMap<object, Map<string, Limiter>>();

/** What starts workflows from outside. */
export const workflowTriggerRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/workflow-triggers',
    'trigger.read',
    {
      about: 'The bindings of events to workflows; no secrets.',
      answer: z.object({
        triggers: z.array(trigger),
        evidenceConfigured: z.boolean(),
        evidenceReason: z.string().optional(),
      }),
    },
    async ({ app, caller: by }) => ({
      body: {
        triggers: await listBindings(app, by),
        evidenceConfigured: app.evidence?.configured === true,
        ...(app.evidence?.reason != null && { evidenceReason: app.evidence.reason }),
      },
    }),
  ),
  route(
    'POST',
    '/api/workflow-triggers',
    'trigger.write',
    {
      about:
        'Bind an event to a workflow. The secret of a webhook is only in this answer; a poll waits for approval.',
      body: bindingBody,
      forbidden: ['secretToken'],
      answer: z.object({
        trigger,
        secretToken: z.string().optional(),
        secretOmitted: z
          .literal(true)
          .optional()
          .describe('This is a replay: the secret was only in the first answer.'),
      }),
      status: 201,
      plan: true,
      refusals: ['NOT_FOUND', 'EXISTS', 'FORBIDDEN', 'PERSON_REQUIRED', 'BAD_REQUEST', 'WORKFLOWS_DISABLED'],
    },
    bind,
  ),
  route(
    'DELETE',
    '/api/workflow-triggers/:name',
    'trigger.write',
    {
      about: 'Delete a binding; its secret becomes invalid, and its program is stopped.',
      body: z.object({}),
      plan: true,
      answer: z.object({ deleted: z.literal(true), name: z.string(), orphaned: z.literal(true).optional() }),
      refusals: ['NOT_FOUND', 'FORBIDDEN', 'PERSON_REQUIRED'],
    },
    async (request) => {
      const done = await deleteBinding(request, request.params['name'] ?? '');
      return isRefusal(done) ? done : { ...done, body: done.body };
    },
  ),
  route(
    'POST',
    '/api/workflow-triggers/:name/activation-approval',
    'trigger.activate',
    {
      about:
        'Approve or reject the program of a poll, exactly as stated in its contract. Rejecting an active one stops it.',
      body: decisionBody,
      plan: true,
      answer: z.object({ trigger }),
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    async (request) => {
      const { decision, activationContractHash, note } = request.body;
      return shown(
        await steerPoll(request, request.params['name'] ?? '', {
          type: 'activation.decide',
          decision,
          ...(activationContractHash !== undefined && { contractHash: activationContractHash }),
          ...(note !== undefined && { note }),
        }),
      );
    },
  ),
  route(
    'POST',
    '/api/workflow-triggers/:name/activation-approval/escalate',
    'trigger.activate',
    {
      about: 'Mark a waiting approval as urgent.',
      body: escalationBody,
      plan: true,
      answer: z.object({ trigger }),
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    async (request) =>
      shown(
        await steerPoll(request, request.params['name'] ?? '', {
          type: 'activation.escalate',
          ...(request.body.reason !== undefined && { reason: request.body.reason }),
        }),
      ),
  ),
  route(
    'POST',
    '/api/workflow-events',
    'event.receive',
    {
      about:
        "Post an external event: with the gateway's bearer to every binding of the event; with a " +
        "binding's secret, or signed with it, to that binding. At most 60 per minute each.",
      headers: eventHeaders,
      credential: mayPost,
      keepsBytes: true,
      body: eventBody,
      answer: z.object({ outcomes: z.array(outcome) }),
      bodyBytesMax: 64 * 1024,
      refusals: [
        'UNAUTHENTICATED',
        'TOO_MANY',
        'NO_BINDING',
        'IDEMPOTENCY_CONFLICT',
        'WORKFLOWS_DISABLED',
        'QUEUE_FULL',
        'BAD_REQUEST',
      ],
    },
    async (request) => {
      const shownKey = await keyOf(request);
      if (isRefusal(shownKey)) return shownKey;
      const { key, ref } = shownKey;
      const resetAt = limiterOf(request, key ?? '').take();
      if (resetAt !== undefined) return refuse('TOO_MANY', { resetAt }, 'Workflow event rate limit exceeded');
      const { event, payload, fireRef } = request.body;
      const outcomes = await receiveEvent(
        request.app,
        { event, payload: payload as Record<string, Json>, fireRef, ref: fireRef ?? ref },
        key,
      ); // parsed from JSON
      return isRefusal(outcomes) ? outcomes : { status: 202, body: { outcomes } };
    },
  ),
];

async function bind(request: HttpRequest<z.output<typeof bindingBody>>): Promise<Reply | Refusal> {
  const { kind, command, intervalSeconds, timeoutMs, stdoutMaxBytes, stderrMaxBytes, signature, ...input } =
    request.body;
  if (kind === 'poll') {
    if (command === undefined)
      return refuse(
        'BAD_REQUEST',
        { path: 'command' },
        'command is required: the absolute path of the program, and its arguments.',
      );
    if (signature !== undefined)
      return refuse(
        'BAD_REQUEST',
        { path: 'signature' },
        'signature belongs to a webhook; a poll receives no events.',
      );
    return shown(
      await createPoll(request, {
        ...input,
        command,
        intervalSeconds: intervalSeconds ?? 300,
        timeoutMs: timeoutMs ?? 30_000,
        stdoutMaxBytes: stdoutMaxBytes ?? outputBytes.stdoutMaxBytes,
        stderrMaxBytes: stderrMaxBytes ?? outputBytes.stderrMaxBytes,
      }),
    );
  }
  const strange = Object.entries({
    command,
    intervalSeconds,
    timeoutMs,
    stdoutMaxBytes,
    stderrMaxBytes,
  }).find(([, value]) => value !== undefined)?.[0];
  if (strange !== undefined)
    return refuse(
      'BAD_REQUEST',
      { path: strange },
      `${strange} belongs to a poll; a webhook runs no program.`,
    );
  const done = await createTrigger(request, { ...input, signature });
  return isRefusal(done) ? done : { ...done, body: done.body };
}

const shown = (done: Reply<Json> | Refusal): Reply | Refusal =>
  isRefusal(done) ? done : { ...done, body: { trigger: done.body } };

function limiterOf({ app: { supervisor } }: HttpRequest<unknown, unknown>, key: string): Limiter {
  const known = limiters.get(supervisor) ?? new Map<string, Limiter>();
  limiters.set(supervisor, known);
  const limiter =
    known.get(key) ?? perMinute(eventsPerMinute, () => supervisor.environment.clock.monotonic());
  known.set(key, limiter);
  return limiter;
}
