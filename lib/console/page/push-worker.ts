import { createClient } from '../../client/client.js';
import { isRefusal } from '../../client/refusal.js';

/**
 * The service worker of the console: shows that something waits when no page is open, and opens the inbox. It is told
 * nothing else, keeps nothing and answers no request of a page. Where the browser renews its subscription, it says so
 * to the gateway.
 */
interface Shown {
  readonly tag: string;
  readonly waiting: number;
  readonly isNew: boolean;
}
interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Pushed extends Lasting {
  readonly data: { json(): Shown } | null;
}
interface Renewed extends Lasting {
  readonly newSubscription?: PushSubscription | null;
}
interface Clicked extends Lasting {
  readonly notification: Notification;
}
interface Page {
  readonly url: string;
  focus(): Promise<unknown>;
  navigate(url: string): Promise<unknown>;
}
interface Worker {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly Page[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(type: 'push', heard: (event: Pushed) => void): void;
  addEventListener(type: 'pushsubscriptionchange', heard: (event: Renewed) => void): void;
  addEventListener(type: 'notificationclick', heard: (event: Clicked) => void): void;
}
const worker = globalThis as unknown as Worker; // the compiler knows the scope of pages alone

worker.addEventListener('push', (event) => {
  const { tag, waiting, isNew } = event.data?.json() ?? { tag: 'm', waiting: 1, isNew: true };
  // Browsers take the right away from who shows nothing: what is over replaces, in silence, what was shown
  event.waitUntil(
    worker.registration.showNotification('Troupe', {
      tag,
      body:
        waiting === 0
          ? 'Decided.'
          : waiting === 1
            ? 'Something waits for you.'
            : `${waiting} things wait for you.`,
      silent: !isNew,
    }),
  );
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(openInbox());
});

// Push services let a subscription run out; else the notices would go where nothing listens any more
worker.addEventListener('pushsubscriptionchange', (event) => {
  event.waitUntil(renew(event.newSubscription ?? undefined));
});

/** By the cookies of the pairing. Where a person has stopped it this worker is gone. */
async function renew(given: PushSubscription | undefined): Promise<void> {
  const { scope, pushManager } = worker.registration;
  const client = createClient({ url: scope.replace(/\/$/, '') });
  const state = await client.get('/api/push');
  if (isRefusal(state)) return;
  const made =
    given ?? (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: state.publicKey }));
  const { endpoint = '', keys = {} } = made.toJSON();
  await client.put('/api/push', {
    body: { endpoint, keys: { p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' } },
  });
}

async function openInbox(): Promise<void> {
  const { scope } = worker.registration;
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = pages.find(({ url }) => url.split('#')[0] === scope);
  if (open === undefined) return void (await worker.clients.openWindow(`${scope}#/inbox`));
  await open.focus();
  await open.navigate(`${scope}#/inbox`).catch(() => undefined); // a page that this worker does not control
}
