import { StoreError, type Group, type Head, type Range, type Store } from './contract.js';
import { pageLimit } from './keys.js';

/**
 * The store port in memory, for tests and for embedding where nothing need survive. Keys are kept in sorted
 * blocks of a few hundred, so that finding, adding and paging stay cheap at hundreds of thousands of keys.
 * Rejects as every store does: `StoreError`.
 * @example const supervisor = await createSupervisor({ kinds: [counter], store: memoryStore() });
 */
export function memoryStore(): Store {
  const values = new Map<string, string>();
  const order = sortedKeys();
  let head: Head = { seq: 0, chain: '' };
  let closed = false;
  let turn: Promise<void> = Promise.resolve();

  const put = (key: string, value: string | null): void => {
    if (value === null) {
      if (values.delete(key)) order.remove(key);
    } else {
      if (!values.has(key)) order.add(key);
      values.set(key, value);
    }
  };
  const alive = (): void => {
    if (closed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
  };
  const apply = (group: Group): void => {
    alive();
    if (group.first !== head.seq + 1)
      throw new StoreError('CONFLICT', `the group begins at ${group.first}, the store is at ${head.seq}`);
    for (const [key, value] of group.ops) put(key, value);
    if (group.last >= group.first) head = { seq: group.last, chain: group.chain };
  };

  return {
    get head() {
      return head;
    },
    state: { state: 'ready' },
    write(group) {
      // Applied on a later microtask, as a real store does: no one may come to rely on an earlier one.
      const done = turn.then(() => apply(group));
      turn = done.catch(() => undefined);
      return done;
    },
    async get(key) {
      alive();
      return values.get(key);
    },
    async getMany(wanted) {
      alive();
      return wanted.map((key) => values.get(key));
    },
    async page(range) {
      alive();
      const { offset = 0 } = range;
      return order
        .select(range, offset + pageLimit(range.limit))
        .slice(offset)
        .map((key) => [key, range.keysOnly === true ? '' : values.get(key)!]);
    },
    async count(range) {
      alive();
      return order.select(range, range.limit ?? Infinity).length;
    },
    onState: () => () => undefined,
    async close() {
      await turn;
      closed = true;
    },
  };
}

const blockMax = 512;

/**
 * A sorted set of strings: blocks of sorted arrays, split when full. Keys are ASCII, so `<` is byte order.
 */
function sortedKeys() {
  const blocks: string[][] = [[]];

  /** The last block that may hold the key. */
  const blockOf = (key: string): number => {
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (blocks[middle]![0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  return {
    add(key: string): void {
      const at = blockOf(key);
      const block = blocks[at]!;
      block.splice(lowerBound(block, key), 0, key);
      if (block.length > blockMax) blocks.splice(at + 1, 0, block.splice(blockMax >> 1));
    },
    remove(key: string): void {
      const at = blockOf(key);
      const block = blocks[at]!;
      block.splice(lowerBound(block, key), 1);
      if (block.length === 0 && blocks.length > 1) blocks.splice(at, 1);
    },
    select(range: Range, limit: number): string[] {
      const found: string[] = [];
      const step = range.reverse ? -1 : 1;
      const from = range.reverse ? (range.lt ?? range.lte) : (range.gt ?? range.gte);
      let at = from === undefined ? (range.reverse ? blocks.length - 1 : 0) : blockOf(from);
      let block = blocks[at]!;
      let index =
        from === undefined
          ? range.reverse
            ? block.length - 1
            : 0
          : lowerBound(block, from) - (range.reverse ? 0 : 1);
      if (index >= block.length && range.reverse) index = block.length - 1;
      for (; at >= 0 && at < blocks.length && found.length < limit; index += step) {
        if (index < 0 || index >= block.length) {
          // A start one before the block's first key is not yet its end.
          if (index < 0 && step === 1) continue;
          at += step;
          if (at < 0 || at >= blocks.length) break;
          block = blocks[at]!;
          index = range.reverse ? block.length : -1;
          continue;
        }
        const key = block[index]!;
        if (range.reverse ? below(key, range) : above(key, range)) break;
        if (!below(key, range) && !above(key, range)) found.push(key);
      }
      return found;
    },
  };
}

/** Index of the first key not below `key`. */
function lowerBound(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (block[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function below(key: string, range: Range): boolean {
  return (range.gt !== undefined && key <= range.gt) || (range.gte !== undefined && key < range.gte);
}

function above(key: string, range: Range): boolean {
  return (range.lt !== undefined && key >= range.lt) || (range.lte !== undefined && key > range.lte);
}
