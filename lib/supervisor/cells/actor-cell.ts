import type { ActorState } from '../draft/actor-state.js';
import type { Watched } from './watchdog.js';
import { keys } from '../../store/keys.js';

/** One actor in memory, and what waits for its turn. */
export interface Job {
  /** Has the turn; must call `ActorCells.release(cell)` once, now or later. */
  run(cell: ActorCell): void;
  /** The actor could not be loaded, or the store cannot write at the moment. */
  fail(error: unknown): void;
  /** The kernel's own work: never turned away, and it waits while the store is down. */
  readonly urgent?: boolean;
}

/** A plan that stands in line for the turns of several actors. */
export interface Claim {
  /** Take them, if all are free. True: this cell must begin nothing else now. */
  attempt(): boolean;
  fail(error: unknown): void;
}

export interface ActorCell {
  readonly key: string;
  readonly kind: string;
  readonly id: string;
  /** The last commit; undefined while asleep or absent (see `loaded`). */
  state: ActorState | undefined;
  loaded: boolean;
  loading: boolean;
  busy: boolean;
  pumping: boolean;
  /** Steady time before which no job runs: a restart's backoff. */
  resumeAt: number;
  /** When a timeout will look at the cell again. */
  wakeAt: number;
  /** Jobs that have begun, and what the watchdog made of it. */
  turns: number;
  watched: Watched | undefined;
  queue: Fifo<Job> | undefined;
  /** The line of plans, all of whose actors have done what was there before them. */
  claims: Claim[] | undefined;
  /** Rows of an earlier life go before everything else. */
  owed: boolean;
  listeners: Set<(state: ActorState | undefined) => void> | undefined;
}

/** May it be forgotten? Not while it rests after a failure: asleep it would forget that, too. */
export const isIdle = (cell: ActorCell): boolean =>
  !cell.busy &&
  !cell.loading &&
  cell.queue === undefined &&
  cell.claims === undefined &&
  cell.listeners === undefined &&
  cell.resumeAt === 0;

/** The cells by key, in the order of their last use; how many there may be, and who has to go. */
export class CellMap {
  private readonly cells = new Map<string, ActorCell>();
  /** The eviction's walk goes on where it stopped; what it passes goes to the young end of the map. */
  private walk: Iterator<ActorCell, undefined> | undefined;

  constructor(
    private readonly awakeActorsMax: number,
    private readonly owed: ReadonlyMap<string, unknown>,
  ) {}

  get size(): number {
    return this.cells.size;
  }

  clear(): void {
    this.cells.clear();
    this.walk = undefined;
  }

  find(kind: string, id: string): ActorCell | undefined {
    return this.cells.get(keys.actor(kind, id));
  }

  /** The cell of an actor, which now is the one used last. */
  of(kind: string, id: string): ActorCell {
    const key = keys.actor(kind, id);
    const known = this.cells.get(key);
    if (known !== undefined) {
      // who has been used last matters only where some will have to go
      if (this.cells.size > this.awakeActorsMax / 2) this.rejuvenate(known);
      return known;
    }
    const cell: ActorCell = {
      key,
      kind,
      id,
      state: undefined,
      loaded: false,
      loading: false,
      busy: false,
      pumping: false,
      resumeAt: 0,
      wakeAt: -1,
      turns: 0,
      watched: undefined,
      queue: undefined,
      claims: undefined,
      owed: this.owed.has(key),
      listeners: undefined,
    };
    if (this.cells.size >= this.awakeActorsMax) this.evict();
    this.cells.set(key, cell);
    return cell;
  }

  /** A group that had to be awake all at once does not stay awake. */
  released(cell: ActorCell): void {
    // It may have gone already, and its place may be another's, whose turn is held
    if (this.cells.size > this.awakeActorsMax && isIdle(cell) && this.cells.get(cell.key) === cell)
      this.cells.delete(cell.key);
  }

  private rejuvenate(cell: ActorCell): void {
    this.cells.delete(cell.key);
    this.cells.set(cell.key, cell);
  }

  /**
   * Drop the longest idle cells, a sixteenth at a time. Where many are at work the walk passes a few of them
   * and goes on next time: however many there are, a new cell costs the same.
   */
  private evict(): void {
    let surplus = this.cells.size - Math.floor((this.awakeActorsMax * 15) / 16);
    for (let passed = 0; surplus > 0 && passed < passedMax;) {
      this.walk ??= this.cells.values();
      const { value: cell, done } = this.walk.next();
      if (done === true) {
        this.walk = undefined;
        passed += 1;
      } else if (isIdle(cell)) {
        this.cells.delete(cell.key);
        surplus -= 1;
      } else {
        this.rejuvenate(cell);
        passed += 1;
      }
    }
  }
}

/** Cells at work that one walk passes at most. */
const passedMax = 32;

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
