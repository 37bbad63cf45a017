import type { Session } from 'node:inspector';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/**
 * While the event loop rests, what the heap holds of the last start or burst is collected and given back to the
 * system: of itself V8 does so late, or not at all, above all where it may not mark by tasks (see troupe.mjs). A
 * collection takes 30 to 150 ms, once a minute at most; a heap in which more is used than `usedMax` is left alone. The
 * inspector's way is the one that also gives memory back, and needs no flag of the command line; where Node has no
 * inspector, or may not use it, nothing is collected.
 *
 * @example const rest = collectAtRest(); rest.close();
 */
export function collectAtRest({
  everyMs = 5_000,
  pauseMs = 60_000,
  collected = () => undefined,
}: RestOptions = {}): Rest {
  let before = performance.eventLoopUtilization();
  let quietChecks = 0;
  let collectedAt = -Infinity;
  let heldAfter = 0;
  let session: Session | undefined;
  const collect = async (): Promise<void> => {
    collectedAt = performance.now();
    session ??= await connected(); // one for the life of the process: to connect costs more than to keep
    session.post('HeapProfiler.collectGarbage', () => {
      heldAfter = getHeapStatistics().total_heap_size;
      collected();
    });
  };
  const check = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    quietChecks = utilization < restUtilization ? quietChecks + 1 : 0;
    if (quietChecks < quietMin || performance.now() - collectedAt < pauseMs) return;
    const { total_heap_size: held, used_heap_size: used } = getHeapStatistics();
    if (held - heldAfter >= Math.max(worthBytes, heldAfter / 4) && used <= usedMax)
      void collect().catch(() => clearInterval(timer));
  };
  const timer = setInterval(check, everyMs).unref();
  return { close: () => clearInterval(timer) };
}

async function connected(): Promise<Session> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  return session;
}

interface RestOptions {
  /** Between two checks of the event loop, in ms. */
  readonly everyMs?: number;
  /** Between two collections at least, in ms. */
  readonly pauseMs?: number;
  /** Called after each. */
  readonly collected?: () => void;
}

/** Ends it. */
export interface Rest {
  close(): void;
}

/** Part of the time in which it did something. */
const restUtilization = 0.02;
const quietMin = 2;
const worthBytes = 8 << 20;
const usedMax = 256 << 20;
