import { watch, type FSWatcher } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Tells that something changed below a folder, soon after it did: the system's notices where it gives them, and a
 * look at regular intervals besides, because notices can be lost and some file systems give none. One notice per
 * folder, not per file, so that a hundred thousand files cost nothing.
 */
export interface WatchTreeOptions {
  /** Folders below the root that are watched: 1 = the root's own sub-folders. */
  readonly depth: number;
  /**
   * Called after a quiet moment with the folders that notices came from, or with undefined when everything must be
   * looked at. A second call never begins before the first has ended. Must not reject.
   */
  readonly onChange: (folders: ReadonlySet<string> | undefined) => Promise<void>;
  /** Quiet moment, default 100. */
  readonly debounceMs?: number;
  /** A look without any notice, default 30,000. */
  readonly rescanMs?: number;
  readonly foldersMax?: number;
}

export interface TreeWatch {
  /** Resolves when everything is watched: what is read after that misses nothing. */
  readonly established: Promise<void>;
  /** Look now; resolves when `onChange` has run. */
  look(): Promise<void>;
  close(): Promise<void>;
}

/** `const watched = watchTree(layout.org, {depth: 1, onChange: reload}); … await watched.close()`. An absent folder is waited for. */
export function watchTree(root: string, options: WatchTreeOptions): TreeWatch {
  const { debounceMs = 100, rescanMs = 30_000, foldersMax = 2_000 } = options;
  const watchers = new Map<string, FSWatcher>();
  let noticed = new Set<string>();
  let quiet: NodeJS.Timeout | undefined;
  let closed = false;
  let running: Promise<void> = Promise.resolve();

  function soon(folder: string): void {
    if (closed) return;
    noticed.add(folder);
    clearTimeout(quiet);
    quiet = setTimeout(() => void look(false), debounceMs).unref();
  }

  function look(everything = true): Promise<void> {
    clearTimeout(quiet);
    running = running.then(async () => {
      if (closed) return;
      const changed = noticed;
      noticed = new Set();
      const moved = await follow();
      await options.onChange(everything || moved ? undefined : changed);
    });
    return running;
  }

  /** Watch the folders that are there now, and no others. True when they are not those of before. */
  async function follow(): Promise<boolean> {
    let moved = false;
    const there = new Set<string>();
    let level = [root];
    for (let down = 0; down <= options.depth && level.length > 0; down += 1) {
      const next: string[] = [];
      for (const folder of level) {
        if (closed || there.size >= foldersMax) break;
        if (!watchers.has(folder)) moved = true;
        listen(folder); // before it is read, so that what comes in between is noticed
        const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
        if (entries === undefined) continue;
        there.add(folder);
        for (const entry of entries) if (entry.isDirectory() && !entry.name.startsWith('.')) next.push(join(folder, entry.name));
      }
      level = next;
    }
    for (const [folder, watcher] of watchers) {
      if (there.has(folder)) continue;
      forget(folder, watcher);
      moved = true;
    }
    return moved;
  }

  /** An absent folder, or no more watches to be had: the regular look serves. */
  function listen(folder: string): void {
    if (watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => soon(folder));
      watcher.on('error', () => forget(folder, watcher));
      watchers.set(folder, watcher);
    } catch {
      return;
    }
  }

  function forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    watchers.delete(folder);
  }

  const regular = setInterval(() => void look(), rescanMs).unref();
  running = follow().then(() => undefined);
  const established = running;

  return {
    established,
    look,
    async close() {
      closed = true;
      clearInterval(regular);
      clearTimeout(quiet);
      for (const [folder, watcher] of watchers) forget(folder, watcher);
      await running;
      for (const [folder, watcher] of watchers) forget(folder, watcher);
    },
  };
}
