import type { SandboxLevel } from '../sandbox/levels.js';

/** What a turn changed in a working folder that git keeps, committed or not. */
export interface TurnChanges {
  /** Below the working folder, in the order of git: those that git does not know yet included. */
  readonly files: readonly string[];
  /** `git diff --stat` */
  readonly stat: string;
  /** As `git apply` takes it. Empty where it would be too long. */
  readonly patch: string;
}

/**
 * Looks at the folder before a turn, or takes up the look of an earlier gateway by its mark; undefined where git
 * keeps nothing, or nothing is left of that look. Never rejects.
 * @example const watch = await watchChanges({ cwd, level }); … await watch?.read(); await watch?.close()
 */
export type WatchChanges = (turn: {
  readonly cwd: string;
  /** The sandbox level for programs in that folder, also where the engine itself starts none. */
  readonly level: SandboxLevel;
  /** Of a look that was begun before. */
  readonly mark?: string;
}) => Promise<ChangeWatch | undefined>;

export interface ChangeWatch {
  /** By this a later gateway takes it up, unless it was closed. */
  readonly mark: string;
  /** What has changed since; undefined: nothing, or it cannot be known. Never rejects. */
  read(): Promise<TurnChanges | undefined>;
  /** Forgets what it has looked at. */
  close(): Promise<void>;
}
