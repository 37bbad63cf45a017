import type { Kind } from '../../actors/contracts.js';
import type { Op, Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';
import { encodeState } from './draft/codec.js';
import { xstate5 } from './draft/driver.js';
import { reasonOf } from '../../machines/text.js';
import { decodeRecord, draftRecord, sealRecord } from './draft/stored-form.js';

/**
 * Brings stored actors to the versions of their kinds ahead of time, without running any. Each page of records is one
 * group of the store: a process that dies in between leaves every actor as it was or migrated, and the next pass goes
 * on. No entry is logged, so the head of the store stays where it is: an upgrade that was not used can be taken back.
 */
export interface KindMigration {
  readonly kind: string;
  /** Of this build; undefined: it has no such kind. */
  readonly version: number | undefined;
  readonly actors: number;
  /** How many were stored by which other version. */
  readonly from: Readonly<Record<string, number>>;
  /** Those that this build cannot read, and why: the first 20. Their records stay as they are. */
  readonly unreadable: readonly { readonly id: string; readonly reason: string }[];
  readonly unreadableCount: number;
  readonly milliseconds: number;
}

export interface MigrateOptions {
  /** A clock for how long each kind takes, in ms. */
  readonly now: () => number;
  /** Called after each page with how many actors were looked at. */
  readonly onProgress?: (actors: number) => void;
  /** Default: 500. */
  readonly pageSize?: number;
}

/**
 * On a store that no gateway has open: `await migrateRecords(store, kinds, { now: Date.now })`
 */
export async function migrateRecords(
  store: Store,
  kinds: readonly Kind[],
  options: MigrateOptions,
): Promise<readonly KindMigration[]> {
  const reports: KindMigration[] = [];
  let seen = 0;
  let writing: Promise<unknown> = Promise.resolve(); // of the page before, beside the work on this one
  for (const name of await storedKinds(store)) {
    const began = options.now();
    const kind = kinds.find((one) => one.kind === name);
    const found = { actors: 0, from: {} as Record<string, number>, unreadable: [] as Unreadable[] };
    for await (const page of pagesOf(store, name, options.pageSize ?? 500)) {
      const ops = page.flatMap(([key, text]) => migrated(kind, key, text, found));
      const { seq, chain } = store.head;
      await writing;
      if (ops.length > 0) {
        writing = store.write({ first: seq + 1, last: seq, chain, ops });
        writing.catch(() => undefined); // it is awaited at the next page, or at the end
      }
      seen += page.length;
      options.onProgress?.(seen);
    }
    const { actors, from, unreadable } = found;
    reports.push({
      kind: name,
      version: kind?.version,
      actors,
      from,
      unreadable: unreadable.slice(0, shownMax),
      unreadableCount: unreadable.length,
      milliseconds: options.now() - began,
    });
  }
  await writing;
  return reports;
}

/**
 * Writes into `to` what was migrated in `from`, a copy of it: by pages, as `migrateRecords` does, and a store of which
 * a part was written already takes the rest. What `to` holds no more does not come back. `onProgress` is called after
 * each page with how many actors were compared.
 */
export async function copyRecords(
  from: Store,
  to: Store,
  onProgress: (actors: number) => void = () => {},
  pageSize = 500,
): Promise<void> {
  let seen = 0;
  let writing: Promise<unknown> = Promise.resolve();
  for (const name of await storedKinds(from))
    for await (const page of pagesOf(from, name, pageSize)) {
      const own = await to.getMany(page.map(([key]) => key));
      const ops = page.filter(([, text], place) => own[place] !== undefined && own[place] !== text);
      await writing;
      const { seq, chain } = to.head;
      if (ops.length > 0) {
        writing = to.write({ first: seq + 1, last: seq, chain, ops });
        writing.catch(() => undefined); // it is awaited at the next page, or at the end
      }
      seen += page.length;
      onProgress(seen);
    }
  await writing;
}

interface Unreadable {
  readonly id: string;
  readonly reason: string;
}
interface Found {
  actors: number;
  readonly from: Record<string, number>;
  readonly unreadable: Unreadable[];
}

const shownMax = 20;

/** What to write for a record of another version; nothing where it stays. */
function migrated(kind: Kind | undefined, key: string, text: string, found: Found): readonly Op[] {
  found.actors += 1;
  const id = partsOf(key)[2] ?? '';
  const { version, seq, base } = JSON.parse(text) as { version: number; seq: number; base: number };
  if (version !== kind?.version) found.from[version] = (found.from[version] ?? 0) + 1;
  if (kind === undefined) {
    found.unreadable.push({ id, reason: 'this build has no such kind' });
    return [];
  }
  try {
    const state = decodeRecord(kind, text);
    if (version === kind.version) return [];
    // Differences against a migrated snapshot would mean nothing: the next entry of the log holds it whole
    const next = { ...state, sinceSnapshot: wholeNext };
    const draft = draftRecord(
      kind,
      id,
      next,
      encodeState((kind.driver ?? xstate5).persist(kind.machine, state.snapshot)),
    );
    const record = sealRecord(draft, seq, base);
    decodeRecord(kind, record);
    return [[key, record]];
  } catch (error) {
    found.unreadable.push({ id, reason: reasonOf(error) });
    return [];
  }
}

/** More than an actor may take before its next whole entry, in a number that JSON has. */
const wholeNext = 1_000;

async function storedKinds(store: Store): Promise<readonly string[]> {
  const all = prefix('a/');
  const kinds: string[] = [];
  for (let gte = all.gte; ;) {
    const [[key] = ['']] = await store.page({ gte, lt: all.lt, keysOnly: true, limit: 1 });
    if (key === '') return kinds;
    const kind = partsOf(key)[1] ?? '';
    kinds.push(kind);
    gte = prefix(keys.actor(kind, '')).lt;
  }
}

async function* pagesOf(store: Store, kind: string, limit: number) {
  const { gte, lt } = prefix(keys.actor(kind, ''));
  for (let after: string | undefined; ;) {
    const page = await store.page({ ...(after === undefined ? { gte } : { gt: after }), lt, limit });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    [after] = last;
  }
}
