import type { Desk } from './desk.js';
import { newestRow } from './walk.js';
import type { Row } from '../supervisor/contract.js';
import type { Json } from '../../machines/ground.js';

export interface MessagesPage { readonly messages: readonly Json[]; readonly hasOlder: boolean }

/** The last messages of a session, oldest first; at most 500. */
export async function lastMessages(desk: Desk, sessionId: string, last: number): Promise<MessagesPage> {
  return page(await desk.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', { last: Math.min(last, messagesMax) }));
}

/** The page of messages before the one with that id; an unknown id gives an empty page. */
export async function messagesBefore(desk: Desk, sessionId: string, before: string, limit: number): Promise<MessagesPage> {
  const n = await placeOf(desk, sessionId, before);
  if (n === undefined) return { messages: [], hasOlder: false };
  return page(await desk.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', { before: n, last: Math.min(limit, messagesMax) }));
}

/** A message with so many on either side; undefined for an unknown id. */
export async function messagesAround(desk: Desk, sessionId: string, messageId: string, radius: number): Promise<(MessagesPage & { readonly hasNewer: boolean }) | undefined> {
  const n = await placeOf(desk, sessionId, messageId);
  if (n === undefined) return undefined;
  const rows = await desk.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', { before: n + radius + 2, last: 2 * radius + 2 });
  const shown = rows.filter((row) => Number(row.n) >= n - radius && Number(row.n) <= n + radius);
  return { ...page(shown), hasNewer: rows.some((row) => Number(row.n) > n + radius) };
}

async function placeOf({ supervisor }: Desk, sessionId: string, messageId: string): Promise<number | undefined> {
  const found = await newestRow(supervisor, { kind: 'session', id: sessionId }, 'messages', (row) => (row as { id?: string } | null)?.id === messageId);
  return found && Number(found.n);
}

/** Messages count from 1, so a page that begins later has older ones before it. */
const page = (rows: readonly Row[]): MessagesPage => ({ messages: rows.map((row) => row.row), hasOlder: Number(rows[0]?.n ?? 1) > 1 });

export const messagesMax = 500;
