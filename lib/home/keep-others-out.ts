import { chmod, stat } from 'node:fs/promises';
import { HomeError } from './home-error.js';
import type { Layout } from './layout.js';

/**
 * Anyone who may write in the home's folder may put another gateway.json, another config.yaml or another store
 * in the place of ours, whatever permissions these have: so that right is taken from others, also where the
 * folder was made beforehand with a generous umask. A token that others could read already is refused: that
 * cannot be taken back. Resolves to what was closed, for the log.
 */
export async function keepOthersOut({ home, config, announcement }: Layout): Promise<readonly string[]> {
  const folder = await stat(home).catch(() => undefined);
  if (folder === undefined) return [];
  const closed: string[] = [];
  const close = async (path: string, mode: number): Promise<void> => {
    if ((mode & writable) === 0) return;
    await chmod(path, mode & 0o7777 & ~writable);
    closed.push(path);
  };
  const entered = (folder.mode & enterable) !== 0; // into a folder that others cannot enter they reach nothing
  await close(home, folder.mode);
  if (!entered) return closed;
  const settings = await stat(config).catch(() => undefined);
  if (settings) await close(config, settings.mode);
  const secrets = await stat(announcement).catch(() => undefined);
  if (secrets && (secrets.mode & 0o077) !== 0) {
    throw new HomeError(
      'BAD_ANNOUNCEMENT',
      `${announcement}, which holds the token, is accessible to other users of this machine (mode ` +
        `${(secrets.mode & 0o777).toString(8)}).`,
      'If you are its only user, chmod 600 that file. Otherwise delete it; the next start creates a new token.',
    );
  }
  return closed;
}

const writable = 0o022;
const enterable = 0o011;
