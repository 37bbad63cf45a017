import type { Caller } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import { thingOfKey } from '../../../machines/notifier/context.js';
import type { App } from '../app.js';
import { deliveryIdOf } from '../../client/decision.js';
import { deliveryOf } from '../connectors.js';
import { idsOf } from '../iterate.js';
import { isAbout } from '../sessions/is-about.js';
import { notifications } from './notifiers.js';

/**
 * What notifiers hold of erased sessions goes: their notices end and say nothing more, and what the log
 * says of the notifiers is blanked, for it quotes what was asked. A message that was sent stays where it
 * was sent. Answers how many entries were blanked.
 */
export async function eraseNotices(app: App, sessions: readonly string[], caller: Caller): Promise<number> {
  const { supervisor } = app;
  let entries = 0;
  for (const id of await idsOf(supervisor, 'notifier', { index: 'all' })) {
    const notifier = await supervisor.get('notifier', id);
    const over: NoticeEnd[] = [];
    for (const { n, key } of notifier?.view.notices ?? [])
      if (await quotes(app, key, sessions)) over.push({ n, outcome: 'Erased.', erased: true });
    if (over.length > 0)
      await supervisor.ask(
        'notifier',
        id,
        { type: 'notices.changed', added: [], over },
        { by: notifications },
      );
    const blanked = await supervisor.retention.erase({ kind: 'notifier', id }, caller);
    entries += isRefusal(blanked) ? 0 : blanked;
  }
  return entries;
}

type NoticeEnd = { readonly n: number; readonly outcome: string; readonly erased: true };

/** Also a message of theirs that did not arrive: its notice quotes it. */
async function quotes(app: App, key: string, sessions: readonly string[]): Promise<boolean> {
  const { kind, id, waitingId } = thingOfKey(key);
  if (kind === 'session') return sessions.includes(id);
  if (kind !== 'connector') return false;
  const message = await deliveryOf(app, id, deliveryIdOf(waitingId));
  return !isRefusal(message) && isAbout(app, message.delivery.requestedBy, sessions);
}
