import type { LogEntry, Supervisor } from '../supervisor/contract.js';

/**
 * The live end of the log, read once for all sockets, and not at all while there is none. A socket that replays joins
 * when it has caught up; from then on it costs the log nothing.
 */
export interface Feed {
  /** Position of the last commit that was handed on; nothing later has been seen by anybody who joins now. */
  readonly position: number;
  /** Commits after `position`, until the returned function is called. */
  join(listener: (commit: Commit) => void): () => void;
  close(): void;
}

/** The entries of one commit and the position of its last. */
export interface Commit { readonly seq: number; readonly entries: readonly LogEntry[] }

export function openFeed(supervisor: Supervisor, onFault: (error: unknown) => void): Feed {
  const listeners = new Set<(commit: Commit) => void>();
  let reading: { readonly end: AbortController; position: number } | undefined;

  async function read(mine: { readonly end: AbortController; position: number }): Promise<void> {
    for await (const commit of commits(supervisor, mine.position, mine.end.signal)) {
      if (mine.end.signal.aborted) return;
      mine.position = commit.seq;
      for (const listener of [...listeners]) listener(commit);
    }
  }

  function close(): void {
    reading?.end.abort();
    reading = undefined;
  }

  return {
    get position() {
      return reading?.position ?? supervisor.status.seq;
    },
    join(listener) {
      listeners.add(listener);
      if (!reading) {
        const mine = { end: new AbortController(), position: supervisor.status.seq };
        reading = mine;
        read(mine).catch((error: unknown) => mine.end.signal.aborted || onFault(error));
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) close();
      };
    },
    close,
  };
}

/** The log from `since` (exclusive) as whole commits. */
export async function* commits(supervisor: Supervisor, since: number, signal: AbortSignal): AsyncGenerator<Commit> {
  let entries: LogEntry[] = [];
  for await (const entry of supervisor.watch({ since, signal })) {
    entries.push(entry);
    if (!entry.last) continue;
    yield { seq: entry.seq, entries };
    entries = [];
  }
}
