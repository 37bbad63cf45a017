import { existsSync } from 'node:fs';
import { lstat, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Head } from '../store/contract.js';
import { makeFolder, readPlainFile, writeAtomically } from './atomic-file.js';
import { copyTree } from './copy-tree.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * The store of a home as it was before a migration, kept in the home until it is replaced by the next one: whole under
 * its name, or not there. While it is put back, `store` is a file, which no version of Troupe can open. So a process
 * that dies in between leaves the new store, the old one, or a home that says how to go on.
 */
export interface WayBack {
  /** Where the store stood: what was committed later would be lost. */
  readonly head: Head;
  /** ISO-8601. */
  readonly at: string;
}

const shape = z.object({ head: z.object({ seq: z.int().min(0), chain: z.string() }), at: z.string() });
const note = 'migration.json';
const parts = ['store-copy', 'store.json', 'store'] as const;
const keptIn = ({ home }: Layout): string => join(home, 'before-migration');
const leftIn = ({ home }: Layout): string => join(home, 'migration-undone');

/** What is kept; undefined: nothing, or not whole. */
export async function readWayBack(layout: Layout): Promise<WayBack | undefined> {
  const bytes = await readPlainFile(join(keptIn(layout), note), 4_096).catch(() => undefined);
  const found = bytes === undefined ? undefined : shape.safeParse(JSON.parse(bytes.toString('utf8')));
  return found?.data;
}

/** Copies the store of a stopped gateway, in place of the copy of the migration before. */
export async function keepWayBack(layout: Layout, kept: WayBack): Promise<void> {
  const unfinished = `${keptIn(layout)}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await makeFolder(unfinished);
  for (const part of parts) await copyPart(layout, unfinished, part);
  await writeAtomically(join(unfinished, note), `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  await rm(keptIn(layout), { recursive: true, force: true });
  await rename(unfinished, keptIn(layout));
}

/**
 * Ends an undoing that was cut after all but `store` was put back: what is kept is not whole any more, and no way back
 * of the next migration. Nothing where there was none.
 */
export async function endUndoing(layout: Layout): Promise<void> {
  const [kept, left] = [keptIn(layout), leftIn(layout)];
  if (!(['store-copy', 'store.json'] as const).some((part) => existsSync(join(left, part)))) return;
  if (!existsSync(layout.store)) await rename(join(kept, 'store'), layout.store);
  await rm(kept, { recursive: true, force: true });
  await rm(left, { recursive: true, force: true });
}

/** The store of a stopped home, copied to a new folder: `await copyStore(layout, scratch)`. */
export async function copyStore(layout: Layout, folder: string): Promise<void> {
  await makeFolder(folder);
  for (const part of parts) await copyPart(layout, folder, part);
}

/** A part may be a link to another disk. */
async function copyPart({ home }: Layout, folder: string, part: (typeof parts)[number]): Promise<void> {
  const path = join(home, part);
  await copyTree(await realpath(path).catch(() => path), folder, part);
}

/** True while a way back is being put in place of the store, also by a process that has died. */
export const isUndoing = ({ store }: Layout): Promise<boolean> =>
  lstat(store).then(
    (facts) => facts.isFile(),
    () => false,
  );

/**
 * Puts the store of before the migration back. The caller has seen that nothing was committed since, or that it was
 * begun before: then it goes on. `onStep` is called before each rename.
 */
export async function putBack(layout: Layout, onStep: (step: number) => void = () => {}): Promise<void> {
  const [kept, left] = [keptIn(layout), leftIn(layout)];
  let steps = 0;
  const move = async (from: string, to: string): Promise<void> => {
    onStep((steps += 1));
    if (existsSync(from) && !existsSync(to)) await rename(from, to);
  };
  if (!(await isUndoing(layout))) {
    if (!existsSync(join(kept, note)))
      throw new HomeError('BAD_HOME', `${kept} is missing or not whole.`, 'Restore a backup instead.');
    await rm(left, { recursive: true, force: true });
    await makeFolder(left);
    await move(layout.store, join(left, 'store')); // from here the new store is made again from its second copy
    onStep((steps += 1));
    await writeAtomically(layout.store, sentence, { mode: 0o600 }); // and from here nothing opens
  }
  for (const part of ['store-copy', 'store.json'] as const) {
    if (!existsSync(join(kept, part))) continue; // moved already
    await move(join(layout.home, part), join(left, part));
    await move(join(kept, part), join(layout.home, part));
  }
  onStep((steps += 1));
  await rm(layout.store); // from here the old store is made from its second copy
  await move(join(kept, 'store'), layout.store);
  onStep((steps += 1));
  await rm(kept, { recursive: true, force: true });
  await rm(left, { recursive: true, force: true });
}

const sentence = 'A migration is being undone. Go on with: troupe migrate --undo\n';
