import { chmod, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../atomic-file.js';
import type { Entry, Manifest } from './manifest.js';
import { DamagedBackup, type Repository } from './repository.js';

/**
 * Writes every file of a backup below `folder`, which must be empty, each piece compared with its digest. Links come
 * last, so nothing is ever written through one.
 */
export async function writeOut(
  repository: Repository,
  manifest: Manifest,
  folder: string,
  /** For a trial nothing has to outlast a power cut: of many files, waiting for the disk takes most of the time. */
  { isTrial = false } = {},
): Promise<void> {
  refuseThroughLinks(repository, manifest);
  const contents = contentsOf(repository);
  const folders: Extract<Entry, { readonly folder: true }>[] = [];
  for (const entry of manifest.entries) {
    if ('link' in entry) continue;
    const path = join(folder, entry.path);
    await makeFolder(dirname(path));
    if ('folder' in entry) {
      await mkdir(path, { mode: 0o700 }).catch(existing);
      folders.push(entry);
      continue;
    }
    const file = await open(path, 'wx', 0o600);
    try {
      for (const { object, at, bytes, digest } of entry.pieces) {
        const piece = (await contents(object)).subarray(at, at + bytes);
        if (piece.length !== bytes || repository.digest(piece) !== digest)
          throw new DamagedBackup(repository.folder, `a piece of ${entry.path} is not as it was written`);
        await file.writeFile(piece);
      }
      await file.chmod(entry.mode);
      if (!isTrial) await file.sync();
    } finally {
      await file.close();
    }
  }
  for (const entry of manifest.entries)
    if ('link' in entry) await symlink(entry.link, join(folder, entry.path));
  // The innermost first: a folder that may not be written to must be filled before
  for (const { path, mode } of folders.reverse()) await chmod(join(folder, path), mode);
}

/** A link in a folder that is itself a link would be made wherever that one leads. */
function refuseThroughLinks(repository: Repository, { entries }: Manifest): void {
  const links = new Set(entries.flatMap((entry) => ('link' in entry ? [entry.path] : [])));
  if (links.size === 0) return;
  for (const { path } of entries)
    for (let parent = dirname(path); parent !== '.'; parent = dirname(parent))
      if (links.has(parent)) throw new DamagedBackup(repository.folder, `${path} lies behind a link`);
}

function existing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** The last few objects are kept: pieces of one follow each other. */
function contentsOf(repository: Repository): (object: string) => Promise<Buffer> {
  const recent = new Map<string, Buffer>();
  return async (object) => {
    const found = recent.get(object) ?? (await repository.content(object));
    recent.delete(object);
    recent.set(object, found);
    for (const oldest of recent.keys()) {
      if (recent.size <= recentMax) break;
      recent.delete(oldest);
    }
    return found;
  };
}
const recentMax = 8;
