import type { Caller } from '../../../machines/caller.js';
import type { NoticeOutput } from '../../../machines/notifier/context.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { KeptSubscription, PushSubscription } from '../../records/push/encrypt-push.js';
import {
  arePushKeys,
  isPushAddress,
  type PushMessage,
  type PushResult,
} from '../../records/push/push-room.js';
import type { Records } from '../../records/records.js';
import type { App } from '../app.js';

/**
 * Web Push to paired browsers. Where a browser is notified belongs to its pairing: a browser that is revoked is
 * notified no more. What is sent says that something waits and nothing of it; the page that opens asks for the rest,
 * with the browser's own cookies.
 */
export interface PushState {
  readonly publicKey: string;
  /** Whether this browser is notified. */
  readonly subscribed: boolean;
  /** `notify.push` of config.yaml. */
  readonly enabled: boolean;
}

export async function pushState({ records, settings }: App, caller: Caller): Promise<PushState | Refusal> {
  if (records === undefined || caller.type !== 'device') return noBrowser();
  return {
    publicKey: await records.push.publicKey(),
    subscribed: (await keptFor(records, caller.id))?.isCurrent === true,
    enabled: settings.notify?.push === true,
  };
}

/** From now on what waits is sent there; `null`: nowhere. Only the browser itself says where. */
export async function notifyBrowser(
  app: App,
  caller: Caller,
  subscription: PushSubscription | null,
): Promise<Refusal | undefined> {
  const { records, settings } = app;
  if (records === undefined || caller.type !== 'device') return noBrowser();
  if (subscription !== null) {
    if (settings.notify?.push !== true)
      return refuse('FORBIDDEN', {}, 'notify.push is false in config.yaml: browsers are not notified.');
    if (!isPushAddress(subscription.endpoint))
      return refuse('URL_REFUSED', {}, 'The endpoint must be an https address without a user name.');
    if (!arePushKeys(subscription.keys))
      return refuse('BAD_REQUEST', { path: 'keys' }, 'The keys are not those of a push subscription.');
  }
  const kept = subscription && { ...subscription, sender: await records.push.publicKey() };
  const done = await records.devices.notifyAt(caller.id, kept);
  if (isRefusal(done)) return done;
  if (!done) return refuse('NOT_FOUND', {}, 'Paired browser not found');
  await app.notifications?.poll(app);
  return undefined;
}

/** Where a browser is notified. By another key than that for which it was made no push service takes anything. */
async function keptFor(
  { devices, push }: Records,
  device: string,
): Promise<(KeptSubscription & { readonly isCurrent: boolean }) | undefined> {
  const kept = (await devices.notified()).get(device);
  return kept && { ...kept, isCurrent: kept.sender === (await push.publicKey()) };
}

const noBrowser = (): Refusal =>
  refuse('FORBIDDEN', {}, 'Only a paired browser can be notified. Pair this one: troupe open.');

/** A message to a browser: how many things wait, and as which message it is shown. */
export interface BrowserMessage {
  /** The same for a message and what is to be read in its place. */
  readonly tag: string;
  readonly waiting: number;
  /** Something in it has not been shown before. */
  readonly isNew: boolean;
}

/** Sends it; a subscription that its push service does not know any more is forgotten. */
export async function sendToBrowser(
  app: App,
  device: string,
  { tag, waiting, isNew }: BrowserMessage,
  signal: AbortSignal,
): Promise<NoticeOutput> {
  const { records, settings } = app;
  const subscription = records && (await keptFor(records, device));
  if (records === undefined || subscription === undefined)
    return { outcome: 'failed', reason: 'The browser is not notified any more.' };
  const message: PushMessage = {
    text: JSON.stringify({ tag, waiting, isNew }),
    topic: tag,
    urgency: isNew ? 'high' : 'low',
    contact: settings.consoleUrl?.startsWith('https:')
      ? settings.consoleUrl
      : 'mailto:operator@troupe.invalid',
    timeoutMs: (settings.notify?.timeoutSeconds ?? 30) * 1_000,
  };
  const result: PushResult = subscription.isCurrent
    ? await records.push.send(subscription, message, signal)
    : { outcome: 'gone' };
  if (result.outcome === 'sent') return { outcome: 'sent', messageId: tag };
  if (result.outcome === 'failed') return result;
  const now = (await records.devices.notified()).get(device);
  if (now?.endpoint === subscription.endpoint) await records.devices.notifyAt(device, null);
  return { outcome: 'failed', reason: "The browser's push service does not know the subscription any more." };
}
