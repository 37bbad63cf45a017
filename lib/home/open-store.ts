import { machineName } from '../../actors/engines/process/machine.js';
import type { Environment } from '../environment.js';
import type { Backup } from '../store/backup.js';
import { StoreError, type Store } from '../store/contract.js';
import { openLevelStore, type LevelStoreOptions } from '../store/level.js';
import { openPostgresStore } from '../store/postgres/postgres.js';
import { readAnnouncement } from './announce.js';
import type { Layout } from './layout.js';
import { databasePassword, embeddedStore } from './store-setting.js';

/** The store of a home, wherever it lies. */
export interface HomeStore extends Store {
  backUp(target: string): Promise<Backup>;
}

export interface OpenStoreOptions {
  /** The setting `store`. */
  readonly store: string;
  readonly environment: Environment;
  readonly onProgress?: LevelStoreOptions['onProgress'];
  /**
   * Another node owns the home: wait for it, as its standby. Called once, with who it is. Absent: that is refused.
   * What it answers ends the wait when it aborts.
   */
  readonly onStandby?: ((owner: string) => AbortSignal) | undefined;
  /** An operator wants this node to hand the home over. */
  readonly onDrain?: (() => void) | undefined;
}

/** A home that another process holds is refused with that process's name and address, or waited for. */
export async function openStore(layout: Layout, options: OpenStoreOptions): Promise<HomeStore> {
  return options.store === embeddedStore ? openEmbedded(layout, options) : openShared(options);
}

async function openEmbedded(
  layout: Layout,
  { environment, onProgress }: OpenStoreOptions,
): Promise<HomeStore> {
  try {
    return await openLevelStore({
      directory: layout.home,
      log: environment.log,
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

async function openShared({ store, environment, onStandby, onDrain }: OpenStoreOptions): Promise<HomeStore> {
  let ended: AbortSignal | undefined;
  return openPostgresStore({
    url: store,
    node: machineName(),
    log: environment.log,
    password: databasePassword(),
    ...(onDrain === undefined ? {} : { onDrain }),
    ...(onStandby === undefined
      ? {}
      : {
          onOwned: (owner) => {
            if (ended === undefined) environment.log.info({ owner }, 'home has an owner; waiting as standby');
            ended ??= onStandby(owner);
            return ended;
          },
        }),
  });
}
