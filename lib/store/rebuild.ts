import { join } from 'node:path';
import type { Logger } from 'pino';
import { readBase } from './base.js';
import { StoreError, type Op } from './contract.js';
import type { Survey } from './copy-files.js';
import { DamageError, type Database } from './database.js';
import { opsIn, origin, type Position } from './frame.js';
import type { StorePorts } from './ports.js';
import { scanSegments } from './scan.js';

/** Long work tells how far it is: rows done so far; the end is not known beforehand. */
export interface Progress {
  readonly task: 'rebuild' | 'replay' | 'verify' | 'base' | 'backup' | 'restore';
  readonly rows: number;
}

export interface RebuildOptions {
  readonly ports: StorePorts;
  readonly home: string;
  readonly survey: Survey;
  /** What is wrong with the database there now. */
  readonly reason: string;
  /** Nothing wrong was seen in it: of such only the latest is kept. */
  readonly suspected?: boolean;
  /**
   * Where it is in doubt whether the copy has lost its end, the database may be asked how far it got. LevelDB may end
   * the process over that, so it is done once.
   */
  readonly consult?: boolean;
  /** What is known to have been acknowledged: a copy that ends before it has lost some of that. */
  readonly written?: Position;
  readonly log?: Logger;
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * Make the database again from base image and segments, beside the old one, which is set aside as
 * `store.damaged-<time>` only once the new one is whole. Throws REFUSED, with everything as it was, where the
 * second copy does not hold every acknowledged write either.
 */
export async function rebuildDatabase(options: RebuildOptions): Promise<void> {
  const { ports, home, survey, reason, log, onProgress } = options;
  const { files } = ports;
  const copy = join(home, 'store-copy');
  const target = join(home, 'store.new');
  log?.warn({ reason }, 'store is being rebuilt from its second copy');
  await files.remove(target);
  const database = trusted(await ports.openDatabase(target, { create: 'new' }));
  try {
    const loader = batchLoader(database, (rows) => onProgress?.({ task: 'rebuild', rows }));
    let start: Position = origin;
    if (survey.base) {
      for await (const ops of readBase(files, join(copy, survey.base.file))) await loader.add(ops);
      await loader.end();
      start = database.head() ?? origin;
    }
    const scan = await scanSegments({
      files,
      directory: copy,
      segments: survey.segments,
      start,
      visit: (_frame, body) => loader.add(opsIn(body)),
    });
    await loader.end();
    if (!scan.intact) throw new DamageError(scan.faults.join('; '));
    if (survey.checkpoint && scan.position.frame < survey.checkpoint.frame)
      throw new DamageError(
        `the copy ends at entry ${scan.position.seq}, the checkpoint is at ${survey.checkpoint.seq}`,
      );
    if (scan.position.frame < (options.written?.frame ?? 0))
      throw new DamageError(
        `the copy ends at entry ${scan.position.seq}, and entry ${options.written?.seq} was acknowledged`,
      );
    if (scan.tornBytes > 0) {
      log?.warn(
        { bytes: scan.tornBytes, seq: scan.position.seq },
        'second copy of the store ends in a write that never finished, or in damage',
      );
      const head = options.consult === true ? await headOfDistrusted(ports, home) : undefined;
      if (head !== undefined && scan.position.frame < head.frame)
        throw new DamageError(
          `the copy ends at entry ${scan.position.seq}, and the database has entry ${head.seq}`,
        );
    }
    if (scan.position.frame === 0 && survey.faults.length > 0)
      throw new DamageError(survey.faults.join('; '));
    await database.apply([], scan.position);
    await database.flush();
  } catch (error) {
    await database.close();
    await files.remove(target);
    if (!(error instanceof DamageError)) throw error;
    throw new StoreError(
      'REFUSED',
      `The database cannot be read (${reason}), and its second copy in ${copy} cannot replace it (${error.message}). ` +
        'Nothing was changed. Restore a backup into a new home, or keep this home and report the problem.',
      { cause: error },
    );
  }
  await database.close();
  if (options.suspected === true) await setSuspectAside(ports, home);
  else await setAside(ports, home, 'store');
  await files.rename(target, join(home, 'store'));
  await files.syncDirectory(home);
}

/** Undefined where it cannot say. */
async function headOfDistrusted(ports: StorePorts, home: string): Promise<Position | undefined> {
  let database: Database | undefined;
  try {
    database = await ports.openDatabase(join(home, 'store'), { create: 'never' });
    return database.head();
  } catch (error) {
    if (error instanceof DamageError) return undefined;
    throw error;
  } finally {
    await database?.close();
  }
}

/**
 * A database that was begun a moment ago. What it says of damage is a fault of the disk now, and must not be taken for
 * damage of the copy that it is made from: trying again may help.
 */
function trusted(database: Database): Database {
  const blame = (error: unknown): never => {
    if (!(error instanceof DamageError)) throw error;
    throw new StoreError('STORE_UNAVAILABLE', `the database that is being rebuilt fails: ${error.message}`, {
      cause: error,
    });
  };
  return {
    ...database,
    head() {
      try {
        return database.head();
      } catch (error) {
        return blame(error);
      }
    },
    load: (rows) => database.load(rows).catch(blame),
    apply: (frames, position) => database.apply(frames, position).catch(blame),
    flush: () => database.flush().catch(blame),
  };
}

/** Rename `<home>/<name>` to `<name>.damaged-<time>`, so that nothing is lost that could be needed; the oldest goes. */
export async function setAside(
  { files, clock }: Pick<StorePorts, 'files' | 'clock'>,
  home: string,
  name: string,
): Promise<void> {
  const names = await files.readdir(home);
  if (!names.includes(name)) return;
  const stamp = `${name}.damaged-${new Date(clock.now()).toISOString().replace(/[:.]/g, '-')}`;
  await files.rename(join(home, name), join(home, names.includes(stamp) ? `${stamp}-${process.pid}` : stamp));
  if (name === 'store-copy') await files.mkdir(join(home, name));
  await files.syncDirectory(home);
  const older = (await files.readdir(home)).filter((other) => other.startsWith(`${name}.damaged-`)).sort();
  for (const other of older.slice(0, -damagedKept)) await files.remove(join(home, other));
}

/** Of each copy, the newest: a disk that fails again and again must not fill itself. */
const damagedKept = 3;

/**
 * Deaths may have had another cause, and come again: one such folder must not follow another until the disk
 * is full.
 */
async function setSuspectAside(ports: StorePorts, home: string): Promise<void> {
  const { files } = ports;
  for (const name of await files.readdir(home))
    if (name === suspectFolder) await files.remove(join(home, name));
  if ((await files.readdir(home)).includes('store'))
    await files.rename(join(home, 'store'), join(home, suspectFolder));
  await files.syncDirectory(home);
}

const suspectFolder = 'store.distrusted';

/** Gathers ops into batches of a few MB: one write to LevelDB for many small frames. */
export function batchLoader(database: Database, onRows: (rows: number) => void) {
  let ops: Op[] = [];
  let bytes = 0;
  let rows = 0;
  const end = async (): Promise<void> => {
    const batch = ops;
    ops = [];
    bytes = 0;
    if (batch.length > 0) await database.load(batch);
    rows += batch.length;
    onRows(rows);
  };
  return {
    end,
    async add(more: Iterable<Op>): Promise<void> {
      for (const op of more) {
        ops.push(op);
        bytes += op[0].length + (op[1]?.length ?? 0);
      }
      if (bytes > batchBytes) await end();
    },
  };
}

const batchBytes = 4 << 20;
