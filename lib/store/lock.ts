import { join } from 'node:path';
import { DamageError } from './database.js';
import type { StorePorts } from './ports.js';
import { StoreError } from './contract.js';

/**
 * One process per home. The lock is that of a tiny LevelDB in `<home>/lock/`, held by the operating system
 * and so freed at any death, kill -9 included. A lock file with a pid in it could not promise that.
 */
export async function lockHome(
  { files, openDatabase }: Pick<StorePorts, 'files' | 'openDatabase'>,
  home: string,
): Promise<() => Promise<void>> {
  const directory = join(home, 'lock');
  // Anyone who may read the lock file can hold a shared lock on it, and then no one gets the home any more.
  await files.mkdir(directory);
  await files.chmod(directory, 0o700);
  const database = await take(directory).catch(async (error: unknown) => {
    if (!(error instanceof DamageError)) throw error;
    // It holds nothing; a power cut may have left it half written. The lock file itself stays: another
    // process that comes to this line at the same moment must meet us at the same file.
    for (const name of await files.readdir(directory))
      if (name !== 'LOCK') await files.remove(join(directory, name));
    return take(directory);
  });
  return () => database.close();

  async function take(path: string) {
    try {
      return await openDatabase(path, { create: 'if-missing', alone: true });
    } catch (error) {
      if (error instanceof StoreError && error.code === 'LOCKED')
        throw new StoreError(
          'LOCKED',
          `another process is using ${home}; stop it first, or choose another home`,
          { cause: error },
        );
      throw error;
    }
  }
}
