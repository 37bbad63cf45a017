import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Desk } from './desk.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * A git worktree of its own for a session, at `<home>/work/<session>`, detached at the repository's HEAD: agents that
 * work on one repository at once do not tread on each other. Hooks and file watchers of the repository are not run.
 */
export async function ownWorktree(desk: Desk, sessionId: string, repository: string, rehearsal: boolean): Promise<string | Refusal> {
  const folder = join(desk.settings.home, 'work', sessionId);
  if (rehearsal) return folder;
  try {
    await git(repository, 'worktree', 'add', '--detach', folder);
    return folder;
  } catch (error) {
    const reason = String((error as { stderr?: unknown }).stderr ?? '').trim().split('\n').at(-1)?.slice(0, 300);
    return refuse('BAD_REQUEST', { path: 'worktree' }, `A worktree needs a cwd inside a git repository with a commit${reason ? `: ${reason}` : '.'}`);
  }
}

/** For a session that did not come to be. */
export async function dropWorktree(desk: Desk, sessionId: string, repository: string): Promise<void> {
  await git(repository, 'worktree', 'remove', '--force', join(desk.settings.home, 'work', sessionId)).catch(() => undefined);
}

const git = (repository: string, ...args: string[]) => run('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-C', repository, ...args], {
  timeout: 30_000, env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', GIT_TERMINAL_PROMPT: '0' },
});
const run = promisify(execFile);
