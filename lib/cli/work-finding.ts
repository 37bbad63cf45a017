import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from '../home/layout.js';
import type { Finding } from './finding.js';
import { bytes } from './print.js';

/** How much working folders of sessions take, and which takes the most. */
export async function workingFolders({ work }: Layout): Promise<Finding | undefined> {
  const names = await readdir(work).catch((): string[] => []);
  if (names.length === 0) return undefined;
  const budget = { entries: entriesMax };
  let total = 0;
  let largest = { name: '', size: -1 };
  for (const name of names) {
    const size = await sizeOf(join(work, name), budget);
    total += size;
    if (size > largest.size) largest = { name, size };
  }
  const atLeast = budget.entries > 0 ? '' : 'at least ';
  const folders = names.length === 1 ? '1 working folder' : `${names.length} working folders`;
  const what =
    `${folders} of sessions, ${atLeast}${bytes(total)}; the largest: ` +
    `${largest.name}, ${bytes(largest.size)}`;
  return total < largeBytes
    ? { grade: 'good', about: 'work', what }
    : {
        grade: 'poor',
        about: 'work',
        what,
        remedy: 'Delete sessions that you need no more, or lower sessions.keepWorktreeDays in config.yaml.',
      };
}

/** Bytes of what lies in a folder, as far as `budget` lets it look; symbolic links are not followed. */
export async function sizeOf(path: string, budget: { entries: number }): Promise<number> {
  if (budget.entries <= 0) return 0;
  budget.entries -= 1;
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return 0;
  if (!facts.isDirectory()) return facts.size;
  let size = 0;
  for (const name of await readdir(path).catch((): string[] => []))
    size += await sizeOf(join(path, name), budget);
  return size;
}

const entriesMax = 200_000;
const largeBytes = 10_000_000_000;
