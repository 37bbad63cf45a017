import type { Desk } from './desk.js';
import { idsOf, recordsOf } from './walk.js';

/**
 * How many sessions there are, for GET /api/status: all by keys alone; how many run or wait among the last active
 * ones, since a session that is at work was active lately.
 */
export async function countSessions(desk: Desk): Promise<{ total: number; running: number; active: number }> {
  const ids = await idsOf(desk.supervisor, 'session', { index: 'all' });
  const statuses = (await recordsOf(desk.supervisor, 'session', ids.slice(0, recentMax))).map((record) => (record as { status?: string }).status);
  const running = statuses.filter((status) => status === 'running').length;
  const waiting = statuses.filter((status) => status === 'waiting').length;
  return { total: ids.length, running, active: running + waiting };
}

const recentMax = 500;
