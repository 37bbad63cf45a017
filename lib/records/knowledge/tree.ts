import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The Markdown files of a folder and what lies below it: regular files only, neither links nor anything hidden. */
export interface Found {
  /** Below the home: `knowledge/tea/green.md`. */
  readonly path: string;
  /** Changes with the content. */
  readonly stamp: string;
}

/** `for await (const file of markdownBelow(home, 'knowledge'))`: folder by folder, in order of names. `deep` false: this folder only. */
export async function* markdownBelow(home: string, folder: string, deep = true): AsyncGenerator<Found> {
  const ahead = [folder];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const entries = await readdir(join(home, next), { withFileTypes: true }).catch(() => []);
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    const files: string[] = [];
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const path = `${next}/${entry.name}`;
      if (entry.isDirectory() && deep && path.split('/').length <= depthMax) ahead.push(path);
      else if (entry.isFile() && markdown.test(entry.name)) files.push(path);
    }
    for (let at = 0; at < files.length; at += together) {
      const stamped = await Promise.all(files.slice(at, at + together).map((path) => stampOf(home, path)));
      for (const found of stamped) if (found) yield found;
    }
  }
}

export const markdown = /\.(?:md|markdown)$/i;
export const documentBytesMax = 2 * 2 ** 20;
const depthMax = 32;
const together = 32;

/** Files of more than 2 MiB are left out: they are no notes. */
async function stampOf(home: string, path: string): Promise<Found | undefined> {
  const facts = await lstat(join(home, path)).catch(() => undefined);
  return facts?.isFile() && facts.nlink === 1 && facts.size <= documentBytesMax ? { path, stamp: `${facts.mtimeMs}:${facts.size}:${facts.ino}` } : undefined;
}
