import { keys } from '../store/keys.js';
import { isIdle, type ActorCell } from './cell.js';

/** The cells by key, in the order of their last use; how many there may be, and who has to go. */
export class CellMap {
  private readonly cells = new Map<string, ActorCell>();
  /** The eviction's walk goes on where it stopped; what it passes goes to the young end of the map. */
  private walk: Iterator<ActorCell, undefined> | undefined;

  constructor(
    private readonly awakeActorsMax: number,
    private readonly owes: (key: string) => boolean,
  ) {}

  get size(): number {
    return this.cells.size;
  }

  find(kind: string, id: string): ActorCell | undefined {
    return this.cells.get(keys.actor(kind, id));
  }

  /** The cell of an actor, which now is the one used last. */
  of(kind: string, id: string): ActorCell {
    const key = keys.actor(kind, id);
    const known = this.cells.get(key);
    if (known !== undefined) {
      // who has been used last matters only where somebody will have to go
      if (this.cells.size > this.awakeActorsMax / 2) this.rejuvenate(known);
      return known;
    }
    const cell: ActorCell = {
      key,
      kind,
      id,
      live: undefined,
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
      owed: this.owes(key),
      listeners: undefined,
    };
    if (this.cells.size >= this.awakeActorsMax) this.evict();
    this.cells.set(key, cell);
    return cell;
  }

  /** A crowd that had to be awake all at once does not stay awake. */
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
