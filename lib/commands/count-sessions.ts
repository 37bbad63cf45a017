import type { Desk } from './desk.js';
import { walkMax } from './walk.js';

/** How many sessions there are, and how many run or wait, for GET /api/status: by keys alone, up to 100,000. Those that were put away do not count. */
export async function countSessions({ supervisor }: Desk): Promise<{ total: number; running: number; active: number }> {
  const [total, running, waiting] = await Promise.all([
    supervisor.count('session', { index: 'all', limit: walkMax }), supervisor.count('session', { index: 'status', prefix: 'running/' }), supervisor.count('session', { index: 'status', prefix: 'waiting/' }),
  ]);
  return { total, running, active: running + waiting };
}
