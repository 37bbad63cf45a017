import { readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onFrames, workerKey, workerName, write, type FromWorker } from './wire.js';

/**
 * Ends what the workers of a home still do, and them. Answers how many there were; at most 30 s.
 * @example await endWorkers(layout.run, announcement.secret) // 1
 */
export async function endWorkers(folder: string, secret: string): Promise<number> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => workerName.test(name));
  const ended = await Promise.all(names.map((name) => endWorker(folder, name, secret)));
  return ended.filter(Boolean).length;
}

async function endWorker(folder: string, name: string, secret: string): Promise<boolean> {
  const path = join(folder, name);
  const socket = connect(path);
  const isThere = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  if (!isThere) {
    await rm(path, { force: true }); // what a worker left that was killed
    return false;
  }
  socket.on('error', () => undefined); // its end is what is waited for
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  onFrames<FromWorker>(socket, ({ type }) => type === 'ready' && write(socket, { type: 'end' }));
  write(socket, { type: 'hello', key: workerKey(secret, name) });
  await Promise.race([closed, wait(patienceMs, undefined, { ref: false })]);
  socket.destroy();
  return true;
}

// Its turns get SIGINT, SIGTERM and SIGKILL in turn
const patienceMs = 30_000;
