import { z } from 'zod';
import { askActor, type Reply } from '../../../commands/request.js';
import { presentSession, readQueue } from '../../../commands/sessions/read-session.js';
import { clearQueue, sendLifecycle } from '../../../commands/sessions/session-lifecycle.js';
import { isRefusal, type Refusal } from '../../../../machines/refusals.js';
import { limits } from '../../../../machines/session/context.js';
import { idOf } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idempotencyKey } from '../../schemas.js';

const queueItem = z.looseObject({
  id: z.string(),
  sessionId: z.string(),
  prompt: z.string().nullable(),
  status: z.enum(['pending', 'running', 'completed', 'interrupted', 'cancelled']),
  position: z.int().nullable(),
});
const nothing = z.object({ idempotencyKey });
const moveBody = z.object({
  position: z
    .int()
    .min(1)
    .max(limits.queueMax)
    .describe('Where it is to wait, as `position` counts: 1 is next; behind the end is the end.'),
  idempotencyKey,
});
const target = 'session';
const changes = { target, plan: true, refusals: ['NOT_FOUND', 'CONFLICT'] } as const;

/** What people do with the messages that wait for a session's next turns. */
export const sessionQueueRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/sessions/:id/queue',
    'session.manage',
    {
      about: 'The messages that are queued, in the order of their turns, running or recently ended.',
      answer: z.array(queueItem),
      target,
      refusals: ['NOT_FOUND'],
    },
    async (request) => {
      const queue = await readQueue(request.app, idOf(request));
      return isRefusal(queue) ? queue : { body: queue };
    },
  ),
  flow('pause', 'paused', 'Pause the queue: no further turn begins.'),
  flow('resume', 'resumed', "Resume the queue, even before a provider's limit has reset."),
  route(
    'DELETE',
    '/api/sessions/:id/queue',
    'session.manage',
    {
      ...changes,
      about: 'Cancel all queued messages.',
      body: nothing,
      answer: z.object({ status: z.literal('cleared'), cancelled: z.int() }),
    },
    async (request) => {
      const done = await clearQueue(request, idOf(request));
      return isRefusal(done)
        ? done
        : { ...done, body: { status: 'cleared', cancelled: done.body.cancelled } };
    },
  ),
  route(
    'DELETE',
    '/api/sessions/:id/queue/:item',
    'session.manage',
    {
      ...changes,
      about: 'Cancel a queued message.',
      body: nothing,
      answer: z.object({ status: z.literal('cancelled'), itemId: z.string() }),
    },
    (request) => edit(request, 'cancelled', { type: 'queue.cancel', messageId: itemOf(request) }),
  ),
  route(
    'POST',
    '/api/sessions/:id/queue/:item/move',
    'session.manage',
    {
      ...changes,
      about: 'Move a queued message to another place of the queue.',
      body: moveBody,
      answer: z.object({ status: z.literal('moved'), itemId: z.string() }),
    },
    (request) => {
      const place = request.body.position;
      return edit(request, 'moved', { type: 'queue.move', messageId: itemOf(request), place });
    },
  ),
];

/** `POST /api/sessions/:id/queue/pause` and `resume`. */
function flow(verb: 'pause' | 'resume', status: string, about: string): Route {
  return route(
    'POST',
    `/api/sessions/:id/queue/${verb}`,
    'session.manage',
    {
      ...changes,
      about,
      body: nothing,
      answer: z.object({ status: z.literal(status), sessionId: z.string() }),
    },
    async (request) => {
      const done = await sendLifecycle(request, idOf(request), `queue.${verb}`);
      return isRefusal(done) ? done : { ...done, body: { status, sessionId: idOf(request) } };
    },
  );
}

/** One event that names a message that waits. */
async function edit(
  request: HttpRequest<unknown, unknown>,
  status: string,
  event:
    | { readonly type: 'queue.cancel'; readonly messageId: string }
    | { readonly type: 'queue.move'; readonly messageId: string; readonly place: number },
): Promise<Reply | Refusal> {
  const found = await presentSession(request.app, idOf(request));
  if (isRefusal(found)) return found;
  const done = await askActor(request, 'session', idOf(request), event);
  return isRefusal(done) ? done : { ...done, body: { status, itemId: event.messageId } };
}

const itemOf = (request: HttpRequest<unknown, unknown>): string => request.params['item'] ?? '';
