import { workItemFacts } from '../../../actors/work-item/facts.js';
import type { App } from '../app.js';
import type { Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { WorkItemContext } from '../../../machines/work-item/context.js';
import { nextMoves } from '../../../machines/work-item/next-moves.js';
import type { WorkItemState } from '../../../machines/work-item/edges.js';

/**
 * What this caller may do with a work item now, and what stands in the way of the rest: the statuses it may
 * move to, and its other events. Judged by the very policies that decide the operations.
 */
export async function whatNext(app: App, id: string, by: Caller): Promise<Json | Refusal> {
  const actor = { kind: 'work-item', id } as const;
  const [why, woken] = await Promise.all([
    app.supervisor.why(actor, by),
    app.supervisor.handle('work-item', id).wake(),
  ]);
  if (!why || isRefusal(woken)) return refuse('NOT_FOUND', actor, `Todo ${id} not found`);
  const { value, context } = woken as { readonly value: WorkItemState; readonly context: WorkItemContext };
  const facts = workItemFacts(context, { type: 'item.move' }, app.roster?.());
  const moves = nextMoves(value, context, { at: app.supervisor.environment.clock.now(), by, facts });
  const { status, assignee, approvalState, approvalTarget } = why.actor.view;
  return {
    workItemId: id,
    status,
    assignee,
    approvalState,
    approvalTarget,
    moves: moves.map(({ status: to, refusal, noteNeeded }) =>
      refusal
        ? { status: to, allowed: false, code: refusal.code, reason: refusal.message }
        : { status: to, allowed: true, noteNeeded },
    ),
    operations: why.next
      .filter(({ event }) => tools.has(event))
      .map(({ event, allowed, refusal }) => ({
        operation: tools.get(event) ?? event,
        allowed,
        ...(refusal && { code: refusal.code, reason: refusal.message }),
      })),
    deadlines: why.timers.map(({ event, due }) => ({ event, due })),
  };
}

/** Events by the name of the tool that sends them. */
const tools: ReadonlyMap<string, string> = new Map([
  ['item.assign', 'assign_work_item'],
  ['item.archive', 'archive_work_item'],
  ['approval.request', 'request_work_item_approval'],
  ['approval.decide', 'decide_work_item_approval'],
  ['approval.escalate', 'escalate_work_item_approval'],
]);
