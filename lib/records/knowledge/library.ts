import { join, posix, relative, sep } from 'node:path';
import type { Environment } from '../../environment.js';
import { openJailed } from '../jailed-file.js';
import { watchTree, type TreeWatch } from '../watch-tree.js';
import { breath, unhurried, WordIndex, type Hit } from './word-index.js';
import { contentsOf, documentBytesMax, foldersBelow, markdown, stampOf } from './tree.js';
import { newestOf, type Dated, type Document } from './newest.js';
import { countWords } from './words.js';

/**
 * The index of the Markdown below some folders of the home, kept as the files are: built once in the
 * background, then file by file as they change. It never holds the event loop for more than a few
 * milliseconds at a time, and what it keeps in memory has a bound.
 */
export interface Library {
  /** False while the first reading is going on: then only what has been read is found. */
  readonly complete: boolean;
  /** Documents that can be found. */
  readonly size: number;
  /**
   * One question after another, so that many at once hold no one else up; undefined where too many wait
   * already.
   */
  find(fragments: readonly string[], limit: number): Promise<readonly Hit[] | undefined>;
  /**
   * What there is, last changed first, then by path; behind `after`. Undefined as in `find`.
   */
  newest(limit: number, after?: Dated): Promise<readonly Document[] | undefined>;
  /** Look at this file now: it was just written. */
  changed(path: string): Promise<void>;
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
  readonly environment: Environment;
  /**
   * What is beyond these is left out, and the log says so: documents, different words, and pairs of both.
   * Together some 500 MB at the most.
   */
  readonly documentsMax?: number;
  /** Below each of the roots; more are not entered. */
  readonly foldersMax?: number;
  readonly wordsMax?: number;
  readonly entriesMax?: number;
}

/** `const library = openLibrary({home, folders: ['knowledge', 'docs'], environment})` */
export function openLibrary(options: LibraryOptions): Library {
  const {
    home,
    folders,
    environment,
    documentsMax = 500_000,
    foldersMax = 100_000,
    wordsMax = 1_000_000,
    entriesMax = 40_000_000,
  } = options;
  let index = new WordIndex();
  /** Folder → name → stamp of what was read. */
  const known = new Map<string, Map<string, string>>();
  const leftOut = { documents: 0, words: 0 };
  let complete = false;
  let closed = false;

  async function countsOf(path: string): Promise<ReadonlyMap<string, number> | undefined> {
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

  /** Read a document that is new or changed. Documents are read side by side and put one after the other. */
  let putting: Promise<void> = Promise.resolve();
  async function take(folder: string, name: string, stamp: string): Promise<void> {
    const path = `${folder}/${name}`;
    if (index.size >= documentsMax && !known.get(folder)?.has(name)) {
      // nothing of it is kept, not even that it is there
      leftOut.documents += 1;
      return;
    }
    const counts = await countsOf(path).catch(() => undefined);
    await (putting = putting.then(async () => {
      if (closed) return;
      let stamps = known.get(folder);
      if (stamps === undefined) known.set(folder, (stamps = new Map<string, string>()));
      // What could not be read (no descriptor was free, say) is read at the next look, though it has not changed
      stamps.set(name, counts === undefined ? '' : stamp);
      index.remove(path);
      if (counts === undefined) return;
      if (index.size >= documentsMax || index.entries + counts.size > entriesMax) leftOut.documents += 1;
      else leftOut.words += await unhurried(index.putting(path, counts, wordsMax));
    }));
  }

  async function takeAll(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
    const stamps = known.get(folder);
    let waiting: Promise<void>[] = [];
    for (const [name, stamp] of files) {
      if (closed) return;
      if (stamps?.get(name) === stamp) continue;
      waiting.push(take(folder, name, stamp));
      if (waiting.length < together) continue;
      await Promise.all(waiting);
      waiting = [];
    }
    await Promise.all(waiting);
    await tidy();
  }

  function forget(folder: string, name: string): void {
    const stamps = known.get(folder);
    if (!stamps?.delete(name)) return;
    index.remove(`${folder}/${name}`);
    if (stamps.size === 0) known.delete(folder);
  }

  /** A single folder against what is there. */
  async function compare(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
    for (const name of [...(known.get(folder)?.keys() ?? [])]) if (!files.has(name)) forget(folder, name);
    await takeAll(folder, files);
  }

  /** Some names of a folder against what is there. */
  async function compareNames(folder: string, names: ReadonlySet<string>): Promise<void> {
    const files = new Map<string, string>();
    for (const name of names) {
      if (!markdown.test(name) || name.startsWith('.')) continue;
      const stamp = await stampOf(home, `${folder}/${name}`);
      if (stamp === undefined) forget(folder, name);
      else files.set(name, stamp);
    }
    await takeAll(folder, files);
  }

  async function compareTree(root: string): Promise<void> {
    const there = new Set<string>();
    for await (const { folder, files } of foldersBelow(home, root, { foldersMax, filesMax: documentsMax })) {
      if (closed) return;
      there.add(folder);
      await compare(folder, files);
    }
    for (const folder of [...known.keys()])
      if (!there.has(folder) && (folder === root || folder.startsWith(`${root}/`)))
        await compare(folder, new Map());
  }

  /**
   * Struck documents cost memory and time, so they go when there are many of them. No file is read again for
   * that.
   */
  async function tidy(): Promise<void> {
    if (index.struck < 1_000 || index.struck < index.size / 4) return;
    const fresh = await unhurried(index.compacted());
    index = fresh;
  }

  async function everything(): Promise<void> {
    leftOut.documents = leftOut.words = 0;
    for (const folder of folders) await compareTree(folder);
    if (leftOut.documents + leftOut.words > 0)
      environment.log.warn(
        { ...leftOut, documentsMax, wordsMax, entriesMax },
        'knowledge exceeded the index limit; part of it is not searchable',
      );
  }

  let busy: Promise<void> = Promise.resolve();
  /** One comparison at a time. */
  function alone(operation: () => Promise<void>): Promise<void> {
    busy = busy
      .then(async () => {
        if (!closed) await operation();
      })
      .catch((error: unknown) => environment.log.error({ err: error }, 'knowledge could not be read'));
    return busy;
  }

  let asked: Promise<unknown> = Promise.resolve();
  let pending = 0;

  async function inTurn<Result>(steps: () => Generator<void, Result>): Promise<Result | undefined> {
    if (pending >= pendingMax) return undefined;
    pending += 1;
    const mine = asked.then(() => unhurried(steps()));
    asked = mine.catch(() => undefined);
    return mine.finally(() => {
      pending -= 1;
    });
  }

  const watched: readonly TreeWatch[] = folders.map((root) =>
    watchTree(join(home, root), {
      depth: 16,
      debounceMs: 250,
      rescanMs: 300_000,
      foldersMax: 4_000,
      onChange: (changed) =>
        alone(async () => {
          if (changed === undefined) return compareTree(root);
          for (const [place, names] of changed) {
            const folder = relative(home, place).split(sep).join('/');
            if (names === undefined)
              await compare(folder, (await contentsOf(home, folder, documentsMax)).files);
            else await compareNames(folder, names);
          }
        }),
    }),
  );

  const first = alone(async () => {
    // What is read before it is watched may change unnoticed
    await Promise.all(watched.map(({ established }) => established));
    await everything();
  }).then(() => {
    complete = true;
  });

  return {
    get complete() {
      return complete;
    },
    get size() {
      return index.size;
    },
    find: (fragments, limit) => inTurn(() => index.finding(fragments, limit)),
    newest: (limit, after) => inTurn(() => newestOf(known, limit, after)),
    changed: (path) => alone(() => compareNames(posix.dirname(path), new Set([posix.basename(path)]))),
    async ready(waitMs) {
      if (complete) return;
      let cancel = (): void => undefined;
      await Promise.race([
        first,
        new Promise<void>((resolve) => {
          cancel = environment.clock.timeout(waitMs, resolve);
        }),
      ]);
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
/** Questions that wait, the one that is being answered included. */
const pendingMax = 64;
