import { copyFile, lstat, mkdir, readdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { CommandFolders } from '../../sandbox/sandbox.js';
import type { TurnRequest } from '../engine.js';
import type { CodexOptions } from './settings.js';

/**
 * The folders in which codex keeps settings, conversations and logs: one of the engine's, for its catalogue
 * of models, and below it one for each session, so that no agent finds the conversations of another.
 */
type Homed = Pick<CodexOptions, 'home' | 'baseUrl' | 'apiKeyEnv'>;
type TurnAsk = Pick<TurnRequest, 'sessionId' | 'nativeId'>;

const folderOf = (home: string, sessionId: string): string => join(home, 'of', basename(sessionId));

/**
 * Makes its folder in one that exists. A login of the user's counts there too, by a link: codex renews it in
 * place for both.
 */
export async function prepareHome({ home, baseUrl, apiKeyEnv }: Homed): Promise<void> {
  if (home === undefined) return;
  await mkdir(home, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (baseUrl !== undefined || apiKeyEnv !== undefined) return;
  const isThere = await lstat(userLogin()).then(
    (found) => found.isFile(),
    () => false,
  );
  // It stands there already
  if (isThere) await symlink(userLogin(), join(home, 'auth.json')).catch(() => undefined);
}

const userHome = (): string => process.env['CODEX_HOME'] ?? join(homedir(), '.codex');
/** Where codex keeps the user's own login. */
export const userLogin = (): string => join(userHome(), 'auth.json');

/** The session's own folder, ready to be used; what it said before it had one is copied into it. */
export async function sessionHome(options: Homed, request: TurnAsk): Promise<Pick<Homed, 'home'>> {
  if (options.home === undefined) return {};
  await prepareHome(options);
  const home = folderOf(options.home, request.sessionId);
  await mkdir(dirname(home), { recursive: true, mode: 0o700 });
  const isNew = await lstat(home).then(
    () => false,
    () => true,
  );
  await prepareHome({ ...options, home });
  if (isNew && request.nativeId !== null) await bringConversation(options.home, home, request.nativeId);
  return { home };
}

/** `sessions/2026/11/22/rollout-…-<id>.jsonl`; where it is not found, codex begins again with the transcript. */
async function bringConversation(from: string, to: string, nativeId: string): Promise<void> {
  if (!/^[\w-]{8,64}$/.test(nativeId)) return;
  const files = await readdir(join(from, 'sessions'), { recursive: true }).catch(() => []);
  const file = files.find((name) => name.endsWith(`-${nativeId}.jsonl`));
  if (file === undefined) return;
  await mkdir(join(to, 'sessions', dirname(file)), { recursive: true, mode: 0o700 });
  await copyFile(join(from, 'sessions', file), join(to, 'sessions', file));
}

/** What codex needs when it is confined: its own folder, and the login that the link there leads to. */
export const codexFolders = (options: Homed, request: TurnAsk): Promise<CommandFolders> =>
  Promise.resolve({
    writes:
      options.home === undefined ? [userHome()] : [folderOf(options.home, request.sessionId), userLogin()],
  });
