import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../store/contract.js';
import { openLevelStore } from '../store/level.js';
import { fillPostgres, leavePostgres } from '../store/postgres/copies.js';
import { restore } from '../store/restore.js';
import { movedStore, type Layout } from './layout.js';
import { databasePassword, embeddedStore } from './store-setting.js';

/**
 * Move the store of a stopped home from LevelDB into PostgreSQL, or back. What is left behind is kept, under a name
 * or a mark under which no gateway opens it: a home has one store. Answers the position of the last commit.
 */
export async function moveHome(
  layout: Layout,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<{ readonly seq: number }> {
  if ((from === embeddedStore) === (to === embeddedStore))
    throw new StoreError('REFUSED', `a home moves between "${embeddedStore}" and a postgres:// URL`);
  const folder = join(layout.temporary, `move-${randomBytes(6).toString('hex')}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await (to === embeddedStore ? out(layout, from, folder) : into(layout, to, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function into(layout: Layout, to: string, folder: string): Promise<{ readonly seq: number }> {
  const copy = join(folder, 'copy');
  const folders = [layout.store, layout.storeCopy];
  await refuseToOverwrite(folders.map(movedStore)); // of a former move
  const store = await openLevelStore({ directory: layout.home, scrubEveryMs: 0 });
  try {
    const backup = await store.backUp(copy);
    const head = await fillPostgres(to, { folder: copy, backup }, databasePassword());
    await rm(layout.position, { force: true }); // what was known of a home that was there before
    await store.close();
    for (const path of folders) await rename(path, movedStore(path));
    return head;
  } finally {
    await store.close();
  }
}

async function out(layout: Layout, from: string, folder: string): Promise<{ readonly seq: number }> {
  const copy = join(folder, 'copy');
  const whole = join(folder, 'home');
  // Before the database is marked as left: a store in the way would be found too late
  await refuseToOverwrite([layout.store, layout.storeCopy]);
  let seq = 0;
  const ready = async (): Promise<void> => void ({ seq } = await restore(copy, whole));
  const movedTo = `the home ${layout.home} on ${hostname()}`;
  await leavePostgres(from, { target: copy, movedTo, ready }, databasePassword());
  await rename(join(whole, 'store-copy'), layout.storeCopy);
  await rename(join(whole, 'store'), layout.store);
  return { seq };
}

async function refuseToOverwrite(paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await mkdir(path, { mode: 0o700 }).then(
      () => rm(path, { recursive: true }),
      (cause: unknown) => {
        throw new StoreError('REFUSED', `${path} already exists; move it away first`, { cause });
      },
    );
}
