import type { Environment } from '../environment.js';
import { StoreError } from '../store/contract.js';
import { openLevelStore, type LevelStore, type LevelStoreOptions } from '../store/level.js';
import { readAnnouncement } from './announce.js';
import type { Layout } from './layout.js';

/** The store of a home. A home that another process holds is refused with that process's name and address. */
export async function openStore(
  layout: Layout,
  { log }: Environment,
  onProgress: LevelStoreOptions['onProgress'],
): Promise<LevelStore> {
  try {
    return await openLevelStore({
      directory: layout.home,
      log,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'LOCKED') throw error;
    const holder = await readAnnouncement(layout.announcement).catch(() => undefined);
    const where = holder?.pid == null ? '' : ` (${holder.url}, process ${holder.pid})`;
    throw new StoreError(
      'LOCKED',
      `Another process already holds the home ${layout.home}${where}. Use it, stop it with ` +
        '"troupe stop", or choose another home with --home.',
      { cause: error },
    );
  }
}
