import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtInKinds } from '../../lib/cli/built-in-kinds.js';
import { contentHash } from '../../lib/home/atomic-file.js';
import type { Op, Store } from '../../lib/store/contract.js';
import { keys, partsOf, prefix } from '../../lib/store/keys.js';
import { openLevelStore } from '../../lib/store/level.js';
import { unpack } from '../golden/archive.js';
import { expectationsOf, homesFolder } from '../golden/keep.js';

/** Homes of an older build with many actors, what is in them, and whether that is what a migration was to leave. */

/** The golden home of 0.1, whose actors of older versions are there as often as is wanted, each under its own name. */
export async function makeOldHome(home: string, actors: number): Promise<void> {
  const name = '0.1.0-57409ce-killed';
  await unpack(await readFile(join(homesFolder, `${name}.home.br`)), home, (await expectationsOf(name)).at);
  const versions = versionsHere();
  await withStore(home, async (store) => {
    const records = await store.page({ ...prefix('a/'), limit: 1_000 });
    const originals = records.filter(([key, text]) => {
      const [, kind = '', id = ''] = partsOf(key);
      const { version } = JSON.parse(text) as { version: number };
      return /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) && version < (versions.get(kind) ?? 0);
    });
    if (originals.length === 0) throw new Error('the golden home holds no actor of an older version');
    for (let made = records.length; made < actors; made += pageSize) {
      const ops = Array.from({ length: Math.min(pageSize, actors - made) }, (_, n): Op => {
        const [key, text] = originals[(made + n) % originals.length] ?? ['', ''];
        const id = partsOf(key)[2] ?? '';
        const own = `${(made + n).toString(16).padStart(8, '0')}${id.slice(8)}`;
        return [key.replaceAll(id, own), text.replaceAll(id, own)];
      });
      const { seq, chain } = store.head;
      await store.write({ first: seq + 1, last: seq, chain, ops });
    }
  });
}

/** A row as it is compared: its hash, and of an actor what a migration must not change. */
export interface Row {
  readonly hash: string;
  readonly actor?: { readonly version: number; readonly kept: string };
}
export type Rows = ReadonlyMap<string, Row>;

/** Every row of a home but the one that a migration writes for itself. */
export async function rowsOf(home: string): Promise<Rows> {
  return withStore(home, async (store) => {
    const rows = new Map<string, Row>();
    for (let after = ''; ;) {
      const page = await store.page({ gt: after, lt: '\uffff', limit: pageSize });
      for (const [key, text] of page) if (key !== writtenBy) rows.set(key, rowOf(key, text));
      if (page.length === 0) return rows;
      after = page.at(-1)?.[0] ?? after;
    }
  });
}

export const actorsIn = (rows: Rows): number => [...rows.values()].filter(({ actor }) => actor).length;

/**
 * What is wrong with a home that was migrated without a kill: a later one is judged by it, so it is judged by the
 * kinds themselves, and not by what the migration said.
 */
export function wrongInMigrated(before: Rows, after: Rows): readonly string[] {
  const versions = versionsHere();
  const wrong = before.size === after.size ? [] : [`${after.size} rows in place of ${before.size}`];
  for (const [key, { hash, actor }] of before) {
    const now = after.get(key);
    if (actor === undefined) {
      if (now?.hash !== hash) wrong.push(`${key} is no actor, and was changed`);
    } else if (now?.actor?.kept !== actor.kept) wrong.push(`${key} is another actor, or at another revision`);
    else if (now.actor.version !== versions.get(partsOf(key)[1] ?? ''))
      wrong.push(`${key} was not migrated: it is of version ${now.actor.version}`);
  }
  return wrong;
}

/** Which of `old` and `new` there is; what is neither, missing or more is said. */
export function judge(
  found: Rows,
  before: Rows,
  after: Rows,
  wrong: (text: string) => void,
): ReadonlySet<'old' | 'new'> {
  const states = new Set<'old' | 'new'>();
  if (found.size !== before.size) wrong(`${found.size} rows in place of ${before.size}`);
  for (const [key, { hash: then }] of before) {
    const own = found.get(key)?.hash;
    const now = after.get(key)?.hash;
    if (own !== then && own !== now) wrong(`${key} is neither old nor new`);
    else if (then !== now) states.add(own === then ? 'old' : 'new');
  }
  return states;
}

export const differ = (one: Rows, other: Rows): boolean =>
  one.size !== other.size || [...one].some(([key, { hash }]) => other.get(key)?.hash !== hash);

function rowOf(key: string, text: string): Row {
  const hash = contentHash(text);
  if (!key.startsWith('a/')) return { hash };
  const { kind, id, version, rev, seq, base, createdAt, updatedAt } = JSON.parse(text) as Record<
    string,
    unknown
  >;
  return {
    hash,
    actor: {
      version: Number(version),
      kept: JSON.stringify([kind, id, rev, seq, base, createdAt, updatedAt]),
    },
  };
}

async function withStore<Result>(home: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0 });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const versionsHere = (): ReadonlyMap<string, number> =>
  new Map(builtInKinds().map(({ kind, version }) => [kind, version]));
const writtenBy = keys.meta('home/written-by');
const pageSize = 500;
