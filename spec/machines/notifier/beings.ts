import type { SnapshotFrom } from 'xstate';
import { authorityOf, system } from '../../../machines/caller.js';
import type { NewNotice, NotifierEvent } from '../../../machines/notifier/context.js';
import { notifierMachine, notifierPolicy } from '../../../machines/notifier/machine.js';
import { Life } from '../step.js';

/** Notifiers for specs. */
export type Courier = Life<typeof notifierMachine>;
export const fresh = (): Courier =>
  new Life(
    notifierMachine,
    { id: 'team:1', destination: { type: 'connector', connector: 'team', channel: '1' } },
    (_: SnapshotFrom<typeof notifierMachine>, event: NotifierEvent) =>
      notifierPolicy(event, authorityOf(event)),
  );

export const thing = (waitingId = 't1', more: Partial<NewNotice> = {}): NewNotice => ({
  kind: 'work-item',
  id: 'TRP-1',
  waitingId,
  what: 'approval',
  title: 'May it sail?',
  text: 'May it sail?',
  on: 'operator',
  since: 1_700_000_000_000,
  until: null,
  link: 'http://127.0.0.1/#/inbox/x',
  choices: [],
  digest: `digest of ${waitingId}`,
  delayMs: 30_000,
  ...more,
});

const by = system('notifications');
export const held = (...added: readonly NewNotice[]) => ({
  type: 'notices.changed' as const,
  added,
  over: [],
  by,
});
export const over = (...ended: readonly number[]) => ({
  type: 'notices.changed' as const,
  added: [],
  over: ended.map((n) => ({ n, outcome: 'Approved by the operator.' })),
  by,
});
