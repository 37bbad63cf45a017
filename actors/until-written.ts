import { setTimeout as wait } from 'node:timers/promises';

/**
 * What an effect must have stored before it goes on: a turn before its agent begins, a cron job's run before it waits
 * for its work. A store that cannot write for a moment (a full disk, a copy that is under repair) costs it time and no
 * more: the write is made again. Where no one knows whether it has happened, too: so it must say the same the second
 * time, and harm no one. Rejects with any other failure, and once `signal` aborts. `context.checkpoint`,
 * `context.rows` and `context.step` do so by themselves.
 *
 * @example await untilWritten(() => context.send({ type: 'turn.began', turnId }), context.signal)
 */
export async function untilWritten<Written>(
  write: () => Promise<Written>,
  signal: AbortSignal,
  /** Resolves after so long, or when `signal` aborts. Default: on the real clock. */
  pause: (ms: number) => Promise<void> = (ms) => wait(ms, undefined, { signal }).catch(() => undefined),
): Promise<Written> {
  // Quick at first: most are over in a moment
  for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 5_000)) {
    try {
      return await write();
    } catch (error) {
      if (!mayComeBack(error)) throw error;
      signal.throwIfAborted();
      await pause(waitMs);
      signal.throwIfAborted();
    }
  }
}

const mayComeBack = (error: unknown): boolean =>
  ['STORE_UNAVAILABLE', 'OUTCOME_UNKNOWN'].includes(String((error as { readonly code?: unknown }).code));
