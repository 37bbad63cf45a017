import { processTable } from '../../actors/engines/process/table.js';
import { readPlainFile, writeAtomically } from './atomic-file.js';
import { HomeError } from './home-error.js';

/**
 * gateway.json: how local programs find the live gateway and prove that they are the operator. Token and hook
 * secret are minted once and stay for the life of the home, so scripts survive restarts; `pid` is null after
 * a clean stop. A damaged file is refused, never quietly replaced: a new token would lock out everybody
 * without a word.
 */
export interface Announcement {
  readonly host: string;
  readonly port: number;
  /**
   * Process id of the live gateway; null after a clean stop. After a kill it names a dead or, worse, a
   * foreign process.
   */
  readonly pid: number | null;
  /**
   * When that process began (`processStart`), so that a pid that was given to another program is told apart.
   */
  readonly pidStart: string | null;
  /** What `POST /api/internal/hook` accepts. 32 random bytes, base64url. */
  readonly secret: string;
  /** The operator's bearer token. 32 random bytes, base64url. */
  readonly token: string;
  /** Where to reach it: `http://127.0.0.1:7420`. */
  readonly url: string;
  /** Where others reach it, when that is another address: over TLS. */
  readonly publicUrl?: string | undefined;
  readonly instance: string;
}

export type Secrets = Pick<Announcement, 'token' | 'secret'>;

/**
 * `await readAnnouncement(layout.announcement)`: undefined when absent. Rejects with a HomeError that says
 * what is damaged.
 */
export async function readAnnouncement(path: string): Promise<Announcement | undefined> {
  const bytes = await readPlainFile(path, announcementBytesMax);
  if (bytes === undefined) return undefined;
  const given = json(bytes, path);
  const wrong = wrongMember(given);
  // It names the member and never the value: a secret must not reach a terminal.
  if (wrong !== undefined) throw damaged(path, `its member "${wrong}" is missing or malformed`);
  return { pidStart: null, ...given } as Announcement;
}

/**
 * The secrets of an earlier start, or new ones. `mint` answers a fresh 43-character secret: `() =>
 * random.secret(32)`.
 */
export function secretsOf(earlier: Announcement | undefined, mint: () => string): Secrets {
  return earlier === undefined
    ? { token: mint(), secret: mint() }
    : { token: earlier.token, secret: earlier.secret };
}

/** Of the gateway in this process. */
export const announcementHere = async (
  {
    publicUrl,
    ...at
  }: Pick<Announcement, 'host' | 'port' | 'url' | 'instance'> & {
    readonly publicUrl: string | undefined;
  },
  secrets: Secrets,
): Promise<Announcement> => ({
  ...at,
  pid: process.pid,
  pidStart: await processStart(process.pid),
  ...(publicUrl !== undefined && { publicUrl }),
  ...secrets,
});

/** Tell where the gateway is. Readable by the owner only. */
export async function announce(path: string, announcement: Announcement): Promise<void> {
  await writeAtomically(path, `${JSON.stringify(announcement, null, 2)}\n`, { mode: 0o600 });
}

/**
 * After a clean stop: the same file with `pid: null`, so that no one signals or trusts a process that is
 * gone.
 */
export async function announceStopped(path: string, announcement: Announcement): Promise<void> {
  await announce(path, { ...announcement, pid: null, pidStart: null });
}

/**
 * Is the announced process still the gateway? False when it stopped cleanly, when the pid is gone, and when
 * the pid now belongs to another program. Signal a pid, and send it the token, only when this says true.
 */
export async function isAlive(announcement: Announcement): Promise<boolean> {
  const { pid, pidStart } = announcement;
  if (pid === null) return false;
  const now = await processStart(pid);
  return now !== null && (pidStart === null || now === pidStart);
}

/** When a process began: with the pid it names a process for good. Null when it is gone. */
export const processStart = async (pid: number): Promise<string | null> =>
  (await processTable().startTime(pid)) ?? null;

const announcementBytesMax = 64 * 1024;

/** The first member that is not as it is written; by hand, for every command reads this file before all else. */
function wrongMember(given: Readonly<Record<string, unknown>>): string | undefined {
  return Object.entries(members).find(([name, isRight]) => !isRight(given[name]))?.[0];
}

const isText = (max: number) => (value: unknown) =>
  typeof value === 'string' && value.length > 0 && value.length <= max;
const isSecret = (value: unknown): boolean => typeof value === 'string' && /^[\w-]{43}$/.test(value);
const isUrl = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value);
const members: Readonly<Record<keyof Announcement, (value: unknown) => boolean>> = {
  host: isText(255),
  port: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535,
  pid: (value) => value === null || (Number.isSafeInteger(value) && Number(value) > 0),
  pidStart: (value) => value == null || isText(200)(value),
  secret: isSecret,
  token: isSecret,
  url: isUrl,
  publicUrl: (value) => value === undefined || isUrl(value),
  instance: isText(64),
};

function json(bytes: Buffer, path: string): Readonly<Record<string, unknown>> {
  if (bytes.length === 0) throw damaged(path, 'it is empty');
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // the parser's own message would quote the content
  }
  throw damaged(path, 'it is not a JSON object');
}

function damaged(path: string, why: string): HomeError {
  return new HomeError(
    'BAD_ANNOUNCEMENT',
    `${path} is damaged: ${why}.`,
    'Restore it from a backup, or delete it: the next start creates a new token, which every script and ' +
      'tool then needs.',
  );
}
