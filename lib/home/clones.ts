import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Which sessions work in a clone that borrows the objects of a repository, and of which. What the clone says
 * of itself is its agent's to write, so this is kept beside it: `clones/<session>.json`.
 */
export async function keepOrigin(home: string, sessionId: string, origin: string): Promise<void> {
  const file = fileOf(home, sessionId);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, JSON.stringify({ origin }), { mode: 0o600 });
}

/** The common folder of the repository, `/home/me/project/.git`; undefined for any other session. */
export async function originOf(home: string, sessionId: string): Promise<string | undefined> {
  const text = await readFile(fileOf(home, sessionId), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as { readonly origin: string }).origin;
}

export const forgetOrigin = (home: string, sessionId: string): Promise<void> =>
  rm(fileOf(home, sessionId), { force: true });

const fileOf = (home: string, sessionId: string): string => join(home, 'clones', `${sessionId}.json`);
