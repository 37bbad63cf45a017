import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin, type SandboxLevel } from '../../../actors/sandbox/levels.js';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { forgetOrigin, keepOrigin, originOf } from '../../home/clones.js';
import type { App } from '../app.js';
import { git, type GitCommand } from './git.js';

/**
 * A working copy of a repository for one session, at `<home>/work/<session>`, detached at the repository's
 * HEAD: agents that work on one repository at once do not tread on each other.
 *
 * Where agents write only their working folder, it is a clone that borrows the repository's objects and can
 * only read them, and the branches made in it are fetched back after each turn as `troupe/<session>/…`. Else
 * it is a git worktree.
 */
export interface WorktreeOptions {
  readonly sessionId: string;
  /** The repository, or a folder in it. */
  readonly repository: string;
  readonly level: SandboxLevel;
  readonly rehearsal: boolean;
}

export async function ownWorktree(app: App, options: WorktreeOptions): Promise<string | Refusal> {
  const { sessionId, repository, level, rehearsal } = options;
  const folder = join(app.settings.home, 'work', sessionId);
  if (rehearsal) return folder;
  const inForce = (await app.sandbox?.port.inForce(level))?.level ?? 'off';
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (isWithin(inForce, 'workspace')) await clone(app, options, folder);
    else {
      const args = ['worktree', 'add', '--quiet', '--detach', folder];
      await git(app, { folder: repository, level, args, folders: { writes: [folder] } });
    }
    return folder;
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

async function clone(app: App, options: WorktreeOptions, folder: string): Promise<void> {
  const { repository, level, sessionId } = options;
  const at = { folder: repository, level };
  const commit = (await git(app, { ...at, args: ['rev-parse', '--verify', 'HEAD^{commit}'] })).trim();
  const origin = (
    await git(app, { ...at, args: ['rev-parse', '--path-format=absolute', '--git-common-dir'] })
  ).trim();
  const folders = { reads: [origin] };
  const args = ['clone', '--quiet', '--shared', '--no-checkout', '--template=', '--', origin, '.'];
  await git(app, { folder, level, args, folders });
  await git(app, { folder, level, args: ['checkout', '--quiet', '--detach', commit], folders });
  await keepOrigin(app.settings.home, sessionId, origin);
}

/** For a session that did not come to be. */
export async function dropWorktree(
  app: App,
  { sessionId, repository, level }: WorktreeOptions,
): Promise<void> {
  const folder = join(app.settings.home, 'work', sessionId);
  const isClone = (await originOf(app.settings.home, sessionId)) !== undefined;
  if (isClone) await rm(folder, { recursive: true, force: true });
  else {
    const args = ['worktree', 'remove', '--force', folder];
    await git(app, { folder: repository, level, args, folders: { writes: [folder] } }).catch(() => undefined);
  }
  await forgetOrigin(app.settings.home, sessionId);
}

/**
 * For a session that is deleted: its clone goes once its branches are brought back, unless there is work in it that
 * is in no commit. Rejects where git fails; then everything stays.
 */
export async function dropCleanClone(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  const origin = await originOf(app.settings.home, sessionId);
  if (origin === undefined) return;
  const folder = join(app.settings.home, 'work', sessionId);
  const folders = { reads: [origin] };
  const changes = await git(app, {
    folder,
    level,
    args: ['status', '--porcelain', '--ignore-submodules=dirty'],
    folders,
  });
  const stashes = await git(app, { folder, level, args: ['stash', 'list'], folders });
  await bringBack(app, sessionId, level);
  if (await hasSubmodules(app, { folder, level, folders })) return;
  if (changes !== '' || stashes !== '') return;
  await rm(folder, { recursive: true, force: true });
  await forgetOrigin(app.settings.home, sessionId);
}

/** What git would tell of their files it learns from their filters: such a clone stays, unlooked at. */
async function hasSubmodules(app: GitHost, at: Omit<GitCommand, 'args'>): Promise<boolean> {
  const entries = await git(app, { ...at, args: ['ls-files', '--stage', '-z'] });
  for (const entry of entries.split('\0')) {
    if (!entry.startsWith('160000 ')) continue;
    const path = join(at.folder, entry.slice(entry.indexOf('\t') + 1), '.git');
    if (await lstat(path).catch(() => undefined)) return true;
  }
  return false;
}

export type GitHost = Pick<App, 'sandbox' | 'settings'>;

/**
 * The branches of a clone, fetched into the repository that it is of. The clone packs them, confined as its
 * agent; what is taken over is checked data, and nothing of the clone's settings is read.
 */
export async function bringBack(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  const origin = await originOf(app.settings.home, sessionId);
  if (origin === undefined) return;
  const folder = join(app.settings.home, 'work', sessionId);
  const bundle = '.git/troupe.bundle';
  const isNew = await git(app, {
    folder,
    level,
    args: ['bundle', 'create', '--quiet', bundle, '--branches', 'HEAD', '--not', '--remotes'],
    folders: { reads: [origin] },
  }).then(
    () => true,
    (error: Error) => (/empty bundle/i.test(error.message) ? false : Promise.reject(error)),
  );
  if (!isNew) return;
  const into = `refs/heads/troupe/${sessionId}`;
  const wanted = [`+refs/heads/*:${into}/*`, `+HEAD:${into}/head`];
  await git(app, {
    folder: origin,
    level,
    args: ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', join(folder, bundle), ...wanted],
    folders: { reads: [folder] },
  });
}
