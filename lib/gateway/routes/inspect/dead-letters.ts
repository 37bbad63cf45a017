import { z } from 'zod';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf, nextCursor } from '../../parse.js';
import type { Reply } from '../../../commands/request.js';
import { text, wholeNumber } from '../../schemas.js';

/** Events at which actors failed, and the ways to try one again or to drop it. */
const lettersQuery = z.object({
  limit: wholeNumber(1, 500).optional(),
  before: z
    .string()
    .regex(/^\d{16}\/[A-Za-z0-9._:~%-]{1,600}$/, 'must be the `next` of an earlier page')
    .optional()
    .describe('`next` of the previous page.'),
  cursor: text(1000)
    .regex(/^(?:\d{16}\/[A-Za-z0-9._:~%-]{1,600})?$/, 'must be nextCursor of an answer')
    .optional()
    .describe('`nextCursor` of the page before: the same as `before`.'),
});
const nothing = z.object({});

const letter = z.looseObject({ id: z.string(), at: z.int(), error: z.string(), faultId: z.string() });

export const deadLetterRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/inspect/dead-letters',
    'inspect.dead-letters',
    {
      about: 'Events that an actor failed to handle, newest first. The newest 10,000 are kept, for 90 days.',
      query: lettersQuery,
      answer: z.object({
        deadLetters: z.array(letter),
        next: z.string().nullable().describe('`before` of the next page; null at the end.'),
        nextCursor,
      }),
    },
    deadLetters,
  ),
  route(
    'POST',
    '/api/inspect/dead-letters/:id/retry',
    'inspect.retry',
    {
      about:
        "Put a dead letter back into its actor's mailbox. The actor must accept it from its " +
        'sender and from the caller.',
      body: nothing,
      answer: z.object({ retried: z.string() }),
      refusals: ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT'],
    },
    retry,
  ),
  route(
    'DELETE',
    '/api/inspect/dead-letters/:id',
    'inspect.dismiss',
    {
      about: 'Drop a dead letter: its event is lost.',
      body: nothing,
      answer: z.object({ dismissed: z.string() }),
      refusals: ['NOT_FOUND', 'CONFLICT'],
    },
    dismiss,
  ),
];

async function deadLetters({
  app,
  query,
}: HttpRequest<unknown, z.output<typeof lettersQuery>>): Promise<Reply> {
  const { limit = 100, cursor, before = cursor || undefined } = query;
  const letters = await app.supervisor.deadLetters({ limit, ...(before !== undefined && { before }) });
  const next = letters.length < limit ? null : (letters.at(-1)?.place ?? null);
  return { body: { deadLetters: letters.map(({ place: _place, ...one }) => one), next, nextCursor: next } };
}

async function retry(request: HttpRequest): Promise<Reply | Refusal> {
  const done = await request.app.supervisor.retry(idOf(request), request.caller);
  return isRefusal(done) ? done : { body: { retried: idOf(request) } };
}

async function dismiss(request: HttpRequest): Promise<Reply | Refusal> {
  const done = await request.app.supervisor.dismiss(idOf(request));
  return isRefusal(done) ? done : { body: { dismissed: idOf(request) } };
}
