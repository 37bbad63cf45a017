import { join } from 'node:path';
import { readText, writeFileDurably } from './durable-file.js';
import { exists, type StoreFiles } from './files.js';
import type { StorePorts } from './ports.js';

/**
 * A damaged table can make LevelDB end the whole process, at the opening or in a compaction soon after, and so at every
 * start. No one can catch that, so a note is laid down before LevelDB is opened and taken away once it has run for a
 * while, or was closed. A note that is found is a life that died in between.
 */
export interface OpeningNote {
  /** How many lives in a row died while the store was new to them. */
  readonly deaths: number;
  /** The database was made again: what happened before says nothing about it. */
  renewed(): Promise<void>;
  /** It has run for a while, or was closed. */
  proven(): Promise<void>;
  /** It was not opened after all: as if no one had tried. */
  withdraw(): Promise<void>;
}

export const openingNoteFile = 'store-opening.json';
/** So many deaths, and the database is distrusted. */
export const deathsMax = 2;
/** So many, and it is not even asked any more what it holds: two deaths of another cause lose nothing yet. */
export const consultedMax = deathsMax + 2;
/** A start after which LevelDB has lived so long is a good one: what its tables owe it compacts at once. */
export const provenAfterMs = 30_000;

/** Lay the note down, durably. The caller holds the lock of the home. */
export async function noteOpening(ports: StorePorts, home: string): Promise<OpeningNote> {
  const { files, clock } = ports;
  const path = join(home, openingNoteFile);
  const before = await deathsNoted(files, home);
  const deaths = before === undefined ? 0 : before + 1;
  const write = (count: number): Promise<void> =>
    writeFileDurably(
      files,
      path,
      `${JSON.stringify({ format: 1, deaths: count, since: new Date(clock.now()).toISOString() })}\n`,
    );
  const remove = async (): Promise<void> => {
    await files.remove(path);
    await files.syncDirectory(home);
  };
  await write(deaths);
  return {
    deaths,
    renewed: () => write(0),
    proven: remove,
    withdraw: () => (before === undefined ? remove() : write(before)),
  };
}

/** The deaths before the life that left a note; undefined where there is none. */
export async function deathsNoted(files: StoreFiles, home: string): Promise<number | undefined> {
  const path = join(home, openingNoteFile);
  if (!(await exists(files, path))) return undefined;
  try {
    const { deaths } = JSON.parse(await readText(files, path)) as { readonly deaths?: unknown };
    return typeof deaths === 'number' && deaths >= 0 ? Math.min(Math.floor(deaths), consultedMax - 1) : 0;
  } catch {
    return 0; // it was there, that is all that must be known
  }
}
