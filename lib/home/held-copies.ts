import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../../machines/sortable.js';
import type { Config } from './config.js';
import type { Layout } from './layout.js';
import { backupsIn, removedAt } from './scheduled-backups.js';

/** A copy from before, outside of the running home. */
export interface HeldCopy {
  readonly path: string;
  /** When it was made and, where it goes by itself, when about. ISO 8601. */
  readonly at: string;
  readonly until: string | null;
}

/**
 * Copies of this home from before: backups of the schedule, which go by themselves, and stores that were set aside
 * because they were damaged, which a person removes. Backups made by hand are known to the one who made them.
 */
export async function heldCopies(
  layout: Layout,
  { folder, ...schedule }: Config['backup'],
): Promise<readonly HeldCopy[]> {
  const backups = folder === null ? [] : await backupsIn(folder, layout.instance);
  const names = await readdir(layout.home);
  const aside = names.filter((name) => /^store(-copy)?\.(damaged|moved)/.test(name));
  return [
    ...backups.map(({ name, at }, place) => ({
      path: join(folder ?? '', name),
      at: isoTime(at),
      until: isoTime(removedAt(place, backups, schedule)),
    })),
    ...(await Promise.all(
      aside.map(async (name) => {
        const path = join(layout.home, name);
        return { path, at: isoTime(Math.round((await stat(path)).mtimeMs)), until: null };
      }),
    )),
  ];
}
