import type { Ownership } from '../ownership.js';

/**
 * Lets in the kernel's own work a little at a time: due timers, messages, what an earlier life left behind. All
 * of it lies in the store, so there may be a million of it at once; let in at once it would hold the event loop
 * for a minute and wake a million actors. The sources take turns, so that none waits for the end of another.
 */
export class Intake {
  /** `owner`: nothing begins while it cannot speak for the home. */
  constructor(private readonly owner?: Pick<Ownership, 'held' | 'whenHeld'>) {}

  private sources: readonly Source[] = [];
  private turn = 0;
  private inFlight = 0;
  private scheduled = false;
  private stopped = false;
  private awaitsOwner = false;

  /** May a source begin something by itself? */
  get room(): boolean {
    return this.inFlight < inFlightMax && !this.stopped && this.owner?.held !== false;
  }
  get idle(): boolean {
    return this.inFlight === 0 && !this.scheduled;
  }

  /** Returns the way to take it away again: one that has nothing left is asked no more. */
  add(source: Source): () => void {
    this.sources = [...this.sources, source];
    return () => {
      this.sources = this.sources.filter((other) => other !== source);
      this.check(); // the others have still to be asked in this round
    };
  }

  /** Something begins that costs a load, a decision and a commit. Call what is returned when it is through. */
  begin(): () => void {
    this.inFlight += 1;
    let through = false;
    return () => {
      if (through) return;
      through = true;
      this.inFlight -= 1;
      this.check();
    };
  }

  /** A source has something to begin. */
  check(): void {
    if (this.scheduled || this.stopped) return;
    if (this.owner?.held === false) return this.checkLater(this.owner);
    if (!this.room) return;
    this.scheduled = true;
    setImmediate(this.go);
  }

  stop(): void {
    this.stopped = true;
  }

  private checkLater(owner: Pick<Ownership, 'whenHeld'>): void {
    if (this.awaitsOwner) return;
    this.awaitsOwner = true;
    void owner.whenHeld().then((held) => {
      this.awaitsOwner = false;
      if (held) this.check();
    });
  }

  private readonly go = (): void => {
    this.scheduled = false;
    let empty = 0;
    for (let begun = 0; begun < sliceMax && this.room && empty < this.sources.length;) {
      const source = this.sources[(this.turn += 1) % this.sources.length] as Source;
      if (source()) {
        begun += 1;
        empty = 0;
      } else empty += 1;
    }
    if (empty < this.sources.length) this.check();
  };
}

/** Begin one piece of work. False: there is none. */
export type Source = () => boolean;

/** As many as fill a group of the committer; more would only make its groups, and the pauses, longer. */
const inFlightMax = 32;
/** In one turn of the event loop. */
const sliceMax = 64;
