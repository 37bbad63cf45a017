import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HeldCopy } from '../commands/sessions/erase-contents.js';
import { isoTime } from '../../machines/iso-time.js';
import type { Config } from './config.js';
import type { Layout } from './layout.js';
import { backupsIn, removedAt } from './scheduled-backups.js';

/**
 * Copies of this home from before: backups of the schedule, which go by themselves, and stores that were set aside
 * because they were damaged, which a person removes. Backups made by hand are known to whoever made them.
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
