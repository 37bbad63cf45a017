import type { Op, Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';

/**
 * How many actors of a kind are counted under each name (`Kind.counts`), kept in rows that are written in the
 * batch of whatever changes them. In memory stands one number per name in use, never one per actor.
 *
 * Numbers are taken when a group is sealed, so that each group builds on the one before it; readers see them
 * once the group is durable.
 */
export class Totals {
  /** As of the last sealed group, and as of the last durable one. */
  private readonly sealed = new Map<string, number>();
  private readonly durable = new Map<string, Map<string, number>>();

  constructor(private readonly store: Store) {}

  /** O(names in use). */
  async load(): Promise<void> {
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

  /** Take what a group changes. The rows to write with it. */
  seal(changes: Change): Op[] {
    const ops: Op[] = [];
    for (const [key, change] of changes) {
      if (change === 0) continue;
      const count = (this.sealed.get(key) ?? 0) + change;
      this.sealed.set(key, count);
      ops.push([key, count === 0 ? null : String(count)]);
    }
    return ops;
  }

  /** The group is durable, or nothing of it was written. */
  settle(changes: Change, written: boolean): void {
    for (const [key, change] of changes) {
      if (change === 0) continue;
      const sealed = this.sealed.get(key) ?? 0;
      if (!written) this.sealed.set(key, sealed - change);
      else {
        const [, kind = '', name = ''] = partsOf(key);
        this.publish(key, (this.durable.get(kind)?.get(name) ?? 0) + change);
      }
      if (this.sealed.get(key) === 0) this.sealed.delete(key);
    }
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

const totalsStart = keys.count('', '').slice(0, 2);
const pageSize = 1_000;
const empty: ReadonlyMap<string, number> = new Map();
