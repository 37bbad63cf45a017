import { isMeant } from '../../actors/engines/pool.js';
import { system } from '../../machines/caller.js';
import { isRefusal } from '../../machines/refusals.js';
import type { App, GatewayActor } from './app.js';
import { knownWorkers } from './workers.js';

/**
 * Reports of workers on other machines that turns wait for them which they cannot take, once that has been so for a
 * while: one that is away, or was drained, or lacks the engine. Until then it may only be starting.
 * `const missed = followMissedWorkers(app, onFault); missed.close()`
 */
export function followMissedWorkers(app: App, onFault: (error: unknown) => void): { close(): void } {
  const { clock } = app.supervisor.environment;
  /** By name: since when, monotonic. */
  const noticed = new Map<string, number>();
  /** What an earlier gateway has reported is checked at once. */
  let isReported = true;
  let cancel = (): void => undefined;
  let isClosed = false;

  async function check(): Promise<void> {
    const stranded = app.workers?.stranded() ?? [];
    if (stranded.length === 0 && !isReported && noticed.size === 0) return;
    isReported = false;
    for (const worker of await knownWorkers(app, 'all')) {
      const { id, view } = worker;
      const engines = stranded
        .filter(
          ({ placement }) => placement && isMeant({ name: id, labels: view.offer?.labels ?? [] }, placement),
        )
        .map(({ engine }) => engine);
      const why = engines.length === 0 ? null : whyNot(app, worker, engines);
      if (why === null) noticed.delete(id);
      else if (!noticed.has(id)) noticed.set(id, clock.monotonic());
      const isLasting = why === null || clock.monotonic() - (noticed.get(id) ?? Infinity) >= patienceMs;
      const { why: reported = null } = view.missed ?? {};
      if (isLasting && why !== reported) {
        const done = await app.supervisor.ask(
          'worker',
          id,
          { type: 'worker.missed', why },
          { by: system('workers') },
        );
        if (isRefusal(done)) noticed.delete(id);
      }
      isReported ||= why !== null || reported !== null;
    }
  }

  function again(): void {
    if (isClosed) return;
    cancel = clock.timeout(everyMs, () => void check().catch(onFault).then(again));
  }

  again();
  return {
    close() {
      isClosed = true;
      cancel();
    },
  };
}

/** What keeps it from running turns of these engines. */
function whyNot(
  app: App,
  { id, view: { status, offer } }: GatewayActor<'worker'>,
  engines: readonly string[],
): string | null {
  if (status === 'removed') return 'was removed';
  if (status === 'invited') return 'has not joined';
  if (app.workers?.remote.stateOf(id)?.isHere !== true) return 'is away';
  if (status === 'draining') return 'is drained';
  const lacking = engines.find((engine) => offer?.engines.includes(engine) !== true);
  return lacking === undefined ? null : `has no engine ${lacking.slice(0, 64)}`;
}

const everyMs = 10_000;
const patienceMs = 30_000;
