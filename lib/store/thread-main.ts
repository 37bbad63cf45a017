import { workerData, type MessagePort } from 'node:worker_threads';
import { codeUrl, openDatabase } from './database.js';
import { nodeFiles } from './files.js';
import { writeImage } from './image.js';
import { storePorts } from './ports.js';
import type { Progress } from './rebuild.js';
import type { Fault, Order, ThreadAnswer } from './running-thread.js';
import { verifyInUse } from './verify.js';

/** What runs in the thread of a store (`thread.ts`). `directory`: of the database. */
const { port, directory } = workerData as { readonly port: MessagePort; readonly directory: string };
const ports = storePorts();
const say = (answer: ThreadAnswer): void => port.postMessage(answer);
/** What ends soon, and is waited for at the end. */
const working = new Set<Promise<void>>();
/** By which images are given up. */
const aborts = new Map<number, AbortController>();

type Work = Exclude<Order, { readonly abort: number } | { readonly end: true }>;

const database = await openDatabase(nodeFiles, directory, { create: 'never' });
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

async function carryOut(order: Work): Promise<void> {
  const { n } = order;
  try {
    const result = await resultOf(order);
    say(result === undefined ? { n } : { n, result });
  } catch (error) {
    say({ n, error: faultOf(error) });
  }
}

async function resultOf(order: Work) {
  const { n } = order;
  if ('apply' in order) return database.apply(order.apply.map(bufferOf), order.position);
  if ('image' in order) {
    const abort = new AbortController();
    aborts.set(n, abort);
    return writeImage(ports, database, { ...order.image, signal: abort.signal }).finally(() =>
      aborts.delete(n),
    );
  }
  const onProgress = (progress: Progress): void => say({ n, progress });
  return verifyInUse(nodeFiles, database, order.verify, { onProgress });
}

async function end(): Promise<void> {
  for (const abort of aborts.values()) abort.abort();
  await Promise.all(working);
  await database.close(); // which ends a verification in the middle of it
  process.exit(); // this thread alone, whatever still holds it
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
