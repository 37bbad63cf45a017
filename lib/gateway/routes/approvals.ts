import { z } from 'zod';
import { decideApproval, requestApproval } from '../../commands/approvals.js';
import { askOne, recordOf } from '../../commands/desk.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import { limits } from '../../../machines/work-item/context.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { employeeName, idempotencyKey, iso, note, sentence, text, workItem } from '../shapes.js';

const requestBody = z.object({
  request: sentence(limits.requestBytesMax).describe(`At most ${limits.requestBytesMax} bytes, as JSON in UTF-8.`),
  target: employeeName.nullish().describe('An employee or `operator`; default: the owner\'s manager, else the root.'),
  expiresAt: iso.nullish().describe('In the future: until when it may be decided.'),
  idempotencyKey,
});
const decideBody = z.object({ decision: z.enum(['approve', 'reject']), note, idempotencyKey });
const escalateBody = z.object({ reason: text(10_000).optional(), idempotencyKey });

const target = 'work-item';
const one = z.object({ workItem });

export const approvalRoutes: readonly Route[] = [
  route('POST', '/api/work-items/:id/approval/request', 'approval.request', { about: 'Ask for an approval. A new request replaces a pending one.', body: requestBody, answer: one, target, plan: true, refusals: ['NOT_FOUND', 'UNKNOWN_EMPLOYEE', 'NOT_OWNER', 'OWN_APPROVAL', 'TERMINAL', 'GATE_PARKED'] }, request),
  route('POST', '/api/work-items/:id/approval', 'approval.decide', { about: 'Decide the pending approval, where it is routed to the caller.', body: decideBody, answer: one.extend({ escalated: z.boolean() }), target, plan: true, refusals: ['NOT_FOUND', 'OWN_APPROVAL', 'NOT_ROUTED', 'FORBIDDEN', 'NO_PENDING_APPROVAL', 'GATE_PARKED', 'CONFLICT'] }, decide),
  route('POST', '/api/work-items/:id/approval/escalate', 'approval.escalate', { about: 'Open the pending approval to the operator and the executives.', body: escalateBody, answer: one, target, plan: true, refusals: ['NOT_FOUND', 'OWN_APPROVAL', 'NOT_ROUTED', 'FORBIDDEN', 'NO_PENDING_APPROVAL'] }, escalate),
];

async function request(call: Call<z.output<typeof requestBody>>): Promise<Reply | Refusal> {
  const { request: words, target: wished, expiresAt } = call.body;
  const done = await requestApproval(call.desk, idOf(call), { request: words, target: wished, expiresAt }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function decide(call: Call<z.output<typeof decideBody>>): Promise<Reply | Refusal> {
  const { decision, note: why } = call.body;
  const done = await decideApproval(call.desk, idOf(call), { decision, note: why }, call.asking);
  if (isRefusal(done)) return done;
  const escalated = decision === 'reject' && recordOf(done.value)['status'] === 'escalated';
  return { ...done, body: { workItem: done.value.view, escalated } };
}

async function escalate(call: Call<z.output<typeof escalateBody>>): Promise<Reply | Refusal> {
  const { reason } = call.body;
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'approval.escalate', ...(reason !== undefined && { reason }) }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}
