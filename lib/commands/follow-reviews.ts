import type { LogEntry } from '../supervisor/contract.js';
import type { Desk } from './desk.js';
import { follower, type Follower } from './follower.js';
import { openReview } from './open-review.js';
import { idsOf } from './walk.js';

/**
 * Asks verifiers for their reviews. What is due is a list of the items themselves, written in the commit that made it due:
 * it is looked through at every start, and then each item that comes into review. Nobody reads while no open item names a
 * verifier.
 */
export const followReviews = (desk: Desk, failed: (error: unknown) => void): Follower => follower(desk, { kind: 'work-item', index: 'verifier' }, (signal) => read(desk, signal), failed);

async function read(desk: Desk, signal: AbortSignal): Promise<void> {
  const since = desk.supervisor.status.seq; // what becomes due while the list is read is read again
  for (const id of await idsOf(desk.supervisor, 'work-item', { index: 'review' })) await openReview(desk, id);
  for await (const entry of desk.supervisor.watch({ since, kinds: ['work-item'], signal })) {
    if (workOf(entry.to) === 'in_review' && workOf(entry.from) !== 'in_review') await openReview(desk, entry.id);
  }
}

const workOf = (state: LogEntry['to']): string | null => (state as { readonly work?: string } | null)?.work ?? null;
