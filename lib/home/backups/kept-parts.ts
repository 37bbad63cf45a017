import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { parse } from 'yaml';
import { followed } from '../atomic-file.js';
import { inside } from '../new-folder.js';

/** A part of a home. */
export interface KeptPart {
  /** Its name in the home. */
  readonly name: string;
  /** Where it lies, with every link on the way followed. */
  readonly at: string;
}

/**
 * What a backup holds of a home beside the store: what people, agents and the gateway keep, and the modules and the
 * certificate that `config.yaml` names below the home. Without them a restored home would not start. A module that lies
 * in a folder comes with all of that folder, where what it imports lies. `more`: other names in the home.
 *
 * A part that is a link is followed, as the gateway does: so `files` lies on a larger disk, or `org` in a repository.
 * Rejects with a HomeError where one leads nowhere: a disk that is not mounted is no reason for a backup without it.
 * @example for (const { name, at } of await keptParts(layout.home)) await copyTree(at, target, name);
 */
export async function keptParts(home: string, more: readonly string[] = []): Promise<readonly KeptPart[]> {
  const config = await readFile(join(home, 'config.yaml'), 'utf8').catch(() => '');
  const names = new Set([...always, ...namedIn(config).flatMap((name) => partOf(home, name)), ...more]);
  const parts: KeptPart[] = [];
  for (const name of names) {
    const at = await followed(join(home, name));
    if (at !== undefined) parts.push({ name, at });
  }
  return parts;
}

/** A backup within the home would hold those before it, and be lost with the home. Links are looked through. */
export async function isWithinHome(
  home: string,
  place: string,
  parts: readonly KeptPart[],
): Promise<boolean> {
  const real = await realPlace(place);
  return [await realpath(home), ...parts.map(({ at }) => at)].some((folder) => inside(folder, real));
}

/** Where a folder lies, though it may not be there yet. */
export const realPlace = (path: string): Promise<string> =>
  realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if ((error.code !== 'ENOENT' && error.code !== 'ENOTDIR') || dirname(path) === path) throw error;
    return join(await realPlace(dirname(path)), basename(path));
  });

const always = [
  'config.yaml',
  'gateway.json',
  'auth-devices.json',
  'push-key.json',
  'trusted-folders.json',
  'org',
  'skills',
  'skills.json',
  'knowledge',
  'docs',
  'files',
  'uploads',
  'cron',
  'workflow-evidence',
];

/** Of these a backup holds what it holds anyway: they grow without bound, or are the store. */
const neverWhole = ['work', 'polls', 'engines', 'logs', 'run', 'store', 'store-copy', 'tmp'];

/** A file that is broken is copied like any other, and says so where it is read. */
function namedIn(config: string): readonly string[] {
  try {
    const { modules, gateway } = (parse(config) ?? {}) as {
      readonly modules?: unknown;
      readonly gateway?: { readonly tls?: { readonly cert?: unknown; readonly key?: unknown } | null };
    };
    const named: readonly unknown[] = [modules, gateway?.tls?.cert, gateway?.tls?.key].flat();
    return named.filter((name) => typeof name === 'string');
  } catch {
    return [];
  }
}

/** The first part of its path below the home; none for what lies elsewhere. */
function partOf(home: string, path: string): readonly string[] {
  const [first = ''] = relative(home, resolve(home, path)).split(sep);
  return ['', '..', ...always, ...neverWhole].includes(first) ? [] : [first];
}
