import type { ProgressFrame, Supervisor } from '../../supervisor/contract.js';
import { liveBursts, type Burst } from './bursts.js';
import { progressWire, type Progress } from './frames.js';
import { Pace } from './pace.js';

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
  /** What is under way and has no position, until the returned function is called. */
  onProgress(listener: (progress: Progress) => void): () => void;
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
  /** As of which `recent` was read. */
  erasures: number;
}

export function openFeed(supervisor: Supervisor, onFault: (error: unknown) => void): Feed {
  const listeners = new Map<Listener, (error: unknown) => void>();
  const followers = new Set<(progress: Progress) => void>();
  const pace = new Pace();
  let reading: Reading | undefined;
  let pending: ProgressFrame[] = [];
  let pendingBytes = 0;
  let reporting = false;
  /** Everybody is told one thing after the other. */
  let line = Promise.resolve();
  let ignore = (): void => undefined;

  async function read(mine: Reading): Promise<void> {
    for await (const burst of liveBursts(supervisor, mine.position, mine.end.signal)) {
      if (mine.end.signal.aborted) return;
      mine.position = burst.seq;
      keep(mine, burst);
      await inLine(async () => {
        await deliverPending(); // what an agent said comes before the end of its turn
        // Who joins meanwhile finds it among the recent ones
        await pace.deliver(listeners, burst, mine.end.signal);
      });
      await pace.rest();
    }
  }

  function keep(mine: Reading, burst: Burst): void {
    mine.recent.push(burst);
    let held = mine.recent.reduce((sum, { commits }) => sum + commits.length, 0);
    while (mine.recent.length > 1 && held > recentMax) {
      const eldest = mine.recent.shift();
      mine.from = eldest?.seq ?? mine.from;
      held -= eldest?.commits.length ?? 0;
    }
  }

  /** What was erased must not be told again: who comes back reads the log. */
  function forgetErased(mine: Reading): void {
    const { erasures } = supervisor.inspection;
    if (mine.erasures === erasures) return;
    mine.erasures = erasures;
    mine.recent = [];
    mine.from = mine.position;
  }

  function progressed(frame: ProgressFrame): void {
    pending.push(frame);
    pendingBytes += progressWire(frame).length;
    if (!reporting) report().catch(onFault);
  }

  /** Where much is said nothing rests: who speaks waits until it is told. */
  async function report(): Promise<void> {
    reporting = true;
    try {
      while (pending.length > 0) {
        if (pendingBytes < pendingBytesMax) await pace.rest();
        await inLine(deliverPending);
      }
    } finally {
      reporting = false;
    }
  }

  async function deliverPending(): Promise<void> {
    while (pending.length > 0) {
      const frames: ProgressFrame[] = [];
      let bytes = 0;
      for (const frame of pending) {
        if (bytes >= togetherBytesMax) break;
        frames.push(frame);
        bytes += progressWire(frame).length;
      }
      pending = pending.slice(frames.length);
      pendingBytes -= bytes;
      await pace.deliver(followers, { frames, wire: Buffer.concat(frames.map(progressWire)) });
    }
  }

  function inLine(task: () => Promise<void>): Promise<void> {
    const mine = line.then(task);
    line = mine.catch(() => undefined);
    return mine;
  }

  function begin(since: number): Reading {
    const mine: Reading = {
      end: new AbortController(),
      position: since,
      from: since,
      recent: [],
      erasures: supervisor.inspection.erasures,
    };
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
      if (reading) forgetErased(reading);
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
    onProgress(listener) {
      if (followers.size === 0) ignore = supervisor.onProgress(progressed);
      followers.add(listener);
      return () => {
        if (followers.delete(listener) && followers.size === 0) ignore();
      };
    },
    close,
  };
}

/** Commits that a socket may be behind and still join; at least the last burst. */
const recentMax = 256;
const togetherBytesMax = 65_536;
const pendingBytesMax = 1_048_576;
