import { join } from 'node:path';
import type { LevelStoreOptions } from '../../store/level-options.js';
import { openCopy } from '../../store/cut-copy.js';
import { announceStopped, readAnnouncement } from '../announce.js';
import { HomeError } from '../home-error.js';
import type { Layout } from '../layout.js';
import { freePlace, whole } from '../new-folder.js';
import { useOwnStore } from '../own-store.js';
import { bytesOf, filesIn, type Manifest } from './manifest.js';
import { writeOut } from './read-backup.js';
import { DamagedBackup, type Repository } from './repository.js';

export interface Restored {
  readonly home: string;
  /** Of the backup that was used. */
  readonly name: string;
  /** Where the store ends. */
  readonly seq: number;
  readonly files: number;
  readonly bytes: number;
  readonly include: Manifest['include'];
  /** The database that its config.yaml named and names no more; undefined: none. */
  readonly movedFrom: string | undefined;
}

export interface RestoreChoice {
  /** Name of the backup. Default: the newest. */
  readonly name?: string | undefined;
  /** Position of the log at which the store ends; the first backup that holds it is used. */
  readonly at?: number | undefined;
  readonly onProgress?: LevelStoreOptions['onProgress'];
}

/**
 * A new home as it was at a backup, or its store as of any position that a backup holds; files are those of the backup.
 * Nothing is overwritten.
 */
export async function restoreBackup(
  repository: Repository,
  layout: Layout,
  choice: RestoreChoice,
): Promise<Restored> {
  const { name, manifest } = await choose(repository, choice);
  const place = await freePlace(layout.home, 'The home');
  return whole(place, async (folder) => {
    await writeOut(repository, manifest, folder);
    const { seq } = await openCopy(folder, {
      at: choice.at,
      ...(choice.onProgress && { onProgress: choice.onProgress }),
    });
    if (choice.at === undefined && seq !== manifest.seq)
      throw new DamagedBackup(
        repository.folder,
        `the store of ${name} ends at ${seq} instead of ${manifest.seq}`,
      );
    const announcementFile = join(folder, 'gateway.json');
    const announcement = await readAnnouncement(announcementFile);
    if (announcement !== undefined) await announceStopped(announcementFile, announcement);
    const { include } = manifest;
    const movedFrom = await useOwnStore(join(folder, 'config.yaml'));
    return { movedFrom, home: place, name, seq, files: filesIn(manifest), bytes: bytesOf(manifest), include };
  });
}

async function choose(
  repository: Repository,
  { name, at }: RestoreChoice,
): Promise<{ readonly name: string; readonly manifest: Manifest }> {
  const names = await repository.names();
  if (name !== undefined && !names.includes(name))
    throw unfit(`There is no backup ${name}.`, names.at(-1) ?? '');
  const candidates = name !== undefined ? [name] : at === undefined ? names.slice(-1) : names;
  const ranges: string[] = [];
  for (const one of candidates) {
    const manifest = await repository.read(one).catch((error: unknown) => {
      // Another one may hold the position: one damaged, or sealed with an earlier key, is no reason to give up
      if (at === undefined || name !== undefined || !(error instanceof DamagedBackup)) throw error;
    });
    if (manifest === undefined) {
      ranges.push(`what cannot be read (${one})`);
      continue;
    }
    if (at === undefined || (manifest.from <= at && at <= manifest.seq)) return { name: one, manifest };
    ranges.push(`${manifest.from} to ${manifest.seq} (${one})`);
  }
  throw at === undefined
    ? unfit('No backup was finished there yet.', '')
    : unfit(`No backup holds position ${at}: they hold ${ranges.join(', ')}.`, names.at(-1) ?? '');
}

const unfit = (what: string, newest: string): HomeError =>
  new HomeError('BAD_HOME', what, newest === '' ? 'Wait for the first one.' : `The newest is ${newest}.`);
