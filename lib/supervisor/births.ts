import type { Store } from '../store/contract.js';
import type { Cell } from './cells.js';
import type { Stage } from './stage.js';

/**
 * An id belongs to one actor, ever. Whoever creates an actor whose turn it does not hold (a child that a machine
 * spawned, an actor that a plan did not name) must not write over one that lives: the claim is checked against the
 * store before the commit, and against the claims of commits that are on their way.
 */
export class Births {
  private readonly claimed = new Set<string>();

  constructor(private readonly store: Store) {}

  /** `decided()` (at once where the turns are held) when the ids are free, `decided(key)` with one that is not. */
  claim(stage: Stage, held: readonly Cell[], decided: (taken?: string) => void, failed: (error: unknown) => void): void {
    const { births } = stage;
    if (births.length === 0) return decided();
    const taken = births.find((key) => this.claimed.has(key));
    if (taken !== undefined) return decided(taken);
    for (const key of births) this.claimed.add(key);
    const unknown = births.filter((key) => !held.some((cell) => cell.key === key));
    if (unknown.length === 0) return decided();
    this.store.getMany(unknown).then((records) => {
      const at = records.findIndex((record) => record !== undefined);
      if (at >= 0) this.settled(stage);
      decided(unknown[at]);
    }).catch((error: unknown) => {
      this.settled(stage);
      failed(error);
    });
  }

  /** The commit is through, or will never be. */
  settled(stage: Stage): void {
    for (const key of stage.births) this.claimed.delete(key);
  }
}
