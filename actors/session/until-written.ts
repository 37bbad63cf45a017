import { setTimeout as wait } from 'node:timers/promises';

/**
 * Write what must be stored before a turn goes on. A store that cannot write for a moment (a full disk, a copy that
 * is under repair) costs the turn time and no more: such a write has not happened, and is made again. Rejects with any
 * other failure, and once `signal` aborts.
 *
 * @example await untilWritten(() => context.checkpoint({ pid }), context.signal)
 */
export async function untilWritten(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      return await write();
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'STORE_UNAVAILABLE') throw error;
      await wait(waitMs, undefined, { signal });
    }
  }
}
