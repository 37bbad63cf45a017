import type { LogEntry, Supervisor } from '../supervisor/contract.js';

/**
 * The live end of the log, read once for all sockets: whole commits in order. A socket that replays joins when it has
 * caught up; from then on it costs the log nothing.
 */
export interface Feed {
  /** Position of the last commit that was handed on. */
  readonly position: number;
  /** Commits after `position`, until the returned function is called. */
  join(listener: (commit: Commit) => void): () => void;
  close(): void;
}

/** The entries of one commit and the position of its last. */
export interface Commit { readonly seq: number; readonly entries: readonly LogEntry[] }

export function openFeed(supervisor: Supervisor, onFault: (error: unknown) => void): Feed {
  const listeners = new Set<(commit: Commit) => void>();
  const end = new AbortController();
  let position = supervisor.status.seq;

  async function follow(): Promise<void> {
    for await (const commit of commits(supervisor, position, end.signal)) {
      position = commit.seq;
      for (const listener of [...listeners]) listener(commit);
    }
  }
  follow().catch((error: unknown) => end.signal.aborted || onFault(error));

  return {
    get position() {
      return position;
    },
    join(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => end.abort(),
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
