import { randomBytes } from 'node:crypto';
import { lstat, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { makeFolder } from './atomic-file.js';
import { HomeError } from './home-error.js';

/** A folder that is there as a whole or not at all: of a backup, of a home that is restored. */

/** The absolute path, if nothing stands there yet. */
export async function freePlace(path: string, what: string): Promise<string> {
  const place = resolve(path);
  const facts = await lstat(place).catch(() => undefined);
  if (facts === undefined) return place;
  if (facts.isDirectory() && (await readdir(place)).length === 0) return place;
  throw new HomeError(
    'BAD_HOME',
    `${what} cannot use ${place}: it already exists.`,
    'Move it away, or choose another folder; existing files are never overwritten.',
  );
}

/** Fill a folder beside the place and give it its name at the end; remove it when anything fails. */
export async function whole<Result>(
  place: string,
  fill: (folder: string) => Promise<Result>,
): Promise<Result> {
  const unfinished = `${place}.unfinished-${randomBytes(6).toString('hex')}`;
  await makeFolder(unfinished).catch((cause: NodeJS.ErrnoException) => {
    throw new HomeError(
      'BAD_HOME',
      `Cannot write to ${dirname(place)} (${cause.code ?? cause.message}).`,
      'Choose another folder, or fix its permissions.',
      { cause },
    );
  });
  try {
    const result = await fill(unfinished);
    await rmdir(place).catch(() => undefined);
    await rename(unfinished, place);
    return result;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Whether a folder is another one, or in it. */
export function inside(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path === '' || (!path.startsWith('..') && !isAbsolute(path));
}
