import { z } from 'zod';
import { notifyBrowser, pushState } from '../../commands/notifications/browser-push.js';
import { isRefusal } from '../../../machines/refusals.js';
import { route, type Route } from '../route.js';

const subscription = z.object({
  endpoint: z.string().min(1).max(1_024).describe("Of the browser's push service: https, and public."),
  keys: z.object({
    p256dh: z.string().regex(/^[\w-]{80,100}$/),
    auth: z.string().regex(/^[\w-]{20,30}$/),
  }),
});

/** Web Push to the paired browser that asks. */
export const pushRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/push',
    'attention.read',
    {
      about: 'Whether the browser that asks is notified by Web Push, and the key with which it subscribes.',
      answer: z.object({
        publicKey: z.string().describe('`applicationServerKey`, base64url.'),
        subscribed: z.boolean(),
        enabled: z.boolean().describe('`notify.push` of config.yaml.'),
      }),
      refusals: ['FORBIDDEN'],
    },
    async ({ app, caller }) => {
      const state = await pushState(app, caller);
      return isRefusal(state) ? state : { body: state };
    },
  ),
  route(
    'PUT',
    '/api/push',
    'auth.devices',
    {
      about:
        'Notify the paired browser that asks: `PushSubscription.toJSON()`. It replaces the one before and ends with ' +
        'the pairing. What is sent says that something waits, and nothing of it.',
      body: subscription,
      answer: z.object({ status: z.literal('ok') }),
      refusals: ['BAD_REQUEST', 'FORBIDDEN', 'URL_REFUSED', 'NOT_FOUND', 'DEVICES_DAMAGED'],
    },
    async ({ app, caller, body: { endpoint, keys } }) =>
      (await notifyBrowser(app, caller, { endpoint, keys })) ?? { body: { status: 'ok' } },
  ),
  route(
    'DELETE',
    '/api/push',
    'auth.devices',
    {
      about: 'Notify the browser that asks no more.',
      answer: z.object({ status: z.literal('ok') }),
      refusals: ['FORBIDDEN', 'NOT_FOUND', 'DEVICES_DAMAGED'],
    },
    async ({ app, caller }) => (await notifyBrowser(app, caller, null)) ?? { body: { status: 'ok' } },
  ),
];
