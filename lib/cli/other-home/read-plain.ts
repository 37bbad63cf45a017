import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openJailed } from '../../records/jailed-file.js';

/** Texts of the other home, small ones and none behind a link: whoever made the folder could name any file by one. */

export const unreadable = 'It has more than 262,144 bytes, or leads elsewhere.';

/** `await readPlain('/home/me/.other', 'cron/jobs.json')`; undefined: it is not there, too large, or leads elsewhere. */
export async function readPlain(home: string, path: string): Promise<string | undefined> {
  const opened = await openJailed(home, path);
  if (typeof opened === 'string') return undefined;
  try {
    return opened.size > 262_144 ? undefined : await opened.handle.readFile('utf8');
  } finally {
    await opened.handle.close();
  }
}

/** Names in a folder, in order; none where there is no such folder. */
export const namesIn = async (home: string, folder: string): Promise<readonly string[]> =>
  (await readdir(join(home, folder)).catch(() => [])).sort();
