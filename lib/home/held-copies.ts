import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../../machines/sortable.js';
import type { Config } from './config.js';
import { isSetAside, type Layout } from './layout.js';
import { folderOf, readRecord } from './backups/record.js';
import { timeOf } from './backups/repository.js';
import { removedAt } from './scheduled-backups.js';

/** A copy from before, outside of the running home. */
export interface HeldCopy {
  readonly path: string;
  /** When it was made and, where it goes by itself, when about. ISO 8601. */
  readonly at: string;
  readonly until: string | null;
}

/**
 * Copies of this home from before: backups of the schedule, which go by themselves, and stores that were set aside,
 * which a person removes. Backups made by hand are known to the one who made them.
 */
export async function heldCopies(layout: Layout, schedule: Config['backup']): Promise<readonly HeldCopy[]> {
  const record = await readRecord(layout);
  const { to, kept } = record;
  const names = await readdir(layout.home);
  const aside = names.filter(isSetAside);
  return [
    ...kept.map(({ name }, place) => ({
      path: `${to}/${folderOf(layout, record)}/backups/${name}`,
      at: isoTime(timeOf(name)),
      until: schedule.to === to ? isoTime(removedAt(place, kept, schedule)) : null,
    })),
    ...(await Promise.all(
      aside.map(async (name) => {
        const path = join(layout.home, name);
        return { path, at: isoTime(Math.round((await stat(path)).mtimeMs)), until: null };
      }),
    )),
  ];
}
