import { mkdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { App } from '../app.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * The folder in which a session's agent works, fixed for the session's life: the one that was asked for, if
 * it lies inside the configured roots once every symbolic link is followed, else `<home>/work/<session>`,
 * made here. `anywhere`: anyone who asks has the operator's own token, and may name any folder but the home.
 */
export async function workingFolder(
  app: App,
  sessionId: string,
  given: string | null | undefined,
  { rehearsal, anywhere = false }: { readonly rehearsal: boolean; readonly anywhere?: boolean },
): Promise<string | Refusal> {
  if (given != null) {
    const inRoots = await insideRoots(app, given);
    return isRefusal(inRoots) && anywhere ? outsideHome(app, given) : inRoots;
  }
  const folder = join(app.settings.home, 'work', sessionId);
  if (!rehearsal) await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

async function outsideHome({ settings }: App, given: string): Promise<string | Refusal> {
  const real = isAbsolute(given) && !given.includes('\0') ? await resolved(given) : undefined;
  if (real === undefined)
    return refuse('BAD_REQUEST', { path: 'cwd' }, 'cwd must be the absolute path of an existing folder.');
  const home = (await resolved(settings.home)) ?? settings.home;
  const work = join(home, 'work');
  if (isInside(real, home) && (real === work || !isInside(real, work)))
    return refuse(
      'BAD_REQUEST',
      { path: 'cwd' },
      "cwd is inside the gateway's own home. Choose another folder.",
    );
  return real;
}

const isInside = (folder: string, root: string): boolean =>
  folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);

async function insideRoots(app: App, given: string): Promise<string | Refusal> {
  const outside = refuse(
    'BAD_REQUEST',
    { path: 'cwd' },
    'cwd must be an existing folder inside one of sessions.roots.',
  );
  if (!isAbsolute(given) || given.includes('\0')) return outside;
  const real = await resolved(given);
  if (real === undefined) return outside;
  const home = (await resolved(app.settings.home)) ?? app.settings.home;
  for (const root of app.settings.sessionRoots) {
    const realRoot = await resolved(root);
    if (realRoot === undefined || !isInside(real, realRoot)) continue;
    // A root around the home means the folders beside it: other sessions work in the home.
    if (realRoot !== home && isInside(home, realRoot) && isInside(real, home)) continue;
    return real;
  }
  return outside;
}

async function resolved(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined; // absent or unreadable: not a folder that anybody may work in
  }
}
