import { HomeError } from '../home-error.js';
import { openBucket } from './bucket.js';
import { openFolder } from './folder.js';
import { bucketPattern, type Destination, type Place } from './place.js';
import { openRepository, readNote, type Repository, type RepositoryNote } from './repository.js';
import { ageSeal, noSeal } from './seal.js';
import type { Secrets } from './secrets.js';

/** The backups of one home, found at a place. */
export interface FoundRepository {
  /** Where it is, as `restore` takes it. */
  readonly at: string;
  readonly note: RepositoryNote;
  readonly repository: Repository;
}

/** Those of every home that a place holds, or of the one that it names. Rejects where there is none. */
export async function findBackups(place: Place, secrets: Secrets): Promise<readonly FoundRepository[]> {
  const destination = await openDestination(place, secrets);
  const top = await readNote(destination, '');
  const folders = top === undefined ? await destination.folders() : [''];
  const found: FoundRepository[] = [];
  for (const folder of folders) {
    const note = top ?? (await readNote(destination, folder));
    if (note === undefined) continue;
    const seal = note.encrypted ? await ageSeal(secrets.key()) : noSeal;
    const at = folder === '' ? place.to : `${place.to.replace(/\/+$/, '')}/${folder}`;
    found.push({ at, note, repository: openRepository(destination, folder, seal) });
  }
  if (found.length === 0)
    throw new HomeError(
      'BAD_HOME',
      `${place.to} is not a backup, and holds none.`,
      'Use a folder written by troupe backup, or what backup.to names.',
    );
  return found;
}

/** `await openDestination({ to: 's3://backups/troupe' }, secrets)` */
export async function openDestination(place: Place, secrets: Secrets): Promise<Destination> {
  const { to } = place;
  if (!to.startsWith('s3://')) return openFolder(to);
  const [, bucket = '', prefix = ''] = bucketPattern.exec(to) ?? [];
  if (bucket === '')
    throw new HomeError('BAD_HOME', `${to} names no bucket.`, 'Write it as s3://bucket/prefix.');
  const { accessKeyId, secretAccessKey, sessionToken } = secrets.bucket();
  return openBucket({
    endpoint: place.endpoint ?? `https://s3.${place.region ?? usualRegion}.amazonaws.com`,
    region: place.region ?? usualRegion,
    bucket,
    prefix: prefix.replace(/\/+$/, ''),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
  });
}

const usualRegion = 'us-east-1';
