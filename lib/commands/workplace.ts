import type { Asking, Desk, Employee } from './desk.js';
import { workingFolder } from './working-folder.js';
import { dropWorktree, ownWorktree } from './worktree.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

export interface Workplace {
  readonly cwd: string;
  /** The session did not come to be: what was made for it is taken away again. */
  drop(): Promise<void>;
}

export interface WorkplaceWish {
  readonly cwd?: string | null | undefined;
  readonly worktree?: boolean | undefined;
}

/**
 * Where a new session works: in the folder that was asked for, else in its employee's, else in the configured one, else
 * in a new one of its own. A folder that is nobody's wish brings its own answer to "in a worktree of it?".
 */
export async function workplaceOf(desk: Desk, sessionId: string, wish: WorkplaceWish, employee: Employee | null, asking: Asking): Promise<Workplace | Refusal> {
  // git runs with the gateway's own hands, on a repository that says what git does: not for agents to ask
  if (wish.worktree === true && asking.by.type === 'session') return refuse('FORBIDDEN', {}, 'Only people open sessions in a worktree.');
  const { cwd, worktree = false } = wish.cwd != null ? wish : usualPlace(desk, wish, employee);
  if (worktree && cwd == null) return refuse('BAD_REQUEST', { path: 'worktree' }, 'worktree needs cwd: the repository.');
  const rehearsal = asking.dryRun === true;
  const folder = await workingFolder(desk, sessionId, cwd, rehearsal);
  if (isRefusal(folder)) return folder;
  if (!worktree) return { cwd: folder, drop: () => Promise.resolve() };
  const own = await ownWorktree(desk, sessionId, folder, rehearsal);
  return isRefusal(own) ? own : { cwd: own, drop: () => (rehearsal ? Promise.resolve() : dropWorktree(desk, sessionId, folder)) };
}

function usualPlace({ settings }: Desk, wish: WorkplaceWish, employee: Employee | null): WorkplaceWish {
  const cwd = employee?.cwd ?? settings.sessionCwd;
  const usual = employee?.worktree ?? (employee?.cwd === undefined ? settings.sessionWorktree : undefined);
  return { cwd, worktree: wish.worktree ?? (cwd != null && usual === true) };
}
