import { copyFile, link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { surveyCopy } from '../../store/copy-files.js';
import { nodeFiles } from '../../store/files.js';
import { makeFolder } from '../atomic-file.js';
import { HomeError } from '../home-error.js';

/**
 * Holds on to the files of a store's second copy as they are now: links to them in `folder`, which a compaction of the
 * running store cannot take away. The last segment goes on to grow; it is read up to its last whole frame.
 */
export async function stageStore(storeCopy: string, folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    await rm(folder, { recursive: true, force: true });
    await makeFolder(folder);
    try {
      const { base, segments } = await surveyCopy(nodeFiles, storeCopy, { create: false });
      for (const name of [...(base === null ? [] : [base.file]), ...segments])
        await hold(join(storeCopy, name), join(folder, name));
      const { faults } = await surveyCopy(nodeFiles, folder);
      if (faults.length === 0 && (base !== null || segments.length > 0)) return;
      if (tries === triesMax)
        throw new HomeError(
          'BAD_HOME',
          `The second copy of the store is not whole: ${faults.join('; ') || 'it is empty'}.`,
          'Run: troupe verify, on the stopped gateway.',
        );
    } catch (error) {
      // A compaction has just removed what was listed
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === triesMax) throw error;
    }
  }
}

const triesMax = 5;

async function hold(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EXDEV' && error.code !== 'EPERM' && error.code !== 'ENOTSUP') throw error;
    await stat(from);
    await copyFile(from, to);
  });
}
