import type { SandboxLevel } from '../sandbox/levels.js';

/** What a turn changed in a working folder that git keeps, committed or not. */
export interface TurnChanges {
  /** Below the working folder, those that git does not know yet included. */
  readonly files: readonly string[];
  /** `git diff --stat` */
  readonly stat: string;
  /** As `git apply` takes it; of files that git knows. Empty where it would be too long. */
  readonly patch: string;
}

/**
 * Looks at the folder before a turn; answers how to look at what has changed since, or undefined where git keeps
 * nothing. Neither rejects.
 */
export type WatchChanges = (turn: {
  readonly cwd: string;
  /** The sandbox level for programs in that folder, also where the engine itself starts none. */
  readonly level: SandboxLevel;
}) => Promise<(() => Promise<TurnChanges | undefined>) | undefined>;
