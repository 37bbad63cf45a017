import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Which sessions work in a git worktree of their own, or in a clone that borrows the objects of a repository, and
 * of which. What is in such a folder is its agent's to write, so this is kept beside it: `clones/<session>.json`.
 */
export interface OwnCopy {
  /** The common folder of the repository, `/home/me/project/.git`. */
  readonly origin: string;
  /** The session's branch, `troupe/1f2e3d4c`; null: from before there was one. */
  readonly branch: string | null;
  /** A clone; else a worktree of the repository itself. */
  readonly isClone: boolean;
}

/** `await keepCopy(home, sessionId, {origin: '/home/me/project/.git', branch: 'troupe/1f2e3d4c', isClone: true})` */
export async function keepCopy(home: string, sessionId: string, copy: OwnCopy): Promise<void> {
  const file = fileOf(home, sessionId);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify(copy), { mode: 0o600 });
}

/** Undefined for a session that works elsewhere. */
export async function copyOf(home: string, sessionId: string): Promise<OwnCopy | undefined> {
  const text = await readFile(fileOf(home, sessionId), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { origin, branch = null, isClone = true } = JSON.parse(text) as Partial<OwnCopy> & { origin: string };
  return { origin, branch, isClone };
}

export const forgetCopy = (home: string, sessionId: string): Promise<void> =>
  rm(fileOf(home, sessionId), { force: true });

const fileOf = (home: string, sessionId: string): string => join(home, 'clones', `${sessionId}.json`);
