import type { Deed } from '../deed.js';
import { stampOf } from '../ground.js';
import type { WorkItemContext, WorkItemEvent, WorkItemEventOf } from './context.js';
import { record } from './ledger.js';

/** Due dates: a promise to people, not a rule. When one passes on open work, the ledger and the watchers are told once. */

/** Milliseconds until the due date, `null` when there is none any more, `undefined` when this event says nothing about it. */
export function untilDue(context: WorkItemContext, event: WorkItemEvent): number | null | undefined {
  const { dueAt } = context;
  if (event.type === 'item.edit' && event.patch.dueAt === undefined) return undefined;
  if (dueAt == null) return event.type === 'item.edit' ? null : undefined;
  return Math.max(0, dueAt - (event.type === 'item.edit' ? stampOf(event).at : context.createdAt));
}

export function overdue(context: WorkItemContext, event: WorkItemEventOf<'item.due'>): Deed<WorkItemContext> {
  if (context.closedAt !== null || context.dueAt == null) return {};
  return record(context, 'due', event.at, [{ kind: 'note', at: event.at, actor: 'system', detail: { action: 'due', dueAt: context.dueAt } }]);
}
