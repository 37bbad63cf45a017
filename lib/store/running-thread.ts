import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { StoreError, type StoreErrorCode } from './contract.js';
import type { ImageOrder, WrittenImage } from './copy-files.js';
import { codeUrl, DamageError } from './database.js';
import type { Position } from './frame.js';
import type { Progress } from './rebuild.js';
import type { VerifyReport } from './verify.js';

/** What is asked of a thread; one answer to each, by its number. */
export type Order =
  | { readonly n: number; readonly apply: readonly Uint8Array[]; readonly position: Position }
  | { readonly n: number; readonly image: Omit<ImageOrder, 'signal' | 'hurry'> }
  | { readonly n: number; readonly verify: string }
  | { readonly abort: number }
  | { readonly end: true };

export type ThreadAnswer =
  /** It has opened the database. `code`: of which build it is. */
  | { readonly begun: true; readonly code: string }
  | { readonly n: number; readonly progress: Progress }
  | { readonly n: number; readonly result?: WrittenImage | VerifyReport }
  | { readonly n: number; readonly error: Fault };

/** An error on its way between threads: its class is known by its name. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** One thread, from its beginning to its end. It keeps the process alive while something is asked of it, or it ends. */
export interface RunningThread {
  /** Orders are carried out at once; before, they wait until it has begun. */
  readonly isReady: boolean;
  readonly hasOrders: boolean;
  /** Rejects with a ThreadEnded where it ends without an answer. */
  ask(order: (n: number) => Order, how: AskOptions): Promise<unknown>;
  /** Resolves when it has ended. Frames are applied first; all else that it does comes to nothing. */
  end(): Promise<unknown>;
  /** Why it ended; undefined where it was asked to. */
  readonly ended: Promise<Error | undefined>;
}

export interface AskOptions {
  /** Memory that goes to the thread with the order: not to be touched any more. */
  readonly given?: readonly ArrayBuffer[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
}

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

export function beginThread(
  directory: string,
  program = new URL('./apart-main.js', import.meta.url),
): RunningThread {
  const { port1: port, port2 } = new MessageChannel(); // its own: what a host preloads may listen on the standard one
  let state: 'beginning' | 'ready' | 'ending' = 'beginning';
  const asked = new Map<number, Asked>();
  let last = 0;
  let fault: Error | undefined;

  const worker = workerOf(program, { directory, port: port2 });
  const exit = new Promise<void>((resolve) => {
    if (worker === undefined) setImmediate(resolve);
    else worker.once('exit', () => resolve());
  });
  const ended = exit.then(() => {
    port.close();
    const wasAsked = state === 'ending' && fault === undefined;
    state = 'ending';
    const reason = new ThreadEnded('the thread of the store ended', { cause: fault });
    for (const n of [...asked.keys()]) settled(n)?.reject(reason);
    return wasAsked ? undefined : reason;
  });
  const fail = (error: unknown): void => {
    fault ??= error instanceof Error ? error : new Error(String(error));
    void worker?.terminate();
  };
  worker?.on('error', (error) => (fault ??= error));
  worker?.unref();

  const settled = (n: number): Asked | undefined => {
    const one = asked.get(n);
    asked.delete(n);
    if (asked.size === 0 && state !== 'ending') worker?.unref();
    return one;
  };
  const report = (n: number, progress: Progress): void => {
    try {
      asked.get(n)?.onProgress?.(progress);
    } catch (error) {
      settled(n)?.reject(error);
    }
  };
  port.on('message', (answer: ThreadAnswer) => {
    if ('begun' in answer) {
      if (answer.code !== codeUrl) fail(new Error(`it is of another build: ${answer.code}`));
      else if (state === 'beginning') state = 'ready';
    } else if ('progress' in answer) report(answer.n, answer.progress);
    else if ('error' in answer) settled(answer.n)?.reject(errorOf(answer.error));
    else settled(answer.n)?.resolve(answer.result);
  });
  port.on('messageerror', fail);
  port.unref(); // a listener refs it

  return {
    get isReady() {
      return state === 'ready';
    },
    get hasOrders() {
      return asked.size > 0;
    },
    ended,
    ask: (order, { given = [], signal, onProgress }) =>
      new Promise((resolve, reject) => {
        if (state === 'ending') return reject(new ThreadEnded('the thread of the store has ended'));
        const n = (last += 1);
        port.postMessage(order(n), given);
        const abort = (): void => port.postMessage({ abort: n } satisfies Order);
        const done = (): void => signal?.removeEventListener('abort', abort);
        signal?.addEventListener('abort', abort, { once: true });
        asked.set(n, {
          resolve: (value) => (done(), resolve(value)),
          reject: (error) => (done(), reject(error)),
          onProgress,
        });
        worker?.ref();
      }),
    end() {
      if (state !== 'ending') {
        state = 'ending';
        worker?.ref();
        port.postMessage({ end: true } satisfies Order);
      }
      return ended;
    },
  };
}

/** Undefined where the process may have none. What a host gave node for its own code is not for ours. */
function workerOf(program: URL, workerData: { port: MessagePort; directory: string }): Worker | undefined {
  try {
    return new Worker(program, {
      workerData,
      transferList: [workerData.port],
      name: 'troupe store',
      execArgv: [],
      env: {},
    });
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
