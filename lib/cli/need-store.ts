import { stat } from 'node:fs/promises';
import type { Layout } from '../home/layout.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * For commands that read the store of a stopped gateway: opening one where there is none would make it. Exit
 * code 5.
 */
export async function needStore({ home, store, storeCopy }: Layout): Promise<void> {
  for (const folder of [store, storeCopy]) {
    if ((await stat(folder).catch(() => undefined)) !== undefined) return;
  }
  throw new CommandError(
    exitCodes.badHome,
    `No store in ${home}. Use the home of a gateway that was started before.`,
  );
}
