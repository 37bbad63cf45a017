import { StoreError, type Group } from './contract.js';
import type { Database } from './database.js';
import { frameWriter, type Position } from './frame.js';
import type { Place } from './copy-files.js';
import type { SegmentWriter } from './segment-writer.js';

/**
 * The way of a group: its frame is appended to the segment and made durable, which is the commit; then it goes into
 * LevelDB, unsynced; then its promise resolves. The next groups are appended while these are applied, and what came
 * in while the disk was busy shares one write. At the first failure the pipeline is dead: the store reopens and
 * makes a new one.
 */
export interface CommitPipeline {
  write(group: Group): Promise<void>;
  /** Durable and readable. */
  readonly applied: Position;
  /** The end of the applied position's frame. */
  readonly appliedPlace: Place;
  /** Refuse whatever is not yet on its way to the disk. */
  stop(reason: string): void;
  /** Resolves when nothing is on its way. */
  drain(): Promise<void>;
  /** Tell the writers of groups that were durable, but not applied when the pipeline died, how it ended. */
  settle(position: Position | undefined): void;
}

export interface PipelineOptions {
  readonly database: Database;
  readonly writer: SegmentWriter;
  readonly position: Position;
  readonly onFailure: (reason: string, cause: unknown) => void;
  /** `steps`: log entries and groups together. */
  readonly onCommitted: (bytes: number, steps: number) => void;
}

interface Waiting {
  readonly group: Group;
  readonly frame: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Durable {
  readonly waiting: readonly Waiting[];
  readonly place: Place;
  readonly bytes: number;
}

export function commitPipeline({ database, writer, position, onFailure, onCommitted }: PipelineOptions): CommitPipeline {
  const frames = frameWriter();
  let tail = position;
  let applied = position;
  let appliedPlace = writer.place;
  let queue: Waiting[] = [];
  let durable: Durable[] = [];
  let appending = false;
  let applying = false;
  /** LevelDB failed: what it would acknowledge after that is not to be believed. */
  let torn = false;
  let stopped: string | undefined;
  let drained: (() => void)[] = [];

  const unavailable = (cause?: unknown): StoreError => new StoreError('STORE_UNAVAILABLE', `nothing was written: ${stopped}`, { cause });
  const rejectAll = (waiting: readonly Waiting[], cause?: unknown): void => {
    for (const { reject } of waiting) reject(unavailable(cause));
  };
  const stop = (reason: string): void => {
    stopped ??= reason;
    const waiting = queue;
    queue = [];
    rejectAll(waiting);
  };
  const rest = (): void => {
    if (appending || applying || queue.length > 0) return;
    const waiting = drained;
    drained = [];
    for (const resolve of waiting) resolve();
  };

  const append = async (): Promise<void> => {
    while (queue.length > 0) {
      const waiting: Waiting[] = [];
      try {
        frames.begin();
        while (waiting.length < queue.length && frames.size < appendBytesMax) {
          const next = queue[waiting.length]!;
          waiting.push(next);
          frames.add(next.frame, next.group);
        }
        queue = queue.slice(waiting.length);
        const bytes = frames.finish();
        const place = await writer.append(bytes, waiting[0]!.frame);
        durable.push({ waiting, place, bytes: bytes.length });
      } catch (error) {
        queue = queue.filter((one) => !waiting.includes(one));
        stopped ??= 'the segment could not be written';
        rejectAll(waiting, error);
        stop(stopped);
        onFailure(stopped, error);
        break;
      }
      if (!applying && !torn) void apply();
    }
    appending = false;
    rest();
  };

  const apply = async (): Promise<void> => {
    applying = true;
    while (durable.length > 0) {
      const some = durable.slice();
      const waiting = some.flatMap((one) => one.waiting);
      const last = waiting.at(-1)!;
      const groups = waiting.map((one) => one.group);
      const end: Position = { frame: last.frame, seq: last.group.last, chain: last.group.chain };
      try {
        await database.apply(groups, end);
      } catch (error) {
        // Durable all the same: these writers hear of it once the database has been rolled forward.
        torn = true;
        stop('the database could not be written');
        onFailure('the database could not be written', error);
        break;
      }
      durable = durable.slice(some.length);
      applied = end;
      appliedPlace = some.at(-1)!.place;
      for (const { resolve } of waiting) resolve();
      onCommitted(some.reduce((sum, one) => sum + one.bytes, 0), last.group.last - waiting[0]!.group.first + 1 + waiting.length);
    }
    applying = false;
    rest();
  };

  return {
    get applied() {
      return applied;
    },
    get appliedPlace() {
      return appliedPlace;
    },
    write(group) {
      if (stopped !== undefined) return Promise.reject(unavailable());
      if (group.first !== tail.seq + 1 || group.last < group.first - 1) {
        return Promise.reject(new StoreError('CONFLICT', `the group holds entries ${group.first} to ${group.last}, the store stands at ${tail.seq}`));
      }
      if (group.chain.length !== 43 && group.chain !== '') return Promise.reject(new RangeError(`not a chain: ${group.chain}`));
      // A group without entries moves nothing, whatever chain it names.
      const chain = group.last < group.first ? tail.chain : group.chain;
      tail = { frame: tail.frame + 1, seq: group.last, chain };
      return new Promise<void>((resolve, reject) => {
        queue.push({ group: chain === group.chain ? group : { ...group, chain }, frame: tail.frame, resolve, reject });
        if (appending) return;
        appending = true;
        queueMicrotask(append);
      });
    },
    stop,
    drain: () => new Promise<void>((resolve) => {
      drained.push(resolve);
      rest();
    }),
    settle(end) {
      for (const { waiting } of durable) {
        for (const { frame, resolve, reject } of waiting) {
          if (end && end.frame >= frame) resolve();
          else reject(new StoreError('STORE_UNAVAILABLE', 'the group is durable, but the store could not be opened again'));
        }
      }
      durable = [];
    },
  };
}

const appendBytesMax = 4 << 20;
