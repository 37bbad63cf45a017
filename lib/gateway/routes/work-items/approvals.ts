import { z } from 'zod';
import { decideApproval, requestApproval } from '../../../commands/work-items/approvals.js';
import { askActor } from '../../../commands/request.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { limits } from '../../../../machines/work-item/context.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf } from '../../parse.js';
import type { Reply } from '../../../commands/request.js';
import { employeeName, idempotencyKey, iso, note, sentence, text } from '../../schemas.js';
import { workItem } from './schemas.js';

const requestBody = z.object({
  request: sentence(limits.requestBytesMax).describe(
    `At most ${limits.requestBytesMax} bytes, as JSON in UTF-8.`,
  ),
  target: employeeName
    .nullish()
    .describe("An employee or `operator`; default: the owner's manager, else the root."),
  expiresAt: iso.nullish().describe('Deadline of the decision; must be in the future.'),
  idempotencyKey,
});
const decideBody = z.object({ decision: z.enum(['approve', 'reject']), note, idempotencyKey });
const escalateBody = z.object({ reason: text(10_000).optional(), idempotencyKey });

const target = 'work-item';
const one = z.object({ workItem });

export const approvalRoutes: readonly Route[] = [
  route(
    'POST',
    '/api/work-items/:id/approval/request',
    'approval.request',
    {
      about: 'Ask for an approval. A new request replaces a pending one.',
      body: requestBody,
      answer: one,
      target,
      plan: true,
      refusals: [
        'NOT_FOUND',
        'UNKNOWN_EMPLOYEE',
        'NOT_OWNER',
        'NOT_ROUTED',
        'OWN_APPROVAL',
        'TERMINAL',
        'GATE_PARKED',
      ],
    },
    request,
  ),
  route(
    'POST',
    '/api/work-items/:id/approval',
    'approval.decide',
    {
      about: 'Decide the pending approval, if it is routed to the caller.',
      body: decideBody,
      answer: one.extend({ escalated: z.boolean() }),
      target,
      plan: true,
      refusals: [
        'NOT_FOUND',
        'OWN_APPROVAL',
        'NOT_ROUTED',
        'FORBIDDEN',
        'NO_PENDING_APPROVAL',
        'GATE_PARKED',
        'CONFLICT',
      ],
    },
    decide,
  ),
  route(
    'POST',
    '/api/work-items/:id/approval/escalate',
    'approval.escalate',
    {
      about: 'Open the pending approval to the operator and the executives.',
      body: escalateBody,
      answer: one,
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'OWN_APPROVAL', 'NOT_ROUTED', 'FORBIDDEN', 'NO_PENDING_APPROVAL'],
    },
    escalate,
  ),
];

async function request(request: HttpRequest<z.output<typeof requestBody>>): Promise<Reply | Refusal> {
  const { request: words, target: given, expiresAt } = request.body;
  const done = await requestApproval(request, idOf(request), { request: words, target: given, expiresAt });
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

async function decide(request: HttpRequest<z.output<typeof decideBody>>): Promise<Reply | Refusal> {
  const { decision, note: why } = request.body;
  const done = await decideApproval(request, idOf(request), { decision, note: why });
  if (isRefusal(done)) return done;
  const escalated = decision === 'reject' && done.body.view.status === 'escalated';
  return { ...done, body: { workItem: done.body.view, escalated } };
}

async function escalate(request: HttpRequest<z.output<typeof escalateBody>>): Promise<Reply | Refusal> {
  const { reason } = request.body;
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'approval.escalate',
    ...(reason !== undefined && { reason }),
  });
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}
