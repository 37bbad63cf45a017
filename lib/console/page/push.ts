import { base } from '../../page/base.js';
import { client, must } from '../../page/gateway.js';

/** Web Push in this browser: the subscription is the browser's, and the gateway is told where it leads. */

/** Why this browser cannot be notified, as a sentence; undefined: it can. */
export function whyNoPush(): string | undefined {
  if (!isSecureContext)
    return (
      'This browser does not trust the connection: over http, or with a certificate that it does not know, it ' +
      'takes no notifications.'
    );
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis))
    return 'This browser has no notifications for pages. On an iPhone or iPad, add the page to the home screen first.';
  return Notification.permission === 'denied'
    ? 'Notifications of this page are blocked in the settings of this browser.'
    : undefined;
}

/** Asks the person, subscribes, and has the gateway send there. Throws a sentence where one of them fails. */
export async function subscribe(publicKey: string): Promise<string> {
  if ((await Notification.requestPermission()) !== 'granted') return 'Notifications were not allowed.';
  const registration = await registered().catch((error: unknown) => {
    throw new Error(`This browser does not trust the connection enough: ${words(error)}`);
  });
  await (await registration.pushManager.getSubscription())?.unsubscribe(); // perhaps of another key
  const made = await registration.pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch((error: unknown) => {
      throw new Error(`The push service of this browser does not answer: ${words(error)}`);
    });
  const { endpoint = '', keys = {} } = made.toJSON();
  await must(
    client.put('/api/push', {
      body: { endpoint, keys: { p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' } },
    }),
  );
  return 'What waits for you is shown here from now on, also while this page is closed.';
}

export async function unsubscribe(): Promise<string> {
  await must(client.delete('/api/push'));
  const registration = await navigator.serviceWorker.getRegistration(`${base}/`);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
  return 'This browser is not notified any more.';
}

async function registered(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(workerAddress() as string, { scope: `${base}/` });
  return navigator.serviceWorker.ready;
}

/** Where the page's policy asks for it, an address of this one name: see `trusted-types` of the page. */
function workerAddress(): unknown {
  const path = `${base}/push-worker.js`;
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('push-worker', { createScriptURL: () => path });
  return policy?.createScriptURL('') ?? path;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(): string }): Policy;
}
interface Policy {
  createScriptURL(text: string): unknown;
}
let policy: Policy | undefined;

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));
