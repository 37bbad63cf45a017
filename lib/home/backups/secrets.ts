import { stat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { readPlainFile } from '../atomic-file.js';
import { HomeError } from '../home-error.js';

/** Keys of backups: never in config.yaml, which is shown, and never on a command line, which others can read. */
export interface Secrets {
  /** The age identity that seals and opens; refused where there is none. */
  key(): string;
  hasKey(): boolean;
  bucket(): {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/**
 * `NAME=value` lines of a private file, else the environment. `(await readSecrets('/etc/troupe/backup.env')).key()`
 */
export async function readSecrets(
  file: string | null,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Secrets> {
  const values = file === null ? env : { ...env, ...(await linesOf(file)) };
  const where = file === null ? 'the environment' : `${file} or the environment`;
  const wanted = (name: string): string => {
    const value = values[name];
    if (value !== undefined && value !== '') return value;
    throw new HomeError(
      'BAD_HOME',
      `${name} is not set.`,
      `Set it in ${where}${file === null ? ', or name a file with it as backup.secretsFile' : ''}.`,
    );
  };
  return {
    key: () => wanted(keyName),
    hasKey: () => (values[keyName] ?? '') !== '',
    bucket: () => ({
      accessKeyId: wanted('AWS_ACCESS_KEY_ID'),
      secretAccessKey: wanted('AWS_SECRET_ACCESS_KEY'),
      ...((values['AWS_SESSION_TOKEN'] ?? '') !== '' && { sessionToken: values['AWS_SESSION_TOKEN'] ?? '' }),
    }),
  };
}

export const keyName = 'TROUPE_BACKUP_KEY';

async function linesOf(file: string): Promise<Readonly<Record<string, string | undefined>>> {
  const bytes = await readPlainFile(file, 65_536);
  if (bytes === undefined)
    throw new HomeError('BAD_HOME', `${file} does not exist.`, 'Create it, or change backup.secretsFile.');
  if (((await stat(file)).mode & 0o077) !== 0)
    throw new HomeError(
      'BAD_HOME',
      `${file} holds keys and is open to other users.`,
      `Run: chmod 600 ${file}`,
    );
  return parseEnv(bytes.toString('utf8'));
}
