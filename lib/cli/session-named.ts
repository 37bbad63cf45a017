import type { Client } from './client.js';
import { CommandError, exitCodes } from './failure.js';

/**
 * The id of a session that was typed whole or in part, from its beginning. What names none is left as it is: the
 * gateway knows ids that no list shows, and says so where there is nothing.
 * @example await sessionNamed(client, '3f2a') // '3f2a91c0-…'
 */
export async function sessionNamed(client: Client, typed: string): Promise<string> {
  if (whole.test(typed) || typed.trim().length < shortestPart) return typed;
  const answer = await client.get('/api/sessions', { params: { query: { q: typed } } });
  const listed = 'sessions' in answer ? answer.sessions : answer;
  const found = listed.map(({ id }) => id).filter((id) => id.startsWith(typed));
  if (found.length > 1 && !found.includes(typed))
    throw new CommandError(
      exitCodes.usage,
      `"${typed}" means ${found.length} sessions: ${found.slice(0, 10).join(', ')}.`,
    );
  return found.length === 1 ? (found[0] ?? typed) : typed;
}

const whole = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const shortestPart = 2;
