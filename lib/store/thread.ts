import { Worker } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from './contract.js';
import type { ImageOrder, WrittenImage } from './copy-files.js';
import { DamageError, openDatabase, type Database } from './database.js';
import { nodeFiles } from './files.js';
import type { Position } from './frame.js';
import type { OpenOptions } from './tables.js';

/**
 * The real database, with a thread that does what takes time and decides nothing: it puts frames that are durable into
 * LevelDB while there are many of them, and writes base images, each compared with the second copy. It begins when
 * there is something for it and ends when there is little; so a home at rest pays nothing for it. It shares the open
 * LevelDB, and every read sees what either of them has written.
 */
export async function openThreaded(
  directory: string,
  options: OpenOptions,
  how: ThreadOptions = {},
): Promise<Database> {
  const database = await openDatabase(nodeFiles, directory, options);
  const thread = storeThread(directory, how);
  return {
    ...database,
    apply: (frames, position) => thread.apply(frames, position) ?? database.apply(frames, position),
    image: (order) => thread.image(order),
    async close() {
      await thread.close();
      await database.close();
    },
  };
}

export interface ThreadOptions {
  /** The program, for tests. */
  readonly program?: URL;
  /** The thread begins with more bytes of frames than this within a second, and ends after half a minute with less. */
  readonly busyBytes?: number;
}

interface StoreThread {
  /** Undefined where there is too little to apply for a thread to pay, or it is not there yet. */
  apply(frames: readonly Buffer[], position: Position): Promise<void> | undefined;
  /** Undefined where no thread could be begun. */
  image(order: ImageOrder): Promise<WrittenImage | undefined>;
  /** Before the database is closed. */
  close(): Promise<void>;
}

/** What is asked of the thread; one answer to each, by its number. */
export type Order =
  | { readonly n: number; readonly apply: readonly Uint8Array[]; readonly position: Position }
  | { readonly n: number; readonly image: Omit<ImageOrder, 'signal'> }
  | { readonly abort: number }
  | { readonly end: true };

export type ThreadAnswer =
  | { readonly begun: true }
  | { readonly n: number; readonly result?: WrittenImage }
  | { readonly n: number; readonly error: Fault };

/** An error on its way between threads: its class is known by its name. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

function storeThread(
  directory: string,
  { program = new URL('./thread-main.js', import.meta.url), busyBytes = 2 << 20 }: ThreadOptions,
): StoreThread {
  let running: Running | undefined;
  let ending: Promise<void> | undefined;
  let closed = false;
  let windowEnds = 0;
  let windowBytes = 0;
  let used = 0;
  /** Where no thread can be had, asking for one again and again costs more than it could give. */
  let restsUntil = 0;

  const end = async (): Promise<void> => {
    clearInterval(watch);
    const one = running;
    running = undefined;
    if (one !== undefined) ending = one.end();
    await ending;
  };
  let watch: NodeJS.Timeout | undefined;
  const begin = (): Running => {
    if (closed) throw new StoreError('STORE_UNAVAILABLE', 'the store is closed');
    if (running !== undefined) return running;
    const one = beginThread(directory, program);
    void one.exit.then(() => {
      if (!one.hasBegun) restsUntil = performance.now() + restMs;
      if (running === one) void end();
    });
    watch = setInterval(() => {
      if (!one.isBusy && performance.now() - used > idleMs) void end();
    }, idleMs).unref();
    used = performance.now();
    return (running = one);
  };
  /** Whether more than a little was applied within this second. */
  const isBusy = (bytes: number): boolean => {
    const now = performance.now();
    if (now > windowEnds) [windowEnds, windowBytes] = [now + windowMs, 0];
    windowBytes += bytes;
    if (windowBytes <= busyBytes) return false;
    used = now;
    return true;
  };

  return {
    apply(frames, position) {
      if (isBusy(frames.reduce((sum, { length }) => sum + length, 0)) && performance.now() > restsUntil)
        begin();
      if (running?.isReady !== true) return undefined;
      const given = frames.map(({ buffer }) => buffer as ArrayBuffer);
      return running.ask((n) => ({ n, apply: frames, position }), { given }) as Promise<void>;
    },
    async image({ signal, ...image }) {
      signal.throwIfAborted();
      const one = begin();
      return one
        .ask((n) => ({ n, image }), { signal })
        .catch((error: unknown) => {
          if (one.hasBegun) throw error;
          return undefined;
        }) as Promise<WrittenImage | undefined>;
    },
    close() {
      closed = true;
      return end();
    },
  };
}

interface Running {
  /** It takes frames. */
  readonly isReady: boolean;
  /** It has opened the database. */
  readonly hasBegun: boolean;
  /** It has not answered everything yet. */
  readonly isBusy: boolean;
  readonly exit: Promise<unknown>;
  ask(
    order: (n: number) => Order,
    how: { readonly given?: readonly ArrayBuffer[]; readonly signal?: AbortSignal },
  ): Promise<unknown>;
  /** When all is answered. */
  end(): Promise<void>;
}

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** It keeps the process alive only while it has something to do. */
function beginThread(directory: string, program: URL): Running {
  const worker = new Worker(program, { workerData: directory, name: 'troupe store' });
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
    ask: (order, { given = [], signal }) =>
      new Promise((resolve, reject) => {
        const n = (last += 1);
        const abort = (): void => worker.postMessage({ abort: n } satisfies Order);
        const done = (): void => signal?.removeEventListener('abort', abort);
        signal?.addEventListener('abort', abort, { once: true });
        asked.set(n, {
          resolve: (value) => (done(), resolve(value)),
          reject: (error) => (done(), reject(error)),
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

/** As it was thrown there, as far as anyone asks. */
function errorOf({ name, message, code }: Fault): Error {
  if (name === 'DamageError') return new DamageError(message);
  if (name === 'StoreError') return new StoreError(code as StoreErrorCode, message);
  return Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
}

const windowMs = 1_000;
const idleMs = 30_000;
const restMs = 60_000;
