import type { Store } from '../store/contract.js';
import type { Cell } from './cells/actor-cells.js';
import type { Draft } from './draft/draft.js';

/**
 * An id belongs to one actor, ever. Whoever creates an actor whose turn it does not hold (a child that a
 * machine spawned, an actor that a plan did not name) must not write over one that lives: the claim is
 * checked against the store before the commit, and against the claims of commits that are on their way.
 */
export class IdReservations {
  private readonly claimed = new Set<string>();

  constructor(private readonly store: Store) {}

  /**
   * `decided()` (at once where the turns are held) when the ids are free, `decided(key)` with one that is
   * not.
   */
  claim(
    draft: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const { reservations } = draft;
    if (reservations.length === 0) return decided();
    const taken = reservations.find((key) => this.claimed.has(key));
    if (taken !== undefined) return decided(taken);
    for (const key of reservations) this.claimed.add(key);
    this.lookUp(
      draft,
      held,
      (stored) => {
        if (stored !== undefined) this.settled(draft);
        decided(stored);
      },
      (error) => {
        this.settled(draft);
        failed(error);
      },
    );
  }

  /** Says the same of a rehearsal, which claims nothing: nobody else is refused because of it. */
  look(
    draft: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const taken = draft.reservations.find((key) => this.claimed.has(key));
    if (taken !== undefined) return decided(taken);
    this.lookUp(draft, held, decided, failed);
  }

  private lookUp(
    { reservations }: Draft,
    held: readonly Cell[],
    decided: (taken?: string) => void,
    failed: (error: unknown) => void,
  ): void {
    const unknown = reservations.filter((key) => !held.some((cell) => cell.key === key));
    if (unknown.length === 0) return decided();
    this.store
      .getMany(unknown)
      .then((records) => decided(unknown[records.findIndex((record) => record !== undefined)]))
      .catch(failed);
  }

  /** The commit is through, or will never be. */
  settled(draft: Draft): void {
    for (const key of draft.reservations) this.claimed.delete(key);
  }
}
