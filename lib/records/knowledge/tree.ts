import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What one folder holds: Markdown files, and folders in which there may be more. Neither links nor anything
 * hidden.
 */
export interface Contents {
  /** Names with their stamps, which change with the content. */
  readonly files: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
}

/**
 * `await contentsOf(home, 'knowledge/tea', 500_000)`: at most so many of each; read in pieces, so that a
 * folder of a hundred thousand files holds no one up. Empty where nothing is.
 */
export async function contentsOf(home: string, folder: string, most: number): Promise<Contents> {
  const files = new Map<string, string>();
  const folders: string[] = [];
  let names: string[] = [];
  const stampAll = async (): Promise<void> => {
    const stamps = await Promise.all(names.map((name) => stampOf(home, `${folder}/${name}`)));
    for (const [place, stamp] of stamps.entries())
      if (stamp !== undefined) files.set(names[place] as string, stamp);
    names = [];
  };
  try {
    for await (const entry of await opendir(join(home, folder), { bufferSize: 256 })) {
      if (entry.name.startsWith('.')) continue;
      if (files.size >= most || folders.length >= most) break;
      if (entry.isDirectory()) folders.push(`${folder}/${entry.name}`);
      else if (entry.isFile() && markdown.test(entry.name)) names.push(entry.name);
      if (names.length >= together) await stampAll();
    }
  } catch {
    // gone, or going while we read
  }
  await stampAll();
  return { files, folders };
}

/**
 * A folder and all below it, each with its contents; at most `foldersMax` folders, and `filesMax` files of
 * each.
 */
export async function* foldersBelow(
  home: string,
  root: string,
  { foldersMax, filesMax }: { readonly foldersMax: number; readonly filesMax: number },
): AsyncGenerator<Contents & { readonly folder: string }> {
  const ahead = [root];
  let met = 1;
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    const contents = await contentsOf(home, folder, filesMax);
    if (folder.split('/').length <= depthMax) {
      for (const below of contents.folders) {
        if (met >= foldersMax) break;
        met += 1;
        ahead.push(below);
      }
    }
    yield { folder, ...contents };
  }
}

/**
 * Undefined for what is not a regular file with one name. Files of more than 2 MiB are left out too: they are
 * no notes.
 */
export async function stampOf(home: string, path: string): Promise<string | undefined> {
  const facts = await lstat(join(home, path)).catch(() => undefined);
  return facts?.isFile() && facts.nlink === 1 && facts.size <= documentBytesMax
    ? `${facts.mtimeMs}:${facts.size}:${facts.ino}`
    : undefined;
}

export const markdown = /\.(?:md|markdown)$/i;
export const documentBytesMax = 2 * 2 ** 20;
const depthMax = 32;
const together = 64;
