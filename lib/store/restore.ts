import { copyFile, mkdir, open, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { backupNote, type Backup } from './backup.js';
import { readBase } from './base.js';
import { StoreError } from './contract.js';
import { syncDirectory } from './durable-file.js';
import { openLevelStore, type LevelStoreOptions } from './level.js';

/**
 * Make a home's store from a backup folder. The backup is read in full first; the home must be empty or absent.
 * Throws REFUSED otherwise. `await restore('/backups/monday', '/home/me/.svc')`
 */
export async function restore(source: string, directory: string, options: Pick<LevelStoreOptions, 'log' | 'onProgress'> = {}): Promise<Backup> {
  const backup = await readBackup(source);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if ((await readdir(directory)).length > 0) throw new StoreError('REFUSED', `${directory} is not empty; a backup is restored into a new home only`);
  const copy = join(directory, 'store-copy');
  await mkdir(copy, { mode: 0o700 });
  const target = join(copy, backup.file);
  await copyFile(join(source, backup.file), target);
  const file = await open(target, 'r');
  await file.sync();
  await file.close();
  await syncDirectory(copy);
  await (await openLevelStore({ ...options, directory })).close();
  return backup;
}

async function readBackup(source: string): Promise<Backup> {
  try {
    const backup = JSON.parse(await readFile(join(source, backupNote), 'utf8')) as Backup;
    if (backup.format !== 1 || !/^base-\d{16}\.seg$/.test(backup.file)) throw new Error('it was written by another version');
    let seq: number | undefined;
    for await (const _page of readBase(join(source, backup.file), (position) => (seq = position.seq)));
    if (seq !== backup.seq) throw new Error(`it holds entry ${seq} and promises ${backup.seq}`);
    return backup;
  } catch (error) {
    throw new StoreError('REFUSED', `${source} is not a whole backup: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
