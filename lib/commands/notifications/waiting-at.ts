import { noticeKey } from '../../../machines/notifier/context.js';
import type { App } from '../app.js';
import type { WaitingItem } from './describe.js';

/** The thing that waits under a key (`work-item/ACM-1/a-3`); undefined: it waits no more. */
export async function waitingAt({ supervisor }: App, key: string): Promise<WaitingItem | undefined> {
  for (let after: string | null | undefined; after !== null;) {
    const page = await supervisor.waiting({ limit: 500, ...(after === undefined ? {} : { after }) });
    const found = page.items.find(
      ({ actor: { kind, id }, waiting }) => noticeKey({ kind, id, waitingId: waiting.id }) === key,
    );
    if (found !== undefined) return found;
    after = page.next;
  }
  return undefined;
}
