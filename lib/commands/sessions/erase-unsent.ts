import { system, type Caller } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { App } from '../app.js';
import { deliveryOf } from '../connectors.js';
import { idsOf } from '../iterate.js';
import { isAbout } from './is-about.js';

/**
 * What a session wanted to send, or what was to be sent of its work, and what did not arrive, or may not have, waits no
 * more: no one decides on it, its text goes, and the log says it no longer. A message that was sent stays where it was
 * sent. Answers how many entries of the log were blanked; undefined: not all of it could be taken away now.
 */
export async function eraseUnsent(app: App, sessionId: string, caller: Caller): Promise<number | undefined> {
  const { supervisor } = app;
  let entries = 0;
  for (const id of await idsOf(supervisor, 'connector', { index: 'all' })) {
    let isTouched = false;
    for (const { row } of await supervisor.rows({ kind: 'connector', id }, 'outbox', { last: outboxMax })) {
      const found = await deliveryOf(app, id, row.deliveryId);
      if (isRefusal(found) || !(await isAbout(app, found.delivery.requestedBy, [sessionId]))) continue;
      const settle = { type: 'delivery.settle', deliveryId: row.deliveryId, choice: 'give-up' } as const;
      const done = await supervisor.ask('connector', id, settle, { by: system('erasure') });
      if (isRefusal(done) && done.code !== 'CONFLICT') return undefined;
      isTouched = true;
    }
    if (!isTouched) continue;
    const blanked = await supervisor.retention.erase({ kind: 'connector', id }, caller);
    entries += isRefusal(blanked) ? 0 : blanked;
  }
  return entries;
}

/** More than a queue and the messages that wait for a person can be. */
const outboxMax = 500;
