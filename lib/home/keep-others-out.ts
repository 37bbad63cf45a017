import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { followed } from './atomic-file.js';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * Anyone who may write in the home's folder may put another gateway.json, another config.yaml or another store
 * in the place of ours, whatever permissions these have: so that right is taken from others, also where the
 * folder was made beforehand with a generous umask, and from what lies in it and says what is run. What another user
 * put there while it was open is refused, for its owner may change it at any time; so is a token that others could
 * read already: that cannot be taken back. Resolves to what was closed, for the log.
 */
export async function keepOthersOut(layout: Layout): Promise<readonly string[]> {
  const { home, announcement } = layout;
  const wasEntered = await isEntered(home);
  const open = await openToOthers(layout);
  for (const { path, mode } of open) await chmod(path, mode & 0o7777 & ~writable);
  const closed = open.map(({ path }) => path);
  if (!wasEntered) return closed;
  const secrets = await stat(announcement).catch(() => undefined);
  if (secrets && (secrets.mode & 0o077) !== 0) {
    throw new HomeError(
      'BAD_ANNOUNCEMENT',
      `${announcement}, which holds the token, is accessible to other users of this machine (mode ` +
        `${(secrets.mode & 0o777).toString(8)}).`,
      'If you are its only user, chmod 600 that file. Otherwise delete it; the next start creates a new token.',
    );
  }
  return closed;
}

/**
 * What `keepOthersOut` would close; refuses what that refuses of other users' files. Changes nothing.
 * @example (await openToOthers(layout)).map(({ path }) => path)
 */
export async function openToOthers(
  layout: Layout,
): Promise<readonly { readonly path: string; readonly mode: number }[]> {
  const { home } = layout;
  if ((await followed(home)) === undefined) return [];
  const folder = await stat(home);
  const judged = await judgedFiles(layout);
  refuseForeign(folder.uid, [{ path: home, uid: folder.uid }, ...(await inside(home, 1)), ...judged]);
  const reached = (await isEntered(home)) ? judged.filter(({ isLink }) => !isLink) : [];
  return [{ path: home, mode: folder.mode }, ...reached].filter(({ mode }) => (mode & writable) !== 0);
}

/** Into a folder that others cannot enter they reach nothing. */
const isEntered = (home: string): Promise<boolean> =>
  stat(home).then(
    ({ mode }) => (mode & enterable) !== 0,
    () => false,
  );

const writable = 0o022;
const enterable = 0o011;

/** The superuser may work in the home of a user, and takes that user's word. */
function refuseForeign(owner: number, found: readonly Pick<Found, 'path' | 'uid'>[]): void {
  const self = process.getuid?.();
  if (self === undefined) return;
  const trusted = new Set([self, 0, ...(self === 0 ? [owner] : [])]);
  const foreign = found.find(({ uid }) => !trusted.has(uid));
  if (foreign === undefined) return;
  throw new HomeError(
    'BAD_HOME',
    `${foreign.path} belongs to another user of this machine (${foreign.uid}), who may change it at any time.`,
    'Remove it, or check what is in it and chown it. Better: choose a home in a folder that is yours alone.',
  );
}

interface Found {
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
  /** It leads to what is judged elsewhere. */
  readonly isLink: boolean;
}

/** Settings, employees and skills say what is run, and how it is confined. */
const judgedFiles = async ({ config, org, skills }: Layout): Promise<readonly Found[]> =>
  (await Promise.all([config, org, skills].map((path) => withInside(path, depthMax)))).flat();

/** `org/<department>/<name>.yaml`, `skills/<name>/scripts/<program>` */
const depthMax = 3;

async function withInside(path: string, depth: number): Promise<readonly Found[]> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return [];
  const own = { path, uid: facts.uid, mode: facts.mode, isLink: facts.isSymbolicLink() };
  return [own, ...(facts.isDirectory() ? await inside(path, depth) : [])];
}

async function inside(folder: string, depth: number): Promise<readonly Found[]> {
  if (depth === 0) return [];
  const found: Found[] = [];
  for (const name of await readdir(folder).catch((): string[] => []))
    found.push(...(await withInside(join(folder, name), depth - 1)));
  return found;
}
