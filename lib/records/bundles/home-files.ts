import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentHash, makeFolder, writeAtomically } from '../../home/atomic-file.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { isInside, openJailed } from '../jailed-file.js';
import { isBundledPath } from './bundle.js';

/** The files of a home that a bundle can hold: read by their path, listed, and written. */
export async function readBundled(home: string, path: string): Promise<string | undefined | Refusal> {
  const opened = await openJailed(home, path);
  if (opened === 'absent') return undefined;
  if (typeof opened === 'string')
    return refuse('CONFLICT', { path }, `${path} of this home is a link or no regular file. Move it away.`);
  try {
    return opened.size > fileBytesMax ? undefined : await opened.handle.readFile('utf8');
  } finally {
    await opened.handle.close();
  }
}

const fileBytesMax = 262_144;

/** Paths below a folder of the home that a bundle can hold, in order: `listBundled(home, 'org/garden')`. */
export async function listBundled(home: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(home, folder), { withFileTypes: true }).catch(() => []);
  const found: string[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && path.split('/').length < 8) found.push(...(await listBundled(home, path)));
    else if (entry.isFile() && isBundledPath(path)) found.push(path);
  }
  return found;
}

/** CONFLICT where a file cannot come to lie: judged before a folder is made, by the deepest one that is there. */
export async function judgeFolder(home: string, path: string): Promise<Refusal | undefined> {
  const root = await realpath(home);
  const wrong = (fault: string) => refuse('CONFLICT', { path }, `${dirname(path)} ${fault}`);
  for (let at = dirname(join(home, path)); ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real === undefined) continue;
    if (real !== root && !isInside(root, real)) return wrong('leads out of the home. Remove the link first.');
    return (await stat(real)).isDirectory() ? undefined : wrong('lies below a file. Move that file away.');
  }
}

/**
 * Writes one of them, unless it has changed since `before` was read. CONFLICT where a link leads out of the home:
 * what is imported stays inside.
 */
export async function writeBundled(
  home: string,
  path: string,
  text: string,
  before: string | undefined,
): Promise<Refusal | undefined> {
  const refusal = await judgeFolder(home, path);
  if (refusal) return refusal;
  const place = join(home, path);
  await makeFolder(dirname(place));
  try {
    await writeAtomically(place, text, {
      mode: 0o600,
      unlessChangedFrom: before === undefined ? null : contentHash(before),
    });
    return undefined;
  } catch (error) {
    if ((error as { code?: string }).code !== 'CHANGED_MEANWHILE') throw error;
    return refuse('CONFLICT', { path }, `${path} has changed meanwhile. Import again.`);
  }
}
