/**
 * What became of each key of a stretch of operations: put, with the checksum of its value, or deleted; and whether
 * someone has met it. Thirteen bytes per slot, so that the changes of a gigabyte fit into memory; two keys that share
 * all 64 bits of their hash would be taken for one, which in ten million keys happens once in 400,000 times.
 */
export interface RowSums {
  /** `sum` of the value that was put; null: deleted. */
  set(key: string, sum: number | null, met: boolean): void;
  /** What the last operation on a key was, and mark it as met; undefined where none named it. */
  meet(key: string): { readonly sum: number | null } | undefined;
  has(key: string): boolean;
  /** How many keys were put last and never met. */
  unmet(): number;
}

export function rowSums(): RowSums {
  let capacity = 1 << 12;
  let used = 0;
  let high = new Uint32Array(capacity);
  let low = new Uint32Array(capacity);
  let sums = new Uint32Array(capacity);
  let flags = new Uint8Array(capacity);

  const slotOf = (one: number, other: number): number => {
    let slot = other & (capacity - 1);
    while (flags[slot] !== 0 && (high[slot] !== one || low[slot] !== other))
      slot = (slot + 1) & (capacity - 1);
    return slot;
  };
  const grow = (): void => {
    const old = { high, low, sums, flags };
    capacity *= 2;
    high = new Uint32Array(capacity);
    low = new Uint32Array(capacity);
    sums = new Uint32Array(capacity);
    flags = new Uint8Array(capacity);
    for (let n = 0; n < old.flags.length; n += 1) {
      if (old.flags[n] === 0) continue;
      const slot = slotOf(old.high[n]!, old.low[n]!);
      high[slot] = old.high[n]!;
      low[slot] = old.low[n]!;
      sums[slot] = old.sums[n]!;
      flags[slot] = old.flags[n]!;
    }
  };

  return {
    set(key, sum, met) {
      const [one, other] = hash(key);
      let slot = slotOf(one, other);
      if (flags[slot] === 0) {
        used += 1;
        if (used * 5 > capacity * 3) {
          grow();
          slot = slotOf(one, other);
        }
        high[slot] = one;
        low[slot] = other;
      }
      sums[slot] = sum ?? 0;
      flags[slot] = (sum === null ? deleted : put) | (met ? seen : 0);
    },
    meet(key) {
      const slot = slotOf(...hash(key));
      const flag = flags[slot]!;
      if (flag === 0) return undefined;
      flags[slot] = flag | seen;
      return { sum: (flag & put) === 0 ? null : sums[slot]! };
    },
    has: (key) => flags[slotOf(...hash(key))] !== 0,
    unmet() {
      let count = 0;
      for (const flag of flags) if ((flag & put) !== 0 && (flag & seen) === 0) count += 1;
      return count;
    },
  };
}

const [put, deleted, seen] = [1, 2, 4];

/** Two halves of 32 bits that differ even where one of them collides (cyrb53 by bryc, public domain, unshortened). */
function hash(key: string): readonly [high: number, low: number] {
  let one = 0xdeadbeef;
  let other = 0x41c6ce57;
  for (let n = 0; n < key.length; n += 1) {
    const code = key.charCodeAt(n);
    one = Math.imul(one ^ code, 2654435761);
    other = Math.imul(other ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return [one >>> 0, other >>> 0];
}
