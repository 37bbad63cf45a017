import type { OpenTables, Tables as Opened, TablesBatch } from '../../lib/store/tables.js';
import { roleOf, type Disk } from './disk.js';
import { Folder } from './nodes.js';
import { coded, Tables } from './tables.js';

/** The model of LevelDB, in the place that `database.ts` has for the real one. */
export function simulatedTables(disk: Disk): OpenTables {
  return async (directory, { create }) => {
    const role = roleOf(directory);
    let begun: Tables | undefined;
    const open = (share: number): Tables => {
      if (share < 0.5) throw coded('LEVEL_IO_ERROR', 'IO error: it was cut short');
      const folder = folderOf(disk, directory, create !== 'never');
      if (folder.tables === undefined && create === 'never')
        throw coded('LEVEL_DATABASE_NOT_OPEN', 'does not exist (create_if_missing is false)');
      if (folder.tables !== undefined && create === 'new')
        throw coded('LEVEL_DATABASE_NOT_OPEN', 'exists (error_if_exists is true)');
      const found = (folder.tables ??= new Tables(disk, folder, role));
      found.open(directory);
      return (begun = found);
    };
    const tables = await disk.operate(`${role}.open`, 2_000, open).catch((error: unknown) => {
      begun?.restarted(); // an opening that fails leaves no lock
      throw error;
    });
    return opened(tables);
  };
}

function opened(tables: Tables): Opened {
  const batch = (): TablesBatch => {
    const ops: [string, string | null][] = [];
    const made: TablesBatch = {
      put(key, value) {
        ops.push([key, value]);
        return made;
      },
      del(key) {
        ops.push([key, null]);
        return made;
      },
      write: () => tables.write(ops),
    };
    return made;
  };
  return {
    getSync: (key) => tables.get(key),
    getMany: (keys) => tables.many(keys),
    batch,
    iterator: (range) => tables.iterator(range),
    keys(range) {
      const { nextv, all, close } = tables.iterator(range);
      const names = (entries: [string, string][]): string[] => entries.map(([key]) => key);
      return { nextv: (size) => nextv(size).then(names), all: () => all().then(names), close };
    },
    compactRange: () => tables.flush(),
    close: () => tables.close(),
  };
}

function folderOf(disk: Disk, directory: string, create: boolean): Folder {
  const parts = directory.split('/').filter((part) => part !== '');
  const above = disk.folder(parts.slice(0, -1).join('/'));
  const name = parts.at(-1)!;
  const found = above.shown.get(name);
  if (found instanceof Folder) return found;
  if (!create) throw coded('LEVEL_DATABASE_NOT_OPEN', 'no such directory');
  const made = new Folder();
  above.set(name, made);
  return made;
}
