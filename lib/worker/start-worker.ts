import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../actors/start-program.js';
import { keyFile, workerName, type WorkerSetup } from './wire.js';

export interface StartOptions extends Omit<WorkerSetup, 'socket' | 'key'> {
  /** Where sockets lie; others than the owner of the home have no way in. */
  readonly folder: string;
  /** What workers write on stderr goes to the end of this file. */
  readonly logFile: string;
}

/**
 * Starts a process that hosts turns, and answers its name when it listens. What a worker that was killed left in the
 * folder goes. `const name = await startWorker({ folder: layout.run, logFile, … })`
 */
export async function startWorker({ folder, logFile, ...setup }: StartOptions): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweepSockets(folder);
  await putAside(logFile);
  const name = `worker-${randomBytes(4).toString('hex')}`;
  const socket = join(folder, name);
  const key = randomBytes(32).toString('base64url');
  await writeFile(keyFile(socket), key, { mode: 0o600, flag: 'wx' });
  try {
    await run({ ...setup, socket, key }, logFile);
  } catch (error) {
    await rm(keyFile(socket), { force: true });
    throw error;
  }
  return name;
}

/**
 * Removes sockets that no one listens on, and keys without a socket.
 * @example await sweepSockets(layout.run)
 */
export async function sweepSockets(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const name of names.filter((found) => workerName.test(found))) {
    const path = join(folder, name);
    if (await isDeadSocket(path))
      await Promise.all([rm(path, { force: true }), rm(keyFile(path), { force: true })]);
  }
  const keys = names.filter(
    (found) => found.endsWith(keySuffix) && workerName.test(found.slice(0, -keySuffix.length)),
  );
  for (const key of keys)
    if (!names.includes(key.slice(0, -keySuffix.length))) await rm(join(folder, key), { force: true });
}

const keySuffix = keyFile('');

/** Did a process listen on it that is gone? `await isDeadSocket(join(layout.run, 'worker-1a2b3c4d'))` */
export const isDeadSocket = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });

/** One that runs goes on writing into the file that was put aside. */
async function putAside(logFile: string): Promise<void> {
  const found = await stat(logFile).catch(() => undefined);
  if (found !== undefined && found.size > logBytesMax) await rename(logFile, `${logFile}.1`);
}

const logBytesMax = 4 * 1024 * 1024;

async function run(setup: WorkerSetup, logFile: string): Promise<void> {
  const log = await open(logFile, 'a', 0o600);
  try {
    const child = startProgram(process.execPath, [fileURLToPath(new URL('./main.js', import.meta.url))], {
      detached: true,
      stdio: ['pipe', 'pipe', log.fd],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`A worker ended as it began (${code}); see ${logFile}.`)),
      );
      child.stdout.once('data', () => resolve());
      child.stdin.on('error', reject);
      child.stdin.end(JSON.stringify(setup));
    });
    child.stdout.destroy();
    child.removeAllListeners('exit');
    child.unref();
  } finally {
    await log.close();
  }
}
