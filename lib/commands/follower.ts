import { type App, inTurn } from './app.js';

/** Somebody who reads the log for as long as there is a reason to. */
export interface Follower {
  /** Look whether there is a reason; begin to read, or go on resting. */
  look(): Promise<void>;
  close(): void;
}

/**
 * A reader of the log that begins with the first entry of a list and, where it breaks off, begins anew after
 * a moment. One at a time, however often it is told to look.
 * @example follower(app, { kind: 'workflow', index: 'todo-status-change' }, (signal) => read(app, signal),
 * failed)
 */
export function follower(
  app: App,
  { kind, index }: { readonly kind: string; readonly index: string },
  read: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): Follower {
  const stop = new AbortController();
  let reading = false;
  let cancel: (() => void) | undefined;
  const look = (): Promise<void> =>
    inTurn(stop, 'look', async () => {
      // two looks at once would become two readers
      if (
        reading ||
        stop.signal.aborted ||
        (await app.supervisor.countRange(kind, { index, limit: 1 })) === 0
      )
        return;
      reading = true;
      void read(stop.signal)
        .catch((error: unknown) => {
          if (stop.signal.aborted) return;
          failed(error);
          cancel = app.supervisor.environment.clock.timeout(againMs, () => void look().catch(failed));
        })
        .finally(() => {
          reading = false;
        });
    });
  return {
    look,
    close() {
      stop.abort();
      cancel?.();
    },
  };
}

const againMs = 5_000;
