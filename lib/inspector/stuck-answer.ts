import type { ActorKey } from '../../machines/outputs.js';
import type { ActorSummary, DeadLetters } from './answers.js';

/**
 * `GET /api/inspect/stuck?quietSeconds=&longSeconds=`: what has stopped or perhaps does not go on, each longest first,
 * and the newest dead letters. Of each state the 50 longest are read, and of the dead letters the newest hundred.
 */
export interface Stuck {
  /** Halted, failed, blocked or interrupted. */
  readonly stopped: readonly ActorSummary[];
  readonly slow: readonly SlowActor[];
  /** Engines that cannot run and for which something of the above waits. */
  readonly engines: readonly MissingEngine[];
  readonly deadLetters: DeadLetters['deadLetters'];
  /** Of all dead letters. */
  readonly deadLettersCount: number;
  /** States that hold more actors than were read, with the number of all. */
  readonly more: readonly {
    readonly kind: string;
    readonly state: string;
    readonly read: number;
    readonly count: number;
  }[];
  /** There are more of one of them. */
  readonly isCut: boolean;
}

export interface SlowActor extends ActorSummary {
  /** A run that waits for an earlier one; a turn without output; a session or a run at work for long. */
  readonly why: 'queued' | 'quiet' | 'long';
  /** Since when it is that. */
  readonly slowSince: number;
  /** Of a run that is queued: its workflow, and which runs of it have to end first. */
  readonly behind?: {
    readonly workflow: string;
    readonly runs: readonly { readonly id: string; readonly title: string | null }[];
  } | null;
}

export interface MissingEngine {
  readonly name: string;
  /** Why it cannot run, and what would repair it. */
  readonly reason: string | null;
  /** How many sessions that are stuck need it, and the one that does so longest, since when. */
  readonly sessions: number;
  /** Not all sessions were read: perhaps more need it. */
  readonly isAtLeast: boolean;
  readonly first: ActorKey & { readonly title: string | null };
  readonly since: number;
}
