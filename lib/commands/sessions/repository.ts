import { access, lstat, readlink, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readPlainFile } from '../../home/atomic-file.js';

/** The repository that a folder is in. */
export interface Repository {
  /** Where its files lie: the folder with `.git` in it. */
  readonly top: string;
  /** `.git` there is the repository itself, not a word that names another place. */
  readonly isOwn: boolean;
}

/**
 * The next folder above that git, too, takes for a repository; undefined: none. Nothing is started for it: most working
 * folders are in none. Git passes over a folder `.git` with no repository in it and goes on above; who stops there says
 * that all files of the repository above are gone. `(await repositoryOf('/src/app/lib'))?.top` is `/src/app`.
 */
export async function repositoryOf(folder: string): Promise<Repository | undefined> {
  for (let at = folder, steps = 0; steps < 64; at = dirname(at), steps += 1) {
    const place = join(at, '.git');
    const found = await stat(place).catch(() => undefined);
    // Where a file names none, git says so and goes no further
    if (found?.isFile() === true || (found?.isDirectory() === true && (await holdsRepository(place))))
      return { top: at, isOwn: (await lstat(place)).isDirectory() };
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

/** What git looks for: a `HEAD` that names something, objects and refs. */
async function holdsRepository(folder: string): Promise<boolean> {
  const head = join(folder, 'HEAD');
  const named = await readlink(head).catch(() => undefined);
  const text = named ?? (await beginningOf(head));
  if (!(named === undefined ? /^(?:ref:\s*refs\/|[0-9a-f]{40})/ : /^refs\//).test(text)) return false;
  const common = (await beginningOf(join(folder, 'commondir'))).trim() || '.';
  const parts = ['objects', 'refs'].map((name) => access(resolve(folder, common, name)));
  return Promise.all(parts).then(
    () => true,
    () => false,
  );
}

/** An agent may have put a pipe there, or a file without end: neither is read. Empty: there is no such file. */
const beginningOf = (path: string): Promise<string> =>
  readPlainFile(path, bytesMax).then(
    (bytes) => bytes?.toString('utf8') ?? '',
    () => '',
  );

const bytesMax = 4_096;
