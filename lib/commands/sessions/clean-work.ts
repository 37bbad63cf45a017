import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isRefusal } from '../../../machines/refusals.js';
import type { App } from '../app.js';
import { levelOf } from '../changes/work-place.js';
import { presentSession } from './read-session.js';
import { dropClean } from './worktree.js';

const dayMs = 86_400_000;

/**
 * Takes away working copies of repositories whose sessions have rested for `sessions.keepWorktreeDays`. Their branches
 * stay, and a session that goes on gets its copy again. One with work in it that is in no commit stays, however old.
 * One after the other: git reads each of them whole. Answers how many went.
 */
export async function dropRested(app: App, failed: (error: unknown) => void): Promise<number> {
  const days = app.settings.keepWorktreeDays ?? 0;
  if (days === 0) return 0;
  const before = app.supervisor.environment.clock.now() - days * dayMs;
  const files = await readdir(join(app.settings.home, 'clones')).catch((): string[] => []);
  let gone = 0;
  for (const id of files.map((name) => name.replace(/\.json$/, ''))) {
    const session = await presentSession(app, id);
    if (isRefusal(session)) continue;
    const { status, lastActivity } = session.view;
    if (!resting.has(status) || Date.parse(lastActivity) > before) continue;
    const level = levelOf(app, session.view);
    const isGone = await dropClean(app, id, { level, isForGood: false }).catch((error: unknown) => {
      failed(error);
      return false;
    });
    if (isGone) gone += 1;
  }
  return gone;
}

const resting: ReadonlySet<string> = new Set(['idle', 'error', 'interrupted', 'stopped']);
