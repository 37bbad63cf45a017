import { mkdir, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CommandFolders } from '../../sandbox/sandbox.js';

/**
 * What an agent of the protocol needs when it is confined. What it would run in a later, unconfined start (settings
 * with hooks and servers, commands, extensions) it sees and cannot change, whether it is there or not: it gets an empty
 * folder of settings with what is there, read-only, and only logins and conversations are the user's own.
 *
 * @example await acpFolders({folders: ['.gemini'], keeps: ['.gemini/tmp/']})
 */
export async function acpFolders({
  folders = [],
  keeps,
  momentary = [],
}: {
  readonly folders?: readonly string[];
  readonly keeps?: readonly string[];
  readonly momentary?: readonly string[];
}): Promise<CommandFolders> {
  const own = (name: string): string => join(homedir(), name);
  if (keeps === undefined) return { writes: folders.map(own) };
  for (const name of keeps.filter((each) => each.endsWith('/')))
    await mkdir(own(name), { recursive: true, mode: 0o700 });
  for (const name of folders) await mkdir(own(name), { recursive: true, mode: 0o700 });
  const there = await Promise.all(
    folders.map(async (name) => (await readdir(own(name))).map((each) => join(name, each))),
  );
  return {
    scratch: folders.map(own),
    reads: there
      .flat()
      .filter((name) => !momentary.includes(name))
      .map(own),
    writes: keeps.map((name) => own(name).replace(/\/$/, '')),
  };
}
