import { authorityOf, type Caller } from '../caller.js';
import type { Refusal } from '../refusals.js';
import type { WorkItemContext, WorkItemFacts } from './context.js';
import { statuses, type WorkStatus, type WorkItemState } from './edges.js';
import { workItemMachine } from './machine.js';
import { workItemPolicy } from './policy.js';
import { illegalMove } from './refusals.js';

/**
 * One status an item might go to, and what stands in the way of this caller; null: nothing but, where
 * `noteNeeded`, a note.
 */
export interface NextMove {
  /** Where the item would go. */
  readonly status: WorkStatus;
  /** Why not; null: it may. */
  readonly refusal: Refusal | null;
  /** The move must say why. */
  readonly noteNeeded: boolean;
}

/**
 * Where may this caller move the item now, and why not elsewhere? Asks policy and chart, as the
 * move itself does. Never throws. `at` is epoch milliseconds, `by` who asks, `facts` what the roster says.
 * @example
 *   const moves = ({ value, context }: SnapshotFrom<typeof workItemMachine>, asked: Parameters<typeof nextMoves>[2]) =>
 *     nextMoves(value, context, asked).filter(({ refusal }) => refusal === null);
 */
export function nextMoves(
  where: WorkItemState,
  context: WorkItemContext,
  asked: { readonly at: number; readonly by: Caller; readonly facts?: WorkItemFacts },
): readonly NextMove[] {
  const snapshot = workItemMachine.resolveState({ value: { ...where }, context });
  const judge = (status: WorkStatus, note: string): Refusal | undefined => {
    const event = { type: 'item.move' as const, status, note, ...asked };
    const refusal = workItemPolicy(where, context, event, authorityOf(asked));
    if (refusal !== undefined || workItemMachine.getTransitionData(snapshot, event).length > 0)
      return refusal;
    return illegalMove(context, where.work, status);
  };
  return statuses
    .filter((status) => status !== where.work)
    .map((status) => ({
      status,
      refusal: judge(status, 'so') ?? null,
      noteNeeded: judge(status, '')?.code === 'NOTE_REQUIRED',
    }));
}
