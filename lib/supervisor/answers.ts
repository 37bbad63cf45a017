import type { ActorKey, Meta } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import type { Refusal } from '../../machines/refusals.js';
import type { AnyKind, StateValueOf, ViewOf } from '../../actors/inference.js';
import type { Waiting } from '../../machines/waiting.js';
import type { Json } from '../../machines/outputs.js';
import type { StoreState } from '../store/contract.js';

/** What the supervisor answers: plain values, made from committed state only. */

/** An actor as callers see it: the kind's `view` plus what the kernel knows. */
export interface ActorView<View = Json, Name extends string = string, Value = Json> {
  /** Name of the kind that it is of. */
  readonly kind: Name;
  /** Its id, unique within its kind. */
  readonly id: string;
  /** Events committed so far: 1 after creation. An answer with a smaller one is older. */
  readonly revision: number;
  /** Position of the commit in the log. */
  readonly position: number;
  /** XState's state value, e.g. `"running"`. */
  readonly value: Value;
  /** XState's own: `active` takes events, `done` reached a final state, `error` failed for good. */
  readonly status: 'active' | 'done' | 'error';
  /** What the kernel keeps of it: times, parent, and whether it is halted. */
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
  /** What the transaction's `run` returned. */
  readonly result: Result;
  /** Log position of the commit's first entry; 0 of a rehearsal and of a replay. */
  readonly position: number;
  /** True when this is the stored answer of an earlier call with the same idempotency key. */
  readonly replayed: boolean;
  /** What its actors did, or in a rehearsal would do, in order. Empty in a replay. */
  readonly steps: readonly PlannedStep[];
}

export interface ListItem<Row = Json> {
  readonly id: string;
  readonly key: string;
  readonly row: Row;
}

/** A page of a list, in the order of its keys. */
export interface ListPage<Row = Json> {
  /** At most `limit` of them; empty at the end of the list. */
  readonly items: readonly ListItem<Row>[];
  /** Pass as `after`. */ readonly next: string | null;
}

/** What waits for a person or an agent, longest first. */
export interface WaitingPage {
  readonly items: readonly { readonly actor: ActorKey; readonly waiting: Waiting }[];
  /** Pass as `after`. */ readonly next: string | null;
}

/** One step of one actor, as committed. */
export interface LogEntry<Name extends string = string> extends ActorKey<Name> {
  /** Its place in the log of all actors, from 1; it never changes and is never used again. */
  readonly position: number;
  /** Shared by the entries of one commit: the seq of its first entry. */
  readonly transaction: number;
  /** Last entry of its commit. */
  readonly last: boolean;
  /** Epoch milliseconds of the commit's decision, by the wall clock. */
  readonly at: number;
  /** The actor's revision after it. */
  readonly revision: number;
  /** Id of the machine that stepped. */
  readonly machine: string;
  /** Version of the kind that wrote it. */
  readonly version: number;
  /** The event, with contents (see Kind.contents) as `{sha256, chars}`. */
  readonly event: Json;
  /** XState values before (null at creation) and after. */
  readonly from: Json;
  /** XState value after it. */
  readonly to: Json;
  /** `src` of effects started, `-src` of effects left. */
  readonly effects: readonly string[];
  /** What its machine published for watchers, in order. */
  readonly frames: readonly {
    /** Its name: `session:started`. */
    readonly event: string;
    /** What it says. */
    readonly payload: Json;
  }[];
  /** Log position or name of what caused it. */
  readonly cause: number | string | null;
  /** Who sent the event, as `callerName` writes it. */
  readonly by: string;
  /** Of an agent that is `by`: what policies see of it. `employee` is its name, `ancestors` the sessions above it. */
  readonly agent?: { readonly employee: string | null; readonly ancestors: readonly string[] };
  /** With whose rights, where not with those of `by`: who caused it, first. */
  readonly onBehalfOf?: readonly string[];
  /** Of an actor's first entry: under whom it was created. */
  readonly parent?: ActorKey;
  /** Whole snapshot (`whole`) or what changed (`value`, `set`, `unset` of context members). */
  readonly snapshot: Json;
  /** Log position of this actor's entry before this one, and of its last whole snapshot. */
  readonly previous: number;
  /** Position of the actor's last whole snapshot, from which states are rebuilt. */
  readonly snapshotAt: number;
  /** Hash over this entry and all before it: a changed entry is found by `verify`. */
  readonly chain: string;
  /** Its contents were erased: the event is `kernel.blank`, states and frames are gone. */
  readonly erased?: true;
}

/** What happens and is not kept, e.g. a piece of an answer as it is written. `at`: epoch milliseconds. */
export interface ProgressFrame {
  /** The actor whose effect reports. */
  readonly actor: ActorKey;
  /** Name, as given to `context.progress`. */
  readonly event: string;
  /** Whatever the effect reports, as JSON. */
  readonly payload: Json;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** An actor as it was after a position of the log. Read, never decided again. */
export interface PastState {
  /** Of the actor's last entry at or before the position asked for. */
  readonly position: number;
  /** Epoch milliseconds of that entry. */
  readonly at: number;
  /** XState value then. */
  readonly value: Json;
  /** The machine's context then. */
  readonly context: Json;
  /** What the kind's `view` says of that state today; null where it cannot. */
  readonly view: Json | null;
  /** Where regions with history stood when they were left. */
  readonly historyValue?: Json;
}

/**
 * What may happen next to an actor, and what stands in the way of the rest.
 * @example (await supervisor.why({ kind: 'counter', id: 'c1' }, operator))?.next.map(({ event }) => event)
 */
export interface Why<View = ActorView> {
  /** The actor as committed. */
  readonly actor: View;
  /**
   * Every `event` that its state takes or its kind offers: `allowed`, or the `refusal` (its `code` and `message`) that
   * it would get; `to`: the states that it may lead to.
   */
  readonly next: readonly {
    readonly event: string;
    readonly allowed: boolean;
    readonly refusal?: { readonly code: string; readonly message: string };
    readonly to?: readonly string[];
    /** Members that the caller fills in. */ readonly needs?: readonly string[];
  }[];
  /** Deadlines that will move the actor by an `event`, `due` in epoch milliseconds; `name` is the delay's. */
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
  /** Give it to `supervisor.retry`. */
  readonly id: string;
  /** The actor that failed at the event. */
  readonly actor: ActorKey;
  /** Epoch milliseconds of the failure. */
  readonly at: number;
  /** The event, for `retry`. */
  readonly event: Json;
  /** Id under which the log tells of the fault. */
  readonly faultId: string;
  /** What the machine threw, as a sentence. */
  readonly error: string;
  /** Where it stands in the list: `before` of the next page. */
  readonly place: string;
}

/** How the supervisor is: numbers as of now, for a status page. */
export interface SupervisorStatus {
  /** `degraded`: it runs, but `reasons` say what does not. `draining`: new work is refused. */
  readonly state: 'booting' | 'running' | 'degraded' | 'draining' | 'stopped';
  /** Why it is degraded, `part: sentence`; empty while all is well. */
  readonly reasons: readonly string[];
  /** Less than 200 MB are free: new work is refused. */
  readonly diskLow: boolean;
  /** Whether the store takes writes. */
  readonly store: StoreState;
  /** Last log position. */
  readonly position: number;
  /** Actors whose snapshot is in memory. */
  readonly awake: number;
  /** Commits and events since start. */
  readonly commits: number;
  /** Events since start. */
  readonly events: number;
  /** Effects that run now. */
  readonly effects: number;
  /** Restarts of actors since start. */
  readonly restarts: number;
  /** Actors with work that is due and that do nothing, now and since start: there should be none, ever. */
  readonly stalled: number;
  /** The same, counted since start. */
  readonly stalledTotal: number;
  /** Time that only the wall clock claims; nothing is forgotten for it. See `Supervisor.retention`. */
  readonly retentionHeldMs: number;
  /** Kinds whose lists and totals are brought up to a new version: `done` of `total` actors of the `kind`. */
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

/** A row of a collection. */
export interface Row<Written = Json> {
  /** Its place: a counter or a name, as the machine wrote it. */
  readonly n: number | string;
  /** As the machine wrote it. */
  readonly row: Written;
}
