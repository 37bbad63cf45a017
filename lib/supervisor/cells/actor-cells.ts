import type { ActorKey } from '../../../actors/contracts.js';
import type { Environment } from '../../environment.js';
import { StoreError, type Store } from '../../store/contract.js';
import { keys } from '../../store/keys.js';
import type { Limits } from '../contract.js';
import type { Kinds } from '../draft/kinds.js';
import { decodeRecord } from '../draft/stored-form.js';
import type { ActorState } from '../draft/actor-state.js';
import { type ActorCell, type Claim, type Job, CellMap, Fifo } from './actor-cell.js';
import { Watchdog } from './watchdog.js';

export type { ActorCell as Cell, Job } from './actor-cell.js';

/** How long the kernel's own work waits after a failed write. */
const retryMs = 250;

/**
 * The address book of awake actors. A cell is one actor in memory: its last commit and the jobs that wait for
 * its turn. One job at a time holds the turn, so an actor never has more than one uncommitted event. Idle
 * cells are forgotten, oldest first, when there are too many: an actor at rest costs disk only.
 */
export class ActorCells {
  private readonly cells: CellMap;
  private closed: Error | undefined;
  private heldTurns = 0;
  private readonly queued = new Set<ActorCell>();
  /** Those for whom an earlier life left something in the store, and what reads it: it goes before all else. */
  readonly owed = new Map<string, (actor: ActorKey) => Promise<() => void>>();
  readonly watchdog: Watchdog<ActorCell>;

  constructor(
    private readonly environment: Environment,
    private readonly store: Store,
    private readonly kinds: Kinds,
    private readonly limits: Pick<Limits, 'awakeActorsMax' | 'mailboxMax'>,
  ) {
    this.cells = new CellMap(limits.awakeActorsMax, this.owed);
    this.watchdog = new Watchdog(environment, (cell) => this.pump(cell));
  }

  get awake(): number {
    return this.cells.size;
  }

  /** Queue a job for an actor's turn. False: the mailbox is full and the job was not taken. */
  enter(kind: string, id: string, job: Job): boolean {
    if (this.closed !== undefined) {
      job.fail(this.closed);
      return true;
    }
    const cell = this.cells.of(kind, id);
    if (job.urgent !== true && cell.queue !== undefined && cell.queue.length >= this.limits.mailboxMax)
      return false;
    (cell.queue ??= new Fifo()).push(job);
    this.pump(cell);
    if (cell.queue !== undefined) this.waits(cell);
    return true;
  }

  /**
   * What a failed write kept from happening goes back to the head of the queue, so that nothing overtakes it;
   * requests behind it are told at once. The turn is still held.
   */
  postpone(cell: ActorCell, job: Job, error: unknown): void {
    if (this.closed !== undefined) return job.fail(error);
    const waiting = cell.queue?.drain() ?? [];
    cell.queue = new Fifo([job, ...waiting.filter(({ urgent }) => urgent === true)]);
    this.waits(cell);
    this.pause(cell, retryMs);
    for (const turnedAway of waiting) if (turnedAway.urgent !== true) turnedAway.fail(error);
  }

  /** No job runs from now on; who still waits hears of it, and so do those who come later. `forget` what is known. */
  close(error: Error, forget = false): void {
    this.closed = error;
    this.watchdog.stop();
    for (const cell of [...this.queued]) {
      const waiting = cell.queue?.drain() ?? [];
      this.emptied(cell);
      for (const job of waiting) job.fail(error);
      for (const claim of [...(cell.claims ?? [])]) claim.fail(error);
    }
    if (forget) this.cells.clear();
  }

  /** Put jobs before all that wait. The turn is held. */
  insert(cell: ActorCell, jobs: readonly Job[]): void {
    if (this.closed !== undefined) for (const job of jobs) job.fail(this.closed);
    else if (jobs.length > 0) {
      cell.queue = new Fifo([...jobs, ...(cell.queue?.drain() ?? [])]);
      this.waits(cell);
    }
  }

  /** Would a job begin at once, or as soon as the actor is loaded? */
  isResting(kind: string, id: string): boolean {
    const cell = this.cells.find(kind, id);
    return cell === undefined || (!cell.busy && cell.queue === undefined && cell.resumeAt === 0);
  }

  private waits(cell: ActorCell): void {
    this.queued.add(cell);
    this.watchdog.waits(cell);
  }

  private emptied(cell: ActorCell): void {
    cell.queue = undefined;
    if (cell.claims === undefined) this.queued.delete(cell);
  }

  release(cell: ActorCell): void {
    this.giveBack(cell);
    this.pump(cell);
    this.cells.released(cell);
  }

  /** Stand in line for an actor's turn. */
  claim(kind: string, id: string, claim: Claim): ActorCell {
    const cell = this.cells.of(kind, id);
    (cell.claims ??= []).push(claim);
    this.waits(cell);
    return cell;
  }

  unclaim(cells: readonly ActorCell[], claim: Claim): void {
    for (const cell of cells) {
      const left = cell.claims?.filter((other) => other !== claim) ?? [];
      cell.claims = left.length === 0 ? undefined : left;
      if (cell.queue === undefined) this.emptied(cell);
    }
  }

  rests(cell: ActorCell): boolean {
    return cell.resumeAt > this.environment.clock.monotonic();
  }

  /** All of the turns or none; what sleeps is woken meanwhile. */
  takeAll(cells: readonly ActorCell[]): boolean {
    const asleep = cells.filter((cell) => !cell.loaded || cell.owed);
    for (const cell of asleep) if (!cell.busy) this.load(cell);
    if (asleep.length > 0 || cells.some(({ busy }) => busy)) return false;
    for (const cell of cells) this.take(cell);
    return true;
  }

  /** Is there room for one more? */
  hasRoom(kind: string, id: string): boolean {
    return (this.cells.find(kind, id)?.queue?.length ?? 0) < this.limits.mailboxMax;
  }

  private take(cell: ActorCell): void {
    cell.busy = true;
    cell.turns += 1;
    this.heldTurns += 1;
  }

  private giveBack(cell: ActorCell): void {
    if (!cell.busy) return;
    cell.busy = false;
    this.heldTurns -= 1;
  }

  /** After a commit: from now on this revision is seen; undefined: there is no such actor any more. */
  adopt(kind: string, id: string, state: ActorState | undefined, threw: (error: unknown) => void): void {
    const cell = this.cells.of(kind, id);
    cell.state = state;
    cell.loaded = true;
    if (cell.listeners === undefined) return;
    for (const listener of [...cell.listeners]) {
      try {
        listener(state);
      } catch (error) {
        threw(error);
      }
    }
  }

  /** Forget what is in memory; the next job reads the last commit again, not before `delayMs` from now. */
  forget(cell: ActorCell, delayMs: number): void {
    cell.loaded = false; // who only looks on goes on seeing the last commit
    if (delayMs > 0) this.pause(cell, delayMs);
  }

  private pause(cell: ActorCell, delayMs: number): void {
    cell.resumeAt = this.environment.clock.monotonic() + delayMs;
    this.arm(cell);
  }

  /** On a busy process a timeout comes early: a cell that is not due yet by the clock of waits is looked at again. */
  private arm(cell: ActorCell): void {
    const now = this.environment.clock.monotonic();
    const isArmed = cell.wakeAt >= now && cell.wakeAt <= cell.resumeAt;
    if (isArmed || this.closed !== undefined) return;
    const at = cell.resumeAt;
    cell.wakeAt = at;
    this.environment.clock.timeout(at - now, () => {
      if (cell.wakeAt === at) cell.wakeAt = -1;
      if (cell.resumeAt > this.environment.clock.monotonic()) return this.arm(cell);
      cell.resumeAt = 0;
      this.pump(cell);
    });
  }

  /** The last commit: from memory, else from the store (without waking the actor). */
  async read(kind: string, id: string): Promise<ActorState | undefined> {
    const cell = this.cells.find(kind, id);
    return cell?.loaded === true ? cell.state : this.stored(kind, id);
  }

  /** Load an actor into memory. */
  wake(kind: string, id: string): Promise<ActorState | undefined> {
    return new Promise((resolve, reject) => {
      this.enter(kind, id, {
        fail: reject,
        run: (cell) => {
          const { state } = cell;
          this.release(cell);
          resolve(state);
        },
        urgent: true,
      });
    });
  }

  find(kind: string, id: string): ActorCell | undefined {
    return this.cells.find(kind, id);
  }

  /** Be told of every commit of an actor. Keeps it awake until unsubscribed. */
  listen(kind: string, id: string, listener: (state: ActorState | undefined) => void): () => void {
    const cell = this.cells.of(kind, id);
    (cell.listeners ??= new Set()).add(listener);
    return () => {
      cell.listeners?.delete(listener);
      if (cell.listeners?.size === 0) cell.listeners = undefined;
    };
  }

  get isClosed(): boolean {
    return this.closed !== undefined;
  }
  get busy(): boolean {
    return this.heldTurns > 0 || this.queued.size > 0;
  }

  /** Begin what can begin. */
  pump(cell: ActorCell): void {
    // A job that is refused releases at once: the loop below goes on, nothing recurses
    if (cell.pumping) return;
    cell.pumping = true;
    try {
      this.runJobs(cell);
    } finally {
      cell.pumping = false;
    }
  }

  private runJobs(cell: ActorCell): void {
    while (!cell.busy && this.closed === undefined) {
      if (this.isTaken(cell) || cell.queue === undefined) return;
      if (cell.resumeAt > 0) {
        if (cell.resumeAt > this.environment.clock.monotonic()) return this.arm(cell);
        cell.resumeAt = 0;
      }
      if (!cell.loaded || cell.owed) return this.load(cell);
      const job = cell.queue.shift() as Job;
      if (cell.queue.length === 0) this.emptied(cell);
      this.take(cell);
      try {
        job.run(cell);
      } catch (error) {
        // a fault of the kernel itself: the turn must not be lost with it
        this.giveBack(cell);
        job.fail(error);
      }
    }
  }

  /** By the first of the plans in line, or about to be. One that went back makes room for the next. */
  private isTaken(cell: ActorCell): boolean {
    let first = cell.claims?.[0];
    while (first !== undefined) {
      if (first.attempt()) return true;
      const next = cell.claims?.[0];
      if (next === first) return false;
      first = next;
    }
    return false;
  }

  private load(cell: ActorCell): void {
    if (cell.loading) return;
    cell.loading = true;
    const owed = cell.owed ? this.owed.get(cell.key)?.(cell) : undefined;
    const loaded = this.stored(cell.kind, cell.id);
    (owed === undefined ? loaded : Promise.all([loaded, owed])).then(
      (found) => {
        const [state, queueOwed] =
          owed === undefined
            ? [found as ActorState | undefined]
            : (found as [ActorState | undefined, () => void]);
        if (queueOwed !== undefined) this.putFirst(cell, queueOwed);
        cell.loading = false;
        if (!cell.loaded) {
          cell.state = state;
          cell.loaded = true;
        }
        this.pump(cell);
      },
      (error: unknown) => {
        cell.loading = false;
        const jobs = cell.queue?.drain() ?? [];
        // A store that recovers will answer later; an unreadable record never will.
        const kept =
          error instanceof StoreError && error.code === 'STORE_UNAVAILABLE'
            ? jobs.filter(({ urgent }) => urgent === true)
            : [];
        if (kept.length === 0) this.emptied(cell);
        else {
          cell.queue = new Fifo(kept);
          this.pause(cell, retryMs);
        }
        for (const claim of [...(cell.claims ?? [])]) claim.fail(error);
        const failed = kept.length === 0 ? jobs : jobs.filter(({ urgent }) => urgent !== true);
        for (const job of failed) job.fail(error);
      },
    );
  }

  private async stored(kind: string, id: string): Promise<ActorState | undefined> {
    const text = await this.store.get(keys.actor(kind, id));
    return text === undefined ? undefined : decodeRecord(this.kinds.of(kind), text);
  }

  /** While the cell still counts as loading, so that what is queued only queues. */
  private putFirst(cell: ActorCell, queueOwed: () => void): void {
    const waiting = cell.queue?.drain() ?? [];
    cell.owed = false;
    this.owed.delete(cell.key);
    queueOwed();
    for (const job of waiting) {
      if (this.closed !== undefined) job.fail(this.closed);
      else (cell.queue ??= new Fifo()).push(job);
    }
    if (cell.queue?.length === 0) this.emptied(cell);
    else if (cell.queue !== undefined) this.waits(cell);
  }
}
