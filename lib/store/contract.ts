/**
 * The store port: an ordered map of strings that takes whole groups of commits, all or nothing, durable
 * before the promise resolves. LevelDB with segment files is the embedded default, memory serves tests.
 *
 * Nothing above the store may assume that it is the only process: a group carries the position it was made
 * for, and a store may refuse it with `CONFLICT`, or with `LOST` where it knows of another owner. Either ends the
 * life of the one who asked: what it holds in memory is not what is stored.
 */

/**
 * Put (`string`) or delete (`null`) one key. Values are single-line text (JSON): no control characters. Keys:
 * `[!-~]`, no tab.
 */
export type Op = readonly [key: string, value: string | null];

/**
 * Where the ordered log stands: the last entry's position and its chain hash. `{seq: 0, chain: ''}` in an
 * empty store.
 */
export interface Head {
  /** Position of the last log entry; 0 in an empty store. */
  readonly seq: number;
  /** Hash over all entries so far; `''` in an empty store. */
  readonly chain: string;
}

/**
 * One group commit. `first..last` are the log positions it holds (`last === first - 1`: ops without log
 * entries); `chain` is the hash of the last.
 */
export interface Group {
  /** Log position of its first entry; the head's position plus one. */
  readonly first: number;
  /** Log position of its last entry; `first - 1` where it holds none. */
  readonly last: number;
  /** Hash chain after `last`, for `head`. */
  readonly chain: string;
  /** Puts and deletes, applied in order; later ones of a key win. */
  readonly ops: readonly Op[];
}

/** From one key to another, in either direction. */
export interface Range {
  /** After this key. */
  readonly gt?: string;
  /** From this key on, inclusive. */
  readonly gte?: string;
  /** Before this key. */
  readonly lt?: string;
  /** Up to this key, inclusive. */
  readonly lte?: string;
  /** From the greatest key down. Default false. */
  readonly reverse?: boolean;
  /** Of a page: pass over so many entries first. Costs a read of their keys. */
  readonly offset?: number;
  /** Of a page: leave the values empty and unread. */
  readonly keysOnly?: boolean;
  /** At most this many entries. Default and cap of one page: 1,000. */
  readonly limit?: number;
}

/** Whether a store takes writes. */
export type StoreState =
  | { readonly state: 'ready' }
  /**
   * A write failed or damage was found: closing, reopening, verifying. Writes reject with STORE_UNAVAILABLE
   * meanwhile.
   */
  | { readonly state: 'recovering'; readonly reason: string }
  /** Given up; a person is needed. */
  | { readonly state: 'failed'; readonly reason: string }
  /** Another process owns the home; for good. */
  | { readonly state: 'lost'; readonly reason: string };

/** The port to the disk: ordered keys, atomic groups, durable once they are acknowledged. */
export interface Store {
  /** The committed head. After a failed write it is what survived; read it again before the next group. */
  readonly head: Head;
  /** Whether it takes writes now; `onState` reports changes. */
  readonly state: StoreState;
  /**
   * Write one group. Resolves when every op is durable (fsync) and readable. Groups are applied in call
   * order; a call need not await the one before it. A rejection with STORE_UNAVAILABLE or CONFLICT means: this
   * group and all calls after it that were not yet settled have left nothing behind; with LOST: nor will any other.
   * One with OUTCOME_UNKNOWN means: a later opening of the store shows whether this group was written; calls after
   * it left nothing behind. Until this store is `ready` again no one reads anything of it, and then it is gone for
   * good.
   */
  write(group: Group): Promise<void>;
  /** The value, undefined where absent. Rejects with a `StoreError`. */
  get(key: string): Promise<string | undefined>;
  /** In the order of the keys; `undefined` where absent. */
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>;
  /** One page, sorted by the bytes of the key. Page on with `gt` (or `lt` in reverse) of the last key. */
  page(range: Range): Promise<[key: string, value: string][]>;
  /** How many keys lie in the range; may count without reading values. */
  count(range: Range): Promise<number>;
  /**
   * Whether this process may speak for the home right now, by a clock that never goes back: what was read, decided
   * or acknowledged before may be given out. Ask after the last wait. Absent: always.
   */
  authority?(): boolean;
  /** Free space for writing, where the store can tell: below 200 MB the kernel refuses new work. */
  freeBytes?(): Promise<number>;
  /** Called at every change of `state`. Returns the way to unsubscribe. */
  onState(listener: (state: StoreState) => void): () => void;
  /** Flush, mark a clean stop, release the home. Idempotent. */
  close(): Promise<void>;
}

/** Why a store cannot be used. */
export type StoreErrorCode =
  /** Nothing was written; safe to retry once `state` is `ready` again. */
  | 'STORE_UNAVAILABLE'
  /**
   * The disk failed, and then failed again while what it may have written was taken back: it may be found by the next
   * opening. Not safe to retry as if nothing had been done.
   */
  | 'OUTCOME_UNKNOWN'
  /** The group was made for another head: someone else has written. */
  | 'CONFLICT'
  /** Another process has taken the home over. Nothing was written, and nothing will be: safe to retry there. */
  | 'LOST'
  /** A record failed its checksum and no second copy could repair it. */
  | 'CORRUPT'
  /** Another process holds this home. */
  | 'LOCKED'
  /** The home cannot be opened without risking data; the message says why and what to do. */
  | 'REFUSED';

/**
 * What a store rejects with. `code` says what to do about it: see `StoreErrorCode`.
 * @example if (error instanceof StoreError && error.code === 'LOCKED') console.log('another process has this home');
 */
export class StoreError extends Error {
  /** Tells it from other errors where `instanceof` cannot. */
  override readonly name = 'StoreError';
  constructor(
    /** What may be done about it. */
    readonly code: StoreErrorCode,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
