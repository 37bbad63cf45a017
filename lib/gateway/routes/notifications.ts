import { z } from 'zod';
import type { NotifierView } from '../../../machines/notifier/context.js';
import { notifiersOf } from '../../commands/notifications/notifiers.js';
import { route, type Route } from '../route.js';
import { iso } from '../schemas.js';

const destination = z
  .object({
    name: z.string().describe('`<connector>:<channel>`, `command`, or `push.<device>`.'),
    destination: z.object({
      type: z.enum(['connector', 'command', 'push']),
      connector: z.string().optional(),
      channel: z.string().optional(),
      device: z.string().optional().describe('Id of a paired browser.'),
    }),
    status: z
      .enum(['idle', 'holding', 'sending', 'pausing'])
      .describe('holding: something waits to be due. pausing: a message failed and will be tried again.'),
    open: z.number().describe('Things that wait and are held back, being sent, or sent.'),
    sent: z.number().describe('Messages sent so far.'),
    failures: z.number().describe('Failed attempts since a message arrived last.'),
    failingSince: iso.nullable(),
    detail: z.string().nullable().describe('Why the last attempt failed.'),
  })
  .meta({ id: 'NotificationDestination' });

/** Where what waits for people is sent, and whether it arrives. */
export const notificationRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/notifications',
    'attention.read',
    {
      about: 'The destinations of notifications, and whether messages arrive there.',
      answer: z.object({ destinations: z.array(destination) }),
    },
    async ({ app }) => ({ body: { destinations: (await notifiersOf(app)).map(shown) } }),
  ),
];

const shown = ({ notices: _notices, createdAt: _createdAt, updatedAt: _updatedAt, ...view }: NotifierView) =>
  view;
