import { join } from 'node:path';
import { StoreError } from './contract.js';
import { endOfBase } from './base.js';
import { surveyCopy } from './copy-files.js';
import { readFrames } from './frame-reader.js';
import { nodeFiles, type StoreFiles } from './files.js';
import { openLevelStore, type LevelStoreOptions } from './level.js';

/** What of a second copy is whole, seen from outside. */
export interface CopyEnd {
  /** The positions at which it can be opened, the first and the last. */
  readonly from: number;
  readonly seq: number;
  /** Its files, and how many bytes of each are whole. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

/** Up to where the files of a second copy in a folder are whole. Only the last segment is read. */
export async function endOfCopy(directory: string, files: StoreFiles = nodeFiles): Promise<CopyEnd> {
  const { base, segments } = await surveyCopy(files, directory, { create: false });
  const begin = base === null ? undefined : await endOfBase(files, directory, base);
  if (base !== null && begin === undefined) throw new StoreError('REFUSED', 'the base image is not whole');
  const from = begin?.seq ?? 0;
  let seq = from;
  const whole: { name: string; bytes: number }[] = [];
  if (base !== null) whole.push({ name: base.file, bytes: base.bytes });
  for (const name of segments) whole.push({ name, bytes: await files.size(join(directory, name)) });
  for (let last = whole.at(-1); last !== undefined && segments.includes(last.name); last = whole.at(-1)) {
    last.bytes = 0;
    for await (const found of readFrames(files, join(directory, last.name))) {
      if ('damage' in found) break; // a frame that is being written
      last.bytes = found.end;
      seq = Math.max(seq, found.frame.seq);
    }
    if (last.bytes > 0) break;
    whole.pop();
  }
  return { from, seq, files: whole };
}

/**
 * Makes the store of a home whose second copy was put into `<home>/store-copy`, up to the last commit that is not
 * behind position `at`. Answers where it ends. Throws REFUSED where `at` is before what the copy can tell.
 */
export async function openCopy(
  home: string,
  options: Pick<LevelStoreOptions, 'onProgress'> & { readonly at?: number | undefined },
): Promise<{ readonly seq: number }> {
  if (options.at !== undefined) await cutCopy(join(home, 'store-copy'), options.at);
  const { at: _, ...opening } = options;
  const store = await openLevelStore({ directory: home, scrubEveryMs: 0, ...opening });
  const { seq } = store.head;
  await store.close();
  return { seq };
}

async function cutCopy(directory: string, at: number): Promise<void> {
  const { from, seq } = await endOfCopy(directory);
  if (at < from || at > seq)
    throw new StoreError('REFUSED', `it can be restored at positions ${from} to ${seq}, not at ${at}`);
  let isCut = false;
  for (const name of (await surveyCopy(nodeFiles, directory)).segments) {
    const path = join(directory, name);
    if (isCut) {
      await nodeFiles.remove(path);
      continue;
    }
    for await (const found of readFrames(nodeFiles, path)) {
      if ('damage' in found || found.frame.seq <= at) continue;
      isCut = true;
      const file = await nodeFiles.open(path, 'existing');
      await file.truncate(found.start);
      await file.sync();
      await file.close();
      break;
    }
  }
  await nodeFiles.syncDirectory(directory);
}
