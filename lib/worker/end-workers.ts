import { readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onFrames, workerKey, workerName, write, type FromWorker } from './wire.js';

/**
 * Ends what the workers of a home still do, and them; at most 30 s. Answers how many ended, and how many go on:
 * those of another secret, and those that did not end in time.
 * @example await endWorkers(layout.run, announcement.secret) // { ended: 1, left: 0 }
 */
export async function endWorkers(
  folder: string,
  secret: string,
): Promise<{ readonly ended: number; readonly left: number }> {
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => workerName.test(name));
  const ends = await Promise.all(names.map((name) => endWorker(folder, name, secret)));
  return {
    ended: ends.filter((end) => end === 'ended').length,
    left: ends.filter((end) => end === 'left').length,
  };
}

async function endWorker(folder: string, name: string, secret: string): Promise<'none' | 'ended' | 'left'> {
  const path = join(folder, name);
  const socket = connect(path);
  const isThere = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  if (!isThere) {
    await rm(path, { force: true }); // what a worker left that was killed
    return 'none';
  }
  socket.on('error', () => undefined); // its end is what is waited for
  let isReady = false;
  const closed = new Promise<'ended' | 'left'>((resolve) =>
    socket.once('close', () => resolve(isReady ? 'ended' : 'left')),
  );
  onFrames<FromWorker>(socket, ({ type }) => {
    if (type !== 'ready') return;
    isReady = true;
    write(socket, { type: 'end' });
  });
  write(socket, { type: 'hello', key: workerKey(secret, name) });
  const end = await Promise.race([closed, wait(patienceMs, 'left' as const, { ref: false })]);
  socket.destroy();
  return end;
}

// Its turns get SIGINT, SIGTERM and SIGKILL in turn
const patienceMs = 30_000;
