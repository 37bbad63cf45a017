import { z } from 'zod';
import { isoTime, isoTimeOrNull } from '../../../machines/sortable.js';
import { heldChoices } from '../../../machines/held-decision/machine.js';
import { noticeKey } from '../../../machines/notifier/context.js';
import { holdsDecisions, openDecisions, type HeldDecision } from '../../commands/held-decisions.js';
import { rootName } from '../../commands/workflow-runs/run-gates.js';
import type { Reply } from '../../commands/request.js';
import { route, type HttpRequest, type Route } from '../route.js';
import { iso, text, wholeNumber } from '../schemas.js';

/** Everything that waits on someone: one list, kept by the kernel in the commits that change it. */
const query = z.object({
  limit: wholeNumber(1, 500).optional().describe('Default 100.'),
  cursor: text(2000)
    .regex(/^[\w.:~%-]+\/[\w.:~%-]+\/[\w.:~%-]+$/, 'It must be nextCursor of an answer.')
    .optional()
    .describe('`nextCursor` of the page before.'),
});

const waiting = z.object({
  kind: z.string().describe('Kind of the actor that waits: `session`, `work-item`, `workflow-run`, `poll` …'),
  id: z.string().describe('Id of that actor.'),
  waitingId: z
    .string()
    .describe('What of it waits, e.g. the id of a tool permission, or the hash of a polling program.'),
  what: z
    .string()
    .describe(
      '`permission`, `approval`, `gate`, `activation`, `version` (of a workflow), `budget`, `resume`, `silent`, ' +
        '`trust` (settings of a project), `move`, `delivery` (a message that did not arrive), ' +
        '`unknown-delivery` (one that may have), `connector`, ' +
        '`notification` (a destination that fails), `backup` (backups that fail), `worker` (one that cannot take the ' +
        'turns that wait for it), or a word of a host.',
    ),
  title: z.string(),
  within: z.string().optional().describe('Id of the workflow that a run belongs to, or the folder to trust.'),
  rule: z.string().optional().describe('Of a tool: what `always` would allow in its session from now on.'),
  on: z.string().describe('Who can end it: `operator` for a person, else an employee.'),
  operatorEntitled: z
    .boolean()
    .describe('A person may end it: not what waits on an employee below the root.'),
  since: z.string(),
  until: z.string().nullable().describe('When it ends by itself.'),
  held: z
    .object({
      decisionId: z.string(),
      decision: z.enum(heldChoices),
      decidedBy: z.string().describe('`operator`, or `device:` and the id of a paired browser.'),
      until: iso,
    })
    .optional()
    .describe('It is decided, and that is carried out at `until` unless it is withdrawn.'),
});

export const attentionRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/attention',
    'attention.read',
    {
      about: 'Everything that waits on a person or an employee, longest first.',
      query,
      answer: z.object({
        waiting: z.array(waiting),
        nextCursor: z.string().nullable(),
        holds: z.boolean().describe('Decisions can be sent to `POST /api/held-decisions`.'),
      }),
    },
    readAttention,
  ),
];

async function readAttention({
  app,
  query: { limit, cursor },
}: HttpRequest<unknown, z.output<typeof query>>): Promise<Reply> {
  const { items, next } = await app.supervisor.waiting({
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  const held = await openDecisions(app);
  const root = rootName(app);
  const waiting = items.map(({ actor, waiting: { id, since, until, ...rest } }) => {
    const decision = held.get(noticeKey({ ...actor, waitingId: id }));
    return {
      ...actor,
      waitingId: id,
      ...rest,
      operatorEntitled: rest.on === 'operator' || rest.on === root,
      since: isoTime(since),
      until: isoTimeOrNull(until),
      ...(decision && { held: heldOf(decision) }),
    };
  });
  return { body: { waiting, nextCursor: next, holds: holdsDecisions(app) } };
}

const heldOf = ({ id, decision, decidedBy, until }: HeldDecision) => ({
  decisionId: id,
  decision,
  decidedBy,
  until,
});
