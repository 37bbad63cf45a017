import type { ActorKey, Kind, Facts } from '../../actors/contracts.js';
import type {
  AnyKind,
  AnyKinds,
  EventOf,
  InputOf,
  InputOption,
  KindNamed,
  ListNameOf,
  ListRowOf,
  RefusalOf,
  RowsOf,
  SnapshotOf,
  ViewOf,
} from '../../actors/inference.js';
import type { Caller, Causes } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Refusal } from '../../machines/refusals.js';
import type { Store } from '../store/contract.js';
import type {
  Inspection,
  ActorView,
  ActorViewOf,
  Committed,
  DeadLetter,
  ListPage,
  LogEntry,
  PastState,
  ProgressFrame,
  Retention,
  Row,
  SupervisorStatus,
  WaitingPage,
  Why,
} from './answers.js';
import type { Environment } from '../environment.js';

export type * from './answers.js';
export type { EventObject } from '../../machines/outputs.js';

/**
 * The supervisor's public face: what a gateway, a command or an embedding program may do with durable actors.
 * Every answer leaves only after the commit that it tells of.
 *
 * The kinds that a supervisor was created with type its calls: names, events, inputs, views, rows and codes of
 * refusals. `Supervisor` alone takes kinds of any name.
 */
export interface Supervisor<Kinds extends AnyKinds = readonly Kind[]> {
  /**
   * Create an actor. `EXISTS` when the id is taken. `await supervisor.spawn('work-item', {id, input: {title:
   * 'Buy milk'}})`
   */
  spawn<Name extends Kinds[number]['kind']>(
    kind: Name,
    options: SpawnSettings & InputOption<InputOf<KindNamed<Kinds, Name>>>,
  ): Promise<ActorViewOf<KindNamed<Kinds, Name>> | RefusalOf<KindNamed<Kinds, Name>>>;
  /**
   * Send an event and answer with the actor's view after the commit, or the refusal. `NOT_FOUND` for an
   * absent actor.
   */
  ask<Name extends Kinds[number]['kind']>(
    kind: Name,
    id: string,
    event: EventOf<KindNamed<Kinds, Name>>,
    options?: AskOptions<ActorViewOf<KindNamed<Kinds, Name>>>,
  ): Promise<ActorViewOf<KindNamed<Kinds, Name>> | RefusalOf<KindNamed<Kinds, Name>>>;
  /** Several actors, one commit, all or nothing. At most 16 actors. */
  transact<Result extends Json>(
    transaction: Transaction<Result, Kinds>,
  ): Promise<Committed<Result> | Refusal>;
  /** The committed view of an actor, or undefined. */
  get<Name extends Kinds[number]['kind']>(
    kind: Name,
    id: string,
  ): Promise<ActorViewOf<KindNamed<Kinds, Name>> | undefined>;
  /** The committed views of a kind's actors in the order of their ids, page by page, without waking any. */
  iterate<Name extends Kinds[number]['kind']>(
    kind: Name,
    query: { readonly after?: string; readonly limit: number },
  ): Promise<readonly { readonly id: string; readonly view: ViewOf<KindNamed<Kinds, Name>> }[]>;
  /** A page of a list that the kind's `index` declares. */
  list<Name extends Kinds[number]['kind'], List extends ListNameOf<KindNamed<Kinds, Name>>>(
    kind: Name,
    query: ListQuery<List>,
  ): Promise<ListPage<ListRowOf<KindNamed<Kinds, Name>, List>>>;
  /** How many rows of a list lie in a range, up to `limit`. Reads keys only. */
  countRange<Name extends Kinds[number]['kind']>(
    kind: Name,
    query: Pick<ListQuery<ListNameOf<KindNamed<Kinds, Name>>>, 'index' | 'prefix' | 'from' | 'to' | 'limit'>,
  ): Promise<number>;
  /**
   * What a list shows at these places (of a page of another list that is ordered alike); undefined where
   * nothing stands there any more.
   */
  rowsAt<Name extends Kinds[number]['kind'], List extends ListNameOf<KindNamed<Kinds, Name>>>(
    kind: Name,
    index: List,
    places: readonly { readonly key: string; readonly id: string }[],
  ): Promise<readonly (ListRowOf<KindNamed<Kinds, Name>, List> | undefined)[]>;
  /**
   * How many actors count under each of the names that the kind's `counts` gives. Committed numbers; costs
   * nothing.
   */
  totals(kind: Kinds[number]['kind']): ReadonlyMap<string, number>;
  /**
   * What waits on a person or an employee, of all kinds, longest first: what each kind's `waitingFor` says of
   * its actors, as committed. `await supervisor.waiting({ limit: 20 })`
   */
  waiting(query?: WaitingQuery): Promise<WaitingPage>;
  /** Rows of a collection, e.g. the messages of a session. */
  rows<Name extends Kinds[number]['kind'], Collection extends keyof RowsOf<KindNamed<Kinds, Name>> & string>(
    actor: ActorKey<Name>,
    collection: Collection,
    query?: RowsQuery,
  ): Promise<readonly Row<RowsOf<KindNamed<Kinds, Name>>[Collection]>[]>;
  /**
   * Log entries as they are committed, from `since` (exclusive) or from now on. Never misses one; ends when
   * `signal` aborts or the supervisor stops.
   */
  watch(options?: WatchOptions): AsyncIterable<LogEntry>;
  /** Ephemeral frames (streaming deltas, refusals) as they happen. Returns the way to unsubscribe. */
  onProgress(listener: (frame: ProgressFrame) => void): () => void;
  /** Log entries of one actor, newest first. */
  history(
    actor: ActorKey,
    query?: { readonly before?: number; readonly limit?: number },
  ): Promise<readonly LogEntry[]>;
  /** The actor's view and state as it was after log position `at`. Read, never re-executed. */
  past(actor: ActorKey, at: number): Promise<PastState | undefined>;
  /** Which events may happen next for this caller, and what stands in the way of the others. */
  why<Name extends Kinds[number]['kind']>(
    actor: ActorKey<Name>,
    by: Caller,
  ): Promise<Why<ActorViewOf<KindNamed<Kinds, Name>>> | undefined>;
  /** The durable key-value rows of plans (`Turns.put`) by prefix. */
  keyValues(prefix: string): Promise<readonly (readonly [key: string, value: Json])[]>;
  /** A handle usable wherever XState users expect an actor reference. */
  handle<Name extends Kinds[number]['kind']>(kind: Name, id: string): Handle<KindNamed<Kinds, Name>>;
  /** Events at which an actor failed, newest first. `before`: the `place` of the last one of the page before. */
  deadLetters(query?: { readonly limit?: number; readonly before?: string }): Promise<readonly DeadLetter[]>;
  /**
   * Put a dead letter back into its actor's mailbox, with its sender's authority. `NOT_FOUND` when it or its
   * actor is gone; the refusal of the actor's policy when it does not admit the event from its sender, or not
   * on behalf of `by`.
   */
  retry(deadLetterId: string, by: Caller): Promise<true | Refusal>;
  /** Let a halted actor go on. */
  resume(actor: ActorKey, by: Caller): Promise<ActorView | Refusal>;
  readonly status: SupervisorStatus;
  /** What is held back because a clock cannot be proved, and the way to release it. */
  readonly retention: Retention;
  /** The kernel laid open, for inspectors. */
  readonly inspection: Inspection;
  /** Swap a value that `facts` functions see (roster, config, registry). */
  setFact(name: string, value: unknown): void;
  /**
   * Drain: no new work, running effects get `stopping`, everything is written, the store is closed.
   * Idempotent; at most `drainMs`.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
  readonly environment: Environment;
}

declare module '../../actors/contracts.js' {
  interface EffectContext<Rows, Event> {
    /** The supervisor that runs the effect; said here because kinds are written below it. */
    readonly supervisor: Supervisor;
  }
}

/** What a supervisor is made of: kinds, a store, and what it may need. */
export interface SupervisorOptions<Kinds extends AnyKinds = AnyKinds> {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly environment?: Environment;
  /** First values that `facts` functions see. */
  readonly facts?: Facts;
  readonly limits?: Partial<Limits>;
  /** Another process owns the home: this supervisor has ended; stop it, and open another one to go on. */
  readonly onLost?: (reason: string) => void;
}

/** How much may wait, be open or be kept; every queue has an end. */
export interface Limits {
  /** Committed snapshots kept in memory. */
  readonly awakeActorsMax: number;
  /** Events waiting for one actor. More are refused with BUSY. */
  readonly mailboxMax: number;
  /** Requests of people and agents that wait for their commit. More are refused with OVERLOADED. */
  readonly requestsMax: number;
  readonly snapshotBytesMax: number;
  readonly keepLogDays: number;
  readonly keepLogBytes: number;
  /** Dead letters go after so many days, and the oldest where there are more than so many. */
  readonly keepDeadLettersDays: number;
  readonly deadLettersMax: number;
}

export interface SpawnSettings {
  /** Default: a new UUID. `[A-Za-z0-9._:-]{1,200}` */
  readonly id?: string;
  readonly parent?: ActorKey;
  /** Default: the operator. */
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed it. */
  readonly onBehalfOf?: Causes;
  readonly idempotency?: Idempotency;
  readonly dryRun?: boolean;
}

/** With the input of whatever machine. */
export interface SpawnOptions extends SpawnSettings {
  readonly input?: Json;
}

/** On whose behalf, with which idempotency key, and what to wait for. */
export interface AskOptions<View = ActorView> {
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed it. */
  readonly onBehalfOf?: Causes;
  /**
   * Answer only once the actor's view satisfies this (at most `timeoutMs`, default 25,000), else `{pending:
   * true}` in the view.
   */
  readonly until?: (view: View) => boolean;
  readonly timeoutMs?: number;
  readonly idempotency?: Idempotency;
  readonly dryRun?: boolean;
}

/** One durable key per caller: the same key and hash answers again, another hash is IDEMPOTENCY_CONFLICT. */
export interface Idempotency {
  readonly key: string;
  /** Whose key: `callerName(by)`, usually. */
  readonly scope: string;
  /** Hash of route and body. */
  readonly hash: string;
}

/**
 * An operation on several actors: names them, takes their turns in order, decides on committed snapshots,
 * writes one batch.
 */
export interface Transaction<Result extends Json, Kinds extends AnyKinds = readonly Kind[]> {
  /** Shown in the log as the cause. */
  readonly name: string;
  /**
   * Existing or absent actors whose turns the plan takes. New actors with ids made by the caller need not be
   * named.
   */
  readonly actors: readonly ActorKey<Kinds[number]['kind']>[];
  /** Keys of own rows (`Turns.put`) that the plan will `peek` at. */
  readonly reads?: readonly string[];
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed it. */
  readonly onBehalfOf?: Causes;
  readonly idempotency?: Idempotency;
  readonly dryRun?: boolean;
  /**
   * Does it begin work? Then it is refused with DISK_LOW while the disk is almost full. Default: yes for
   * people and agents, no for the system, which finishes what runs.
   */
  readonly startsWork?: boolean;
  /** Synchronous and pure but for `turns`. Return a refusal to refuse the whole. */
  run(tx: TransactionContext<Kinds>): Result | Refusal;
}

/** What the callback of `transact` reads and steps; it is synchronous. */
export interface TransactionContext<Kinds extends AnyKinds = readonly Kind[]> {
  readonly at: number;
  /** The state as of now within the plan; undefined when absent. Only actors named by the plan. */
  read<Name extends Kinds[number]['kind']>(
    actor: ActorKey<Name>,
  ): ActorViewOf<KindNamed<Kinds, Name>> | undefined;
  /** Step an actor. A refusal is thrown as the plan's refusal, unless `soft`. */
  send<Name extends Kinds[number]['kind']>(
    actor: ActorKey<Name>,
    event: EventOf<KindNamed<Kinds, Name>>,
    options?: { readonly soft?: boolean },
  ): ActorViewOf<KindNamed<Kinds, Name>> | RefusalOf<KindNamed<Kinds, Name>>;
  create<Name extends Kinds[number]['kind']>(
    kind: Name,
    id: string,
    ...options: OptionalWhere<{ readonly parent?: ActorKey } & InputOption<InputOf<KindNamed<Kinds, Name>>>>
  ): ActorViewOf<KindNamed<Kinds, Name>>;
  /** Next number of a durable counter (gaps are legal): 1, 2, 3 … */
  next(counter: string): number;
  /** A durable key-value row of the plan's own (`null` deletes). */
  put(key: string, value: Json): void;
  /** A row of the plan's own as it was when the plan began; named in `Plan.reads`. Last write wins. */
  get(key: string): Json | undefined;
}

/** Nothing need be given where every member may be absent. */
type OptionalWhere<Options> = {} extends Options ? [options?: Options] : [options: Options];

/** Which page of a list. */
export interface ListQuery<List extends string = string> {
  readonly index: List;
  /** Only keys that begin with this. */
  readonly prefix?: string;
  /** Only keys from here (inclusive), and before there (exclusive). */
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly reverse?: boolean;
  readonly offset?: number;
  /** Default 100, cap 1,000. */
  readonly limit?: number;
}

export interface WaitingQuery {
  /** `next` of the page before. */
  readonly after?: string;
  /** Default 100, cap 1,000. */
  readonly limit?: number;
}

/** Which entries of the log, from where, and until when. */
export interface WatchOptions {
  /** Exclusive. Below the retention floor the iteration begins with `{type: 'reset'}` in `event`. */
  readonly since?: number;
  readonly kinds?: readonly string[];
  readonly ids?: readonly string[];
  readonly signal?: AbortSignal;
}

/** XState's actor reference, durable: `send` never throws, `getSnapshot` is the last commit. Also an ActorKey. */
export interface Handle<K extends AnyKind = Kind> extends ActorKey<K['kind']> {
  send(event: EventOf<K>): void;
  ask(event: EventOf<K>, options?: AskOptions<ActorViewOf<K>>): Promise<ActorViewOf<K> | RefusalOf<K>>;
  /** The last commit; undefined while the actor sleeps: `await handle.wake()` first. */
  getSnapshot(): SnapshotOf<K> | undefined;
  /** Load the actor and answer with its last commit; `NOT_FOUND` where there is none. */
  wake(): Promise<SnapshotOf<K> | Refusal<'NOT_FOUND' | 'DRAINING'>>;
  subscribe(
    observer:
      | ((snapshot: SnapshotOf<K>) => void)
      | { next?(snapshot: SnapshotOf<K>): void; error?(error: unknown): void; complete?(): void },
  ): { unsubscribe(): void };
}

/** Which rows of a collection. */
export interface RowsQuery {
  readonly before?: number;
  readonly last?: number;
  readonly after?: number;
  readonly limit?: number;
}
