import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../actors/start-program.js';
import type { Clock } from '../environment.js';
import type { BackupReport } from './backup.js';
import type { Config } from './config.js';
import { HomeError } from './home-error.js';

/**
 * Backups that no one has to think of: one every so many hours, proven by restoring it into a folder beside
 * it, and only then the oldest go. When the last was made is told by the names in the folder, so a restart
 * neither forgets nor doubles one.
 */
export interface ScheduledBackups {
  /** Resolves when none is under way; one that was is broken off and leaves nothing. */
  close(): Promise<void>;
}

export interface BackupSchedule {
  readonly clock: Clock;
  /** As configured now; looked at every minute. */
  readonly settings: () => Config['backup'];
  readonly instance: string;
  readonly backUp: (target: string) => Promise<BackupReport>;
  /** Rejects with the reason where a backup cannot be restored. Default: a process of its own tries it. */
  readonly prove?: typeof proveBackup;
  readonly made: (report: BackupReport & { readonly removed: readonly string[] }) => void;
  readonly failed: (error: Error, settings: Config['backup']) => void;
}

/** `const backups = scheduleBackups({clock, settings: () => live.current.backup, …}); await backups.close()` */
export function scheduleBackups(schedule: BackupSchedule): ScheduledBackups {
  const { clock, settings, failed } = schedule;
  const stopping = new AbortController();
  let cancel: (() => void) | undefined;
  let working: Promise<void> = Promise.resolve();
  /** After a failure the next try waits an hour, or the whole time where that is shorter. */
  let notBefore = -Infinity;
  const check = (): void => {
    working = turn()
      .catch((error: Error) => {
        if (stopping.signal.aborted) return;
        notBefore = clock.monotonic() + Math.min(hourMs, settings().everyHours * hourMs);
        failed(error, settings());
      })
      .finally(() => {
        if (!stopping.signal.aborted) cancel = clock.timeout(checkEveryMs, check);
      });
  };
  const turn = async (): Promise<void> => {
    const now = settings();
    if (now.folder === null || clock.monotonic() < notBefore) return;
    const last = (await backupsIn(now.folder, schedule.instance)).at(-1);
    // A clock that was set back must not end the backups until it has caught up
    if (last !== undefined && Math.abs(clock.now() - last.at) < now.everyHours * hourMs) return;
    await make(now.folder, now, schedule, stopping.signal);
  };
  cancel = clock.timeout(0, check);
  return {
    async close() {
      stopping.abort();
      cancel?.();
      await working;
    },
  };
}

async function make(
  folder: string,
  { keep }: Config['backup'],
  { clock, instance, backUp, prove = proveBackup, made }: BackupSchedule,
  signal: AbortSignal,
): Promise<void> {
  const before = await backupsIn(folder, instance);
  const name = nameOf(instance, clock.now());
  const report = await backUp(join(folder, name));
  try {
    await prove(report.target, signal);
  } catch (error) {
    // What cannot be restored is no backup, and must not stand where one is looked for
    await rm(report.target, { recursive: true, force: true });
    throw error;
  }
  const removed = before.slice(0, Math.max(0, before.length - (keep - 1))).map((old) => old.name);
  for (const old of removed) await rm(join(folder, old), { recursive: true, force: true });
  made({ ...report, removed });
}

/** Rejects with what is wrong with a backup. It is restored beside itself, by a process that yields to all others. */
export async function proveBackup(target: string, signal: AbortSignal): Promise<void> {
  const program = fileURLToPath(new URL('./prove-backup.js', import.meta.url));
  const scratch = `${target}.unfinished-${randomBytes(6).toString('hex')}`;
  try {
    const fault = await trial([program, target, scratch], signal);
    if (fault !== undefined)
      throw new HomeError(
        'BAD_HOME',
        `The backup ${target} could not be restored: ${fault}.`,
        'It was removed. Check the disk that it was written to.',
      );
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What the program says is wrong; undefined: nothing. */
function trial(program: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = startProgram(process.execPath, program, {
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)));
    child.once('spawn', () => {
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    });
    child.once('error', reject);
    child.once('close', (code, killedBy) =>
      resolve(code === 0 ? undefined : said.trim() || `the trial ended with ${killedBy ?? `code ${code}`}`),
    );
  });
}

/** The backups of an instance in a folder, oldest first. An absent folder has none. */
export async function backupsIn(
  folder: string,
  instance: string,
): Promise<readonly { readonly name: string; readonly at: number }[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => name.startsWith(`${instance}-`))
    .map((name) => ({ name, at: timeOf(name.slice(instance.length + 1)) }))
    .filter(({ at }) => !Number.isNaN(at))
    .sort((a, b) => a.at - b.at);
}

/** When a backup of the schedule goes by itself: once `keep` newer ones have been made. */
export function removedAt(
  place: number,
  backups: readonly { readonly at: number }[],
  { keep, everyHours }: Pick<Config['backup'], 'keep' | 'everyHours'>,
): number {
  const newer = backups.length - 1 - place;
  return (backups.at(-1)?.at ?? 0) + Math.max(0, keep - newer) * everyHours * hourMs;
}

/** `default-2026-11-22T03-00-00-000Z`: colons do not go into names everywhere. */
const nameOf = (instance: string, at: number): string =>
  `${instance}-${new Date(at).toISOString().replaceAll(/[:.]/g, '-')}`;

function timeOf(text: string): number {
  const found = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/.exec(text);
  return found === null ? Number.NaN : Date.parse(`${found[1]}:${found[2]}:${found[3]}.${found[4]}Z`);
}

const hourMs = 3_600_000;
const checkEveryMs = 60_000;
