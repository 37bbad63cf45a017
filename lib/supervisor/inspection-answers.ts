import type { AnyStateMachine } from 'xstate';
import type { ActorKey, Kind } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { Supervision } from '../../machines/supervisor/supervise.js';
import type { LogEntry } from './answers.js';

/**
 * The kernel laid open, for those who show it: raw records, places, the log by position, who fails and why.
 * Reads what is committed, wakes no actor and changes nothing. What it answers is for people and their tools;
 * it is not redacted.
 */
export interface Inspection {
  /** Entries at or below this position are gone. */
  readonly floor: number;
  /** Position of the last entry. */
  readonly head: number;
  /**
   * Grows when contents of entries were erased, since the process began: who keeps entries that it has read drops them
   * then.
   */
  readonly erasures: number;
  /** All kinds of this supervisor, with what a page shows of them. */
  kinds(): readonly KindFacts[];
  /**
   * How many actors of a kind stand in each state (`states`), how many are `halted`, and how many there are at all
   * (`total`). Costs nothing.
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
  /** These actors as stored, in the order asked for; undefined where absent. */
  stored(actors: readonly ActorKey[]): Promise<readonly (StoredActor | undefined)[]>;
  /** What the kind's `panels` answer of this actor, unchecked; undefined where it has none. Throws what they throw. */
  panels(actor: ActorKey): Promise<unknown>;
  /** Created under this actor, by kind and id. `after`: `<kind>/<id>` of the last one seen. */
  children(actor: ActorKey, query: Omit<PageQuery, 'offset'>): Promise<readonly ActorKey[]>;
  /** What the effects in flight of an actor noted last (`EffectContext.checkpoint`). */
  checkpoints(actor: ActorKey): Promise<readonly Json[]>;
  /** Events that wait in its inbox, at most a thousand are counted. */
  inbox(actor: ActorKey): Promise<number>;
  /** The log entry at a position; undefined where it is gone or not yet there. */
  entry(seq: number): Promise<LogEntry | undefined>;
  /** The log after a position, at most 1,000 entries. */
  entries(after: number, limit: number): Promise<readonly LogEntry[]>;
  /**
   * Entries as they are committed, still as text: for feeds that pass most of them over. Costs nothing while
   * no one listens.
   */
  tap(listener: (entries: readonly SealedEntry[]) => void): () => void;
  /** Actors of a kind whose failures still count, since the process began, worst first. */
  failing(kind: string): readonly Failing[];
  /** Parts of the supervisor by `name`; `failing`: why a part is degraded, else null. */
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

/** An actor as it is stored. */
export interface StoredActor extends ActorKey {
  /** Version of the kind that wrote its record. */
  readonly version: number;
  /** Events committed so far. */
  readonly revision: number;
  /** Log position of the last of them. */
  readonly position: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of its last commit. */
  readonly updatedAt: number;
  /** Under whom it was created; null for one of its own. */
  readonly parent: ActorKey | null;
  /** XState value. */
  readonly value: Json;
  /** XState's own status. */
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  /** The machine's context, not redacted. */
  readonly context: Readonly<Record<string, Json>>;
  /** Delays that run, by XState's id: `due` in epoch milliseconds, and the `event` that comes then. */
  readonly timers: Readonly<
    Record<string, { readonly due: number; readonly event: { readonly type: string } }>
  >;
  /** Effects in flight, by id of the invoke: `key` names the run, `src` the effect. */
  readonly calls: Readonly<Record<string, { readonly key: string; readonly src: string }>>;
  /** Epoch milliseconds of the failures that count towards the restart intensity. */
  readonly failures: readonly number[];
  /** Since when (`at`, epoch milliseconds) and why (`reason`) it takes no events; null where it does. */
  readonly halted: { readonly at: number; readonly reason: string } | null;
  /** By innermost state: since when. */
  readonly places: Readonly<Record<string, number>>;
  /** Null for a record that this build cannot bring to life. */
  readonly view: Json;
}

/** What inspectors know of a kind. */
export interface KindFacts {
  /** Name of the kind. */
  readonly kind: string;
  /** The version that its snapshots are written with now. */
  readonly version: number;
  /** Its machine, for a statechart. */
  readonly machine: AnyStateMachine;
  /** How its failures are met, defaults filled in. */
  readonly supervision: Supervision;
  /** The kind itself, as given to `createSupervisor`. */
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
  readonly position: number;
  readonly value: string;
  readonly actor: ActorKey;
  /** What inspectors show of it, in pieces that together lack only the last brace; not of one that was read again. */
  readonly shown?: readonly string[];
}

/** The name under which halted actors stand, beside their state; no state can be called so. */
export const haltedPlace = '~halted';
