import { rm } from 'node:fs/promises';
import { restore as restoreStore } from '../store/restore.js';
import { verifyStore } from '../store/verify.js';
import { restore } from './backup.js';
import { layoutOf } from './layout.js';

/**
 * As a program: `node prove-backup.js <backup> <scratch>` restores a backup into the folder `<scratch>`, which
 * must not exist, compares every file and every row with what the backup says, and removes the folder again.
 * Ends with 0 where the backup is whole; says what is wrong on standard error otherwise.
 */
const [, , source, scratch] = process.argv as [string, string, string, string];
try {
  await restore(source, layoutOf({ home: scratch }), restoreStore);
  const { faults } = await verifyStore(scratch);
  if (faults.length > 0) throw new Error(`its store is damaged: ${faults.join('; ')}`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}
