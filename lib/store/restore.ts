import { join } from 'node:path';
import { backupNote, type Backup } from './backup.js';
import { readBase } from './base.js';
import { StoreError } from './contract.js';
import { readText } from './durable-file.js';
import type { StoreFiles } from './files.js';
import { openLevelStore, type LevelStoreOptions } from './level.js';
import { storePorts } from './ports.js';

/**
 * Make a home's store from a backup folder. The backup is read in full first; the home must be empty or
 * absent. Throws REFUSED otherwise. `await restore('/backups/monday', '/home/me/.svc')`
 */
export async function restore(
  source: string,
  directory: string,
  options: Pick<LevelStoreOptions, 'log' | 'onProgress' | 'ports'> = {},
): Promise<Backup> {
  const { files } = storePorts(options.ports);
  const backup = await readBackup(files, source);
  await files.mkdir(directory);
  if ((await files.readdir(directory)).length > 0)
    throw new StoreError(
      'REFUSED',
      `${directory} is not empty; a backup can only be restored into a new home`,
    );
  const copy = join(directory, 'store-copy');
  await files.mkdir(copy);
  const target = join(copy, backup.file);
  await files.copyFile(join(source, backup.file), target);
  const file = await files.open(target, 'read');
  await file.sync();
  await file.close();
  await files.syncDirectory(copy);
  await (await openLevelStore({ ...options, directory })).close();
  return backup;
}

async function readBackup(files: StoreFiles, source: string): Promise<Backup> {
  try {
    const backup = JSON.parse(await readText(files, join(source, backupNote))) as Backup;
    if (backup.format !== 1 || !/^base-\d{16}\.seg$/.test(backup.file))
      throw new Error('it was written by another version');
    let seq: number | undefined;
    for await (const _page of readBase(files, join(source, backup.file), (position) => (seq = position.seq)));
    if (seq !== backup.seq) throw new Error(`it ends at entry ${seq} instead of ${backup.seq}`);
    return backup;
  } catch (error) {
    throw new StoreError(
      'REFUSED',
      `${source} is not a whole backup: ${error instanceof Error ? error.message : String(error)}. Use another ` +
        'backup; nothing was changed.',
      { cause: error },
    );
  }
}
