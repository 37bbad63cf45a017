import { writeBase, type BaseOptions } from './base.js';
import { compareWithCopy, CopyError } from './compare.js';
import type { ImageOrder, WrittenImage } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { logChecker } from './inspect-rows.js';
import type { StorePorts } from './ports.js';

/**
 * Write a base image that was compared with the second copy: nothing wrong in the database may replace what is right
 * in the copy. Throws DamageError where they differ. Of a copy that is damaged itself, the answer says so.
 */
export async function writeImage(
  ports: Pick<StorePorts, 'files' | 'clock'>,
  database: Database,
  { base, ...order }: ImageOrder,
): Promise<WrittenImage> {
  const write = (check: NonNullable<BaseOptions['check']>): Promise<WrittenImage> =>
    writeBase(database, { ...order, ports, check });
  const comparison = compareWithCopy({ files: ports.files, directory: order.directory, base });
  try {
    return await write((rows, position, end) =>
      end ? comparison.end(position) : comparison.rows(rows, position),
    );
  } catch (error) {
    if (!(error instanceof CopyError)) throw error;
    return { ...(await write(checkLog())), copyFault: error.message };
  } finally {
    await comparison.close();
  }
}

/** The log must at least follow from entry to entry. */
function checkLog(): NonNullable<BaseOptions['check']> {
  const log = logChecker();
  return async (rows) => {
    for (const [key, value] of rows) if (key.startsWith('l/')) log.entry(key, value);
    if (log.faults.length > 0) throw new DamageError(log.faults.join('; '));
  };
}
