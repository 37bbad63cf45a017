/**
 * A queue that costs the same at any length: `Array.shift` moves all that is left, which is quadratic for the
 * hundred thousand messages that one actor may get.
 *
 * @example
 * const queue = new Fifo<number>(); queue.push(1); queue.shift() // 1
 */
export class Fifo<Item> {
  private items: Item[];
  private head = 0;

  constructor(items: Item[] = []) {
    this.items = items;
  }

  get length(): number {
    return this.items.length - this.head;
  }

  push(item: Item): void {
    this.items.push(item);
  }

  shift(): Item | undefined {
    if (this.head >= this.items.length) return undefined;
    const item = this.items[this.head] as Item;
    this.items[this.head] = undefined as never; // what was taken may be forgotten
    this.head += 1;
    if (this.head > compactAt && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  /** Take all that wait. */
  drain(): Item[] {
    const rest = this.items.slice(this.head);
    this.items = [];
    this.head = 0;
    return rest;
  }
}

const compactAt = 1_000;
