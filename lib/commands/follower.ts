import type { Desk } from './desk.js';
import { inTurn } from './in-turn.js';

/** Somebody who reads the log for as long as there is a reason to. */
export interface Follower {
  /** Look whether there is a reason; begin to read, or go on resting. */
  look(): Promise<void>;
  close(): void;
}

/**
 * A reader of the log that begins with the first entry of a list and, where it breaks off, begins anew after a moment.
 * One at a time, however often it is told to look.
 * @example follower(desk, { kind: 'workflow', index: 'todo-status-change' }, (signal) => read(desk, signal), failed)
 */
export function follower(desk: Desk, { kind, index }: { readonly kind: string; readonly index: string }, read: (signal: AbortSignal) => Promise<void>, failed: (error: unknown) => void): Follower {
  const ending = new AbortController();
  let reading = false;
  let cancel: (() => void) | undefined;
  const look = (): Promise<void> => inTurn(ending, 'look', async () => { // two looks at once would become two readers
    if (reading || ending.signal.aborted || await desk.supervisor.count(kind, { index, limit: 1 }) === 0) return;
    reading = true;
    void read(ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      failed(error);
      cancel = desk.supervisor.world.timeout(againMs, () => void look().catch(failed));
    }).finally(() => { reading = false; });
  });
  return { look, close() { ending.abort(); cancel?.(); } };
}

const againMs = 5_000;
