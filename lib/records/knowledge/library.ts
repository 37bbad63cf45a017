import { join, relative, sep } from 'node:path';
import type { SystemWorld } from '../../world.js';
import { openJailed } from '../jailed-file.js';
import { watchTree, type TreeWatch } from '../watch-tree.js';
import { documentBytesMax, markdownBelow } from './tree.js';
import { WordIndex, type Hit } from './word-index.js';
import { countWords } from './words.js';

/**
 * The index of the Markdown below some folders of the home, kept as the files are: built once in the background, then
 * file by file as they change. It never holds the event loop for more than a few milliseconds at a time.
 */
export interface Library {
  /** False while the first reading is going on: then only what has been read is found. */
  readonly complete: boolean;
  find(fragments: readonly string[], limit: number): readonly Hit[];
  /** Resolves when the first reading is done, or after `waitMs`. */
  ready(waitMs: number): Promise<void>;
  /** Look at everything now. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface LibraryOptions {
  readonly home: string;
  /** Below the home, `knowledge` and `docs`. */
  readonly folders: readonly string[];
  readonly world: SystemWorld;
  /** Pairs of word and document that are held; documents beyond are left out, and the log says so. Default 40 million, some 200 MB. */
  readonly entriesMax?: number;
}

/** `const library = openLibrary({home, folders: ['knowledge', 'docs'], world})` */
export function openLibrary(options: LibraryOptions): Library {
  const { home, folders, world, entriesMax = 40_000_000 } = options;
  let index = new WordIndex();
  const stamps = new Map<string, string>();
  let complete = false;
  let closed = false;
  let leftOut = 0;

  async function read(path: string): Promise<ReadonlyMap<string, number> | undefined> {
    const opened = await openJailed(home, path);
    if (typeof opened === 'string') return undefined;
    try {
      if (opened.size > documentBytesMax) return undefined;
      const text = (await opened.handle.readFile('utf8')).normalize('NFC');
      const counts = new Map<string, number>();
      for (let at = 0; at < text.length; at += sliceChars) {
        countWords(text.slice(at, at + sliceChars), counts);
        if (text.length > sliceChars) await breath();
      }
      return counts;
    } finally {
      await opened.handle.close();
    }
  }

  async function take(path: string, stamp: string): Promise<void> {
    if (index.entries >= entriesMax) {
      leftOut += 1;
      return;
    }
    const counts = await read(path).catch(() => undefined);
    if (closed) return;
    if (counts) index.put(path, counts);
    else index.remove(path);
    stamps.set(path, stamp);
  }

  /** Compare what is there with what is known; `deep` false for a single folder. */
  async function compare(folder: string, deep: boolean): Promise<void> {
    const there = new Set<string>();
    let waiting: Promise<void>[] = [];
    for await (const { path, stamp } of markdownBelow(home, folder, deep)) {
      if (closed) return;
      there.add(path);
      if (stamps.get(path) === stamp) continue;
      waiting.push(take(path, stamp));
      if (waiting.length < together) continue;
      await Promise.all(waiting);
      waiting = [];
      await breath();
    }
    await Promise.all(waiting);
    const inside = (path: string): boolean => path.startsWith(`${folder}/`) && (deep || !path.slice(folder.length + 1).includes('/'));
    for (const path of stamps.keys()) {
      if (!inside(path) || there.has(path)) continue;
      stamps.delete(path);
      index.remove(path);
    }
  }

  /** Struck documents cost memory and time; when there are more of them than of the living, everything is read anew. */
  async function renew(): Promise<void> {
    if (index.struck < 10_000 || index.struck < index.size) return;
    index = new WordIndex();
    stamps.clear();
    for (const folder of folders) await compare(folder, true);
  }

  async function everything(): Promise<void> {
    leftOut = 0;
    for (const folder of folders) await compare(folder, true);
    await renew();
    if (leftOut > 0) world.log.warn({ leftOut, entriesMax }, 'knowledge is larger than its index may be; some documents cannot be found');
  }

  let busy: Promise<void> = Promise.resolve();
  /** One comparison at a time. */
  function alone(deed: () => Promise<void>): Promise<void> {
    busy = busy.then(async () => {
      if (!closed) await deed();
    }).catch((error: unknown) => world.log.error({ err: error }, 'knowledge could not be read'));
    return busy;
  }

  const watched: readonly TreeWatch[] = folders.map((folder) => watchTree(join(home, folder), {
    depth: 16, debounceMs: 250, rescanMs: 300_000, foldersMax: 4_000,
    onChange: (changed) => alone(async () => {
      if (changed === undefined) return compare(folder, true);
      for (const one of changed) await compare(relative(home, one).split(sep).join('/'), false);
    }),
  }));

  const first = alone(async () => {
    await Promise.all(watched.map(({ established }) => established)); // what is read before it is watched may change unnoticed
    await everything();
  }).then(() => {
    complete = true;
  });

  return {
    get complete() { return complete; },
    find: (fragments, limit) => index.find(fragments, limit),
    async ready(waitMs) {
      if (complete) return;
      let cancel = (): void => undefined;
      await Promise.race([first, new Promise<void>((resolve) => { cancel = world.timeout(waitMs, resolve); })]);
      cancel();
    },
    refresh: () => alone(everything),
    async close() {
      closed = true;
      for (const one of watched) await one.close();
      await busy;
    },
  };
}

/** A few milliseconds of work. */
const sliceChars = 65_536;
const together = 8;

const breath = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });
