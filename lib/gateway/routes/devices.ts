import { z } from 'zod';
import type { Reply } from '../../commands/request.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../route.js';
import { idOf } from '../parse.js';

/** Who holds a paired browser, and what was decided with it: what to look at when a phone is lost. */
const personBody = z.object({
  person: z
    .string()
    .trim()
    .min(1)
    .max(80)
    .nullable()
    .describe('Who uses this browser. Null: no one is named.'),
});

export const deviceRoutes: readonly Route[] = [
  route(
    'PATCH',
    '/api/auth/devices/:id',
    'auth.devices',
    {
      about: 'Name the person who uses a paired browser; the ledger and the audit log show the name.',
      body: personBody,
      answer: z.object({ status: z.literal('ok') }),
      refusals: ['NOT_FOUND', 'DEVICES_DAMAGED'],
    },
    namePerson,
  ),
  route(
    'GET',
    '/api/auth/devices/:id/decisions',
    'auth.devices',
    {
      about:
        'What a paired browser changed, newest first, at most 500, as the audit log has it. Also of one ' +
        'that was revoked.',
      answer: z.object({
        decisions: z.array(
          z.looseObject({
            at: z.iso.datetime(),
            authority: z.string().describe('What it was let do: the `x-authority` of the route.'),
            method: z.string(),
            target: z.string().optional(),
            person: z.string().optional(),
          }),
        ),
      }),
    },
    readDecisions,
  ),
];

async function namePerson(
  request: HttpRequest<z.output<typeof personBody>, undefined>,
): Promise<Reply | Refusal> {
  const done = await request.app.records?.devices.namePerson(idOf(request), request.body.person);
  if (isRefusal(done)) return done;
  return done === true ? { body: { status: 'ok' } } : refuse('NOT_FOUND', {}, 'Paired browser not found');
}

async function readDecisions(request: HttpRequest<unknown, undefined>): Promise<Reply> {
  const { records } = request.app;
  const decisions = (await records?.changesBy(`device:${idOf(request)}`, decisionsMax)) ?? [];
  return { body: { decisions } };
}

const decisionsMax = 500;
