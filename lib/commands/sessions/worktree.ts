import { mkdir, realpath, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin, type SandboxLevel } from '../../../actors/sandbox/levels.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { isThere } from '../../home/atomic-file.js';
import { copyOf, forgetCopy, keepCopy } from '../../home/clones.js';
import type { App } from '../app.js';
import { inTurn } from '../request.js';
import { git, submodulesIn, type GitCommand, type GitHost } from './git.js';
import { bringBack, keepWork } from './keep-work.js';

/**
 * A working copy of a repository for one session, at `<home>/work/<session>`, on a branch of its own that begins at
 * the repository's HEAD: agents that work on one repository at once do not tread on each other.
 *
 * Where agents write only their working folder, it is a clone that borrows the repository's objects and can
 * only read them, and its branch is fetched back after each turn (keep-work.ts). Else it is a git worktree.
 */
export interface WorktreeOptions {
  readonly sessionId: string;
  /** The repository, or a folder in it. */
  readonly repository: string;
  readonly level: SandboxLevel;
  readonly rehearsal: boolean;
}

/** Where it lies, and its branch: `{folder: '/home/me/.svc/work/1f2e3d4c-…', branch: 'troupe/1f2e3d4c'}`. */
export interface Worktree {
  readonly folder: string;
  readonly branch: string;
}

/** Refuses with BAD_REQUEST, and git's own words, where there is no repository with a commit. */
export async function ownWorktree(app: App, options: WorktreeOptions): Promise<Worktree | Refusal> {
  const { sessionId, repository, level, rehearsal } = options;
  const folder = join(app.settings.home, 'work', sessionId);
  if (rehearsal) return { folder, branch: branchNames(sessionId)[0] };
  const inForce = (await app.sandbox?.port.inForce(level))?.level ?? 'off';
  const isClone = isWithin(inForce, 'workspace');
  const at = { folder: repository, level };
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const branch = await freeBranch(app, at, sessionId);
    const commonFolder = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
    const origin = await realpath((await git(app, { ...at, args: commonFolder })).trim());
    if (isClone) {
      const commit = (await git(app, { ...at, args: ['rev-parse', '--verify', 'HEAD^{commit}'] })).trim();
      await clone(app, { folder, level, origin }, ['-b', branch, commit]);
    } else {
      await addWorktree(app, { folder, level, origin }, repository, ['-b', branch, folder]);
    }
    await keepCopy(app.settings.home, sessionId, { origin, branch, isClone });
    return { folder, branch };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    const reason = error instanceof Error ? error.message : '';
    return refuse(
      'BAD_REQUEST',
      { path: 'worktree' },
      `A worktree needs a cwd inside a git repository with a commit${reason === '' ? '.' : `: ${reason}`}`,
    );
  }
}

/** The beginning of the session's id, longer where another session has the same. */
const branchNames = (sessionId: string): readonly [string, string] => [
  `troupe/${sessionId.slice(0, 8)}`,
  `troupe/${sessionId.slice(0, 13)}`,
];

async function freeBranch(app: App, at: Omit<GitCommand, 'args'>, sessionId: string): Promise<string> {
  const [short, longer] = branchNames(sessionId);
  const isTaken = await git(app, { ...at, args: ['show-ref', '--verify', '--quiet', `refs/heads/${short}`] })
    .then(() => true)
    .catch(() => false); // git says "none" with its exit code
  return isTaken ? longer : short;
}

async function clone(
  app: GitHost,
  { folder, level, origin }: { folder: string; level: SandboxLevel; origin: string },
  wanted: readonly string[],
): Promise<void> {
  const at = { folder, level, folders: { origin: { path: origin, isWritable: false } } };
  const args = ['clone', '--quiet', '--shared', '--no-checkout', '--template=', '--', origin, '.'];
  await git(app, { ...at, args });
  await git(app, { ...at, args: ['checkout', '--quiet', ...wanted] });
}

/**
 * Its files are written in a second step: settings that hold only in a worktree or on its branch (`includeIf`) name
 * programs that could not be known, and so not be switched off, before there was one.
 */
async function addWorktree(
  app: GitHost,
  { folder, level, origin }: { folder: string; level: SandboxLevel; origin: string },
  repository: string,
  wanted: readonly string[],
): Promise<void> {
  const args = ['worktree', 'add', '--quiet', '--no-checkout', ...wanted];
  await git(app, { folder: repository, level, args, folders: { writes: [folder] } });
  const within = { folder, level, folders: { origin: { path: origin, isWritable: true } } };
  await git(app, { ...within, args: ['reset', '--quiet', '--hard'] });
}

/** What is done around each turn: `sandbox: {…, ...worktreeTurns(app)}`. */
export const worktreeTurns = (app: GitHost) => ({
  beforeTurn: (sessionId: string, level: SandboxLevel) =>
    aloneInFolder(app, sessionId, () => restoreWorktree(app, sessionId, level)),
  afterTurn: (sessionId: string, level: SandboxLevel) =>
    aloneInFolder(app, sessionId, () => keepWork(app, sessionId, level)),
});

/**
 * What the gateway does in the folder of a session, one thing after the other: a turn begins when it is done.
 * @example await aloneInFolder(app, 's1', () => keepWork(app, 's1', 'off'))
 */
export const aloneInFolder = <Value>(
  { settings }: Pick<GitHost, 'settings'>,
  sessionId: string,
  action: () => Promise<Value>,
): Promise<Value> => inTurn(settings, `folder/${sessionId}`, action);

/** Makes the working copy of a session again that was taken away while it rested (clean-work.ts). */
async function restoreWorktree(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  const copy = await copyOf(app.settings.home, sessionId);
  if (copy?.branch == null) return;
  const { origin, branch, isClone } = copy;
  const folder = join(app.settings.home, 'work', sessionId);
  if (await isThere(join(folder, '.git'))) return;
  if (isClone) return clone(app, { folder, level, origin }, ['-b', branch, `origin/${branch}`]);
  // A person may have taken the folder away without a word to git, which then makes none in its place
  await rmdir(folder).catch(() => undefined);
  const forget = ['worktree', 'remove', '--force', folder];
  if (!(await isThere(folder))) await git(app, { folder: origin, level, args: forget }).catch(() => '');
  await addWorktree(app, { folder, level, origin }, origin, [folder, branch]);
}

/** For a session that did not come to be. */
export async function dropWorktree(
  app: App,
  { sessionId, repository, level }: WorktreeOptions,
): Promise<void> {
  const folder = join(app.settings.home, 'work', sessionId);
  const copy = await copyOf(app.settings.home, sessionId);
  const at = { folder: repository, level, folders: { writes: [folder] } };
  const ask = (...args: string[]) => git(app, { ...at, args }).catch(() => undefined);
  if (copy?.isClone === true) await rm(folder, { recursive: true, force: true });
  else {
    await ask('worktree', 'remove', '--force', folder);
    if (copy?.branch != null) await ask('branch', '--quiet', '-D', copy.branch);
  }
  await forgetCopy(app.settings.home, sessionId);
}

/**
 * Takes the working copy of a session away, unless there is work in it that is in no commit. `isForGood`: its branch
 * goes as well where the repository's HEAD has all of it; else the copy can be made again from it. Answers whether
 * the copy is gone. Rejects where git fails; then everything stays.
 */
export async function dropClean(
  app: GitHost,
  sessionId: string,
  { level, isForGood }: { readonly level: SandboxLevel; readonly isForGood: boolean },
): Promise<boolean> {
  const copy = await copyOf(app.settings.home, sessionId);
  if (copy === undefined) return false;
  const { origin, branch, isClone } = copy;
  const folder = join(app.settings.home, 'work', sessionId);
  const at = { folder, level, folders: { origin: { path: origin, isWritable: false } } };
  // A repository may say that it does not want to see new files: they are work all the same
  const unhidden = ['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty'];
  const ask = (...args: string[]): Promise<string> => git(app, { ...at, args });
  const isTouched = (await ask(...unhidden)) !== '' || (await submodulesIn(folder, ask)).length > 0;
  if (isClone) {
    const stashes = await git(app, { ...at, args: ['stash', 'list'] });
    await bringBack(app, sessionId, level);
    if (isTouched || stashes !== '') return false;
    await rm(folder, { recursive: true, force: true });
  } else {
    if (isTouched) return false;
    const isDetached = await git(app, { ...at, args: ['symbolic-ref', '--quiet', 'HEAD'] }).then(
      () => false,
      () => true,
    );
    if (isDetached && branch !== null) return false; // its commits may be on no branch
    // By force: else git would look for changes, in a worktree whose programs it was not asked for
    const args = ['worktree', 'remove', '--force', folder];
    // Confined, git empties the folder and cannot take it away itself
    await git(app, { folder: origin, level, args, folders: { writes: [folder] } }).catch(
      async (error: unknown) => {
        if (await isThere(join(folder, '.git'))) throw error;
      },
    );
    await rmdir(folder).catch(() => undefined);
  }
  if (!isForGood) return true;
  if (branch !== null) await dropMerged(app, branch, { folder: origin, level });
  await forgetCopy(app.settings.home, sessionId);
  return true;
}

async function dropMerged(app: GitHost, branch: string, at: Omit<GitCommand, 'args'>): Promise<void> {
  const ref = `refs/heads/${branch}`;
  const isMerged = await git(app, { ...at, args: ['merge-base', '--is-ancestor', ref, 'HEAD'] }).then(
    () => true,
    () => false,
  );
  const used = await git(app, { ...at, args: ['worktree', 'list', '--porcelain'] });
  // not `git branch -d`, which writes to the settings of the repository
  if (isMerged && !used.split('\n').includes(`branch ${ref}`))
    await git(app, { ...at, args: ['update-ref', '-d', ref] });
}
