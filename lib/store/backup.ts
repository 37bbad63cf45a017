import { join } from 'node:path';
import { writeBase } from './base.js';
import { StoreError } from './contract.js';
import type { Database } from './database.js';
import { writeFileDurably } from './durable-file.js';
import type { StorePorts } from './ports.js';
import type { Progress } from './rebuild.js';

/** What a backup folder says of itself, in `backup.json`. */
export interface Backup {
  readonly format: 1;
  /** The base image in the folder. */
  readonly file: string;
  readonly bytes: number;
  /** The log position that it holds, and its chain. */
  readonly seq: number;
  readonly chain: string;
  /** ISO-8601. */
  readonly createdAt: string;
}

export const backupNote = 'backup.json';

/**
 * Write everything in a live database, as of one moment, to a new or empty folder. Durable when it resolves.
 */
export async function backUp(
  ports: StorePorts,
  database: Database,
  target: string,
  onProgress?: (progress: Progress) => void,
): Promise<Backup> {
  const { files, clock } = ports;
  await files.mkdir(target);
  if ((await files.readdir(target)).length > 0)
    throw new StoreError('REFUSED', `${target} is not empty; choose a new folder for the backup`);
  const { file, bytes, position } = await writeBase(database, {
    ports,
    directory: target,
    share: 0.5,
    onProgress: (rows) => onProgress?.({ task: 'backup', rows }),
  });
  const backup: Backup = {
    format: 1,
    file,
    bytes,
    seq: position.seq,
    chain: position.chain,
    createdAt: new Date(clock.now()).toISOString(),
  };
  await writeFileDurably(files, join(target, backupNote), `${JSON.stringify(backup)}\n`);
  return backup;
}
