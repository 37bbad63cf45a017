import { dirname, join } from 'node:path';
import { namesIn, type StoreFiles } from './files.js';

/** What a home's folder tells before its store is opened: whether it has begun, and whether it holds data. */

/**
 * Until the folders above it are synced, a home that was made may be gone after a power cut, however well its own
 * files were kept. Whether this process made it, or one that died before it came here, no one can tell.
 */
export async function keepName(files: StoreFiles, home: string): Promise<void> {
  for (let path = home; dirname(path) !== path; path = dirname(path))
    await files.syncDirectory(dirname(path)).catch((error: unknown) => {
      // Not ours to open, then not ours to have made either
      if (!['EACCES', 'EPERM', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    });
}

/**
 * Written once the store has begun; from then on nothing in this home may be created over what is missing.
 */
export const markerFile = 'store.json';

/** The home shows signs of an earlier start. */
export async function hasBegun(files: StoreFiles, home: string): Promise<boolean> {
  const names = await files.readdir(home);
  return names.includes(markerFile) || names.includes('gateway.json');
}

export async function isEmpty(files: StoreFiles, directory: string): Promise<boolean> {
  return (await namesIn(files, directory)).length === 0;
}

/** A first start that was cut short leaves a folder without tables and with an empty log. */
export async function holdsData(files: StoreFiles, directory: string): Promise<boolean> {
  const names = await namesIn(files, directory);
  const logs = await Promise.all(
    names
      .filter((name) => name.endsWith('.log'))
      .map(async (name) => await files.size(join(directory, name))),
  );
  return names.some((name) => /\.(ldb|sst)$/.test(name)) || logs.some((size) => size > 0);
}
