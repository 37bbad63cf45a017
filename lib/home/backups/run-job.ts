import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { openCopy } from '../../store/cut-copy.js';
import { verifyStore } from '../../store/verify.js';
import { makeFolder } from '../atomic-file.js';
import { HomeError } from '../home-error.js';
import { openDestination } from './find-backups.js';
import { bytesOf, filesIn, type Manifest } from './manifest.js';
import { writeOut } from './read-backup.js';
import type { BackupJob, BackupMade } from './job.js';
import type { KeptBackup } from './record.js';
import {
  beginRepository,
  DamagedBackup,
  nameAt,
  openRepository,
  readNote,
  timeOf,
  type Repository,
} from './repository.js';
import { ageSeal, noSeal } from './seal.js';
import { readSecrets } from './secrets.js';
import { writeBackup } from './write-backup.js';

/**
 * Makes a backup: writes what is new, restores all of it on trial, and only then lists it and removes the oldest. Where
 * an object of an earlier one turns out damaged, everything is written again.
 */
export async function runJob(job: BackupJob): Promise<BackupMade> {
  const secrets = await readSecrets(job.secretsFile);
  const seal = job.encrypt ? await ageSeal(secrets.key()) : noSeal;
  const destination = await openDestination(job.place, secrets);
  const { instance, at, home } = job.source;
  // An empty mount point would be filled, and the disk that should lie there is missed on the day it is needed
  if (job.isKnown && (await readNote(destination, job.folder)) === undefined)
    throw new HomeError(
      'BAD_HOME',
      `The backups of before are no longer in ${job.place.to}/${job.folder}.`,
      `Mount its disk, or put them back; to begin with none, remove ${join(home, 'backups.json')}.`,
    );
  await beginRepository(destination, job.folder, { instance, encrypted: job.encrypt });
  const repository = openRepository(destination, job.folder, seal);
  const before = await repository.names();
  const last = before.at(-1);
  const previous = last === undefined ? undefined : await repository.read(last).catch(ifDamaged);
  let written = await writeBackup(repository, job.source, previous);
  const trial = prove(repository, written.manifest, job.scratch);
  const isWhole = await (previous === undefined ? trial : trial.catch(ifDamaged));
  if (isWhole !== true) {
    written = await writeBackup(repository, job.source, undefined);
    await prove(repository, written.manifest, job.scratch);
  }
  const { manifest, newBytes } = written;
  // Names tell which is the newest. One from before the clock was set back must not outlive all that follow
  const name = nameAt(last === undefined ? at : Math.max(at, timeOf(last) + 1));
  await repository.write(name, manifest);
  await repository.read(name);
  const removed = before.slice(0, Math.max(0, before.length - (job.keep - 1)));
  await repository.remove(removed);
  const { from, seq, include } = manifest;
  return {
    target: `${job.place.to}/${job.folder}/backups/${name}`,
    from,
    seq,
    files: filesIn(manifest),
    bytes: bytesOf(manifest),
    newBytes,
    include,
    removed,
    kept: await keptIn(repository),
  };
}

function ifDamaged(error: unknown): undefined {
  if (!(error instanceof DamagedBackup)) throw error;
}

/** The backups of a repository that can be read, with what can be restored of each. */
export async function keptIn(repository: Repository): Promise<readonly KeptBackup[]> {
  const kept: KeptBackup[] = [];
  for (const name of await repository.names()) {
    const manifest = await repository.read(name).catch(ifDamaged);
    if (manifest !== undefined) kept.push({ name, from: manifest.from, seq: manifest.seq });
  }
  return kept;
}

/**
 * Restores a backup into the folder `scratch`, compares every piece with its digest and every row of the store with its
 * second copy, and removes the folder again. Resolves to true, or rejects with what is wrong.
 */
export async function prove(repository: Repository, manifest: Manifest, scratch: string): Promise<true> {
  const needed = 2 * bytesOf(manifest) + spareBytes;
  await makeFolder(scratch);
  try {
    const { bavail, bsize } = await statfs(scratch);
    if (bavail * bsize < needed)
      throw new HomeError(
        'BAD_HOME',
        `A trial of the backup needs ${needed} bytes free at ${scratch}.`,
        'Free some space.',
      );
    const home = join(scratch, 'home');
    await makeFolder(home);
    await writeOut(repository, manifest, home, { isTrial: true });
    const { seq } = await openCopy(home, {});
    if (seq !== manifest.seq)
      throw new DamagedBackup(repository.folder, `its store ends at ${seq} instead of ${manifest.seq}`);
    const { faults } = await verifyStore(home);
    if (faults.length > 0)
      throw new DamagedBackup(repository.folder, `its store is damaged: ${faults.join('; ')}`);
    return true;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
/** Above the size below which a gateway refuses work. */
const spareBytes = 500_000_000;
