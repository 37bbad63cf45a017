import { askOne, type Asking, type Desk, type Done } from './desk.js';
import type { ActorView } from '../supervisor/contract.js';
import type { Refusal } from '../../machines/refusals.js';

export interface ApprovalWish {
  readonly request: string;
  /** An employee, or `operator`. */
  readonly target?: string | null | undefined;
  /** ISO-8601 */
  readonly expiresAt?: string | null | undefined;
}

/**
 * Ask for an approval. Routed to the named target, else to the owner's manager, else to the root; where there is no
 * roster the root is the operator (`virtual`).
 */
export function requestApproval(desk: Desk, workItemId: string, wish: ApprovalWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const { target } = wish;
  return askOne(desk, 'work-item', workItemId, {
    type: 'approval.request',
    requestId: desk.supervisor.world.id(),
    request: wish.request,
    target: target ?? null,
    ...(target === 'operator' && { targetKind: 'virtual' }),
    ...(wish.expiresAt != null && { expiresAt: Date.parse(wish.expiresAt) }),
  }, asking);
}
