import type { Op, Store } from '../store/contract.js';
import { keys, partsOf, prefix } from '../store/keys.js';

/**
 * Durable counters (the number in `TRP-12`): counted in memory, written in the batch of whoever counts. Gaps
 * are legal.
 */
export class Sequences {
  private readonly counts = new Map<string, number>();

  constructor(private readonly store: Store) {}

  async load(): Promise<void> {
    for (let range = prefix(start); ;) {
      const page = await this.store.page({ ...range, limit: pageRows });
      for (const [key, value] of page)
        this.counts.set((partsOf(key)[1] as string).slice('counter/'.length), Number(value));
      const last = page.at(-1);
      if (last === undefined || page.length < pageRows) return;
      range = { ...range, gte: `${last[0]}\x00` };
    }
  }

  of(name: string): { next(): number; readonly op: () => Op } {
    return {
      next: () => {
        const count = (this.counts.get(name) ?? 0) + 1;
        this.counts.set(name, count);
        return count;
      },
      op: () => [keys.meta(`counter/${name}`), String(this.counts.get(name))],
    };
  }
}

const pageRows = 1_000;
const start = keys.meta('counter/');
