import type { Logger } from 'pino';
import { StoreError } from './contract.js';
import type { ImageOrder, WrittenImage } from './copy-files.js';
import type { Position } from './frame.js';
import {
  beginThread,
  ThreadEnded,
  type AskOptions,
  type Order,
  type RunningThread,
} from './running-thread.js';
import type { InUseOptions, VerifyReport } from './verify.js';

/**
 * A thread of a store that does what takes time and decides nothing: it puts frames that are durable into LevelDB while
 * there are many of them, writes base images and verifies. It begins when there is something for it and ends when
 * there is little, so a home at rest pays nothing for it. It shares the open LevelDB: every read sees what either has
 * written. What it cannot do, because none could be begun or it died, is done without it.
 */
export interface StoreThread {
  /**
   * `Database.apply`; undefined where there is too little to apply for a thread to pay, or it is not there yet. The
   * frames are given away with it.
   */
  apply(frames: readonly Buffer[], position: Position): Promise<void> | undefined;
  /** `writeImage`; undefined where it has to be done without. */
  image(order: ImageOrder): Promise<WrittenImage | undefined>;
  /** `verifyInUse` of the folder of the second copy; undefined where it has to be done without. */
  verify(copy: string, options?: InUseOptions): Promise<VerifyReport | undefined>;
  /** Before the database is closed, whose cache it uses. Frames are applied to the end, all else comes to nothing. */
  end(): Promise<void>;
  /** The same, and none begins after it. */
  close(): Promise<void>;
}

/** When the thread of a store begins. `await levelStore({ directory: 'home', thread: { busyBytes: 8 << 20 } })` */
export interface ThreadOptions {
  /** It begins with more bytes of commits than this within a second. Default 2 MiB. */
  readonly busyBytes?: number;
  /** Another program than its own, for tests. */
  readonly program?: URL;
}

/** For the database that is open in `directory`, under this very path. */
export function storeThread(
  directory: string,
  { busyBytes = 2 << 20, program, log }: ThreadOptions & { readonly log?: Logger | undefined },
): StoreThread {
  let running: RunningThread | undefined;
  const ending = new Set<Promise<unknown>>();
  let isClosed = false;
  /** After one that died: another would most likely, too, and each death of one that applies costs a recovery. */
  let restsUntil = 0;
  /** Of this second, and when there was last much of it. */
  const load = { ends: 0, bytes: 0, heavyAt: 0 };

  const begin = (): RunningThread | undefined => {
    if (running !== undefined || isClosed || performance.now() < restsUntil) return running;
    const one = beginThread(directory, program);
    running = one;
    load.heavyAt = performance.now();
    const watch = setInterval(() => {
      if (!one.hasOrders && performance.now() - load.heavyAt > idleMs) void end();
    }, idleMs).unref();
    void one.ended.then((fault) => {
      clearInterval(watch);
      if (running === one) running = undefined;
      if (fault === undefined) return;
      restsUntil = performance.now() + restMs;
      log?.warn({ err: fault }, 'the thread of the store ended; its work is done without it for a while');
    });
    return one;
  };
  const end = async (): Promise<void> => {
    const one = running;
    running = undefined;
    if (one !== undefined) {
      const ended = one.end().finally(() => ending.delete(ended));
      ending.add(ended);
    }
    await Promise.all(ending);
  };
  const isLoadHeavy = (frames: readonly Buffer[]): boolean => {
    const now = performance.now();
    if (now > load.ends) [load.ends, load.bytes] = [now + 1_000, 0];
    for (const { length } of frames) load.bytes += length;
    if (load.bytes <= busyBytes) return false;
    load.heavyAt = now;
    return true;
  };
  const answerOf = async (order: (n: number) => Order, how: AskOptions): Promise<unknown> => {
    try {
      return await begin()?.ask(order, how);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (isClosed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed', { cause: error });
      return undefined;
    }
  };

  return {
    apply(frames, position) {
      if (isLoadHeavy(frames)) begin();
      if (running?.isReady !== true) return undefined;
      const given = frames.map(({ buffer }) => buffer as ArrayBuffer);
      return running.ask((n) => ({ n, apply: frames, position }), { given }) as Promise<void>;
    },
    async image({ signal, directory: folder, base, share }) {
      signal.throwIfAborted();
      const image = { directory: folder, base, share };
      return (await answerOf((n) => ({ n, image }), { signal })) as WrittenImage | undefined;
    },
    async verify(copy, how = {}) {
      return (await answerOf((n) => ({ n, verify: copy }), how)) as VerifyReport | undefined;
    },
    end,
    close() {
      isClosed = true;
      return end();
    },
  };
}

const idleMs = 30_000;
const restMs = 60_000;
