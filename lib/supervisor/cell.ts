import type { ActorKey } from '../../actors/contracts.js';
import type { Fifo } from './fifo.js';
import type { ActorState } from './actor-state.js';
import type { Watchdog, Watched } from './watchdog.js';

/** One actor in memory, and what waits for its turn. */
export interface Job {
  /** Has the turn; must call `Cells.release(cell)` once, now or later. */
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
  live: ActorState | undefined;
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
  listeners: Set<(live: ActorState | undefined) => void> | undefined;
}

/** What the cells need of the kernel around them. */
export interface CellPorts {
  readonly watchdog: Watchdog<ActorCell>;
  readonly awakeActorsMax: number;
  readonly mailboxMax: number;
  load(kind: string, id: string): Promise<ActorState | undefined>;
  /** Is there anything in the store that an earlier life left for this actor? */
  owes(key: string): boolean;
  /** Read it; what is returned queues it. */
  backlog(actor: ActorKey): Promise<() => void>;
  steady(): number;
  timeout(ms: number, callback: () => void): void;
}

/** May it be forgotten? Not while it rests after a failure: asleep it would forget that, too. */
export const isIdle = (cell: ActorCell): boolean =>
  !cell.busy &&
  !cell.loading &&
  cell.queue === undefined &&
  cell.claims === undefined &&
  cell.listeners === undefined &&
  cell.resumeAt === 0;
