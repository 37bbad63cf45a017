import { z } from 'zod';
import { heldChoices, heldLimits } from '../../../machines/held-decision/machine.js';
import { ruleCharsMax } from '../../../machines/session/tool-rule.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Reply } from '../../commands/request.js';
import {
  holdDecision,
  holdsDecisions,
  withdrawDecision,
  type HeldDecision,
} from '../../commands/held-decisions.js';
import { route, type HttpRequest, type Route } from '../route.js';
import { idOf } from '../parse.js';
import { idempotencyKey, iso, text } from '../schemas.js';

/** Decisions with a few seconds for second thoughts: sent at once, carried out unless they are withdrawn. */
const name = text(400).min(1);
const body = z.object({
  kind: name.describe('`kind`, `id` and `waitingId` as in `GET /api/attention`.'),
  id: name,
  waitingId: name,
  decision: z.enum(heldChoices),
  holdSeconds: z.number().min(1).max(60).default(5).describe('As long can it be withdrawn. Default 5.'),
  note: text(heldLimits.noteCharsMax).optional(),
  usd: z.number().positive().max(1_000_000).optional().describe('Of a budget: dollars more for this month.'),
  always: z.boolean().optional().describe('Of a tool: keep its rule for the session.'),
  rule: text(ruleCharsMax).optional().describe('With `always`: another rule for part of the tool.'),
  idempotencyKey,
});

const held = z
  .object({
    id: z.string(),
    status: z.enum(['held', 'deciding', 'pausing', 'decided', 'refused', 'withdrawn']),
    kind: z.string(),
    actorId: z.string(),
    waitingId: z.string(),
    decision: z.enum(heldChoices),
    decidedBy: z.string(),
    decidedAt: iso,
    until: iso.describe('When it is carried out.'),
    reason: z.string().nullable().describe('Why it was refused.'),
  })
  .meta({ id: 'HeldDecision' });
const answer = z.object({ decision: held });

export const heldDecisionRoutes: readonly Route[] = [
  route(
    'POST',
    '/api/held-decisions',
    'decision.hold',
    {
      about:
        'Decide something that waits, with a few seconds in which it can be withdrawn. Carried out after that by ' +
        'the route of its kind, as the caller, also when the browser or the gateway was gone meanwhile.',
      body,
      answer,
      status: 201,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    hold,
  ),
  route(
    'GET',
    '/api/held-decisions/:id',
    'decision.hold',
    {
      about: 'What became of a held decision. Forgotten a day after its end.',
      answer,
      refusals: ['NOT_FOUND'],
    },
    async (request) => {
      const { app } = request;
      const found = holdsDecisions(app)
        ? await app.supervisor.get('held-decision', idOf(request))
        : undefined;
      return found === undefined ? refuse('NOT_FOUND', {}, 'Not found') : { body: { decision: found.view } };
    },
  ),
  route(
    'DELETE',
    '/api/held-decisions/:id',
    'decision.hold',
    {
      about: 'Withdraw a held decision: nothing was decided. 409 once it is being carried out.',
      body: z.object({ idempotencyKey }),
      answer,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    async (request) => shown(await withdrawDecision(request, idOf(request))),
  ),
];

async function hold(request: HttpRequest<z.output<typeof body>>): Promise<Reply | Refusal> {
  const { kind, id, waitingId, decision, holdSeconds, note, usd, always = false, rule } = request.body;
  const words = { note: note ?? null, usd: usd ?? null, always, rule: (always ? rule : undefined) ?? null };
  return shown(await holdDecision(request, { kind, id, waitingId, decision, words, holdSeconds }));
}

const shown = (done: Reply<HeldDecision> | Refusal): Reply | Refusal =>
  isRefusal(done) ? done : { ...done, body: { decision: done.body } };
