import { stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { findExecutable } from '../engines/executable.js';
import { real } from './places.js';

/**
 * A program that runs before anything is confined, as an absolute path. An agent may write some folder of the
 * PATH: what it puts there must not become the sandbox. So the folders of the system come first, and another
 * one counts only where it belongs to the superuser alone, up to the root.
 */
export async function findSystemProgram(name: string): Promise<string | undefined> {
  for (const folder of systemFolders) {
    const found = await findExecutable(join(folder, name));
    if (found !== undefined) return found;
  }
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute)) {
    const within = await real(folder);
    const path = within && (await findExecutable(join(within, name)));
    const file = path && (await real(path));
    if (path && file && (await isOfTheSystem(path)) && (await isOfTheSystem(file))) return path;
  }
  return undefined;
}

const systemFolders = ['/usr/bin', '/bin'];

/** No one else can change the file, put another in its folder, or move a folder above it. */
async function isOfTheSystem(file: string): Promise<boolean> {
  const folder = dirname(file);
  if (!(await isOfSuperuser(file)) || !(await isOfSuperuser(folder))) return false;
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (!(await isOfSuperuser(above, sticky))) return false;
    if (above === dirname(above)) return true;
  }
}

/** In a sticky folder, as /tmp, only the owner moves what is there. */
async function isOfSuperuser(path: string, excuse = 0): Promise<boolean> {
  const { uid, mode } = await stat(path);
  return uid === 0 && ((mode & writableByOthers) === 0 || (mode & excuse) !== 0);
}

const writableByOthers = 0o022;
const sticky = 0o1000;
