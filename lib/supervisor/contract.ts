import type { ActorKey, Kind } from '../../actors/contracts.js';
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
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Refusal } from '../../machines/refusals.js';
import type {
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
import type { Inspection } from './inspection-answers.js';
import type {
  AskOptions,
  ListQuery,
  RowsQuery,
  SpawnSettings,
  Transaction,
  WaitingQuery,
  WatchOptions,
} from './options.js';

export type * from './answers.js';
export type * from './inspection-answers.js';
export type * from './options.js';
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
    query: {
      /** Only ids behind this one. */
      readonly after?: string;
      /** At most so many. */
      readonly limit: number;
    },
  ): Promise<
    readonly {
      /** Of the actor. */
      readonly id: string;
      /** What its kind shows of it. */
      readonly view: ViewOf<KindNamed<Kinds, Name>>;
    }[]
  >;
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
    places: readonly {
      /** The key under which the actor is listed. */
      readonly key: string;
      /** Of the actor. */
      readonly id: string;
    }[],
  ): Promise<readonly (ListRowOf<KindNamed<Kinds, Name>, List> | undefined)[]>;
  /**
   * How many actors count under each of the names that the kind's `totals` gives. Committed numbers; costs
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
  watch(options?: WatchOptions<Kinds[number]['kind']>): AsyncIterable<LogEntry<Kinds[number]['kind']>>;
  /** Ephemeral frames (streaming deltas, refusals) as they happen. Returns the way to unsubscribe. */
  onProgress(listener: (frame: ProgressFrame) => void): () => void;
  /** Log entries of one actor, newest first. */
  history(
    actor: ActorKey<Kinds[number]['kind']>,
    query?: {
      /** Only entries before this log position. */
      readonly before?: number;
      /** At most so many. */
      readonly limit?: number;
    },
  ): Promise<readonly LogEntry<Kinds[number]['kind']>[]>;
  /** The actor's view and state as it was after log position `at`. Read, never re-executed. */
  past(actor: ActorKey<Kinds[number]['kind']>, at: number): Promise<PastState | undefined>;
  /** Which events may happen next for this caller, and what stands in the way of the others. */
  why<Name extends Kinds[number]['kind']>(
    actor: ActorKey<Name>,
    by: Caller,
  ): Promise<Why<ActorViewOf<KindNamed<Kinds, Name>>> | undefined>;
  /** The durable key-value rows of transactions (`tx.put`) by prefix. */
  keyValues(prefix: string): Promise<readonly (readonly [key: string, value: Json])[]>;
  /** A handle usable wherever XState users expect an actor reference. */
  handle<Name extends Kinds[number]['kind']>(kind: Name, id: string): Handle<KindNamed<Kinds, Name>>;
  /** Events at which an actor failed, newest first. `before`: the `place` of the last one of the page before. */
  deadLetters(query?: {
    /** At most so many; default 100. */
    readonly limit?: number;
    /** Only those that are older than the one of this id. */
    readonly before?: string;
  }): Promise<readonly DeadLetter[]>;
  /**
   * Put a dead letter back into its actor's mailbox, with its sender's authority. `NOT_FOUND` when it or its
   * actor is gone; the refusal of the actor's policy when it does not admit the event from its sender, or not
   * on behalf of `by`.
   */
  retry(deadLetterId: string, by: Caller): Promise<true | Refusal>;
  /** Drop a dead letter for good: its event is lost. `NOT_FOUND` when it is gone, `CONFLICT` while it is retried. */
  dismiss(deadLetterId: string): Promise<true | Refusal>;
  /** Let a halted actor go on. */
  resume(actor: ActorKey<Kinds[number]['kind']>, by: Caller): Promise<ActorView | Refusal>;
  /** How it is right now, from memory; costs nothing. */
  readonly status: SupervisorStatus;
  /** What is held back because a clock cannot be proved, and the way to release it. */
  readonly retention: Retention;
  /** The kernel laid open, for inspectors. */
  readonly inspection: Inspection;
  /** Swap a value that `facts` functions see (roster, config, registry). */
  setFact(name: string, value: unknown): void;
  /**
   * End what runs, while events are still answered: from now on nothing begins here, and what commits ask for is begun
   * by the next owner of the store. Waits for all to settle, at most `withinMs` (default 5,000). Before `stop`, where
   * another process takes over and its clients should wait as short as can be.
   * @example await supervisor.rest(); await supervisor.stop();
   */
  rest(options?: { readonly withinMs?: number }): Promise<void>;
  /**
   * Drain: no new work, running effects get `stopping`, everything is written, the store is closed.
   * Idempotent; at most `drainMs`.
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
  /** The clock, ids and log that it was created with. */
  readonly environment: Environment;
}

declare module '../../actors/contracts.js' {
  interface EffectContext<Rows, Event> {
    /** The supervisor that runs the effect; said here because kinds are written below it. */
    readonly supervisor: Supervisor;
  }
}

/** XState's actor reference, durable: `send` never throws, `getSnapshot` is the last commit. Also an ActorKey. */
export interface Handle<K extends AnyKind = Kind> extends ActorKey<K['kind']> {
  /** Send and forget: a refusal is seen as a progress frame, a failure in the log. Never throws. */
  send(event: EventOf<K>): void;
  /** As `supervisor.ask`: the view after the commit, or the refusal. */
  ask(event: EventOf<K>, options?: AskOptions<ActorViewOf<K>>): Promise<ActorViewOf<K> | RefusalOf<K>>;
  /** The last commit; undefined while the actor sleeps: `await handle.wake()` first. */
  getSnapshot(): SnapshotOf<K> | undefined;
  /** Load the actor and answer with its last commit; `NOT_FOUND` where there is none. */
  wake(): Promise<SnapshotOf<K> | Refusal<'NOT_FOUND' | 'DRAINING'>>;
  /** Called with each commit from now on; keeps the actor awake, and completes when it ends. */
  subscribe(
    observer:
      | ((snapshot: SnapshotOf<K>) => void)
      | {
          /** With the snapshot of each commit. */
          next?(snapshot: SnapshotOf<K>): void;
          /** The subscription has failed and ends. */
          error?(error: unknown): void;
          /** The actor has reached its end. */
          complete?(): void;
        },
  ): { unsubscribe(): void };
}
