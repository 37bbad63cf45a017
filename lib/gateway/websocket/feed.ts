import type { LogEntry, Supervisor } from '../../supervisor/contract.js';
import { addValues, isReset } from './frames.js';

/**
 * The live end of the log, read once for all sockets, and not at all while there is none. A socket that
 * replays joins when it has caught up; from then on it costs the log nothing.
 */
export interface Feed {
  /** Position of the last commit that was handed on. */
  readonly position: number;
  /**
   * Every commit after `since` (exclusive), until the returned function is called; those that were handed on
   * already come at once. Undefined, and nothing is joined, when the feed no longer holds all of them: read
   * the log up to `position` and join from there. `lost` is called when the feed ends in a fault: nothing
   * comes after it.
   * @example const leave = feed.join(reached, show, fail);
   */
  join(
    since: number,
    listener: (commit: Commit) => void,
    lost: (error: unknown) => void,
  ): (() => void) | undefined;
  close(): void;
}

/** The entries of one commit and the position of its last. */
export interface Commit {
  readonly seq: number;
  readonly entries: readonly LogEntry[];
}

interface Reading {
  readonly end: AbortController;
  position: number;
  /** Position before the first of `recent`. */
  from: number;
  /** The last that were handed on. */
  readonly recent: Commit[];
}

export function openFeed(supervisor: Supervisor, onFault: (error: unknown) => void): Feed {
  const listeners = new Map<(commit: Commit) => void, (error: unknown) => void>();
  let reading: Reading | undefined;

  async function read(mine: Reading): Promise<void> {
    for await (const commit of commits(supervisor, mine.position, mine.end.signal)) {
      if (mine.end.signal.aborted) return;
      mine.position = commit.seq;
      mine.recent.push(commit);
      if (mine.recent.length > recentMax) mine.from = mine.recent.shift()?.seq ?? mine.from;
      for (const listener of [...listeners.keys()]) listener(commit);
    }
  }

  function begin(since: number): Reading {
    const mine = { end: new AbortController(), position: since, from: since, recent: [] };
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
      for (const commit of [...recent]) if (commit.seq > since) listener(commit);
      listeners.set(listener, lost);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) close();
      };
    },
    close,
  };
}

/** Commits that a socket may be behind and still join. */
const recentMax = 128;

/** The log from `since` (exclusive) as whole commits. */
export async function* commits(
  supervisor: Supervisor,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<Commit, void> {
  let entries: LogEntry[] = [];
  for await (const entry of supervisor.watch({ since, signal })) {
    // What stood before it in the same commit is gone, too
    if (isReset(entry)) entries = [];
    entries.push(entry);
    if (!entry.last) continue;
    await addValues(supervisor, entries);
    yield { seq: entry.position, entries };
    entries = [];
  }
}
