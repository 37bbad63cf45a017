import type { Decision } from '../outputs.js';
import type { WorkItemContext, WorkItemEventOf } from './context.js';
import { record } from './ledger.js';

/**
 * Due dates: a promise to people, not a rule. When one passes on open work, the ledger records it and
 * watchers see it, once.
 */

/**
 * Milliseconds until the due date, `null` when there is none any more, `undefined` when the edit says nothing
 * about it.
 */
export function untilDue(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.edit'>,
): number | null | undefined {
  const { dueAt } = context;
  if (event.patch.dueAt === undefined) return undefined;
  return dueAt == null ? null : Math.max(0, dueAt - event.at);
}

export function overdue(
  context: WorkItemContext,
  event: WorkItemEventOf<'item.due'>,
): Decision<WorkItemContext> {
  if (context.closedAt !== null || context.dueAt == null) return {};
  return record(context, 'due', event.at, [
    { kind: 'note', at: event.at, actor: 'system', detail: { action: 'due', dueAt: context.dueAt } },
  ]);
}
