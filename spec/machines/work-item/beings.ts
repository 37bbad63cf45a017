import type { SnapshotFrom } from 'xstate';
import type { Authority, Caller } from '../../../machines/caller.js';
import type { WorkItemEvent, WorkItemFacts } from '../../../machines/work-item/context.js';
import type { WorkStatus } from '../../../machines/work-item/edges.js';
import { workItemMachine } from '../../../machines/work-item/machine.js';
import { workItemPolicy } from '../../../machines/work-item/policy.js';
import { workItemNotInState } from '../../../machines/work-item/refusals.js';
import { workItemView } from '../../../machines/work-item/view.js';
import { Life } from '../step.js';

/**
 * Work items for specs, and the people around them: ann (owner) below bob-lead below chief; vp is another
 * executive.
 */

const session = (id: string, employee: string | null, ancestors: readonly string[] = []): Caller => ({
  type: 'session',
  id,
  employee,
  ancestors,
});

export const callers = {
  operator: { type: 'operator' },
  device: { type: 'device', id: 'd_1' },
  owner: session('ann-1', 'ann'),
  attempt: session('attempt-1', 'ann'),
  belowAttempt: session('helper-1', 'ben', ['attempt-1']),
  manager: session('bob-1', 'bob-lead'),
  otherManager: session('sue-1', 'sue-lead'),
  sibling: session('ben-1', 'ben'),
  root: session('chief-1', 'chief'),
  executive: session('vp-1', 'vp'),
  outsider: session('stranger-1', null),
} as const satisfies Record<string, Caller>;
export type CallerName = keyof typeof callers;

/** What the kind's facts say of ann's item in the roster above. */
export const roster: WorkItemFacts = {
  root: 'chief',
  managers: ['bob-lead', 'chief'],
  executives: ['chief', 'vp'],
  named: null,
};

export type Item = Life<typeof workItemMachine>;

export const fresh = (input: Record<string, unknown> = {}, machine = workItemMachine): Item =>
  new Life(
    machine,
    {
      id: 'TRP-1',
      title: 'Dig a well',
      body: null,
      acceptance: null,
      assignee: null,
      department: null,
      verifyPolicy: null,
      source: 'human',
      sourceRef: null,
      createdBy: 'operator',
      ...input,
    },
    ({ value, context }: SnapshotFrom<typeof workItemMachine>, event: WorkItemEvent, authority: Authority) =>
      workItemPolicy(value, context, event, authority),
    undefined,
    ({ value, context }: SnapshotFrom<typeof workItemMachine>, event: WorkItemEvent) =>
      workItemNotInState(value, context, event),
  );

/** Send as one of the people above, with the facts about them. */
export const as = (who: CallerName, event: Record<string, unknown> & { type: string }) => ({
  ...event,
  by: callers[who],
  facts: roster,
});

export const move = (status: WorkStatus, note = 'because') => ({ type: 'item.move', status, note });

/** An item of ann's, worked on in the session attempt-1 (ended), then moved to a status by a person. */
export function inStatus(status: WorkStatus, input: Record<string, unknown> = {}): Item {
  const item = fresh({ assignee: 'ann', ...input });
  item.send({ type: 'attempt.started', sessionId: 'attempt-1', employee: 'ann' });
  item.send({ type: 'attempt.ended', sessionId: 'attempt-1', outcome: 'failed', summary: 'no shovel' });
  if (status === 'cancelled') item.send({ type: 'item.archive' });
  else if (status !== 'blocked') item.send(move(status));
  if (work(item) !== status) throw new Error(`the item is ${work(item)}, not ${status}`);
  return item;
}

export const work = (item: Item): WorkStatus => item.snapshot.value.work;
export const approval = (item: Item) => item.snapshot.value.approval;
export const view = (item: Item) => workItemView(item.snapshot.value, item.snapshot.context);
export const ledger = (item: Item) =>
  item.rows('events').map(
    ({ row }) =>
      row as {
        id: string;
        kind: string;
        fromStatus: string | null;
        toStatus: string | null;
        actor: string;
        detail: Record<string, unknown> | null;
      },
  );

/** The code of the refusal, by policy or by chart, or undefined; what is refused has moved nothing. */
export function ask(item: Item, event: Record<string, unknown> & { type: string }): string | undefined {
  const before = item.json;
  const refusal = item.send(event);
  if (refusal === undefined) return undefined;
  if (item.json !== before) throw new Error(`${event.type} is refused with ${refusal.code}, yet it moved`);
  return refusal.code;
}
