import type { Op, Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';

/**
 * How many actors of a kind are counted under each name (`Kind.totals`). In memory stands one number per name in
 * use, never one per actor.
 *
 * On the disk a number is a row. The rows are not written with every group but after every few hundred entries of the
 * log; between, the last entry of a group carries what the group changed, and a row says up to which position
 * the others are counted. So each change is in one batch with what it counts, and a lone event does not write four rows
 * more for it. Numbers are taken when a group is sealed, so that each group builds on the one before it; readers
 * see them once the group is durable.
 */
export class Totals {
  /** As of the last sealed group, and as of the last durable one. */
  private readonly sealed = new Map<string, number>();
  private readonly durable = new Map<string, Map<string, number>>();
  /** Numbers that their rows do not tell: by key, the position of the last group that changed it. */
  private readonly unwritten = new Map<string, number>();
  /** The last position whose group wrote rows. Below all of them: the next group must. */
  private writtenAt = -Infinity;

  constructor(private readonly store: Store) {}

  /** After `countTail`. O(names in use). */
  async load(): Promise<void> {
    this.writtenAt = Number((await this.store.get(countedKey)) ?? -Infinity);
    for (let range = prefix(totalsStart) as { gte: string; lt: string }; ;) {
      const page = await this.store.page({ ...range, limit: pageSize });
      for (const [key, value] of page) {
        this.sealed.set(key, Number(value));
        this.publish(key, Number(value));
      }
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      range = { ...range, gte: `${last[0]}\x00` };
    }
  }

  /** The committed numbers of a kind, by name; none is zero. */
  of(kind: string): ReadonlyMap<string, number> {
    return this.durable.get(kind) ?? empty;
  }

  /**
   * Must a group that ends at this position write the rows? One of which a part has no entry may take entries from the
   * log, or have none to carry what it changes.
   */
  isDue(position: number, changes: Change, allHaveEntries: boolean): boolean {
    if (position - this.writtenAt >= uncountedMax) return true;
    return !allHaveEntries && (changes.size > 0 || this.areBehind);
  }

  /** Is there something that rows do not tell? */
  get areBehind(): boolean {
    return this.unwritten.size > 0;
  }

  /** Take what a group changes. */
  seal(changes: Change, position: number): void {
    for (const [key, change] of changes) {
      this.sealed.set(key, (this.sealed.get(key) ?? 0) + change);
      this.unwritten.set(key, position);
    }
  }

  /** All rows that do not tell the numbers of now, to be written with the group that ends at this position. */
  rows(position: number): Op[] {
    this.writtenAt = position;
    const ops: Op[] = [[countedKey, String(position)]];
    for (const key of this.unwritten.keys()) {
      const count = this.sealed.get(key) ?? 0;
      ops.push([key, count === 0 ? null : String(count)]);
    }
    return ops;
  }

  /** The group is durable, or nothing of it was written. */
  settle({ changes, position, counted }: SealedTotals, isWritten: boolean): void {
    for (const [key, change] of changes) {
      const sealed = this.sealed.get(key) ?? 0;
      if (!isWritten) this.sealed.set(key, sealed - change);
      else {
        const [, kind = '', name = ''] = partsOf(key);
        this.publish(key, (this.durable.get(kind)?.get(name) ?? 0) + change);
      }
      if (this.sealed.get(key) === 0) this.sealed.delete(key);
    }
    if (!isWritten) this.writtenAt = -Infinity; // whatever is there of it
    else if (counted) for (const [key, at] of this.unwritten) if (at <= position) this.unwritten.delete(key);
  }

  private publish(key: string, count: number): void {
    const [, kind = '', name = ''] = partsOf(key);
    const names = this.durable.get(kind) ?? new Map<string, number>();
    this.durable.set(kind, names);
    if (count === 0) names.delete(name);
    else names.set(name, count);
  }
}

/** By key of the row: how many more. */
export type Change = ReadonlyMap<string, number>;

/** What a sealed group does to totals. */
export interface SealedTotals {
  readonly changes: Change;
  /** Where the group ends. */
  readonly position: number;
  /** Its rows are among it; otherwise its last entry carries the changes. */
  readonly counted: boolean;
}

/** The member of an entry that carries them, by kind: `"totals":{"job":{"failed":1}}`. Nothing where nothing has changed. */
export function totalsMember(changes: Change): string {
  if (changes.size === 0) return '';
  const kinds = new Map<string, string[]>();
  for (const [key, change] of changes) {
    const [kind, name] = split(key);
    const members = kinds.get(kind) ?? [];
    members.push(`${JSON.stringify(name)}:${change}`);
    kinds.set(kind, members);
  }
  const members = [...kinds].map(([kind, names]) => `${JSON.stringify(kind)}:{${names.join(',')}}`);
  return `,"totals":{${members.join(',')}}`;
}

/** The parts of a row's key as they stand in it: names of hosts may be long, and mostly one kind has several. */
function split(key: string): [kind: string, name: string] {
  const end = key.indexOf('/', totalsStart.length);
  return [key.slice(totalsStart.length, end), key.slice(end + 1)];
}

/**
 * Before anybody reads or resets totals: what the last entries of the log carry is counted in, and their rows are
 * right until the next group. O(entries since): a few hundred at most.
 */
export async function countTail(store: Store): Promise<void> {
  const counted = await store.get(countedKey);
  if (counted === undefined) return; // a home from before entries carried any
  const { seq, chain } = store.head;
  const totals = new Map<string, number>();
  for (let after = Number(counted); after < seq;) {
    const page = await store.page({ gt: keys.log(after), lte: keys.log(seq), limit: pageSize });
    for (const [, text] of page) {
      const { totals: carried = {} } = JSON.parse(text) as { readonly totals?: Carried };
      for (const [kind, names] of Object.entries(carried))
        for (const [name, change] of Object.entries(names)) {
          const key = `${totalsStart}${kind}/${name}`;
          totals.set(key, (totals.get(key) ?? 0) + change);
        }
    }
    if (page.length < pageSize) break;
    after = Number((page.at(-1) as readonly [string, string])[0].slice(2));
  }
  if (totals.size === 0) return;
  const names = [...totals.keys()];
  const texts = await store.getMany(names);
  const ops = names.map((key, n): Op => {
    const count = Number(texts[n] ?? 0) + (totals.get(key) as number);
    return [key, count === 0 ? null : String(count)];
  });
  await store.write({ first: seq + 1, last: seq, chain, ops: [...ops, [countedKey, String(seq)]] });
}

type Carried = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Up to which position the rows tell the changes that entries carry. */
export const countedKey = keys.meta('kernel/totals-counted');
/** Entries that are not counted in rows; as many are read at a start. */
const uncountedMax = 256;
const totalsStart = keys.count('', '').slice(0, 2);
const pageSize = 500;
const empty: ReadonlyMap<string, number> = new Map();
