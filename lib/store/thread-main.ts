import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from './database.js';
import { nodeFiles } from './files.js';
import { writeImage } from './image.js';
import { storePorts } from './ports.js';
import type { Progress } from './rebuild.js';
import type { Fault, Order, ThreadAnswer } from './thread.js';
import { verifyInUse } from './verify.js';

/** What runs in the thread of a store (`thread.ts`). `workerData`: the folder of the database. */
const port = parentPort!;
const ports = storePorts();
const images = new Map<number, AbortController>();
const say = (answer: ThreadAnswer): void => port.postMessage(answer);

const database = await openDatabase(nodeFiles, workerData as string, { create: 'never' });
const working = new Set<Promise<void>>();
port.on('message', (order: Order) => {
  if ('abort' in order) images.get(order.abort)?.abort();
  else if ('end' in order) void end();
  else {
    const work = carryOut(order);
    working.add(work);
    void work.finally(() => working.delete(work));
  }
});
say({ begun: true });

async function carryOut(order: Exclude<Order, { abort: number } | { end: true }>): Promise<void> {
  const { n } = order;
  try {
    if ('apply' in order) {
      await database.apply(order.apply.map(bufferOf), order.position);
      say({ n });
    } else if ('image' in order) {
      say({ n, result: await image(n, order.image) });
    } else {
      const onProgress = (progress: Progress): void => say({ n, progress });
      say({ n, result: await verifyInUse(nodeFiles, database, order.verify, { onProgress }) });
    }
  } catch (error) {
    say({ n, error: faultOf(error) });
  }
}

function image(n: number, order: Extract<Order, { image: object }>['image']): ReturnType<typeof writeImage> {
  const controller = new AbortController();
  images.set(n, controller);
  return writeImage(ports, database, { ...order, signal: controller.signal }).finally(() => images.delete(n));
}

async function end(): Promise<void> {
  for (const controller of images.values()) controller.abort();
  await database.close(); // which ends what still reads
  await Promise.all(working);
  port.close();
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
