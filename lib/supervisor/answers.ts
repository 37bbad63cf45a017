import type { ActorKey, Meta, Kind } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import type { Refusal } from '../../machines/refusals.js';
import type { AnyKind, StateValueOf, ViewOf } from '../../actors/inference.js';
import type { Waiting } from '../../machines/waiting.js';
import type { Json } from '../../machines/outputs.js';
import type { StoreState } from '../store/contract.js';
import type { AnyStateMachine } from 'xstate';
import type { Supervision } from '../../machines/supervisor/supervise.js';

/** What the supervisor answers: plain values, made from committed state only. */

/** An actor as callers see it: the kind's `view` plus what the kernel knows. */
export interface ActorView<View = Json, Name extends string = string, Value = Json> {
  readonly kind: Name;
  readonly id: string;
  readonly revision: number;
  /** Position of the commit in the log. */
  readonly position: number;
  /** XState's state value, e.g. `"running"`. */
  readonly value: Value;
  readonly status: 'active' | 'done' | 'error';
  readonly meta: Meta;
  /** What the kind's `view` answers. */
  readonly view: View;
  /** `until` was not reached in time; the outcome arrives as a frame. */
  readonly pending?: true;
  /** The answer of an earlier request with the same idempotency key. */
  readonly replayed?: true;
  /** The rehearsed steps, when `dryRun` was asked; nothing was written. */
  readonly steps?: readonly PlannedStep[];
}

/** An actor of this kind as callers see it. */
export type ActorViewOf<K extends AnyKind> = ActorView<ViewOf<K>, K['kind'], StateValueOf<K>>;

export interface PlannedStep {
  readonly kind: string;
  readonly id: string;
  readonly from: Json;
  readonly to: Json;
  readonly effects: readonly string[];
}

/** What a transaction came to. `replayed`: its key was answered before, and nothing was done now. */
export interface Committed<Result> {
  readonly result: Result;
  readonly position: number;
  readonly replayed: boolean;
  readonly steps: readonly PlannedStep[];
}

export interface ListItem<Row = Json> {
  readonly id: string;
  readonly key: string;
  readonly row: Row;
}

/** A page of a list, in the order of its keys. */
export interface ListPage<Row = Json> {
  readonly items: readonly ListItem<Row>[];
  /** Pass as `after`. */ readonly next: string | null;
}

/** What waits for a person or an agent, longest first. */
export interface WaitingPage {
  readonly items: readonly { readonly actor: ActorKey; readonly waiting: Waiting }[];
  /** Pass as `after`. */ readonly next: string | null;
}

/** One step of one actor, as committed. */
export interface LogEntry extends ActorKey {
  readonly position: number;
  /** Shared by the entries of one commit: the seq of its first entry. */
  readonly transaction: number;
  /** Last entry of its commit. */
  readonly last: boolean;
  readonly at: number;
  readonly revision: number;
  readonly machine: string;
  readonly version: number;
  /** The event, with contents (see Kind.contents) as `{sha256, chars}`. */
  readonly event: Json;
  /** XState values before (null at creation) and after. */
  readonly from: Json;
  readonly to: Json;
  /** `src` of effects started, `-src` of effects left. */
  readonly effects: readonly string[];
  readonly frames: readonly { readonly event: string; readonly payload: Json }[];
  /** Log position or name of what caused it. */
  readonly cause: number | string | null;
  readonly by: string;
  /** Of an agent that is `by`: what policies see of it. */
  readonly agent?: { readonly employee: string | null; readonly ancestors: readonly string[] };
  /** With whose rights, where not with those of `by`: who caused it, first. */
  readonly onBehalfOf?: readonly string[];
  /** Of an actor's first entry: under whom it was created. */
  readonly parent?: ActorKey;
  /** Whole snapshot (`whole`) or what changed (`value`, `set`, `unset` of context members). */
  readonly snapshot: Json;
  /** Log position of this actor's entry before this one, and of its last whole snapshot. */
  readonly previous: number;
  readonly snapshotAt: number;
  readonly chain: string;
  /** Its contents were erased: the event is `kernel.blank`, states and frames are gone. */
  readonly erased?: true;
}

/** What happens and is not kept, e.g. a piece of an answer as it is written. `at`: epoch milliseconds. */
export interface ProgressFrame {
  readonly actor: ActorKey;
  readonly event: string;
  readonly payload: Json;
  readonly at: number;
}

/** An actor as it was after a position of the log. Read, never decided again. */
export interface PastState {
  readonly position: number;
  readonly at: number;
  readonly value: Json;
  readonly context: Json;
  readonly view: Json | null;
  /** Where regions with history stood when they were left. */
  readonly historyValue?: Json;
}

/**
 * What may happen next to an actor, and what stands in the way of the rest.
 * @example (await supervisor.why({ kind: 'counter', id: 'c1' }, operator))?.next.map(({ event }) => event)
 */
export interface Why<View = ActorView> {
  readonly actor: View;
  readonly next: readonly {
    readonly event: string;
    readonly allowed: boolean;
    readonly refusal?: { readonly code: string; readonly message: string };
    readonly to?: readonly string[];
    /** Members that the caller fills in. */ readonly needs?: readonly string[];
  }[];
  /** Deadlines that will move the actor, epoch ms; `name` is the delay's. */
  readonly timers: readonly { readonly event: string; readonly name: string; readonly due: number }[];
  /** Whom or what it waits for, where its kind tells (`Kind.awaits`). */
  readonly awaits?: Json;
  /** Effects in flight. */
  readonly effects: readonly string[];
}

/**
 * An event at which its actor failed: kept until it is retried or its time is over. `at`: epoch milliseconds.
 */
export interface DeadLetter {
  readonly id: string;
  readonly actor: ActorKey;
  readonly at: number;
  readonly event: Json;
  /** Id under which the log tells of the fault. */
  readonly faultId: string;
  readonly error: string;
  /** Where it stands in the list: `before` of the next page. */
  readonly place: string;
}

/** How the supervisor is: numbers as of now, for a status page. */
export interface SupervisorStatus {
  readonly state: 'booting' | 'running' | 'degraded' | 'draining' | 'stopped';
  readonly reasons: readonly string[];
  /** Less than 200 MB are free: new work is refused. */
  readonly diskLow: boolean;
  readonly store: StoreState;
  readonly position: number;
  readonly awake: number;
  /** Commits and events since start. */
  readonly commits: number;
  readonly events: number;
  readonly effects: number;
  readonly restarts: number;
  /** Actors with work that is due and that do nothing, now and since start: there should be none, ever. */
  readonly stalled: number;
  readonly stalledTotal: number;
  /** Time that only the wall clock claims; nothing is forgotten for it. See `Supervisor.retention`. */
  readonly retentionHeldMs: number;
  /** Kinds whose lists and totals are brought up to a new version, and how far that has come. */
  readonly reindexing: readonly { readonly kind: string; readonly done: number; readonly total: number }[];
}

/** How far the forgetting of old things has come, and what a wall clock that cannot be proved holds back. */
export interface RetentionStatus {
  /** The retention clock, epoch ms. */
  readonly now: number;
  /** How much time is held; 0 when the clocks agree. */
  readonly heldMs: number;
  /** What would be forgotten if it were allowed: log entries, and other things (at most 10,000 are counted). */
  readonly wouldForget: { readonly entries: number; readonly others: number };
}

export interface Retention {
  status(): Promise<RetentionStatus>;
  /** The time that is held has passed: forget what is due. */
  allow(): Promise<RetentionStatus>;
  /** The time that is held has not passed, the clock was set: hold nothing, forget nothing. */
  dismiss(): Promise<RetentionStatus>;
  /**
   * Blanks every log entry of an actor so far, and its dead letters: events, states and frames are gone, places,
   * times and the chain stay. Its record and rows are its kind's to clear, beforehand. Answers how many entries;
   * `NOT_FOUND` where there is no such actor. Survives a crash: the next start goes on.
   * @example await supervisor.retention.erase({ kind: 'order', id: 'o-1' }, { type: 'operator' }) // 12
   */
  erase(actor: ActorKey, by: Caller): Promise<number | Refusal>;
}

/** A row of a collection. `n`: its place, a counter or a name, as the machine wrote it. */
export interface Row<Written = Json> {
  readonly n: number | string;
  readonly row: Written;
}

/**
 * The kernel laid open, for those who show it: raw records, places, the log by position, who fails and why.
 * Reads what is committed, wakes no actor and changes nothing. What it answers is for people and their tools;
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
  /** Created under this actor. */
  children(actor: ActorKey, limit: number): Promise<readonly ActorKey[]>;
  /** What the effects in flight of an actor noted last (`EffectContext.checkpoint`). */
  checkpoints(actor: ActorKey): Promise<readonly Json[]>;
  /** Events that wait in its inbox, at most a thousand are counted. */
  inbox(actor: ActorKey): Promise<number>;
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
  readonly version: number;
  readonly revision: number;
  readonly position: number;
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

/** What inspectors know of a kind. */
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
  readonly position: number;
  readonly value: string;
  readonly actor: ActorKey;
}

/** The name under which halted actors stand, beside their state; no state can be called so. */
export const haltedPlace = '~halted';
