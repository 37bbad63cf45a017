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
  /** Called after a quiet moment; a second call never begins before the first has ended. Must not reject. */
  readonly onChange: () => Promise<void>;
  /** Quiet moment, default 100. */
  readonly debounceMs?: number;
  /** A look without any notice, default 30,000. */
  readonly rescanMs?: number;
  readonly foldersMax?: number;
}

export interface TreeWatch {
  /** Look now; resolves when `onChange` has run. */
  look(): Promise<void>;
  close(): Promise<void>;
}

/** `const watched = watchTree(layout.org, {depth: 1, onChange: reload}); … await watched.close()`. An absent folder is waited for. */
export function watchTree(root: string, options: WatchTreeOptions): TreeWatch {
  const { debounceMs = 100, rescanMs = 30_000, foldersMax = 2_000 } = options;
  const watchers = new Map<string, FSWatcher>();
  let quiet: NodeJS.Timeout | undefined;
  let closed = false;
  let running: Promise<void> = Promise.resolve();

  function soon(): void {
    if (closed) return;
    clearTimeout(quiet);
    quiet = setTimeout(() => void look(), debounceMs).unref();
  }

  function look(): Promise<void> {
    clearTimeout(quiet);
    running = running.then(async () => {
      if (closed) return;
      await follow();
      await options.onChange();
    });
    return running;
  }

  /** Watch the folders that are there now, and no others. */
  async function follow(): Promise<void> {
    const folders = await foldersBelow(root, options.depth, foldersMax);
    for (const [folder, watcher] of watchers) if (!folders.includes(folder)) forget(folder, watcher);
    for (const folder of folders) {
      if (closed || watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, soon);
        watcher.on('error', () => forget(folder, watcher));
        watchers.set(folder, watcher);
      } catch {
        return; // gone again, or no more watches to be had: the regular look serves
      }
    }
  }

  function forget(folder: string, watcher: FSWatcher): void {
    watcher.close();
    watchers.delete(folder);
  }

  const regular = setInterval(() => void look(), rescanMs).unref();
  running = follow();

  return {
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

/** The root and what lies below it, level by level; neither links nor hidden folders. */
async function foldersBelow(root: string, depth: number, foldersMax: number): Promise<readonly string[]> {
  const found: string[] = [];
  let level = [root];
  for (let down = 0; down <= depth && level.length > 0 && found.length < foldersMax; down += 1) {
    const next: string[] = [];
    for (const folder of level) {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
      if (entries === undefined) continue;
      found.push(folder);
      for (const entry of entries) if (entry.isDirectory() && !entry.name.startsWith('.')) next.push(join(folder, entry.name));
    }
    level = next;
  }
  return found.slice(0, foldersMax);
}
