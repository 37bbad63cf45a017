import type { ActorKey, Facts, Kind } from '../../actors/contracts.js';
import type {
  AnyKinds,
  EventOf,
  InputOf,
  InputOption,
  KindNamed,
  RefusalOf,
} from '../../actors/inference.js';
import type { Caller, Causes } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { Refusal } from '../../machines/refusals.js';
import { nearest } from '../../machines/text.js';
import type { Environment } from '../environment.js';
import type { Store } from '../store/contract.js';
import type { ActorView, ActorViewOf } from './answers.js';

/** What calls of a supervisor take: plain values, limits, and the one callback of a transaction. */

/** What a supervisor is made of: kinds, a store, and what it may need. */
export interface SupervisorOptions<Kinds extends AnyKinds = AnyKinds> {
  /** Every kind whose actors this store holds; names are unique. */
  readonly kinds: Kinds;
  /** Opened by you, closed by `supervisor.stop`: `memoryStore()` or `await levelStore({ directory })`. */
  readonly store: Store;
  /** Clock, ids and log. Default: `systemEnvironment()`. */
  readonly environment?: Environment;
  /** First values that `facts` functions see. */
  readonly facts?: Facts;
  /** What differs from `defaultLimits`. */
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
  /** Characters of a snapshot as JSON. An event that makes a larger one is dead-lettered. */
  readonly snapshotBytesMax: number;
  /** Days that log entries are kept. */
  readonly keepLogDays: number;
  /** Bytes of log entries that are kept; the oldest go first, whatever their age. */
  readonly keepLogBytes: number;
  /** Dead letters go after so many days, and the oldest where there are more than so many. */
  readonly keepDeadLettersDays: number;
  /** Most dead letters kept. */
  readonly deadLettersMax: number;
}

/**
 * The limits where `createSupervisor({ limits })` says nothing else.
 * @example
 *   const limits = { mailboxMax: 2 * defaultLimits.mailboxMax };
 *   const supervisor = await createSupervisor({ kinds: [counter], store, limits });
 */
export const defaultLimits: Limits = {
  awakeActorsMax: 20_000,
  mailboxMax: 1_000,
  requestsMax: 20_000,
  snapshotBytesMax: 64 * 1024,
  keepLogDays: 30,
  keepLogBytes: 2 * 1024 ** 3,
  keepDeadLettersDays: 90,
  deadLettersMax: 10_000,
};

/**
 * All of them. A slip in a name, or what is no number, would be no limit at all.
 *
 * @throws TypeError that names the member and says what it takes
 */
export function limitsOf(given: Partial<Limits> = {}): Limits {
  const known = Object.keys(defaultLimits);
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of set) {
    const meant = nearest(name, known);
    const hint = meant === undefined ? `: it takes ${known.join(', ')}` : `; did you mean "${meant}"?`;
    if (!known.includes(name)) throw new TypeError(`limits has no "${name}"${hint}`);
    if (typeof value !== 'number' || !(value > 0))
      throw new TypeError(`limits.${name} must be a number above 0`);
  }
  return { ...defaultLimits, ...Object.fromEntries(set) };
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
  /** What the machine's `context: ({ input }) => …` gets. Absent: `{}`. */
  readonly input?: Json;
}

/** On whose behalf, with which idempotency key, and what to wait for. */
export interface AskOptions<View = ActorView> {
  /** Who asks, for the policy and the log. Default: the operator. */
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed it. */
  readonly onBehalfOf?: Causes;
  /**
   * Answer only once the actor's view satisfies this (at most `timeoutMs`, default 25,000), else `{pending:
   * true}` in the view.
   */
  readonly until?: (view: View) => boolean;
  /** Milliseconds to wait for `until`. Default and cap 25,000. */
  readonly timeoutMs?: number;
  /** Makes a repeated request answer what the first one did. Absent: each call is a new event. */
  readonly idempotency?: Idempotency;
  /** Rehearse: policy and machine decide, the answer holds `steps`, nothing is written. Default false. */
  readonly dryRun?: boolean;
}

/** One durable key per caller: the same key and hash answers again, another hash is IDEMPOTENCY_CONFLICT. */
export interface Idempotency {
  /** The caller's own name of the request; remembered for a day. */
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
  /** Keys of own rows (`tx.put`) that `tx.get` will read. */
  readonly reads?: readonly string[];
  /** Who asks, for policies and the log. Default: the operator. */
  readonly by?: Caller;
  /** With whose rights, where not with those of `by`: each of them must be allowed it. */
  readonly onBehalfOf?: Causes;
  /** Makes a repeated call answer what the first one did. */
  readonly idempotency?: Idempotency;
  /** Rehearse: the answer holds `steps`, nothing is written. Default false. */
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
  /** Epoch milliseconds: the one time of the whole transaction. */
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
  /** Create an actor in this commit; a refusal is thrown as the transaction's. */
  create<Name extends Kinds[number]['kind']>(
    kind: Name,
    id: string,
    ...options: OptionalWhere<{ readonly parent?: ActorKey } & InputOption<InputOf<KindNamed<Kinds, Name>>>>
  ): ActorViewOf<KindNamed<Kinds, Name>>;
  /** Next number of a durable counter (gaps are legal): 1, 2, 3 … */
  next(counter: string): number;
  /** A durable key-value row of the plan's own (`null` deletes). */
  put(key: string, value: Json): void;
  /** A row of the plan's own as it was when the plan began; named in `reads`. Last write wins. */
  get(key: string): Json | undefined;
}

/** Nothing need be given where every member may be absent. */
type OptionalWhere<Options> = {} extends Options ? [options?: Options] : [options: Options];

/** Which page of a list. */
export interface ListQuery<List extends string = string> {
  /** Name of a list of the kind's `index`. */
  readonly index: List;
  /** Only keys that begin with this. */
  readonly prefix?: string;
  /** Only keys from here (inclusive), and before there (exclusive). */
  readonly from?: string;
  /** Exclusive upper bound of the keys. */
  readonly to?: string;
  /** `next` of the page before. Absent: the first page. */
  readonly after?: string;
  /** From the greatest key down. Default false. */
  readonly reverse?: boolean;
  /** Pass over so many rows first; costs a read of their keys. Default 0. */
  readonly offset?: number;
  /** Default 100, cap 1,000. */
  readonly limit?: number;
}

export interface WaitingQuery {
  /** Only what this actor waits for, on one page. Default: all actors. */
  readonly actor?: ActorKey;
  /** `next` of the page before. */
  readonly after?: string;
  /** Default 100, cap 1,000. */
  readonly limit?: number;
}

/** Which entries of the log, from where, and until when. */
export interface WatchOptions<Name extends string = string> {
  /** Exclusive. Below the retention floor the iteration begins with `{type: 'reset'}` in `event`. */
  readonly since?: number;
  /** Only entries of actors of these kinds. Default: all. */
  readonly kinds?: readonly Name[];
  /** Only entries of actors with these ids. Default: all. */
  readonly ids?: readonly string[];
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** Which rows of a collection. */
export interface RowsQuery {
  /** Only rows whose number is smaller. */
  readonly before?: number;
  /** Without `after`: the youngest so many, oldest first. Default and cap 1,000. */
  readonly last?: number;
  /** Only rows whose number is greater. */
  readonly after?: number;
  /** With `after`: the next so many. Default and cap 1,000. */
  readonly limit?: number;
}
