import type { Json } from '../../machines/ground.js';
import type { Refusal } from '../../machines/refusals.js';
import { isRefusal, refuse } from '../../machines/refusals.js';
import type { Committed } from '../supervisor/contract.js';
import { asked, type Asking, type Desk } from './desk.js';

/**
 * What the caller's key was answered before; undefined: nothing yet. For commands that do or judge something ahead of
 * their commit: asked again, the answer must not depend on what has changed since. Twins that are both under way meet
 * in the commit.
 * @example const before = await answeredBefore<{ id: string }>(desk, asking)
 */
export async function answeredBefore<Result extends Json>(desk: Desk, asking: Asking): Promise<Committed<Result> | Refusal | undefined> {
  if (asking.idempotency === undefined) return undefined;
  const unknown = refuse('NOT_FOUND');
  const known = await desk.supervisor.transact<Result>({ name: 'asked-before', newWork: false, actors: [], ...asked(asking), decide: () => unknown });
  return isRefusal(known) && known === unknown ? undefined : known;
}
