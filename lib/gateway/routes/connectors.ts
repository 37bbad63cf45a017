import { z } from 'zod';
import { connectorHealth, reloadConnectors, sendThrough } from '../../commands/connectors.js';
import { isRefusal, refuse } from '../../../machines/refusals.js';
import { limits } from '../../../machines/connector/context.js';
import { route, type Route } from '../route.js';
import { idempotencyKey, iso, text, wholeNumber } from '../shapes.js';

const capabilities = z.object({ threading: z.boolean(), messageEdits: z.boolean(), reactions: z.boolean(), attachments: z.boolean() });
const health = z.object({
  name: z.string(), instanceId: z.string(), employee: z.string().optional(), status: z.enum(['stopped', 'starting', 'running', 'error']),
  detail: z.string().optional().describe('Why it is in error.'), capabilities,
}).meta({ id: 'Connector' });
const delivery = z.looseObject({
  id: z.string(), channel: z.string(), thread: z.string().nullable(), status: z.enum(['queued', 'sent', 'failed', 'unknown']), reason: z.string().nullable(),
  messageId: z.string().nullable(), requestedAt: iso, settledAt: iso.nullable(), requestedBy: z.string(),
}).meta({ id: 'Delivery' });

const sendBody = z.object({
  channel: text(limits.channelBytesMax).describe('What the far side calls it: a channel, a chat, an address.'), text: text(limits.textBytesMax), thread: text(limits.channelBytesMax).nullish(), idempotencyKey,
});
const outcome = z.object({
  status: z.enum(['sent', 'failed', 'unknown', 'pending']).describe('unknown: the far side may have it; sending again is your decision. pending: still on its way; `connector:delivery` on /ws tells its end.'),
  deliveryId: z.string(), messageId: z.string().nullable(), reason: z.string().nullable(),
});

/** The ways out to people. */
export const connectorRoutes: readonly Route[] = [
  route('GET', '/api/connectors', 'connector.list', { about: 'The configured connectors: health and what each can do.', answer: z.array(health) }, async ({ desk }) => ({ body: await connectorHealth(desk) })),
  route('POST', '/api/connectors/reload', 'connector.reload', {
    about: 'Read the connectors of config.yaml again and restart them; answers when each runs or says why not.', body: z.object({}),
    answer: z.object({ started: z.array(z.string()), stopped: z.array(z.string()), errors: z.array(z.string()) }), refusals: ['CONFLICT'],
  }, async ({ desk }) => {
    const done = await reloadConnectors(desk);
    return isRefusal(done) ? done : { body: done };
  }),
  route('POST', '/api/connectors/:name/send', 'connector.send', {
    about: 'Send a message through a connector: durable before it leaves, never sent twice by us.', body: sendBody, answer: outcome, plan: true,
    refusals: ['NOT_FOUND', 'CONNECTOR_UNAVAILABLE', 'QUEUE_FULL', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE'],
  }, async ({ desk, params, body, asking }) => {
    if (body.channel.trim() === '' || body.text.trim() === '') return refuse('BAD_REQUEST', { path: body.channel.trim() === '' ? 'channel' : 'text' }, 'channel and text are required');
    const done = await sendThrough(desk, params['name'] ?? '', body, asking);
    if (isRefusal(done)) return done;
    const { id, status, messageId, reason } = done.value;
    const answer = { status: status === 'queued' ? 'pending' : status, deliveryId: id, messageId, reason };
    return { ...done, body: answer, ...(status === 'queued' && { status: 202 }) };
  }),
  route('GET', '/api/connectors/:name/deliveries', 'connector.deliveries', {
    about: 'What was sent through a connector and what became of it, newest last.', answer: z.object({ deliveries: z.array(delivery) }), refusals: ['NOT_FOUND'],
    query: z.object({ limit: wholeNumber(1, 500).optional().describe('Default 100.') }),
  }, async ({ desk, params, query }) => {
    const id = params['name'] ?? '';
    if ((await desk.supervisor.get('connector', id)) === undefined) return refuse('NOT_FOUND', { kind: 'connector', id }, 'Not found');
    const rows = await desk.supervisor.rows({ kind: 'connector', id }, 'deliveries', { last: query.limit ?? 100 });
    return { body: { deliveries: rows.map(({ row }) => row) } };
  }),
];
