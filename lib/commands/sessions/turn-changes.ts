import { constants } from 'node:fs';
import { access, lstat, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TurnChanges, WatchChanges } from '../../../actors/session/turn-changes.js';
import type { App } from '../app.js';
import { git, type GitCommand } from './git.js';

/**
 * What a turn changes in a folder that git keeps: all that is in it before and after, committed or not, as two
 * trees that git compares. So what was there before the turn does not count as the turn's, and what the agent
 * commits does. The repository is only read: index and objects of the trees lie in a folder of their own.
 */
export const watchChanges =
  (app: Pick<App, 'sandbox' | 'settings'>): WatchChanges =>
  async ({ cwd, level, mark }) => {
    const folder = join(app.settings.home, 'tmp');
    if (mark === undefined && !(await isInRepository(cwd))) return undefined;
    if (mark !== undefined && !markPattern.test(mark)) return undefined;
    const scratch = mark === undefined ? await scratchIn(folder).catch(() => undefined) : join(folder, mark);
    if (scratch === undefined) return undefined;
    // Beside the scratch, into which programs that a repository names may write
    const file = `${scratch}.json`;
    const close = async (): Promise<void> => {
      await Promise.all([scratch, file].map((path) => rm(path, { recursive: true, force: true })));
    };
    const readNow = (): Promise<FolderState> =>
      readFolder(app, { folder: cwd, level, folders: { writes: [scratch] } }, scratch);
    const before = await (mark === undefined ? readNow().then(keep(file)) : kept(file)).catch(
      () => undefined,
    );
    if (before !== undefined)
      return {
        mark: basename(scratch),
        read: () =>
          readNow()
            .then((after) => changesBetween(before, after))
            .catch(() => undefined),
        close,
      };
    await close();
    return undefined;
  };

/** For a later gateway. */
const keep =
  (file: string) =>
  async ({ tree, others }: FolderState): Promise<FolderBefore> => {
    await writeFile(file, JSON.stringify({ tree, others: [...others] }), { mode: 0o600, flag: 'wx' });
    return { tree, others };
  };

async function kept(file: string): Promise<FolderBefore> {
  const { tree, others } = JSON.parse(await readFile(file, 'utf8')) as {
    readonly tree: string;
    readonly others: readonly (readonly [string, string])[];
  };
  return { tree, others: new Map(others) };
}

async function scratchIn(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(folder, 'turn-'));
  await mkdir(join(scratch, 'objects'));
  return scratch;
}

const markPattern = /^turn-[A-Za-z0-9]{6}$/;

type FolderBefore = Pick<FolderState, 'tree' | 'others'>;

/** How a folder stood at a moment. */
interface FolderState {
  readonly tree: string;
  /** Files that are too large or too many for a tree, by what would differ if they were changed. */
  readonly others: ReadonlyMap<string, string>;
  /** Git with the objects of this tree. */
  readonly ask: (...args: string[]) => Promise<string>;
}

async function readFolder(
  app: Pick<App, 'sandbox'>,
  at: Omit<GitCommand, 'args'>,
  scratch: string,
): Promise<FolderState> {
  const run = (args: readonly string[], more: Partial<GitCommand> = {}): Promise<string> =>
    git(app, { ...at, ...more, args: ['--no-optional-locks', ...args] });
  const { commit, paths } = readStatus(await run(status));
  const [prefix = '', objects = ''] = (
    await run(['rev-parse', '--show-prefix', '--path-format=absolute', '--git-path', 'objects'])
  ).split('\n');
  const aside = { index: join(scratch, 'index'), objects: join(scratch, 'objects'), borrowed: objects };
  const ask = (...args: string[]): Promise<string> => run(args, { aside });
  const below = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  const { taken, others } = await weighed(at.folder, below);
  if (taken.length === 0) return { tree: commit, others, ask };
  await ask('read-tree', commit);
  await run(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], {
    aside,
    stdin: taken.map((path) => `${path}\0`).join(''),
  });
  return { tree: (await ask('write-tree')).trim(), others, ask };
}

/** Never into a submodule: git would be started again there, and run the filters that the submodule names. */
const status = [
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

/** Paths from the top of the repository of all that is not as its commit says. Throws where there is no commit. */
function readStatus(text: string): { readonly commit: string; readonly paths: readonly string[] } {
  const paths: string[] = [];
  let commit = '';
  for (const line of text.split('\0')) {
    const fields = fieldsBefore[line.slice(0, 2)];
    if (line.startsWith('# branch.oid ')) commit = line.slice('# branch.oid '.length);
    else if (fields !== undefined) {
      const path = line.split(' ').slice(fields).join(' ');
      if (!path.endsWith('/')) paths.push(path); // a repository within this one
    }
  }
  if (!/^[0-9a-f]{40,}$/.test(commit)) throw new Error('there is no commit');
  return { commit, paths };
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

async function changesBetween(before: FolderBefore, after: FolderState): Promise<TurnChanges | undefined> {
  const isOther = (path: string): boolean => before.others.get(path) !== after.others.get(path);
  const others = [...new Set([...before.others.keys(), ...after.others.keys()])].filter(isOther);
  const diff = (...args: string[]): Promise<string> =>
    before.tree === after.tree
      ? Promise.resolve('')
      : after.ask('diff', ...plainDiff, '--relative', ...args, before.tree, after.tree, '--', '.');
  const inTrees = (await diff('--name-only', '-z')).split('\0').filter((name) => name !== '');
  const files = [...new Set([...inTrees, ...others])];
  if (files.length === 0) return undefined;
  const summary = await diff(`--stat=${statColumns}`);
  const patch = await diff('--binary').catch(() => ''); // longer than may be read
  return { files: files.slice(0, filesMax), stat: summary.trimEnd(), patch };
}

const plainDiff = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames', '--submodule=short'];
const statColumns = 120;
const filesMax = 1_000;

/** Without starting a program: most working folders are none. */
async function isInRepository(folder: string): Promise<boolean> {
  for (let at = folder, steps = 0; steps < 64; at = dirname(at), steps += 1) {
    if (await stat(join(at, '.git')).catch(() => undefined)) return true;
    if (dirname(at) === at) return false;
  }
  return false;
}
