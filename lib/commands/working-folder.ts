import { mkdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { Desk } from './desk.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * The folder in which a session's agent works, fixed for the session's life: the one that was asked for, if it lies
 * inside the configured roots once every symbolic link is followed, else `<home>/work/<session>`, made here.
 */
export async function workingFolder(desk: Desk, sessionId: string, wished: string | null | undefined, rehearsal: boolean): Promise<string | Refusal> {
  if (wished != null) return insideRoots(desk, wished);
  const folder = join(desk.settings.home, 'work', sessionId);
  if (!rehearsal) await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

async function insideRoots(desk: Desk, wished: string): Promise<string | Refusal> {
  const outside = refuse('BAD_REQUEST', { path: 'cwd' }, 'cwd must be an existing folder inside one of sessions.roots.');
  if (!isAbsolute(wished) || wished.includes('\0')) return outside;
  const real = await resolved(wished);
  if (real === undefined) return outside;
  for (const root of desk.settings.sessionRoots) {
    const realRoot = await resolved(root);
    if (realRoot !== undefined && (real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep))) return real;
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
