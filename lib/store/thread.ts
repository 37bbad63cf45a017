import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from './contract.js';
import type { ImageOrder, WrittenImage } from './copy-files.js';
import { DamageError } from './database.js';
import type { Position } from './frame.js';
import type { Progress } from './rebuild.js';
import type { InUseOptions, VerifyReport } from './verify.js';

/**
 * A thread of a store that does what takes time and decides nothing: it puts frames that are durable into LevelDB while
 * there are many of them, writes base images and verifies. It begins when there is something for it and ends when
 * there is little, so a home at rest pays nothing for it. It shares the open LevelDB: every read sees what either has
 * written.
 */
export interface StoreThread {
  /** `Database.apply`; undefined where there is too little to apply for a thread to pay, or it is not there yet. */
  apply(frames: readonly Buffer[], position: Position): Promise<void> | undefined;
  /** `writeImage`; undefined where no thread could be begun. */
  image(order: ImageOrder): Promise<WrittenImage | undefined>;
  /** `verifyInUse` of the folder of the second copy; undefined where no thread could be begun. */
  verify(copy: string, options?: InUseOptions): Promise<VerifyReport | undefined>;
  /** Before the database is closed. What it has not done then comes to nothing. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** The program, for tests. */
  readonly program?: URL;
  /** It begins with more bytes of frames than this within a second, and ends after half a minute with less. */
  readonly busyBytes?: number;
}

/** What is asked of the thread; one answer to each, by its number. */
export type Order =
  | { readonly n: number; readonly apply: readonly Uint8Array[]; readonly position: Position }
  | { readonly n: number; readonly image: Omit<ImageOrder, 'signal'> }
  | { readonly n: number; readonly verify: string }
  | { readonly abort: number }
  | { readonly end: true };

export type ThreadAnswer =
  | { readonly begun: true }
  | { readonly n: number; readonly progress: Progress }
  | { readonly n: number; readonly result?: WrittenImage | VerifyReport }
  | { readonly n: number; readonly error: Fault };

/** An error on its way between threads: its class is known by its name. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** For the database that is open in `directory`, under this very path. */
export function storeThread(
  directory: string,
  { program = new URL('./thread-main.js', import.meta.url), busyBytes = 2 << 20 }: ThreadOptions = {},
): StoreThread {
  let running: Running | undefined;
  let ending: Promise<void> | undefined;
  let closed = false;
  let windowEnds = 0;
  let windowBytes = 0;
  let used = 0;
  /** Where no thread can be had, trying again and again costs more than it could give. */
  let restsUntil = 0;

  const end = async (): Promise<void> => {
    clearInterval(watch);
    const one = running;
    running = undefined;
    if (one !== undefined) ending = one.end();
    await ending;
  };
  let watch: NodeJS.Timeout | undefined;
  const begin = (): Running | undefined => {
    if (running !== undefined || closed || performance.now() < restsUntil) return running;
    const one = beginThread(directory, program);
    restsUntil = performance.now() + restMs;
    if (one === undefined) return undefined;
    void one.exit.then(() => {
      if (one.hasBegun) restsUntil = 0;
      if (running === one) void end();
    });
    watch = setInterval(() => {
      if (!one.isBusy && performance.now() - used > idleMs) void end();
    }, idleMs).unref();
    used = performance.now();
    return (running = one);
  };
  /** Whether more than a little was applied within this second. */
  const isBusy = (frames: readonly Buffer[]): boolean => {
    const now = performance.now();
    if (now > windowEnds) [windowEnds, windowBytes] = [now + windowMs, 0];
    for (const { length } of frames) windowBytes += length;
    if (windowBytes <= busyBytes) return false;
    used = now;
    return true;
  };

  /** The answer of a thread; undefined where none could be begun. */
  const answerOf = async (order: (n: number) => Order, how: AskOptions): Promise<unknown> => {
    const one = begin();
    return one?.ask(order, how).catch((error: unknown) => {
      if (one.hasBegun) throw error;
      return undefined;
    });
  };

  return {
    apply(frames, position) {
      if (isBusy(frames)) begin();
      if (running?.isReady !== true) return undefined;
      const given = frames.map(({ buffer }) => buffer as ArrayBuffer);
      return running.ask((n) => ({ n, apply: frames, position }), { given }) as Promise<void>;
    },
    async image({ signal, ...image }) {
      signal.throwIfAborted();
      return (await answerOf((n) => ({ n, image }), { signal })) as WrittenImage | undefined;
    },
    async verify(copy, how = {}) {
      return (await answerOf((n) => ({ n, verify: copy }), how)) as VerifyReport | undefined;
    },
    close() {
      closed = true;
      return end();
    },
  };
}

interface AskOptions {
  /** Buffers that the order takes along. */
  readonly given?: readonly ArrayBuffer[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

interface Running {
  /** It takes frames. */
  readonly isReady: boolean;
  /** It has opened the database. */
  readonly hasBegun: boolean;
  /** It has not answered everything yet. */
  readonly isBusy: boolean;
  readonly exit: Promise<unknown>;
  ask(order: (n: number) => Order, how: AskOptions): Promise<unknown>;
  /** When all is answered. */
  end(): Promise<void>;
}

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** It keeps the process alive only while it has something to do. */
function beginThread(directory: string, program: URL): Running | undefined {
  const worker = workerOf(directory, program);
  if (worker === undefined) return undefined;
  worker.unref();
  const exit = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const asked = new Map<number, Asked>();
  let hasBegun = false;
  let hasEnded = false;
  let last = 0;
  let failure: Error | undefined;

  const answered = (n: number): Asked | undefined => {
    const one = asked.get(n);
    asked.delete(n);
    if (asked.size === 0) worker.unref();
    return one;
  };
  worker.on('message', (answer: ThreadAnswer) => {
    if ('begun' in answer) hasBegun = true;
    else if ('progress' in answer) asked.get(answer.n)?.onProgress?.(answer.progress);
    else if ('error' in answer) answered(answer.n)?.reject(errorOf(answer.error));
    else answered(answer.n)?.resolve(answer.result);
  });
  worker.on('error', (error) => (failure = error));
  void exit.then(() => {
    hasEnded = true;
    for (const n of [...asked.keys()])
      answered(n)?.reject(new Error('the thread of the store ended', { cause: failure }));
  });
  return {
    get isReady() {
      return hasBegun && !hasEnded;
    },
    get hasBegun() {
      return hasBegun;
    },
    get isBusy() {
      return asked.size > 0;
    },
    exit,
    ask: (order, { given = [], signal, onProgress }) =>
      new Promise((resolve, reject) => {
        const n = (last += 1);
        const abort = (): void => worker.postMessage({ abort: n } satisfies Order);
        const done = (): void => signal?.removeEventListener('abort', abort);
        signal?.addEventListener('abort', abort, { once: true });
        asked.set(n, {
          resolve: (value) => (done(), resolve(value)),
          reject: (error) => (done(), reject(error)),
          onProgress,
        });
        worker.ref();
        worker.postMessage(order(n), given);
      }),
    async end() {
      worker.ref();
      worker.postMessage({ end: true } satisfies Order);
      await exit;
    },
  };
}

/** Undefined where the process may have none. */
function workerOf(directory: string, program: URL): Worker | undefined {
  try {
    return new Worker(program, { workerData: directory, name: 'troupe store' });
  } catch {
    return undefined;
  }
}

/** As it was thrown there, as far as anyone asks. */
function errorOf({ name, message, code }: Fault): Error {
  if (name === 'DamageError') return new DamageError(message);
  if (name === 'StoreError') return new StoreError(code as StoreErrorCode, message);
  return Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
}

const windowMs = 1_000;
const idleMs = 30_000;
const restMs = 60_000;
