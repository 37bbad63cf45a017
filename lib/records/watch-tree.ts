import { watch, type FSWatcher } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';

/**
 * Tells that something changed below a folder, soon after it did: the system's notices where it gives them,
 * and a look at regular intervals besides, because notices can be lost and some file systems give none. It
 * listens to folders, not to files, and asks about no more than what was noticed, so that a hundred thousand
 * files cost nothing.
 */
export interface WatchTreeOptions {
  /** Folders below the root that are watched: 1 = the root's own sub-folders. */
  readonly depth: number;
  /**
   * Called after a quiet moment with what notices came for, or with undefined when everything must be looked
   * at. A second call never begins before the first has ended. Must not reject.
   */
  readonly onChange: (changed: Changed | undefined) => Promise<void>;
  /** Quiet moment, default 100. Where it never becomes quiet, the call comes after eight such moments. */
  readonly debounceMs?: number;
  /** A look without any notice, default 30,000. */
  readonly rescanMs?: number;
  readonly foldersMax?: number;
}

/**
 * Folder → the names in it that may have changed; undefined: any of them, those of a folder that came or went
 * included.
 */
export type Changed = ReadonlyMap<string, ReadonlySet<string> | undefined>;

export interface TreeWatch {
  /** Resolves when everything is watched: what is read after that misses nothing. */
  readonly established: Promise<void>;
  /** Look now; resolves when `onChange` has run. */
  scan(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `const watched = watchTree(layout.org, {depth: 1, onChange: reload}); … await watched.close()`. An absent
 * folder is waited for.
 */
export function watchTree(root: string, options: WatchTreeOptions): TreeWatch {
  const { debounceMs = 100, rescanMs = 30_000, foldersMax = 2_000 } = options;
  const watches = new Map<string, FSWatcher>();
  let noticed = new Map<string, Set<string> | undefined>();
  let noticedSince: number | undefined;
  let quiet: NodeJS.Timeout | undefined;
  let closed = false;
  let running: Promise<void> = Promise.resolve();

  function notice(folder: string, name: string | null): void {
    if (closed) return;
    const names = noticed.has(folder) ? noticed.get(folder) : new Set<string>();
    const countable = names !== undefined && name !== null && names.size < namesMax;
    noticed.set(folder, countable ? names.add(name) : undefined);
    noticedSince ??= performance.now();
    clearTimeout(quiet);
    // Or else steady noise would put it off for ever
    const patience = noticedSince + 8 * debounceMs - performance.now();
    quiet = setTimeout(() => void scan(false), Math.max(0, Math.min(debounceMs, patience))).unref();
  }

  function scan(everything = true): Promise<void> {
    clearTimeout(quiet);
    running = running.then(async () => {
      if (closed) return;
      const changed = noticed;
      noticed = new Map();
      noticedSince = undefined;
      // a watched folder that goes is noticed under its own name; for all but the root, its parent notices
      // too
      const replaced = changed.get(root)?.has(basename(root)) === true;
      if (replaced) forgetBelow(root);
      if (everything || replaced) await follow(root);
      else await followNoticed(changed);
      await options.onChange(everything || replaced ? undefined : changed);
    });
    return running;
  }

  /** Folders that came, went or were exchanged become whole folders to look at. */
  async function followNoticed(changed: Map<string, Set<string> | undefined>): Promise<void> {
    for (const [folder, names] of [...changed]) {
      const tops: string[] = names === undefined ? [folder] : [];
      for (const name of names ?? []) {
        const place = join(folder, name);
        const went = forgetBelow(place); // what is there now may be another folder of that name
        for (const one of went) changed.set(one, undefined);
        if (
          went.length > 0 ||
          (!name.startsWith('.') && (await lstat(place).catch(() => undefined))?.isDirectory())
        )
          tops.push(place);
      }
      for (const top of tops) for (const appeared of await follow(top)) changed.set(appeared, undefined);
    }
  }

  /**
   * Watch the folders that are there now from that one on, and no others. Answers those that came or went.
   */
  async function follow(top: string): Promise<readonly string[]> {
    const moved: string[] = [];
    const there = new Set<string>();
    let level = [top];
    for (
      let down = top === root ? 0 : relative(root, top).split(sep).length;
      down <= options.depth && level.length > 0;
      down += 1
    ) {
      const next: string[] = [];
      for (const folder of level) {
        if (closed || (!watches.has(folder) && watches.size >= foldersMax)) continue;
        if (!watches.has(folder)) moved.push(folder);
        listen(folder); // before it is read, so that what comes in between is noticed
        const below = await subfolders(folder);
        if (below === undefined) continue;
        there.add(folder);
        next.push(...below);
      }
      level = next;
    }
    for (const folder of [...watches.keys()].filter((one) => isWithin(top, one) && !there.has(one))) {
      forget(folder);
      moved.push(folder);
    }
    return moved;
  }

  /** An absent folder, or no more watches to be had: the regular look serves. */
  function listen(folder: string): void {
    if (watches.has(folder)) return;
    try {
      const watching = watch(folder, { persistent: false }, (_, name) => notice(folder, name));
      watching.on('error', () => forget(folder));
      watches.set(folder, watching);
    } catch {
      return;
    }
  }

  function forget(folder: string): void {
    watches.get(folder)?.close();
    watches.delete(folder);
  }

  function forgetBelow(top: string): readonly string[] {
    if (!watches.has(top)) return [];
    const below = [...watches.keys()].filter((folder) => isWithin(top, folder));
    for (const folder of below) forget(folder);
    return below;
  }

  const regular = setInterval(() => void scan(), rescanMs).unref();
  running = follow(root).then(() => undefined);
  const established = running;

  return {
    established,
    scan,
    async close() {
      closed = true;
      clearInterval(regular);
      clearTimeout(quiet);
      forgetBelow(root);
      await running;
      for (const folder of [...watches.keys()]) forget(folder);
    },
  };
}

/** Names noticed per folder before the whole folder is looked at. */
const namesMax = 256;

const isWithin = (top: string, folder: string): boolean => folder === top || folder.startsWith(top + sep);

/** Undefined where nothing is. Read in pieces, for there may be very many files beside the folders. */
async function subfolders(folder: string): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 }))
      if (entry.isDirectory() && !entry.name.startsWith('.')) found.push(join(folder, entry.name));
    return found;
  } catch {
    return undefined;
  }
}
