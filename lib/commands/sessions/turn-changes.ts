import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TurnChanges, WatchChanges } from '../../../actors/session/turn-changes.js';
import type { App } from '../app.js';
import { readFolder, scratchIn, type FolderState } from './folder-state.js';
import { repositoryOf } from './repository.js';

/**
 * What a turn changes in a folder that git keeps: all that is in it before and after, committed or not, as two
 * trees that git compares. So what was there before the turn does not count as the turn's, and what the agent
 * commits does. The repository is only read: index and objects of the trees lie in a folder of their own.
 */
export const watchChanges =
  (app: Pick<App, 'sandbox' | 'settings'>): WatchChanges =>
  async ({ cwd, level, mark }) => {
    const folder = join(app.settings.home, 'tmp');
    if (mark === undefined && (await repositoryOf(cwd)) === undefined) return undefined;
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

const markPattern = /^turn-[A-Za-z0-9]{6}$/;

type FolderBefore = Pick<FolderState, 'tree' | 'others'>;

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
