import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeadSocket } from './start-worker.js';
import { keyFile, onFrames, workerName, write, type FromWorker, type ToWorker } from './wire.js';

/** What became of the workers of a home, whose gateway has ended. */
export interface WorkersLeft {
  readonly ended: number;
  /** They did not answer, or did not end in time. */
  readonly left: number;
}

/**
 * Ends what the workers of a home still do, and them; at most 30 s.
 * @example await endWorkers(layout.run) // { ended: 1, left: 0 }
 */
export async function endWorkers(folder: string): Promise<WorkersLeft> {
  const ends = await Promise.all(
    (await socketsIn(folder)).map((path) => say(path, { type: 'end' }, ({ closed }) => closed)),
  );
  return {
    ended: ends.filter((end) => end?.isDone === true).length,
    left: ends.filter((end) => end?.isDone === false).length,
  };
}

/**
 * How long the turns that the workers of a home have go on without a gateway; answers how many those are.
 * @example await keepWorkers(layout.run, 15 * 60_000) // 2
 */
export async function keepWorkers(folder: string, ms: number): Promise<number> {
  const said = await Promise.all(
    (await socketsIn(folder)).map((path) => say(path, { type: 'wait', ms }, ({ end }) => end())),
  );
  return said.reduce((sum, each) => sum + (each?.running ?? 0), 0);
}

/**
 * The workers of a home: how many listen, and how many are gone and have left their socket. Changes nothing.
 * @example await workersOf(layout.run) // { alive: 1, dead: 0 }
 */
export async function workersOf(folder: string): Promise<{ readonly alive: number; readonly dead: number }> {
  const isDead = await Promise.all((await socketsIn(folder)).map(isDeadSocket));
  const dead = isDead.filter(Boolean).length;
  return { alive: isDead.length - dead, dead };
}

/**
 * Workers of other machines are reached by the gateway alone: it is asked to end their turns as it stops.
 * @example const forget = await askToEndTurns(layout.run); try { stop() } finally { await forget() }
 */
export async function askToEndTurns(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 }); // no worker of this machine may have made it
  await writeFile(askedFile(folder), '', { mode: 0o600 });
  return () => rm(askedFile(folder), { force: true });
}

/** Was it, and has not been before? `await isAskedToEndTurns(layout.run) // true, once` */
export const isAskedToEndTurns = (folder: string): Promise<boolean> =>
  rm(askedFile(folder)).then(
    () => true,
    () => false,
  );

const askedFile = (folder: string): string => join(folder, 'end-turns');

const socketsIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch((): string[] => []))
    .filter((name) => workerName.test(name))
    .map((name) => join(folder, name));

interface Said {
  readonly isDone: boolean;
  /** Turns that it had. */
  readonly running: number;
}

/** Undefined where no one listens. */
async function say(
  path: string,
  frame: ToWorker,
  until: (socket: { readonly closed: Promise<void>; readonly end: () => Promise<void> }) => Promise<void>,
): Promise<Said | undefined> {
  const key = await readFile(keyFile(path), 'utf8').catch(() => '');
  const socket = connect(path);
  const isThere = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  if (!isThere) {
    await Promise.all([rm(path, { force: true }), rm(keyFile(path), { force: true })]); // of one that was killed
    return undefined;
  }
  socket.on('error', () => undefined); // its end is what is waited for
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const end = (): Promise<void> => {
    socket.end();
    return closed;
  };
  const ready = new Promise<number>((resolve, reject) => {
    onFrames<FromWorker>(socket, (answer) => answer.type === 'ready' && resolve(answer.running));
    void closed.then(() => reject(new Error('The worker does not know the key.')));
  });
  write(socket, { type: 'hello', key });
  const done = ready.then(async (running) => {
    write(socket, frame);
    await until({ closed, end });
    return { isDone: true, running };
  });
  const failed: Said = { isDone: false, running: 0 };
  const said = await Promise.race([done.catch(() => failed), wait(patienceMs, failed, { ref: false })]);
  socket.destroy();
  return said;
}

// Its turns get SIGINT, SIGTERM and SIGKILL in turn
const patienceMs = 30_000;
