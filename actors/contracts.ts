import type { AnyStateMachine, EventFromLogic, SnapshotFrom } from 'xstate';
import type { ActorKey, Json, Stamp } from '../machines/ground.js';
import type { Refusal } from '../machines/refusals.js';
import type { Shape } from '../machines/shape.js';
import type { Supervision } from '../machines/supervisor/supervise.js';

/**
 * The contracts between a kind (a machine, its hands, its rules) and the kernel that runs it.
 * Interfaces and prose only; the kernel in lib/supervisor keeps every promise written here.
 */

/** What the kernel knows about an actor beside its snapshot. Times are epoch milliseconds. */
export interface Meta extends ActorKey {
  /** Grows by one with every committed event; 1 after creation. */
  readonly rev: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly parent: ActorKey | null;
  /** Set when the actor failed too often; it takes no events until a person resumes it. */
  readonly halted: { readonly at: number; readonly reason: string } | null;
}

/** One list row: `index` is a list's name, `key` sorts within it (see `sortable`), `row` is what the list shows. */
export interface IndexRow {
  readonly index: string;
  readonly key: string;
  readonly row?: Json;
}

/** An actor as stored by XState: what `migrate` functions receive and return. */
export interface Persisted {
  readonly value: Json;
  readonly context: Record<string, Json>;
  readonly status?: 'active' | 'done' | 'error';
  readonly output?: Json;
  readonly historyValue?: Json;
}

/** An event that might come next: whole, as a caller would send it. */
export interface CandidateMove {
  readonly event: { readonly type: string } & Readonly<Record<string, Json | undefined>>;
  /** The state it leads to, where the event alone says so. */
  readonly to?: string;
  /** Members that a caller must still fill in, e.g. `note`. */
  readonly needs?: readonly string[];
}

/** What the world looks like to `facts`: immutable values that a reload swaps whole. */
export type World = Readonly<Record<string, unknown>>;

/**
 * A kind of actor. Made with `defineKind`, which checks it and names each fault.
 *
 * The kernel's promise for one event: it stamps `at` and `by`, calls `facts`, then `policy`; a refusal is returned
 * to the asker and nothing is written. Otherwise the machine steps, and record, rows, effects, messages and frames
 * are written in one atomic, fsynced batch before any of them becomes visible.
 */
export interface Kind<M extends AnyStateMachine = AnyStateMachine, View extends Json = Json> {
  /** `[a-z][a-z0-9-]*` */
  readonly kind: string;
  /** Version of machine and context; grows when either changes shape. From 1. */
  readonly version: number;
  readonly machine: M;
  /** Effects by the `src` under which the machine invokes them. */
  readonly hands?: Readonly<Record<string, Hand>>;
  /** `src` names that the machine invokes or spawns as durable child actors: src → kind. */
  readonly childKinds?: Readonly<Record<string, string>>;
  /** May this event happen now, for this caller? Pure. `undefined` = yes. Guards call the same function. */
  policy?(snapshot: SnapshotFrom<M>, event: EventFromLogic<M> & Stamp): Refusal | undefined;
  /** May an actor be created with this input (the machine's, stamp included)? Pure. */
  admit?(input: Readonly<Record<string, unknown>> & Stamp & { readonly id: string }): Refusal | undefined;
  /** What a decision must know of the world, as JSON; carried in `event.facts` and logged. `snapshot` is absent at creation. */
  facts?(snapshot: SnapshotFrom<M> | undefined, event: { readonly type: string }, world: World): Json;
  /** What callers see. */
  view(snapshot: SnapshotFrom<M>, meta: Meta): View;
  /** The lists that this actor appears in. Pure; diffed by the kernel at every commit. */
  index?(snapshot: SnapshotFrom<M>, meta: Meta): readonly IndexRow[];
  /** Names under which this actor counts one each: totals without reading lists. Few names for many actors. Pure; kept by the kernel in the same commit. */
  counts?(snapshot: SnapshotFrom<M>, meta: Meta): readonly string[];
  /** Events that a caller might send now, for `why`: each is judged by `policy` as it stands. Without it `why` judges bare event names. */
  moves?(snapshot: SnapshotFrom<M>, stamp: Stamp): readonly CandidateMove[];
  /** Who or what this actor waits for, as far as its kind knows; shown by `why`. */
  awaits?(snapshot: SnapshotFrom<M>, facts: Json | undefined): Json;
  /** Members of events and inputs (by name, at any depth) whose text is kept out of the log and stands there as hash and length. */
  readonly contents?: readonly string[];
  /** Called on restore: what is wrong with this context, or undefined. Guards against snapshots of another shape. */
  check?(context: unknown): string | undefined;
  /** Events that a person may send by hand from the inspector, with the members that each takes (`?`: may be absent). Judged by `policy` like any other; without it none. */
  readonly operatorEvents?: Readonly<Record<string, Shape>>;
  /** Events that begin new work: refused while the disk is almost full, when everything else still goes on. */
  readonly newWork?: readonly string[];
  /**
   * Ended actors are removed from the store this long after their end, and only their log tells of them. For kinds that
   * have no rows of their own and whose ids never return. Without it they stay for ever.
   */
  readonly forgetAfterMs?: number;
  /** `migrate[v]` turns a version v snapshot into version v+1. */
  readonly migrate?: Readonly<Record<number, (persisted: Persisted) => Persisted>>;
  /** How failures of this kind's actors are met. Default: one_for_one, transient, 5 in 60 s. */
  readonly supervision?: Partial<Supervision>;
}

/** The hands of an effect: where a machine's placeholder meets the world. Rejections arrive as `onError` with `{name, message, code?}`. */
// In and Out are `any` by default because a record of hands mixes them; each hand states its own.
export type Hand<In = any, Out = any> = KeyedHand<In, Out> | FencedHand<In, Out>;

/** May run again after a crash, with the same `key`: the far side must be idempotent in it. */
export interface KeyedHand<In = any, Out = any> {
  readonly fence: false;
  run(input: In, context: HandContext): Promise<Out>;
}

/**
 * Must never run twice (an engine turn, a chat message). The hand awaits `context.note(intent)` before it acts: from
 * then on, when the process dies, `recover` is called instead of `run`, with the last note, to clean up and tell the
 * honest outcome. An effect that died before its first note never acted and is simply run.
 */
export interface FencedHand<In = any, Out = any> {
  readonly fence: true;
  run(input: In, context: HandContext): Promise<Out>;
  /** Also called when the state was left while a dead process held the effect; then its outcome is only logged. */
  recover(input: In, note: Json, context: HandContext): Promise<Out>;
}

/** What a running effect may use. */
export interface HandContext {
  /** Stable across restarts: `<kind>/<id>/<rev>.<index>`. The idempotency key for the outside. */
  readonly key: string;
  readonly actor: ActorKey;
  /** Aborts when the machine leaves the invoking state or the supervisor stops. The promise must still settle. */
  readonly signal: AbortSignal;
  /** Why the signal aborted: `left` (state left), `stopping` (supervisor drains) or `restarting` (the actor is restarted). */
  readonly reason: () => 'left' | 'stopping' | 'restarting' | undefined;
  /** Send a durable event to the own actor; resolves after its commit. */
  send(event: { readonly type: string } & Record<string, Json | undefined>): Promise<void>;
  /** Replace the durable note of a fenced effect (pid, start time …); resolves after its commit. */
  note(note: Json): Promise<void>;
  /** An ephemeral frame for watchers (`seq:null`): streaming deltas. Never replayed. */
  progress(event: string, payload: Json): void;
  /** Events that the machine sends to this effect while it runs (`sendTo('turn', …)`). Not durable. */
  onEvent(listener: (event: { readonly type: string }) => void): void;
  /** Rows of a collection of the own actor, oldest first. */
  rows(collection: string, options?: { readonly last?: number }): Promise<readonly Json[]>;
}

/** Identity functions that check: see lib/supervisor/define-kind.ts for the checks of a kind. */
export type { ActorKey, Json, Stamp } from '../machines/ground.js';
