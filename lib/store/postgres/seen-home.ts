import type { Position } from './known-position.js';

/** Who owns a home, as another node sees it. */
export interface SeenOwner {
  readonly node: string;
  readonly epoch: number;
  /** Where it is reached; empty where it did not say. */
  readonly address: string;
  /** What only it and those who read this database know: by it they recognise each other. */
  readonly key: string;
}

/**
 * A home as it stands for who waits for it. Apart from the queries, whose declarations need those of the driver, for
 * those who embed Troupe have no driver.
 */
export interface HomeState {
  /** In words. */
  readonly name: string;
  /** Undefined where its lease has ended, or it gave the home back. */
  readonly owner: SeenOwner | undefined;
  /** Of the last commit. */
  readonly position: Position;
  readonly isFree: boolean;
  /** Its owner was asked to hand it over. */
  readonly isDraining: boolean;
}
