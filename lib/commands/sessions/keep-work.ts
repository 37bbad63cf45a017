import { join } from 'node:path';
import type { SandboxLevel } from '../../../actors/sandbox/levels.js';
import { copyOf } from '../../home/clones.js';
import { chosenPaths } from '../changes/work-place.js';
import { readStatus, status } from './folder-state.js';
import { git, nulEnded, submodulesIn, type GitHost } from './git.js';

/**
 * What becomes of an agent's work in a working copy of its own when a turn is over: what it left in no commit is
 * committed on the session's branch, and the branch of a clone is fetched into the repository. So a turn's work can
 * be reviewed and merged, and the copy can go.
 */
export async function keepWork(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  if (app.settings.commitTurns !== false) await commitLeft(app, sessionId, level);
  await bringBack(app, sessionId, level);
}

/** Only on the session's own branch, and nothing that conflicts. */
async function commitLeft(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  const copy = await copyOf(app.settings.home, sessionId);
  if (copy?.branch == null) return;
  const folder = join(app.settings.home, 'work', sessionId);
  const folders = { origin: { path: copy.origin, isWritable: !copy.isClone } };
  const at = { folder, level, folders, top: folder };
  const ask = (...args: string[]): Promise<string> => git(app, { ...at, args });
  const head = await ask('symbolic-ref', '--quiet', 'HEAD').catch(() => '');
  if (head.trim() !== `refs/heads/${copy.branch}`) return;
  if ((await ask('ls-files', '--unmerged')) !== '' || (await submodulesIn(folder, ask)).length > 0) return;
  // Of a repository that the agent has made or cloned in here git would take the name of a commit that is nowhere
  // else; and of one without a commit nothing, and then nothing of all the others
  const { within } = readStatus(await ask(...status));
  const wanted = ['.', ...within.map((path) => `:(exclude,literal)${path}`)];
  const stdin = nulEnded(wanted);
  await git(app, { ...at, args: ['add', '--all', '--ignore-errors', ...chosenPaths], stdin });
  if ((await ask('diff', '--cached', '--name-only', '--no-ext-diff')) === '') return;
  const message = `Changes of session ${sessionId.slice(0, 8)}\n\nTroupe-Session: ${sessionId}`;
  const author = ['-c', 'user.name=Troupe', '-c', 'user.email=troupe@localhost'];
  await ask(...author, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '-m', message);
}

/**
 * The branches of a clone, fetched into the repository that it is of: its own under its name, others and a detached
 * HEAD as `troupe/<session>/…`. The clone packs them, confined as its agent; what is taken over is checked data, and
 * nothing of the clone's settings is read.
 */
export async function bringBack(app: GitHost, sessionId: string, level: SandboxLevel): Promise<void> {
  const copy = await copyOf(app.settings.home, sessionId);
  if (copy?.isClone !== true) return;
  const { origin, branch } = copy;
  const folder = join(app.settings.home, 'work', sessionId);
  const bundle = '.git/troupe.bundle';
  const isNew = await git(app, {
    folder,
    level,
    args: ['bundle', 'create', '--quiet', bundle, '--branches', 'HEAD', '--not', '--remotes'],
    folders: { origin: { path: origin, isWritable: false } },
  }).then(
    () => true,
    (error: Error) => (/empty bundle/i.test(error.message) ? false : Promise.reject(error)),
  );
  if (!isNew) return;
  const packed = join(folder, bundle);
  const ask = (...args: string[]): Promise<string> =>
    git(app, { folder: origin, level, args, folders: { reads: [folder] } });
  const fetch = (...wanted: string[]): Promise<string> =>
    ask('fetch', '--quiet', '--no-tags', '--no-write-fetch-head', packed, ...wanted);
  const into = `refs/heads/troupe/${sessionId}`;
  const own = `refs/heads/${branch ?? `troupe/${sessionId}`}`;
  const heads = (await ask('bundle', 'list-heads', packed)).split('\n').map((line) => line.split(' '));
  const head = heads.find(([, name]) => name === 'HEAD')?.[0];
  const isDetached =
    head !== undefined && !heads.some(([commit, name]) => commit === head && name !== 'HEAD');
  await fetch(`+refs/heads/*:${into}/*`, `^${own}`, ...(isDetached ? [`+HEAD:${into}/head`] : []));
  if (!heads.some(([, name]) => name === own)) return;
  // Without force: a person may have gone on with it, or may have it checked out
  await fetch(`${own}:${own}`).catch(() => fetch(`+${own}:${into}/${branch ?? 'branch'}`));
}
