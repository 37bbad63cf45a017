import type { Caller } from '../caller.js';
import type { Refusal } from '../refusals.js';
import type { WorkItemContext, WorkItemFacts } from './context.js';
import { statuses, type WorkStatus } from './edges.js';
import { workItemPolicy, type Standpoint } from './policy.js';

/** One status an item might go to, and what stands in the way of this caller; null: nothing but, where `noteNeeded`, a note. */
export interface NextMove { readonly status: WorkStatus; readonly refusal: Refusal | null; readonly noteNeeded: boolean }

/**
 * Where may this caller move the item now, and why not elsewhere? Asks the policy that decides the move itself.
 * @example nextMoves(snapshot.value, snapshot.context, {by, facts, at}).filter(({refusal}) => refusal === null)
 */
export function nextMoves(where: Standpoint, context: WorkItemContext, asked: { readonly at: number; readonly by: Caller; readonly facts?: WorkItemFacts }): readonly NextMove[] {
  return statuses.filter((status) => status !== where.work).map((status) => {
    const judge = (note: string): Refusal | undefined => workItemPolicy(where, context, { type: 'item.move', status, note, ...asked });
    return { status, refusal: judge('so') ?? null, noteNeeded: judge('')?.code === 'NOTE_REQUIRED' };
  });
}
