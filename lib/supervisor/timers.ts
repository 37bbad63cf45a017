import type { Store } from '../store/contract.js';
import { keys, partsOf, prefix, timersFrom } from '../store/keys.js';
import type { Clock } from '../environment.js';
import { Intake } from './cells/intake.js';
import type { Commits } from './commit.js';
import type { Dispatch } from './delivery/dispatch.js';
import type { Due } from './delivery/deliver.js';
import type { Kernel } from './kernel.js';

const horizonMs = 20_000;
const pageRows = 1_000;
/** Timers that memory holds before the rest is left on disk for later. */
const heapMax = 20_000;
/** Fired in one go. */
const sliceMax = 64;

/**
 * One wheel for all durable timers. The due-time index on disk holds every timer; memory holds only those of
 * the next seconds, in a heap. Overdue timers of an earlier life fire once, right after boot.
 */
export class TimerWheel {
  private readonly heap: Due[] = [];
  private readonly known = new Set<string>();
  /** Rows up to this key are in the heap or were; `loadedUntil` is its due time. */
  private boundary = '';
  private loadedUntil = 0;
  private wake: (() => void) | undefined;
  private wakeAt = Infinity;
  private stopped = false;
  private reading = false;

  constructor(
    private readonly clock: Clock,
    private readonly store: Store,
    /** Must tolerate a timer that was cancelled or set again in the meantime. */
    private readonly fire: (due: Due) => void,
    private readonly failed: (error: unknown) => void,
    private readonly pace: Intake = new Intake(),
  ) {
    pace.add(() => this.next());
  }

  /** Read what is due and soon due, then keep turning. */
  async start(): Promise<void> {
    await this.load();
    this.turn();
  }

  /** A timer was committed. */
  armed(due: Due): void {
    // It lies on disk until its time comes near
    if (due.due > this.loadedUntil || nameOf(due) > this.boundary) return;
    this.push(due);
    if (due.due < this.wakeAt) this.turn();
  }

  stop(): void {
    this.stopped = true;
    this.wake?.();
    this.wake = undefined;
  }

  /** How many timers memory holds. */
  get size(): number {
    return this.heap.length;
  }

  private turn(): void {
    if (this.stopped) return;
    this.wake?.();
    this.wake = undefined;
    const now = this.clock.monotonic();
    this.wakeAt = Infinity;
    for (let fired = 0; this.isDue(now); fired += 1) {
      if (fired >= sliceMax || !this.pace.room) return this.giveWay();
      this.fireFirst();
    }
    if (this.reading) return;
    const enough = this.heap.length >= heapMax / 2;
    if (!enough && now >= this.loadedUntil - horizonMs / 2) return this.read();
    const due = this.heap[0]?.due ?? Infinity;
    this.wakeAt = enough ? due : Math.min(due, this.loadedUntil - horizonMs / 2);
    this.wake = this.clock.timeout(this.wakeAt - now, () => this.turn());
  }

  /** The rest of what is due is fired by `next`; what is armed meanwhile waits behind it. */
  private giveWay(): void {
    this.wakeAt = -Infinity;
    this.pace.check();
  }

  /** A source of the intake: fire one timer that is due. */
  private next(): boolean {
    if (this.stopped || !this.isDue(this.clock.monotonic())) return false;
    this.fireFirst();
    if (!this.isDue(this.clock.monotonic())) this.turn();
    else if (this.heap.length < heapMax / 2 && this.loadedUntil < this.clock.monotonic()) this.read();
    return true;
  }

  private isDue(now: number): boolean {
    return (this.heap[0]?.due ?? Infinity) <= now;
  }

  private fireFirst(): void {
    const due = this.heap[0] as Due;
    this.pop();
    this.fire(due);
  }

  private read(): void {
    if (this.reading) return;
    this.reading = true;
    this.load().then(
      () => {
        this.reading = false;
        this.turn();
      },
      (error: unknown) => {
        this.reading = false;
        this.later(error);
      },
    );
  }

  private async load(): Promise<void> {
    const until = this.clock.monotonic() + horizonMs;
    const end = timersFrom(until);
    let after = this.boundary === '' ? prefix('t/').gte : this.boundary;
    this.readTo(end); // from here on `armed` takes what is committed meanwhile
    for (;;) {
      const rows = await this.store.page({ gt: after, lt: end, limit: pageRows });
      for (const [key] of rows) {
        const [due, kind, id, timer] = partsOf(key).slice(1) as [string, string, string, string];
        this.push({ due: Number(due), kind, id, timer });
      }
      const last = rows.at(-1);
      if (rows.length < pageRows || last === undefined) return;
      after = last[0];
      if (this.heap.length >= heapMax) return this.readTo(after); // the rest when these are through
    }
  }

  private readTo(boundary: string): void {
    this.boundary = boundary;
    this.loadedUntil = boundary === '' ? 0 : Number(partsOf(boundary)[1]);
  }

  private later(error: unknown): void {
    this.failed(error);
    this.readTo(''); // read it all again: nothing may be skipped after a failed read
    if (!this.stopped) this.wake = this.clock.timeout(1_000, () => this.turn());
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

/** The wheel of a supervisor: hears of timers that are committed, and hands over those that are due. */
export function openTimers(kernel: Kernel, commits: Commits, dispatch: Dispatch): TimerWheel {
  const timers = new TimerWheel(
    kernel.environment.clock,
    kernel.store,
    (due) => dispatch.fire(due),
    (error) => kernel.fault('timers could not be read', error),
    kernel.intake,
  );
  commits.released.timers.add(({ actor, armed }) => {
    for (const { id, timer } of armed)
      timers.armed({ due: timer.due, kind: actor.kind, id: actor.id, timer: id });
  });
  return timers;
}

const nameOf = (due: Due): string => keys.timer(due.due, due.kind, due.id, due.timer);
