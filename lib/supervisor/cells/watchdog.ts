import type { Environment } from '../../environment.js';

/**
 * Counts actors that have work, whose work is due, and that do nothing. There should be none, ever: each is a
 * wake-up that was lost, or a turn that is never given back. It is logged, shown as a metric, and the actor is
 * looked at once more. Looks only while some actor waits, so an instance at rest sets no timer.
 */
export interface Watched {
  /** Jobs that had begun when the watchdog last looked. */
  turns: number;
  /** Looks in a row that found no progress. */
  still: number;
}

interface Patient {
  readonly key: string;
  readonly busy: boolean;
  readonly resumeAt: number;
  readonly turns: number;
  readonly queue: unknown;
  readonly claims: unknown;
  watched: Watched | undefined;
}

const everyMs = 2_000;
/** One look without progress may be a process that slept. */
const checksMin = 2;

export class Watchdog<Cell extends Patient = Patient> {
  /** Actors that wait for their turn, as far as is known; the look weeds out the others. */
  private readonly waiting = new Set<Cell>();
  private cancel: (() => void) | undefined;
  private stopped = false;
  /** Actors that the last look found stalled. */
  stalled = 0;
  /** Since start. */
  stalledTotal = 0;

  constructor(
    private readonly environment: Environment,
    /** Look at a cell again. */
    private readonly nudge: (cell: Cell) => void,
  ) {}

  /** A cell has jobs that could not begin at once. */
  waits(cell: Cell): void {
    if (cell.watched !== undefined || this.stopped) return;
    cell.watched = { turns: cell.turns, still: 0 };
    this.waiting.add(cell);
    this.cancel ??= this.environment.clock.timeout(everyMs, () => this.check());
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
    this.cancel = undefined;
  }

  private check(): void {
    this.cancel = undefined;
    const now = this.environment.clock.monotonic();
    const stalled = [...this.waiting].filter((cell) => this.isStalled(cell, now));
    this.stalled = stalled.length;
    for (const cell of stalled) if (cell.watched?.still === checksMin) this.stalledTotal += 1;
    const [first] = stalled;
    if (first !== undefined)
      this.environment.log.warn(
        { actors: stalled.length, first: first.key, turnHeld: first.busy },
        'actors with due work made no progress',
      );
    if (this.waiting.size > 0) this.cancel = this.environment.clock.timeout(everyMs, () => this.check());
    for (const cell of stalled) this.nudge(cell);
  }

  private isStalled(cell: Cell, now: number): boolean {
    const { watched } = cell;
    if (watched === undefined || (cell.queue === undefined && cell.claims === undefined)) {
      this.waiting.delete(cell);
      cell.watched = undefined;
      return false;
    }
    watched.still = cell.turns === watched.turns && cell.resumeAt <= now ? watched.still + 1 : 0;
    watched.turns = cell.turns;
    return watched.still >= checksMin;
  }
}
