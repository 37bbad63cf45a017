import type { Store } from '../store/contract.js';
import { keys, partsOf, prefix, timersFrom } from '../store/keys.js';
import type { SystemWorld } from '../world.js';

/**
 * One wheel for all durable timers. The due-time index on disk holds every timer; memory holds only those of the
 * next seconds, in a heap. Overdue timers of an earlier life fire once, right after boot.
 */
export interface Due {
  readonly due: number;
  readonly kind: string;
  readonly id: string;
  readonly timer: string;
}

const horizonMs = 20_000;
const pageRows = 1_000;

export class Wheel {
  private readonly heap: Due[] = [];
  private readonly known = new Set<string>();
  /** Timers due before this are in the heap. */
  private loadedUntil = 0;
  private wake: (() => void) | undefined;
  private wakeAt = Infinity;
  private stopped = false;
  private loading: Promise<void> = Promise.resolve();

  constructor(
    private readonly world: SystemWorld,
    private readonly store: Store,
    /** Must tolerate a timer that was cancelled or set anew in the meantime. */
    private readonly fire: (due: Due) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Read what is due and soon due, then keep turning. */
  async start(): Promise<void> {
    await this.load();
    this.turn();
  }

  /** A timer was committed. */
  armed(due: Due): void {
    if (due.due >= this.loadedUntil) return; // it lies on disk until its time comes near
    this.push(due);
    if (due.due < this.wakeAt) this.turn();
  }

  stop(): void {
    this.stopped = true;
    this.wake?.();
    this.wake = undefined;
  }

  /** How many timers memory holds. */
  get size(): number { return this.heap.length; }

  private turn(): void {
    if (this.stopped) return;
    this.wake?.();
    this.wake = undefined;
    const now = this.world.steady();
    for (let next = this.heap[0]; next !== undefined && next.due <= now; next = this.heap[0]) {
      this.pop();
      this.fire(next);
    }
    if (now >= this.loadedUntil - horizonMs / 2) {
      this.loading = this.loading.then(() => this.load()).then(() => this.turn(), (error: unknown) => this.later(error));
      return;
    }
    this.wakeAt = Math.min(this.heap[0]?.due ?? Infinity, this.loadedUntil - horizonMs / 2);
    this.wake = this.world.timeout(this.wakeAt - now, () => this.turn());
  }

  private async load(): Promise<void> {
    const until = this.world.steady() + horizonMs;
    let after = this.loadedUntil === 0 ? prefix('t/').gte : timersFrom(this.loadedUntil);
    this.loadedUntil = until; // from here on `armed` takes what is committed meanwhile
    for (;;) {
      const rows = await this.store.page({ gt: after, lt: timersFrom(until), limit: pageRows });
      for (const [key] of rows) {
        const [due, kind, id, timer] = partsOf(key).slice(1) as [string, string, string, string];
        this.push({ due: Number(due), kind, id, timer });
      }
      const last = rows.at(-1);
      if (rows.length < pageRows || last === undefined) return;
      after = last[0];
    }
  }

  private later(error: unknown): void {
    this.failed(error);
    this.loadedUntil = 0; // read it all again: nothing may be skipped after a failed read
    if (!this.stopped) this.wake = this.world.timeout(1_000, () => this.turn());
  }

  private push(due: Due): void {
    const name = nameOf(due);
    if (this.known.has(name)) return;
    this.known.add(name);
    const { heap } = this;
    let index = heap.push(due) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if ((heap[above] as Due).due <= due.due) break;
      heap[index] = heap[above] as Due;
      index = above;
    }
    heap[index] = due;
  }

  private pop(): void {
    const { heap } = this;
    this.known.delete(nameOf(heap[0] as Due));
    const last = heap.pop() as Due;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const least = right < heap.length && (heap[right] as Due).due < (heap[left] as Due).due ? right : left;
      if ((heap[least] as Due).due >= last.due) break;
      heap[index] = heap[least] as Due;
      index = least;
    }
    heap[index] = last;
  }
}

const nameOf = (due: Due): string => keys.timer(due.due, due.kind, due.id, due.timer);
