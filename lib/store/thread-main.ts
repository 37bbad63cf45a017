import type { MessagePort } from 'node:worker_threads';
import { codeUrl, openDatabase } from './database.js';
import { nodeFiles } from './files.js';
import { writeImage } from './compare.js';
import { storePorts } from './ports.js';
import type { Progress } from './rebuild.js';
import type { Fault, Order, ThreadAnswer } from './running-thread.js';
import { verifyInUse } from './verify.js';

export interface ThreadData {
  readonly port: MessagePort;
  /** Of the database. */
  readonly directory: string;
}

type Work = Exclude<Order, { readonly abort: number } | { readonly end: true }>;

/** What runs in the thread of a store (`thread.ts`). */
export async function serve({ port, directory }: ThreadData): Promise<void> {
  const ports = storePorts();
  const say = (answer: ThreadAnswer): void => port.postMessage(answer);
  /** What ends soon, and is waited for at the end. */
  const working = new Set<Promise<void>>();
  /** By which images are given up. */
  const aborts = new Map<number, AbortController>();
  const database = await openDatabase(nodeFiles, directory, { create: 'never' });

  const resultOf = async (order: Work) => {
    const { n } = order;
    if ('apply' in order) return database.apply(order.apply.map(bufferOf), order.position);
    if ('image' in order) {
      const abort = new AbortController();
      aborts.set(n, abort);
      const image = { ...order.image, signal: abort.signal };
      return writeImage(ports, database, image).finally(() => aborts.delete(n));
    }
    const onProgress = (progress: Progress): void => say({ n, progress });
    return verifyInUse(nodeFiles, database, order.verify, { onProgress });
  };
  const carryOut = async (order: Work): Promise<void> => {
    const { n } = order;
    try {
      const result = await resultOf(order);
      say(result === undefined ? { n } : { n, result });
    } catch (error) {
      say({ n, error: faultOf(error) });
    }
  };
  const end = async (): Promise<void> => {
    for (const abort of aborts.values()) abort.abort();
    await Promise.all(working);
    await database.close(); // which ends a verification in the middle of it
    process.exit(); // this thread alone, whatever still holds it
  };

  port.on('message', (order: Order) => {
    if ('abort' in order) aborts.get(order.abort)?.abort();
    else if ('end' in order) void end();
    else {
      const work = carryOut(order);
      if ('verify' in order) return;
      working.add(work);
      void work.finally(() => working.delete(work));
    }
  });
  say({ begun: true, code: codeUrl });
}

/** A Buffer comes over as plain bytes. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  return 'code' in error && typeof error.code === 'string'
    ? { name, message, code: error.code }
    : { name, message };
}
