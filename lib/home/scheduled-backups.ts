import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../actors/start-program.js';
import type { Clock } from '../environment.js';
import { isWithinHome, keptParts } from './backups/kept-parts.js';
import { choiceFolders } from './backups/manifest.js';
import { readRecord, folderOf, writeRecord, type KeptBackup } from './backups/record.js';
import { timeOf } from './backups/repository.js';
import type { BackupJob, BackupMade } from './backups/job.js';
import type { Config } from './config.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * Backups that no one has to think of: one every so many hours, restored on trial before it counts, and only then the
 * oldest go. When the last was made is in the record of the home, so a restart neither forgets nor doubles one.
 */
export interface ScheduledBackups {
  /** Makes one now, or awaits the one that is being made. Rejects where it fails, or where `backup.to` is not set. */
  make(): Promise<BackupMade>;
  /** Resolves when none is under way; one that was is broken off and is no backup. */
  close(): Promise<void>;
}

export interface BackupSchedule {
  readonly clock: Clock;
  /** As configured now; looked at every minute. */
  readonly settings: () => Config['backup'];
  readonly layout: Layout;
  /** Of Troupe. */
  readonly version: string;
  /** Puts the files of a second copy of the store into a folder, as of now. */
  readonly stage: (folder: string) => Promise<void>;
  /** Default: a program of its own, at low priority. */
  readonly run?: typeof runApart;
  readonly made: (made: BackupMade) => void;
  readonly failed: (error: Error, settings: Config['backup']) => void;
  /** None are made any more: of one that failed before no one need hear. */
  readonly off: () => void;
}

/** `const backups = scheduleBackups({clock, settings: () => live.current.backup, …}); await backups.close()` */
export function scheduleBackups(schedule: BackupSchedule): ScheduledBackups {
  const { clock, settings, layout, run = runApart } = schedule;
  const stopping = new AbortController();
  let cancel: (() => void) | undefined;
  let checking: Promise<void> = Promise.resolve();
  let making: Promise<BackupMade> | undefined;
  /** After a failure the next try waits an hour, or the whole time where that is shorter. */
  let notBefore = -Infinity;
  let isOff = false;

  const check = (): void => {
    checking = turn()
      .catch(() => undefined) // told already
      .finally(() => {
        if (!stopping.signal.aborted) cancel = clock.timeout(checkEveryMs, check);
      });
  };
  const turn = async (): Promise<void> => {
    const { to, everyHours } = settings();
    if (to === null) {
      if (!isOff) schedule.off();
      isOff = true;
      return;
    }
    isOff = false;
    if (clock.monotonic() < notBefore) return;
    const record = await readRecord(layout);
    const last = record.to === to ? record.madeAt : null;
    // A clock that was set back must not end the backups until it has caught up
    if (last !== null && Math.abs(clock.now() - last) < everyHours * hourMs) return;
    await make();
  };
  const make = (): Promise<BackupMade> =>
    (making ??= makeOne()
      .then((made) => {
        schedule.made(made);
        return made;
      })
      .catch(async (error: Error) => {
        const now = settings();
        if (!stopping.signal.aborted && now.to !== null) {
          notBefore = clock.monotonic() + Math.min(hourMs, now.everyHours * hourMs);
          const failed = { at: new Date(clock.now()).toISOString(), reason: error.message };
          await readRecord(layout)
            .then((record) => writeRecord(layout, { ...record, failed }))
            .catch(() => undefined); // where the disk is full, it is at least said
          schedule.failed(error, now);
        }
        throw error;
      })
      .finally(() => (making = undefined)));

  async function makeOne(): Promise<BackupMade> {
    const { to, endpoint, region, keep, include, encrypt, secretsFile } = settings();
    if (to === null)
      throw new HomeError(
        'BAD_HOME',
        'backup.to is not set in config.yaml.',
        'Name a folder or a bucket there.',
      );
    await refuseWithin(layout.home, to, include);
    const store = join(layout.temporary, 'backup-store');
    const scratch = join(layout.temporary, 'backup-trial');
    const record = await readRecord(layout);
    const at = clock.now();
    try {
      // What a gateway left that was killed in the middle
      for (const left of [scratch, store]) await rm(left, { recursive: true, force: true });
      await schedule.stage(store);
      const { home, instance } = layout;
      // Kept at once: a new record has a new id, and a second try must find what the first has written
      await writeRecord(layout, record);
      const made = await run(
        {
          source: {
            home,
            store,
            instance,
            version: schedule.version,
            include,
            at,
          },
          place: { to, endpoint, region },
          folder: folderOf(layout, record),
          isKnown: record.to === to && record.kept.length > 0,
          encrypt,
          secretsFile,
          keep,
          scratch,
        },
        stopping.signal,
      );
      await writeRecord(layout, { id: record.id, to, madeAt: at, kept: made.kept, failed: null });
      return made;
    } finally {
      await rm(store, { recursive: true, force: true });
    }
  }

  cancel = clock.timeout(0, check);
  return {
    make,
    async close() {
      stopping.abort();
      cancel?.();
      await checking;
      await making?.catch(() => undefined);
    },
  };
}

async function refuseWithin(home: string, to: string, include: Config['backup']['include']): Promise<void> {
  if (to.startsWith('s3://')) return;
  const parts = await keptParts(
    home,
    include.map((choice) => choiceFolders[choice]),
  );
  if (await isWithinHome(home, to, parts))
    throw new HomeError('BAD_HOME', `backup.to is inside the home: ${to}.`, 'Choose a folder elsewhere.');
}

/** Runs a job in a program of its own, which yields to all others. Rejects with what it says is wrong. */
export function runApart(job: BackupJob, signal: AbortSignal): Promise<BackupMade> {
  const program = fileURLToPath(new URL('./backups/program.js', import.meta.url));
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = startProgram(process.execPath, [program], {
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let answer = '';
    let reason = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (answer += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (reason = (reason + text).slice(-2_000)));
    child.stdin.once('error', () => undefined); // it has ended, and says why
    child.stdin.end(JSON.stringify(job));
    child.once('error', reject);
    child.once('close', (code, killedBy) => {
      if (code === 0) resolve(JSON.parse(answer) as BackupMade);
      else
        reject(
          new HomeError(
            'BAD_HOME',
            reason.trim() || `The program that makes backups ended with ${killedBy ?? `code ${code}`}.`,
            'Fix what it says; the next try comes within the hour.',
          ),
        );
    });
  });
}

/** When a backup of the schedule goes by itself: once `keep` newer ones have been made. */
export function removedAt(
  place: number,
  backups: readonly KeptBackup[],
  { keep, everyHours }: Pick<Config['backup'], 'keep' | 'everyHours'>,
): number {
  const newer = backups.length - 1 - place;
  return timeOf(backups.at(-1)?.name ?? '') + Math.max(0, keep - newer) * everyHours * hourMs;
}

const hourMs = 3_600_000;
const checkEveryMs = 60_000;
