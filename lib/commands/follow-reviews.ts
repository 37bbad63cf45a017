import type { LogEntry } from '../supervisor/contract.js';
import type { Desk } from './desk.js';
import { openReview } from './open-review.js';
import { idsOf } from './walk.js';

/**
 * Asks verifiers for their reviews. What is due is a list of the items themselves, written in the commit that made it due:
 * it is looked through at every start, and then each item that comes into review. Nobody reads while no open item names a
 * verifier.
 */
export interface ReviewFollower {
  /** Look whether any item names a verifier; begin to read, or go on resting. */
  look(): Promise<void>;
  close(): void;
}

export function followReviews(desk: Desk, failed: (error: unknown) => void): ReviewFollower {
  const ending = new AbortController();
  let reading = false;
  let cancel: (() => void) | undefined;
  async function look(): Promise<void> {
    if (reading || ending.signal.aborted || await desk.supervisor.count('work-item', { index: 'verifier', limit: 1 }) === 0) return;
    if (reading) return; // somebody else looked meanwhile
    reading = true;
    void read(desk, ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      failed(error);
      cancel = desk.supervisor.world.timeout(againMs, () => void look().catch(failed));
    }).finally(() => { reading = false; });
  }
  return { look, close() { ending.abort(); cancel?.(); } };
}

const againMs = 5_000;

async function read(desk: Desk, signal: AbortSignal): Promise<void> {
  const since = desk.supervisor.status.seq; // what becomes due while the list is read is read again
  for (const id of await idsOf(desk.supervisor, 'work-item', { index: 'review' })) await openReview(desk, id);
  for await (const entry of desk.supervisor.watch({ since, kinds: ['work-item'], signal })) {
    if (workOf(entry.to) === 'in_review' && workOf(entry.from) !== 'in_review') await openReview(desk, entry.id);
  }
}

const workOf = (state: LogEntry['to']): string | null => (state as { readonly work?: string } | null)?.work ?? null;
