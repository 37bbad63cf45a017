import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';

/** The process that is killed again and again, and what it leaves running. */
export interface Victim {
  readonly url: string;
  /** Wall time when it began and when it was ready. */
  readonly startedAt: number;
  readonly readyAt: number;
  readonly child: ChildProcess;
}

export interface Spawning {
  readonly child: ChildProcess;
  readonly startedAt: number;
  /** Rejects with what it said when it ends before it is ready. */
  readonly ready: Promise<Victim>;
}

/** `announced` finds the address in a line of its output. */
export function begin(command: readonly string[], announced: RegExp): Spawning {
  const startedAt = Date.now();
  const child = spawn(process.execPath, [...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ready = addressIn(child, announced).then((url) => ({ url, startedAt, readyAt: Date.now(), child }));
  ready.catch(() => undefined);
  return { child, startedAt, ready };
}

/** The address in what a process says on either stream; rejects with its last words when it ends before. */
export function addressIn(child: ChildProcess, announced: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer): void => {
      // Read on to the end: a full pipe would stop the process
      said = (said + chunk.toString()).slice(-4_000);
      const url = announced.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', () =>
      reject(new Error(`it ended before it was ready: ${said.trim() || 'without a word'}`)),
    );
  });
}

/** Resolves when it is gone; its exit code, or null for a signal. */
export async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await gone)[0];
}

/** Processes that carry the mark of an agent and work beneath this home. */
export async function agentsOf(home: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [environment, cwd, stat] = await Promise.all([
      readFile(`/proc/${name}/environ`, 'latin1').catch(() => ''),
      readlink(`/proc/${name}/cwd`).catch(() => ''),
      readFile(`/proc/${name}/stat`, 'latin1').catch(() => ''),
    ]);
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    if (
      state !== 'Z' &&
      cwd.startsWith(home) &&
      environment.split('\0').some((entry) => entry.startsWith('SVC_SPAWN_ID='))
    )
      found.push(Number(name));
  }
  return found;
}
