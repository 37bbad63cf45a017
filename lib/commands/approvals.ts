import { askOne, employeeNamed, recordOf, type Asking, type Desk, type Done } from './desk.js';
import type { ActorView } from '../supervisor/contract.js';
import { isRefusal, type Refusal } from '../../machines/refusals.js';

export interface ApprovalWish {
  readonly request: string;
  readonly target?: string | null | undefined;
  readonly expiresAt?: string | null | undefined;
}

/**
 * Ask for an approval. Routed to the named target, else to the owner's manager, else to the root; where there is no
 * roster the root is the operator (`virtual`).
 */
export async function requestApproval(desk: Desk, workItemId: string, wish: ApprovalWish, asking: Asking): Promise<Done<ActorView> | Refusal> {
  const route = await routeOf(desk, workItemId, wish.target);
  if (isRefusal(route)) return route;
  return askOne(desk, 'work-item', workItemId, {
    type: 'approval.request',
    requestId: desk.supervisor.world.id(),
    request: wish.request,
    ...route,
    ...(wish.expiresAt != null && { expiresAt: wish.expiresAt }),
  }, asking);
}

type Route = { readonly target: string | null; readonly targetKind: 'employee' | 'virtual' };

async function routeOf(desk: Desk, workItemId: string, wished: string | null | undefined): Promise<Route | Refusal> {
  const operatorRoute: Route = { target: null, targetKind: 'virtual' };
  if (wished === 'operator') return operatorRoute;
  if (wished != null) {
    const named = employeeNamed(desk, wished);
    return isRefusal(named) ? named : { target: wished, targetKind: 'employee' };
  }
  const people = desk.roster?.()?.employees ?? [];
  const item = await desk.supervisor.get('work-item', workItemId);
  const owner = item && recordOf(item)['assignee'];
  const manager = people.find((person) => person.name === owner)?.parentName;
  const root = people.find((person) => person.rank === 'executive' && !person.parentName)?.name;
  const target = manager ?? root;
  return target === undefined || target === owner ? operatorRoute : { target, targetKind: 'employee' };
}
