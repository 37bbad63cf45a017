import type { Caller } from '../../../machines/caller.js';
import { isRefusal } from '../../../machines/refusals.js';
import type { App } from '../app.js';
import { idsOf } from '../iterate.js';
import { notifications } from './notifiers.js';

/**
 * What notifiers hold of erased sessions goes: their notices end and say nothing more, and what the log
 * says of the notifiers is blanked, for it quotes what was asked. A message that was sent stays where it
 * was sent. Answers how many entries were blanked.
 */
export async function eraseNotices(
  { supervisor }: App,
  sessions: readonly string[],
  caller: Caller,
): Promise<number> {
  let entries = 0;
  for (const id of await idsOf(supervisor, 'notifier', { index: 'all' })) {
    const notifier = await supervisor.get('notifier', id);
    const over = (notifier?.view.notices ?? [])
      .filter(({ key }) => isAbout(key, sessions))
      .map(({ n }) => ({ n, outcome: 'Erased.', erased: true as const }));
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

const isAbout = (key: string, sessions: readonly string[]): boolean =>
  sessions.some((id) => key.startsWith(`session/${id}/`));
