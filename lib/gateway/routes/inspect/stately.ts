import { z } from 'zod';
import { isoTime } from '../../../../machines/sortable.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { firstMax } from '../../../inspector/stately.js';
import { statelyLinksOf } from '../../../inspector/stately-links.js';
import type { Reply } from '../../../commands/request.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { text, wholeNumber } from '../../schemas.js';

/** Links for receivers of Stately. */
const names = z.array(text(200)).min(1).max(1_000).optional();
const body = z.strictObject({
  kinds: names.describe('Only actors of these kinds.'),
  ids: names.describe('Only actors with these ids.'),
  first: wholeNumber(0, firstMax)
    .optional()
    .describe('How many of each kind are introduced at the beginning; default 50.'),
});

export const statelyRoutes: readonly Route[] = [
  route(
    'POST',
    '/api/inspect/stately-links',
    'inspect.link',
    {
      about:
        'Create a link for a receiver of `@statelyai/inspect`, which can send no header: it opens one socket, once, ' +
        'within a minute, read only, from this origin or from a program. It ends with the browser that made it.',
      body,
      answer: z.object({
        path: z.string().describe('To be put behind `ws://host:port` or `wss://…`. Keep it as a secret.'),
        expiresAt: z.iso.datetime(),
        ttlSeconds: z.int(),
      }),
      status: 201,
      refusals: ['BUSY'],
    },
    create,
  ),
];

function create({
  app,
  caller,
  body: { kinds, ids, first },
}: HttpRequest<z.output<typeof body>>): Reply | Refusal {
  const made = statelyLinksOf(app.supervisor).create({
    caller,
    filter: { ...(kinds && { kinds }), ...(ids && { ids }) },
    first,
  });
  if (isRefusal(made)) return made;
  const { code, ttlSeconds, expiresAt } = made;
  return { status: 201, body: { path: `/ws/stately/${code}`, expiresAt: isoTime(expiresAt), ttlSeconds } };
}
