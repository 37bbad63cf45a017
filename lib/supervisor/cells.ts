import { StoreError } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Live } from './live.js';

/**
 * The address book of awake actors. A cell is one actor in memory: its last commit and the jobs that wait for its
 * turn. One job at a time holds the turn, so an actor never has more than one uncommitted event. Idle cells are
 * forgotten, oldest first, when there are too many: an actor at rest costs disk only.
 */
export interface Job {
  /** Has the turn; must call `Cells.release(cell)` once, now or later. */
  run(cell: Cell): void;
  /** The actor could not be loaded, or the store cannot write at the moment. */
  fail(error: unknown): void;
  /** The kernel's own work: never turned away, and it waits while the store is down. */
  readonly urgent?: boolean;
}

export interface Cell {
  readonly key: string;
  readonly kind: string;
  readonly id: string;
  /** The last commit; undefined while asleep or absent (see `loaded`). */
  live: Live | undefined;
  loaded: boolean;
  loading: boolean;
  busy: boolean;
  pumping: boolean;
  /** Steady time before which no job runs: a restart's backoff. */
  resumeAt: number;
  queue: Job[] | undefined;
  listeners: Set<(live: Live | undefined) => void> | undefined;
}

/** How long the kernel's own work waits after a failed write. */
const retryMs = 250;

interface House {
  readonly awakeActorsMax: number;
  readonly mailboxMax: number;
  load(kind: string, id: string): Promise<Live | undefined>;
  steady(): number;
  timeout(ms: number, callback: () => void): void;
}

export class Cells {
  private readonly cells = new Map<string, Cell>();
  private closed = false;

  constructor(private readonly house: House) {}

  get awake(): number { return this.cells.size; }

  /** Queue a job for an actor's turn. False: the mailbox is full and the job was not taken. */
  enter(kind: string, id: string, job: Job): boolean {
    const cell = this.cell(kind, id);
    if (job.urgent !== true && cell.queue !== undefined && cell.queue.length >= this.house.mailboxMax) return false;
    (cell.queue ??= []).push(job);
    this.pump(cell);
    return true;
  }

  /**
   * What a failed write kept from happening goes back to the head of the queue, so that nothing overtakes it; requests
   * behind it are told at once. The turn is still held.
   */
  postpone(cell: Cell, job: Job, error: unknown): void {
    const waiting = cell.queue ?? [];
    cell.queue = [job, ...waiting.filter(({ urgent }) => urgent === true)];
    this.pause(cell, retryMs);
    for (const turnedAway of waiting) if (turnedAway.urgent !== true) turnedAway.fail(error);
  }

  /** No job runs from now on; who still waits is told. */
  close(error: unknown): void {
    this.closed = true;
    for (const cell of this.cells.values()) {
      const waiting = cell.queue ?? [];
      cell.queue = undefined;
      for (const job of waiting) job.fail(error);
    }
  }

  /** Put jobs before all that wait. The turn is held. */
  insert(cell: Cell, jobs: readonly Job[]): void {
    if (jobs.length > 0) cell.queue = [...jobs, ...cell.queue ?? []];
  }

  release(cell: Cell): void {
    cell.busy = false;
    this.pump(cell);
  }

  /** After a commit: the new revision is what everybody sees from now on; undefined: there is no such actor any more. */
  adopt(kind: string, id: string, live: Live | undefined, threw: (error: unknown) => void): void {
    const cell = this.cell(kind, id);
    cell.live = live;
    cell.loaded = true;
    if (cell.listeners === undefined) return;
    for (const listener of [...cell.listeners]) {
      try { listener(live); } catch (error) { threw(error); }
    }
  }

  /** Forget what is in memory; the next job reads the last commit anew, not before `delayMs` from now. */
  forget(cell: Cell, delayMs: number): void {
    cell.loaded = false; // who only looks on goes on seeing the last commit
    if (delayMs > 0) this.pause(cell, delayMs);
  }

  private pause(cell: Cell, delayMs: number): void {
    cell.resumeAt = this.house.steady() + delayMs;
    if (!this.closed) this.house.timeout(delayMs, () => this.pump(cell));
  }

  /** The last commit: from memory, else from the store (without waking the actor). */
  async read(kind: string, id: string): Promise<Live | undefined> {
    const cell = this.cells.get(keys.actor(kind, id));
    return cell?.loaded === true ? cell.live : this.house.load(kind, id);
  }

  /** Load an actor into memory. */
  wake(kind: string, id: string): Promise<Live | undefined> {
    return new Promise((resolve, reject) => {
      this.enter(kind, id, { fail: reject, run: (cell) => { const { live } = cell; this.release(cell); resolve(live); }, urgent: true });
    });
  }

  find(kind: string, id: string): Cell | undefined { return this.cells.get(keys.actor(kind, id)); }

  /** Be told of every commit of an actor. Keeps it awake until unsubscribed. */
  listen(kind: string, id: string, listener: (live: Live | undefined) => void): () => void {
    const cell = this.cell(kind, id);
    (cell.listeners ??= new Set()).add(listener);
    return () => {
      cell.listeners?.delete(listener);
      if (cell.listeners?.size === 0) cell.listeners = undefined;
    };
  }

  get busy(): boolean {
    for (const cell of this.cells.values()) if (cell.busy || cell.queue !== undefined) return true;
    return false;
  }

  private cell(kind: string, id: string): Cell {
    const key = keys.actor(kind, id);
    const known = this.cells.get(key);
    if (known !== undefined) {
      if (this.cells.size > this.house.awakeActorsMax / 2) { // who has been used last matters only where somebody will have to go
        this.cells.delete(key); // to the young end of the map: its order is the order of last use
        this.cells.set(key, known);
      }
      return known;
    }
    const cell: Cell = { key, kind, id, live: undefined, loaded: false, loading: false, busy: false, pumping: false, resumeAt: 0, queue: undefined, listeners: undefined };
    if (this.cells.size >= this.house.awakeActorsMax) this.evict();
    this.cells.set(key, cell);
    return cell;
  }

  private pump(cell: Cell): void {
    if (cell.pumping) return; // a job that is refused releases at once: the loop below goes on, nothing recurses
    cell.pumping = true;
    try {
      this.runJobs(cell);
    } finally {
      cell.pumping = false;
    }
  }

  private runJobs(cell: Cell): void {
    while (!cell.busy && cell.queue !== undefined && !this.closed) {
      if (cell.resumeAt > 0) {
        if (cell.resumeAt > this.house.steady()) return;
        cell.resumeAt = 0;
      }
      if (!cell.loaded) return this.load(cell);
      const job = cell.queue.shift() as Job;
      if (cell.queue.length === 0) cell.queue = undefined;
      cell.busy = true;
      try {
        job.run(cell);
      } catch (error) { // a fault of the kernel itself: the turn must not be lost with it
        cell.busy = false;
        job.fail(error);
      }
    }
  }

  private load(cell: Cell): void {
    if (cell.loading) return;
    cell.loading = true;
    this.house.load(cell.kind, cell.id).then(
      (live) => {
        cell.loading = false;
        if (!cell.loaded) { cell.live = live; cell.loaded = true; }
        this.pump(cell);
      },
      (error: unknown) => {
        cell.loading = false;
        const jobs = cell.queue ?? [];
        // A store that recovers will answer later; a record that nobody can read never will.
        const kept = error instanceof StoreError && error.code === 'STORE_UNAVAILABLE' ? jobs.filter(({ urgent }) => urgent === true) : [];
        cell.queue = kept.length === 0 ? undefined : kept;
        if (kept.length > 0) this.pause(cell, retryMs);
        for (const job of jobs) if (!kept.includes(job)) job.fail(error);
      },
    );
  }

  /** Drop the longest idle cells, a sixteenth at a time so that the walk over busy ones is rare. */
  private evict(): void {
    let surplus = this.cells.size - Math.floor(this.house.awakeActorsMax * 15 / 16);
    for (const cell of this.cells.values()) {
      if (surplus <= 0) return;
      if (cell.busy || cell.loading || cell.queue !== undefined || cell.listeners !== undefined) continue;
      this.cells.delete(cell.key);
      surplus -= 1;
    }
  }
}
