import type { App } from './app.js';

/**
 * Does something a minute after the start and once a day from then on; the next day begins when it has ended.
 * @example const cleaning = daily(app, () => dropRested(app, failed), failed); cleaning.close();
 */
export function daily(
  { supervisor }: App,
  task: () => Promise<unknown>,
  failed: (error: unknown) => void,
): { close(): void } {
  const { clock } = supervisor.environment;
  let cancel = (): void => undefined;
  let isClosed = false;
  const poll = (): void => {
    void task()
      .catch(failed)
      .finally(() => {
        if (!isClosed) cancel = clock.timeout(dayMs, poll);
      });
  };
  cancel = clock.timeout(firstPollMs, poll);
  return {
    close() {
      isClosed = true;
      cancel();
    },
  };
}

const dayMs = 86_400_000;
const firstPollMs = 60_000;
