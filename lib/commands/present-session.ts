import { recordOf, type Desk } from './desk.js';
import type { ActorView } from '../supervisor/contract.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/** A session that is there; a deleted one is as absent as one that never was. */
export async function presentSession(desk: Desk, id: string): Promise<ActorView | Refusal> {
  const view = await desk.supervisor.get('session', id);
  return view && recordOf(view)['status'] !== 'deleted' ? view : refuse('NOT_FOUND', { kind: 'session', id }, 'Not found');
}
