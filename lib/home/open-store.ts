import { rm, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { machineName } from '../../actors/engines/process/machine.js';
import type { Environment } from '../environment.js';
import type { Backup } from '../store/backup.js';
import { StoreError, type Store } from '../store/contract.js';
import { openLevelStore, type LevelStoreOptions } from '../store/level.js';
import { homeStatus } from '../store/postgres/nodes.js';
import { openPostgresStore } from '../store/postgres/postgres.js';
import type { HomeState } from '../store/postgres/seen-home.js';
import { readAnnouncement } from './announce.js';
import { stageStore } from './backups/stage-store.js';
import { keptPosition } from './kept-position.js';
import { movedSentence, movedStore, type Layout } from './layout.js';
import { isUndoing } from './way-back.js';
import { databasePassword, embeddedStore } from './store-setting.js';

/** The store of a home, wherever it lies. */
export interface HomeStore extends Store {
  backUp(target: string): Promise<Backup>;
  /** What was replaced or deleted leaves the disk. Absent: the database sees to that. */
  compact?(): Promise<void>;
  /** For how many milliseconds more this process may speak for the home, as far as it knows. Absent: always. */
  authorityMs?(): number;
  /** Known to this owner of the home and to its standbys alone. Absent: it has none. */
  readonly ownerKey?: string;
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
  /** Where other nodes reach this one. */
  readonly address?: string;
  /** How the home stands, again and again while it is waited for. */
  readonly onWait?: ((home: HomeState) => void) | undefined;
  /** An operator wants this node to hand the home over. */
  readonly onDrain?: (() => void) | undefined;
  /** A person knows that the database has lost commits, and goes on without them. */
  readonly acceptLoss?: boolean | undefined;
}

/** Puts the files of the store's second copy into a folder, as of now; a database has none, and is copied out whole. */
export const stageOf =
  ({ compact, backUp }: HomeStore, { storeCopy }: Layout) =>
  async (folder: string): Promise<void> =>
    compact === undefined ? void (await backUp(folder)) : stageStore(storeCopy, folder);

/** A home that another process holds is refused with that process's name and address, or waited for. */
export async function openStore(layout: Layout, options: OpenStoreOptions): Promise<HomeStore> {
  if (options.store === embeddedStore) {
    if (await isUndoing(layout))
      throw new StoreError('REFUSED', 'A migration is being undone. Go on with "troupe migrate --undo".');
    await refuseMoved(layout);
    return openEmbedded(layout, options);
  }
  await refuseEmbedded(layout);
  return openShared(layout, options);
}

/** The default setting would make a new, empty store beside the one that the home was moved to. */
async function refuseMoved(layout: Layout): Promise<void> {
  const { store } = layout;
  if ((await exists(store)) || !(await exists(movedStore(store)))) return;
  throw new StoreError(
    'REFUSED',
    `${movedSentence(layout)} To start with an empty store, remove ${movedStore(store)}.`,
  );
}

/** Also what a restored backup is: its config.yaml names the database that the backup was made of. */
async function refuseEmbedded({ home, store, storeCopy }: Layout): Promise<void> {
  for (const folder of [store, storeCopy])
    if (await exists(folder))
      throw new StoreError(
        'REFUSED',
        `"store" in config.yaml names a database, but ${folder} holds a store too. Move it there with "troupe home ` +
          `move --from ${embeddedStore} --to <an empty home in a database> --home ${home}", or set "store: ` +
          `${embeddedStore}", or remove ${store} and ${storeCopy}.`,
      );
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );

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

/** Does another node wait to take the home over? Yes, where that is not known within a second. */
export async function hasStandby(store: string): Promise<boolean> {
  if (store === embeddedStore) return false;
  const asked = homeStatus(store, databasePassword()).then(
    ({ standbys }) => standbys.length > 0,
    () => true,
  );
  return Promise.race([asked, wait(1_000, true, { ref: false })]);
}

async function openShared(
  layout: Layout,
  { store, environment, address = '', onStandby, onWait, onDrain, acceptLoss }: OpenStoreOptions,
): Promise<HomeStore> {
  let ended: AbortSignal | undefined;
  if (acceptLoss === true) await rm(layout.position, { force: true });
  return openPostgresStore({
    url: store,
    node: machineName(),
    address,
    log: environment.log,
    password: databasePassword(),
    positions: keptPosition(layout.position, store),
    ...(onDrain === undefined ? {} : { onDrain }),
    ...(onWait === undefined ? {} : { onWait }),
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
