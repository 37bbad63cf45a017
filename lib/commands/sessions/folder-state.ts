import { constants } from 'node:fs';
import { access, lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../app.js';
import { git, nulEnded, type GitCommand } from './git.js';
import { repositoryOf } from './repository.js';

/** How a folder stood at a moment. */
export interface FolderState {
  readonly tree: string;
  /** What is checked out there; null: there is no commit yet. */
  readonly commit: string | null;
  /** The commit, or a tree with nothing in it. */
  readonly committed: string;
  /** Below the folder: what is in no commit as it is. */
  readonly uncommitted: readonly string[];
  /** Below the folder: repositories of their own, of which this one knows nothing. */
  readonly within: readonly string[];
  /** Files that are too large or too many for a tree, by what would differ if they were changed. */
  readonly others: ReadonlyMap<string, string>;
  /** Git with the objects of this tree. */
  readonly ask: (...args: string[]) => Promise<string>;
}

/**
 * All that is in a folder that git keeps, committed or not, as a tree. The repository is only read: index and objects
 * of the tree lie in the scratch folder.
 */
export async function readFolder(
  app: Pick<App, 'sandbox'>,
  at: Omit<GitCommand, 'args'>,
  scratch: string,
): Promise<FolderState> {
  const found = await repositoryOf(at.folder);
  const top = found?.top;
  // Git takes a folder that looks like a repository for one, before it looks above: an agent could make it so
  const gitDir = found?.isOwn === true ? join(found.top, '.git') : undefined;
  const run = (args: readonly string[], more: Partial<GitCommand> = {}): Promise<string> =>
    git(app, { ...at, gitDir, top, ...more, args: ['--no-optional-locks', ...args] });
  const { commit, paths, within } = readStatus(await run(status));
  const committed = commit ?? (await run(['hash-object', '-t', 'tree', '--stdin'], { stdin: '' })).trim();
  const [prefix = '', objects = ''] = (
    await run(['rev-parse', '--show-prefix', '--path-format=absolute', '--git-path', 'objects'])
  ).split('\n');
  const aside = {
    index: join(scratch, 'index'),
    objects: { folder: join(scratch, 'objects'), borrowed: objects },
  };
  const ask = (...args: string[]): Promise<string> => run(args, { aside });
  const inFolder = (all: readonly string[]): readonly string[] =>
    all.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  const below = [...new Set([...inFolder(paths), ...assumedUnchanged(await run(['ls-files', '-v', '-z']))])];
  const { taken, others } = await weighed(at.folder, below);
  const state = { commit, committed, uncommitted: below, within: inFolder(within), others, ask };
  if (taken.length === 0) return { ...state, tree: committed };
  await ask('read-tree', committed);
  await run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
    aside,
    stdin: nulEnded(taken),
  });
  return { ...state, tree: (await ask('write-tree')).trim() };
}

/**
 * Never into a submodule: git would be started again there, and run the filters that the submodule names. And always at
 * files that the index says not to look at, where they are there all the same.
 */
export const status = [
  ...['-c', 'core.sparseCheckout=true', '-c', 'sparse.expectFilesOutsideOfPatterns=false'],
  'status',
  '--porcelain=v2',
  '--branch',
  '-z',
  '--no-renames',
  '--ignore-submodules=all',
  '--untracked-files=all',
  '--',
  '.',
];

/** Git looks at these as little as it is told to: an agent that tells it so would have changed nothing in them. */
const assumedUnchanged = (text: string): readonly string[] =>
  text.split('\0').flatMap((line) => (/^[a-z] /.test(line) ? [line.slice(2)] : []));

/** Paths from the top of the repository of all that is not as its commit says; `within`: of repositories in it. */
export function readStatus(text: string): {
  readonly commit: string | null;
  readonly paths: readonly string[];
  readonly within: readonly string[];
} {
  const paths: string[] = [];
  const within: string[] = [];
  let commit = '';
  for (const line of text.split('\0')) {
    const fields = fieldsBefore[line.slice(0, 2)];
    if (line.startsWith('# branch.oid ')) commit = line.slice('# branch.oid '.length);
    else if (fields !== undefined) {
      const path = line.split(' ').slice(fields).join(' ');
      if (path.endsWith('/')) within.push(path.slice(0, -1));
      else paths.push(path);
    }
  }
  return { commit: /^[0-9a-f]{40,}$/.test(commit) ? commit : null, paths, within };
}

const fieldsBefore: Readonly<Record<string, number>> = { '1 ': 8, 'u ': 10, '? ': 1 };

/** What may go into a tree, and what is only looked at. */
async function weighed(
  folder: string,
  paths: readonly string[],
): Promise<{ readonly taken: readonly string[]; readonly others: ReadonlyMap<string, string> }> {
  const taken: string[] = [];
  const others = new Map<string, string>();
  let bytesLeft = treeBytesMax;
  for (const path of paths) {
    const place = join(folder, path);
    const found = await lstat(place).catch(() => undefined);
    const bytes = found?.isFile() === true ? found.size : 0;
    const isReadable =
      found?.isFile() !== true ||
      (await access(place, constants.R_OK).then(
        () => true,
        () => false,
      ));
    if (isReadable && taken.length < treePathsMax && bytes <= bytesLeft) {
      bytesLeft -= bytes;
      taken.push(path);
    } else if (found !== undefined && others.size < otherPathsMax)
      others.set(path, `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`);
  }
  return { taken, others };
}

const treePathsMax = 2_000;
const treeBytesMax = 64 * 2 ** 20;
const otherPathsMax = 20_000;

/** A folder for `readFolder`, to be removed afterwards. */
export async function scratchIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(folder, 'turn-'));
  await mkdir(join(scratch, 'objects'));
  return scratch;
}
