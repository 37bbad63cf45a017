import type { ActorKey } from '../../actors/contracts.js';
import type { ActorCell, Claim } from './cell.js';
import type { ActorCells } from './cells.js';

/**
 * The turns of several actors at once. A plan first waits in every mailbox until what was there before it is
 * done, and holds nothing meanwhile. Then it stands in line, at all its actors in the same moment: the line is
 * the one global order. First in line everywhere, it keeps new jobs from beginning; it takes the turns when all
 * of them are free, which takes one commit, and takes all or none. An actor that begins to rest after a failure
 * sends the plan back, so that the others go on. So plans cannot wait for each other in a circle, nobody is held
 * up by an actor that rests or is far behind, and every plan comes to its turn.
 *
 * @example
 * const cells = await takeTurns(kernel.cells, [{ kind: 'counter', id: 'a' }, { kind: 'counter', id: 'b' }]);
 */
export function takeTurns(cells: ActorCells, actors: readonly ActorKey[]): Promise<ActorCell[]> {
  if (actors.length === 0) return Promise.resolve([]);
  return new Promise((resolve, reject) => new JointTurns(cells, actors, resolve, reject).enter());
}

class JointTurns implements Claim {
  /** Actors at which what was there before is not done yet. */
  private behind: number;
  private claimed: ActorCell[] = [];
  private over = false;

  constructor(
    private readonly cells: ActorCells,
    private readonly actors: readonly ActorKey[],
    private readonly resolve: (cells: ActorCell[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.behind = actors.length;
  }

  enter(): void {
    for (const { kind, id } of this.actors) this.cells.enter(kind, id, this.place);
  }

  private readonly place = {
    run: (cell: ActorCell): void => {
      this.cells.release(cell);
      this.behind -= 1;
      if (this.behind === 0 && !this.over) this.standInLine();
    },
    fail: (error: unknown): void => this.fail(error),
  };

  private standInLine(): void {
    this.claimed = this.actors.map(({ kind, id }) => this.cells.claim(kind, id, this));
    this.attempt();
  }

  attempt(): boolean {
    const { cells, claimed } = this;
    if (this.over || claimed.some(({ claims }) => claims?.[0] !== this)) return false;
    const resting = claimed.filter((cell) => cells.rests(cell));
    if (resting.length > 0) {
      this.goBack(resting);
      return false;
    }
    if (!cells.takeAll(claimed)) return true;
    this.over = true;
    cells.unclaim(claimed, this);
    this.resolve(claimed);
    return true;
  }

  /** To the head of the queues of those that rest; the others go on. */
  private goBack(resting: readonly ActorCell[]): void {
    const left = this.claimed;
    this.claimed = [];
    this.behind = resting.length;
    this.cells.unclaim(left, this);
    for (const cell of resting) this.cells.insert(cell, [this.place]);
    for (const cell of left) this.cells.nudge(cell);
  }

  fail(error: unknown): void {
    if (this.over) return;
    this.over = true;
    const left = this.claimed;
    this.cells.unclaim(left, this);
    this.reject(error);
    for (const cell of left) this.cells.nudge(cell);
  }
}
