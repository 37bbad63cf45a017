import type { App, Follower } from './app.js';
import { inTurn } from './request.js';

/**
 * A reader of the log that begins with the first entry of a list and, where it breaks off, begins again after
 * a moment. One at a time, however often it is polled.
 * @example const follower = createFollower({ kind: 'workflow', index: 'todo-status-change' }, read, failed)
 */
export function createFollower(
  { kind, index }: { readonly kind: string; readonly index: string },
  read: (app: App, signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Follower {
  const stop = new AbortController();
  let reading = false;
  let cancel: (() => void) | undefined;
  const poll = (app: App): Promise<void> =>
    inTurn(stop, 'poll', async () => {
      // two polls at once would become two readers
      if (
        reading ||
        stop.signal.aborted ||
        (await app.supervisor.countRange(kind, { index, limit: 1 })) === 0
      )
        return;
      reading = true;
      void read(app, stop.signal)
        .catch((error: unknown) => {
          if (stop.signal.aborted) return;
          failed(error);
          cancel = app.supervisor.environment.clock.timeout(againMs, () => void poll(app).catch(failed));
        })
        .finally(() => {
          reading = false;
        });
    });
  return {
    poll,
    close() {
      stop.abort();
      cancel?.();
    },
  };
}

const againMs = 5_000;
