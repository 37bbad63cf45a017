import { StoreError, type Group } from './contract.js';
import type { Database } from './database.js';
import { frameWriter, type Position } from './frame.js';
import type { Place } from './copy-files.js';
import type { SegmentWriter } from './segment-writer.js';
import type { StoreThread } from './thread.js';

/**
 * The way of a group: its frame is appended to the segment and made durable, which is the commit, and its
 * promise resolves; then it goes into LevelDB, unsynced, while the next groups are decided and appended; who
 * reads meanwhile waits for it. What came in while the disk was busy shares one write. At the first failure
 * the pipeline is dead: the store reopens, rolls LevelDB forward and makes a new one.
 */
export interface CommitPipeline {
  write(group: Group): Promise<void>;
  /** On disk for good: what the segments hold. */
  readonly durable: Position;
  /** Durable, and in LevelDB. */
  readonly applied: Position;
  /** The end of the applied position's frame. */
  readonly appliedPlace: Place;
  /** Refuse whatever is not yet on its way to the disk. */
  stop(reason: string): void;
  /** Resolves when all that is durable now can be read from LevelDB, or when the pipeline has died. */
  readable(): Promise<void> | undefined;
  /**
   * What groups that are durable, but not yet in LevelDB, say of a key (`null`: deleted); `undefined` where
   * they do not name it.
   */
  recent(key: string): string | null | undefined;
  /** Begin a new segment behind what is durable. Rejects where the pipeline dies. */
  rotate(): Promise<void>;
  /** Do something with the database while no group is being applied to it. */
  between(task: () => Promise<void>): Promise<void>;
  /** Called with what has become durable; `steps`: log entries and groups together. */
  onCommitted(listener: (bytes: number, steps: number) => void): void;
  /** Resolves when nothing is on its way. */
  drain(): Promise<void>;
}

export interface PipelineOptions {
  readonly database: Database;
  readonly thread?: StoreThread;
  readonly writer: SegmentWriter;
  readonly position: Position;
  readonly onFailure: (reason: string, cause: unknown) => void;
}

interface Waiting {
  readonly group: Group;
  readonly frame: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Someone waits for it to be done. */
interface Task {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Durable {
  readonly groups: readonly Group[];
  readonly end: Position;
  readonly place: Place;
  /** As they lie in the segment, until they are given away to be applied. */
  readonly frames: Buffer;
  /** How many bytes they had. */
  readonly bytes: number;
  /** Their rows by table (the first two characters of a key) and key, made when someone asks. */
  readonly tables: Map<string, ReadonlyMap<string, string | null>>;
}

export function commitPipeline(options: PipelineOptions): CommitPipeline {
  const { database, thread, writer, position, onFailure } = options;
  const frames = frameWriter();
  let tail: Omit<Position, 'digest'> = position;
  let { digest } = position;
  let durable = position;
  let applied = position;
  let appliedPlace = writer.place;
  let queue: Waiting[] = [];
  let unapplied: Durable[] = [];
  let unappliedBytes = 0;
  let readers: { readonly frame: number; readonly resolve: () => void }[] = [];
  let appending = false;
  let applying = false;
  /** LevelDB failed: what it would acknowledge after that is not to be believed. */
  let torn = false;
  let stopped: string | undefined;
  let drained: (() => void)[] = [];
  let rotations: Task[] = [];
  let committed: ((bytes: number, steps: number) => void) | undefined;
  let interludes: (Task & { readonly task: () => Promise<void> })[] = [];

  const unavailable = (cause?: unknown): StoreError =>
    new StoreError('STORE_UNAVAILABLE', `not written: ${stopped}`, { cause });
  const rejectAll = (waiting: readonly Waiting[], cause?: unknown): void => {
    for (const { reject } of waiting) reject(unavailable(cause));
  };
  const stop = (reason: string): void => {
    stopped ??= reason;
    const waiting = queue;
    queue = [];
    rejectAll(waiting);
    for (const { reject } of [...rotations, ...interludes]) reject(unavailable());
    rotations = [];
    interludes = [];
  };
  const rest = (): void => {
    if (appending || applying || queue.length > 0) return;
    const waiting = drained;
    drained = [];
    for (const resolve of waiting) resolve();
  };

  const letRead = (): void => {
    if (readers.length === 0) return;
    const served = readers.filter(({ frame }) => torn || frame <= applied.frame);
    readers = readers.filter((reader) => !served.includes(reader));
    for (const { resolve } of served) resolve();
  };
  const readable = (): Promise<void> | undefined => {
    const { frame } = durable;
    return frame === applied.frame || torn
      ? undefined
      : new Promise((resolve) => readers.push({ frame, resolve }));
  };

  const recent = (key: string): string | null | undefined => {
    for (let n = unapplied.length - 1; n >= 0; n -= 1) {
      const value = tableOf(unapplied[n]!, key.slice(0, 2)).get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  };

  const beginSegment = async (): Promise<void> => {
    const place = await writer.rotate(durable.frame + 1);
    if (durable.frame === applied.frame) appliedPlace = place;
    const served = rotations;
    rotations = [];
    for (const { resolve } of served) resolve();
  };
  /** False where the database failed. */
  const takeInterludes = async (): Promise<boolean> => {
    for (let one = interludes.shift(); one !== undefined; one = interludes.shift()) {
      try {
        await one.task();
        one.resolve();
      } catch (error) {
        one.reject(error as Error);
        databaseFailed(error);
        return false;
      }
    }
    return true;
  };
  const databaseFailed = (error: unknown): void => {
    torn = true;
    stop('the database could not be written');
    onFailure('the database could not be written', error);
  };

  /**
   * All of a frame may lie in the file though the disk said no, and after a crash it would count. That nothing was
   * written is true only once it has been cut off.
   */
  const refuse = async (waiting: readonly Waiting[], cause: unknown): Promise<void> => {
    try {
      await writer.abandon();
      rejectAll(waiting, cause);
    } catch (failure) {
      const unknown = new StoreError(
        'OUTCOME_UNKNOWN',
        `it is unknown whether this was written: ${stopped}, and the partial write could not be removed`,
        { cause: new AggregateError([cause, failure]) },
      );
      for (const { reject } of waiting) reject(unknown);
    }
  };

  const append = async (): Promise<void> => {
    while (queue.length > 0 || rotations.length > 0) {
      // LevelDB may fall behind for as long as a compaction takes, but not without bound.
      if (unappliedBytes > unappliedBytesMax) {
        await readable();
        continue;
      }
      const waiting: Waiting[] = [];
      try {
        if (rotations.length > 0) await beginSegment();
        if (queue.length === 0) continue;
        frames.begin();
        while (waiting.length < queue.length && frames.size < appendBytesMax) {
          const next = queue[waiting.length]!;
          waiting.push(next);
          digest = frames.follow(next.frame, next.group, digest);
        }
        queue = queue.slice(waiting.length);
        const bytes = frames.finish();
        const place = await writer.append(bytes, waiting[0]!.frame);
        const last = waiting.at(-1)!;
        durable = { frame: last.frame, seq: last.group.last, chain: last.group.chain, digest };
        unapplied.push({
          groups: waiting.map(({ group }) => group),
          end: durable,
          place,
          frames: ownCopy(bytes),
          bytes: bytes.length,
          tables: new Map(),
        });
        unappliedBytes += bytes.length;
        for (const { resolve } of waiting) resolve();
      } catch (error) {
        queue = queue.filter((one) => !waiting.includes(one));
        stop('the segment could not be written');
        onFailure('the segment could not be written', error);
        await refuse(waiting, error);
        break;
      }
      if (!applying && !torn) void apply();
    }
    appending = false;
    rest();
  };

  const apply = async (): Promise<void> => {
    applying = true;
    while (unapplied.length > 0 || interludes.length > 0) {
      if (!(await takeInterludes())) break;
      if (unapplied.length === 0) continue;
      const some = unapplied.slice();
      const { end, place } = some.at(-1)!;
      try {
        const given = some.map((one) => one.frames);
        await (thread?.apply(given, end) ?? database.apply(given, end));
      } catch (error) {
        // Durable all the same, and acknowledged: the database will be rolled forward before anybody reads
        // again.
        databaseFailed(error);
        break;
      }
      const bytes = some.reduce((sum, one) => sum + one.bytes, 0);
      unapplied = unapplied.slice(some.length);
      unappliedBytes -= bytes;
      const steps = end.seq - applied.seq + end.frame - applied.frame;
      applied = end;
      appliedPlace = place;
      committed?.(bytes, steps);
      letRead();
    }
    applying = false;
    letRead();
    rest();
  };

  return {
    get durable() {
      return durable;
    },
    get applied() {
      return applied;
    },
    get appliedPlace() {
      return appliedPlace;
    },
    write(group) {
      if (stopped !== undefined) return Promise.reject(unavailable());
      if (group.first !== tail.seq + 1 || group.last < group.first - 1) {
        return Promise.reject(
          new StoreError(
            'CONFLICT',
            `the group holds entries ${group.first} to ${group.last}, the store is at ${tail.seq}`,
          ),
        );
      }
      if (group.chain.length !== 43 && group.chain !== '')
        return Promise.reject(new RangeError(`not a chain: ${group.chain}`));
      // A group without entries moves nothing, whatever chain it names.
      const chain = group.last < group.first ? tail.chain : group.chain;
      tail = { frame: tail.frame + 1, seq: group.last, chain };
      return new Promise<void>((resolve, reject) => {
        queue.push({
          group: chain === group.chain ? group : { ...group, chain },
          frame: tail.frame,
          resolve,
          reject,
        });
        if (appending) return;
        appending = true;
        // At once: groups of one moment that went together would also be decided together, with the disk idle
        // meanwhile
        void append();
      });
    },
    stop,
    readable,
    recent,
    rotate: () =>
      new Promise<void>((resolve, reject) => {
        if (stopped !== undefined) return reject(unavailable());
        rotations.push({ resolve, reject });
        if (appending) return;
        appending = true;
        void append();
      }),
    between: (task) =>
      new Promise<void>((resolve, reject) => {
        if (stopped !== undefined) return reject(unavailable());
        interludes.push({ task, resolve, reject });
        if (!applying) void apply();
      }),
    onCommitted: (listener) => void (committed = listener),
    drain: () =>
      new Promise<void>((resolve) => {
        drained.push(resolve);
        rest();
      }),
  };
}

function tableOf({ groups, tables }: Durable, name: string): ReadonlyMap<string, string | null> {
  const known = tables.get(name);
  if (known !== undefined) return known;
  const table = new Map<string, string | null>();
  for (const { ops } of groups)
    for (const [key, value] of ops) if (key.startsWith(name)) table.set(key, value);
  tables.set(name, table);
  return table;
}

/** In memory of its own, so that it can be given away: the writer of frames uses one buffer again and again. */
function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

const appendBytesMax = 4 << 20;
const unappliedBytesMax = 16 << 20;
