import { timingSafeEqual } from 'node:crypto';
import { chmod, rm, stat } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Engine } from '../../actors/engines/engine.js';
import { keyFile, onFrames, ownBuild, write, type ToWorker, type WorkerSetup } from './wire.js';
import { Worker, type Link } from './worker.js';

/**
 * A worker on the gateway's machine: it listens on a Unix socket, and who knows its key is its gateway. `over` is
 * called when it has ended. `await listen(setup, engines, () => process.exit(0))`
 */
export async function listen(
  setup: Omit<WorkerSetup, 'engines' | 'enginesFolder' | 'gatewayUrl'>,
  engines: readonly Engine[],
  over: () => void,
): Promise<void> {
  const { socket: path } = setup;
  const server = createServer((socket) => greet(socket));
  const worker = new Worker(setup, engines, () => {
    clearInterval(poll);
    server.close();
    return Promise.all([rm(path, { force: true }), rm(keyFile(path), { force: true })])
      .catch(() => undefined)
      .then(over);
  });

  function greet(socket: Socket): void {
    let isKnown = false;
    const link: Link = {
      send: (frame) => write(socket, frame),
      end: () => socket.destroySoon(),
    };
    socket.on('error', () => undefined); // its end is what counts
    socket.on('close', () => worker.leave(link));
    onFrames<ToWorker>(socket, (frame) => {
      if (isKnown) return worker.take(link, frame);
      if (frame.type !== 'hello' || !same(frame.key, setup.key)) return void socket.destroy();
      isKnown = true;
      worker.welcome(link);
      const { startedAt } = worker;
      link.send({ type: 'ready', pid: process.pid, startedAt, running: worker.running(), ...ownBuild });
    });
  }

  /** Without its socket no gateway can find it: the folder of the home is gone, say. */
  async function findSocket(): Promise<void> {
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere && !worker.hasGateway) worker.end();
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  await chmod(path, 0o600);
  const poll = setInterval(() => void findSocket(), pollEveryMs).unref();
  worker.watch();
}

const pollEveryMs = 5_000;

function same(given: unknown, key: string): boolean {
  const [one, other] = [Buffer.from(String(given)), Buffer.from(key)];
  return one.length === other.length && timingSafeEqual(one, other);
}
