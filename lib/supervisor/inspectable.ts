import type { AnyStateMachine } from 'xstate';
import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { Supervision } from '../../machines/supervisor/supervise.js';
import type { LogEntry } from './answers.js';

/**
 * The kernel laid open, for whoever shows it: raw records, places, the log by position, who fails and why.
 * Reads what is committed, wakes nobody and changes nothing. What it answers is for people and their tools;
 * it is not redacted.
 */
export interface Inspection {
  /** Entries at or below this position are gone. */
  readonly floor: number;
  readonly head: number;
  kinds(): readonly KindFacts[];
  /**
   * How many actors of a kind stand in each state, how many are halted, and how many there are at all. Costs
   * nothing.
   */
  counts(kind: string): {
    readonly total: number;
    readonly halted: number;
    readonly states: Readonly<Record<string, number>>;
  };
  /**
   * Who stands in a state (or under `haltedPlace`), longest first. `after` is the `place` of the last one
   * seen.
   */
  places(kind: string, state: string, query: PageQuery): Promise<readonly Place[]>;
  /** Stored actors of a kind in the order of their ids. */
  page(kind: string, query: PageQuery): Promise<readonly StoredActor[]>;
  stored(actors: readonly ActorKey[]): Promise<readonly (StoredActor | undefined)[]>;
  /** Born under this actor. */
  children(actor: ActorKey, limit: number): Promise<readonly ActorKey[]>;
  /** Events that wait in its inbox, at most a thousand are counted. */
  inbox(actor: ActorKey): Promise<number>;
  entry(seq: number): Promise<LogEntry | undefined>;
  /** The log after a position, at most 1,000 entries. */
  entries(after: number, limit: number): Promise<readonly LogEntry[]>;
  /**
   * Entries as they are committed, still as text: for feeds that pass most of them over. Costs nothing while
   * nobody listens.
   */
  tap(listener: (entries: readonly SealedEntry[]) => void): () => void;
  /** Actors of a kind whose failures still count, since the process began, worst first. */
  failing(kind: string): readonly Failing[];
  subsystems(): readonly { readonly name: string; readonly failing: string | null }[];
  /** At most a thousand are counted. */
  deadLetters(): Promise<number>;
}

/**
 * `after` the last one seen, or past the first `offset`, which costs a read of the keys between there and the
 * nearer end.
 */
export interface PageQuery {
  readonly after?: string;
  readonly offset?: number;
  readonly limit: number;
}

export interface StoredActor extends ActorKey {
  readonly version: number;
  readonly rev: number;
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly parent: ActorKey | null;
  readonly value: Json;
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly context: Readonly<Record<string, Json>>;
  readonly timers: Readonly<
    Record<string, { readonly due: number; readonly event: { readonly type: string } }>
  >;
  readonly calls: Readonly<Record<string, { readonly key: string; readonly src: string }>>;
  readonly failures: readonly number[];
  readonly halted: { readonly at: number; readonly reason: string } | null;
  /** By innermost state: since when. */
  readonly places: Readonly<Record<string, number>>;
  /** Null for a record that this build cannot bring to life. */
  readonly view: Json;
}

export interface KindFacts {
  readonly kind: string;
  readonly version: number;
  readonly machine: AnyStateMachine;
  readonly supervision: Supervision;
  readonly definition: Kind;
  /** Since the process began. */
  readonly restarts: number;
}

export interface Place {
  readonly id: string;
  readonly since: number;
  readonly place: string;
}

/** An actor that failed of late. `until`: it backs off till then. */
export interface Failing {
  readonly id: string;
  readonly failures: number;
  readonly lastAt: number;
  readonly until: number | null;
  readonly error: string;
}

/** A log entry as written. */
export interface SealedEntry {
  readonly seq: number;
  readonly value: string;
  readonly actor: ActorKey;
}

/** The name under which halted actors stand, beside their state; no state can be called so. */
export const haltedPlace = '~halted';
