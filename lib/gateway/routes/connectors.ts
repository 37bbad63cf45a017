import { z } from 'zod';
import {
  connectorHealth,
  deliveryOf,
  reloadConnectors,
  sendThrough,
  settleDelivery,
} from '../../commands/connectors.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { deliveryChoices, limits } from '../../../machines/connector/context.js';
import { nextCursor, rowCursor } from '../parse.js';
import { route, type Route } from '../route.js';
import { idempotencyKey, iso, text, wholeNumber } from '../schemas.js';

const capabilities = z.object({
  threading: z.boolean(),
  messageEdits: z.boolean(),
  reactions: z.boolean(),
  attachments: z.boolean(),
});
const health = z
  .object({
    name: z.string(),
    instanceId: z.string(),
    employee: z.string().optional(),
    status: z.enum(['stopped', 'starting', 'running', 'error']),
    detail: z.string().optional().describe('The reason for its error state.'),
    capabilities,
  })
  .meta({ id: 'Connector' });
const delivery = z
  .looseObject({
    id: z.string(),
    channel: z.string(),
    thread: z.string().nullable(),
    status: z.enum(['queued', 'sent', 'failed', 'unknown']),
    reason: z.string().nullable(),
    messageId: z.string().nullable(),
    requestedAt: iso,
    settledAt: iso.nullable(),
    requestedBy: z.string(),
    decision: z
      .object({ choice: z.enum(deliveryChoices), by: z.string(), at: iso })
      .nullish()
      .describe('What a person made of it last, where it did not arrive or may not have.'),
  })
  .meta({ id: 'Delivery' });

const read = z.object({
  delivery,
  text: z
    .string()
    .nullable()
    .describe('Kept until it has arrived or a person has decided; of a failed one for a day.'),
});

const sendBody = z.object({
  channel: text(limits.channelBytesMax).describe(
    "The remote service's name for it: a channel, a chat, an address.",
  ),
  text: text(limits.textBytesMax),
  thread: text(limits.channelBytesMax).nullish(),
  idempotencyKey,
});
const outcome = z.object({
  status: z
    .enum(['sent', 'failed', 'unknown', 'pending'])
    .describe(
      'unknown: it may have arrived; sending again is your decision. pending: still being ' +
        'delivered; `connector:delivery` on /ws reports the outcome.',
    ),
  deliveryId: z.string(),
  messageId: z.string().nullable(),
  reason: z.string().nullable(),
});

/** The ways out to people. */
export const connectorRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/connectors',
    'connector.list',
    { about: 'The configured connectors, with health and capabilities.', answer: z.array(health) },
    async ({ app }) => ({ body: await connectorHealth(app) }),
  ),
  route(
    'POST',
    '/api/connectors/reload',
    'connector.reload',
    {
      about:
        'Reload the connectors of config.yaml and restart them; returns when each one runs or has failed.',
      body: z.object({}),
      answer: z.object({
        started: z.array(z.string()),
        stopped: z.array(z.string()),
        errors: z.array(z.string()),
      }),
      refusals: ['CONFLICT'],
    },
    async ({ app }) => {
      const done = await reloadConnectors(app);
      return isRefusal(done) ? done : { body: done };
    },
  ),
  route(
    'POST',
    '/api/connectors/:name/send',
    'connector.send',
    {
      about: 'Send a message through a connector: stored before it is sent, sent at most once.',
      body: sendBody,
      answer: outcome,
      plan: true,
      refusals: ['NOT_FOUND', 'CONNECTOR_UNAVAILABLE', 'QUEUE_FULL', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE'],
    },
    async (request) => {
      if (request.body.channel.trim() === '' || request.body.text.trim() === '')
        return refuse(
          'BAD_REQUEST',
          { path: request.body.channel.trim() === '' ? 'channel' : 'text' },
          'channel and text are required',
        );
      const done = await sendThrough(request, request.params['name'] ?? '', request.body);
      if (isRefusal(done)) return done;
      const { id, status, messageId, reason } = done.body;
      const answer = { status: status === 'queued' ? 'pending' : status, deliveryId: id, messageId, reason };
      return { ...done, body: answer, ...(status === 'queued' && { status: 202 }) };
    },
  ),
  route(
    'GET',
    '/api/connectors/:name/deliveries',
    'connector.deliveries',
    {
      about:
        'Messages sent through a connector and their outcome, newest last; the next page holds older ones.',
      answer: z.object({ deliveries: z.array(delivery), nextCursor }),
      refusals: ['NOT_FOUND'],
      query: z.object({
        limit: wholeNumber(1, 500).optional().describe('Default 100.'),
        cursor: rowCursor,
      }),
    },
    async ({ app, params, query }) => {
      const id = params['name'] ?? '';
      if ((await app.supervisor.get('connector', id)) === undefined)
        return refuse('NOT_FOUND', { kind: 'connector', id }, 'Not found');
      const { limit = 100, cursor } = query;
      const rows = await app.supervisor.rows({ kind: 'connector', id }, 'deliveries', {
        last: limit + 1,
        ...(cursor !== undefined && { before: cursor }),
      });
      const shown = rows.slice(-limit);
      const more = rows.length > limit ? String(shown[0]?.n) : null;
      return { body: { deliveries: shown.map(({ row }) => row), nextCursor: more } };
    },
  ),
  route(
    'GET',
    '/api/connectors/:name/deliveries/:deliveryId',
    'connector.deliveries',
    {
      about: 'One message sent through a connector, with its text while something may still become of it.',
      answer: read,
      refusals: ['NOT_FOUND'],
    },
    async ({ app, params }) => {
      const found = await deliveryOf(app, params['name'] ?? '', params['deliveryId'] ?? '');
      return isRefusal(found) ? found : { body: found };
    },
  ),
  route(
    'POST',
    '/api/connectors/:name/deliveries/:deliveryId/settle',
    'connector.settle',
    {
      about:
        'Decide what becomes of a message whose outcome is `unknown` or `failed`: the first decision counts, ' +
        'a second one is a 409.',
      body: z.object({
        choice: z
          .enum(deliveryChoices)
          .describe(
            'arrived: it did after all (of `unknown` only). send-again: it is queued once more, under the same id. ' +
              'give-up: it stays as it is.',
          ),
        waitingId: text(400)
          .optional()
          .describe(
            'Of `GET /api/attention`: 409 if it was tried again since, and what came of that waits. ' +
              'Absent: whatever waits of it.',
          ),
        idempotencyKey,
      }),
      answer: read,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT', 'CONNECTOR_UNAVAILABLE', 'QUEUE_FULL'],
    },
    async (request) => {
      const { name = '', deliveryId = '' } = request.params;
      const { choice, waitingId } = request.body;
      return settleDelivery(request, { name, deliveryId, choice, waitingId });
    },
  ),
];
