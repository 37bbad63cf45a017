import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, readPlainFile, sweepTemporary, writeAtomically } from '../atomic-file.js';
import type { Destination } from './place.js';

/** A folder for its owner alone; every file is on the disk before its name is. */
export function openFolder(root: string): Destination {
  return {
    async put(name, bytes) {
      const path = join(root, name);
      await makeFolder(dirname(path));
      await writeAtomically(path, bytes, { mode: 0o600 });
    },
    get: (name) => readPlainFile(join(root, name), bytesMax).catch(nothing),
    list: (prefix) => entries(join(root, prefix), (entry) => entry.isFile()),
    folders: () => entries(root, (entry) => entry.isDirectory()),
    remove: (name) => rm(join(root, name), { force: true }),
    async sweep(folder) {
      await sweepTemporary(join(root, folder));
    },
  };
}

/** Far above any object; a manifest of a million files has 300 MB. */
const bytesMax = 2 ** 30;

async function entries(
  folder: string,
  fits: (entry: { isFile(): boolean; isDirectory(): boolean }) => boolean,
): Promise<string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(nothing);
  return (found ?? []).filter((entry) => fits(entry) && !entry.name.startsWith('.')).map(({ name }) => name);
}

/** Below a file, an archive say, there is nothing either. */
function nothing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
