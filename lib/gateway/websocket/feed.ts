import type { LogEntry, Supervisor } from '../../supervisor/contract.js';
import { liveBursts, type Burst } from './bursts.js';

/**
 * The live end of the log, read once for all sockets, and not at all while there is none. A socket that
 * replays joins when it has caught up; from then on it costs the log nothing.
 */
export interface Feed {
  /** Position of the last commit that was handed on. */
  readonly position: number;
  /**
   * Every commit after `since` (exclusive), until the returned function is called; those that were handed on
   * already come at once, and with them perhaps some from before `since`. Undefined, and nothing is joined, when the
   * feed no longer holds all of them: read the log up to `position` and join from there. `lost` is called when the
   * feed ends in a fault: nothing comes after it.
   * @example const leave = feed.join(reached, show, fail);
   */
  join(since: number, listener: Listener, lost: (error: unknown) => void): (() => void) | undefined;
  close(): void;
}

type Listener = (burst: Burst) => void;

interface Reading {
  readonly end: AbortController;
  position: number;
  /** Position before the first of `recent`. */
  from: number;
  /** The last that were handed on. */
  recent: Burst[];
  /** Commits in `recent`. */
  commits: number;
}

export function openFeed(supervisor: Supervisor, onFault: (error: unknown) => void): Feed {
  const listeners = new Map<Listener, (error: unknown) => void>();
  let reading: Reading | undefined;

  async function read(mine: Reading): Promise<void> {
    for await (const burst of liveBursts(supervisor, mine.position, mine.end.signal)) {
      if (mine.end.signal.aborted) return;
      mine.position = burst.seq;
      keep(mine, burst);
      const tookMs = await deliver(burst);
      // The more there are to be told, the more is told at once: most of the processor is for those who work
      if (tookMs > shortMs) await pause(Math.min(tookMs * restFactor, restMsMax));
    }
  }

  function keep(mine: Reading, burst: Burst): void {
    mine.recent.push(burst);
    mine.commits += burst.commits.length;
    // What was erased must not be said again
    const most = burst.commits.some(({ entries }) => entries.some(isErasure)) ? 0 : recentMax;
    while (mine.recent.length > 0 && mine.commits > most) {
      const eldest = mine.recent.shift();
      mine.from = eldest?.seq ?? mine.from;
      mine.commits -= eldest?.commits.length ?? 0;
    }
  }

  /**
   * To thousands it takes a while: what else waits for the processor has its turn between them. Who joins meanwhile
   * finds the burst among the recent ones. Answers the milliseconds that it took, without those between.
   */
  async function deliver(burst: Burst): Promise<number> {
    let tookMs = 0;
    let began = performance.now();
    for (const listener of [...listeners.keys()]) {
      if (performance.now() - began >= sliceMs) {
        tookMs += performance.now() - began;
        await new Promise((resolve) => setImmediate(resolve));
        began = performance.now();
      }
      if (listeners.has(listener)) listener(burst);
    }
    return tookMs + performance.now() - began;
  }

  function begin(since: number): Reading {
    const mine = { end: new AbortController(), position: since, from: since, recent: [], commits: 0 };
    reading = mine;
    read(mine).catch((error: unknown) => {
      if (!mine.end.signal.aborted) fail(error);
    });
    return mine;
  }

  /** Who went on listening would wait for ever: each resumes from where it stands. */
  function fail(error: unknown): void {
    close();
    onFault(error);
    const left = [...listeners.values()];
    listeners.clear();
    for (const lost of left) lost(error);
  }

  function close(): void {
    reading?.end.abort();
    reading = undefined;
  }

  return {
    get position() {
      return reading?.position ?? supervisor.status.position;
    },
    join(since, listener, lost) {
      if (since < (reading?.from ?? supervisor.status.position - recentMax)) return undefined;
      const { recent } = reading ?? begin(since);
      // Nothing is awaited between these two: the next commit comes to all listeners, this one included
      for (const burst of [...recent]) if (burst.seq > since) listener(burst);
      listeners.set(listener, lost);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) close();
      };
    },
    close,
  };
}

const isErasure = ({ event }: LogEntry): boolean =>
  (event as { type?: unknown } | null)?.type === 'kernel.erased';

/** Commits that a socket may be behind and still join. */
const recentMax = 128;
/** Node takes in one connection each time it comes round: long slices keep new ones waiting. */
const sliceMs = 3;
const shortMs = 8;
/** Of what it took to tell all, before the next is told. */
const restFactor = 3;
const restMsMax = 500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
