import { recordOf, type Desk } from './desk.js';
import { presentSession } from './present-session.js';
import type { Json } from '../../machines/ground.js';
import { isoTimeOrNull } from '../../machines/iso-time.js';
import { isRefusal, type Refusal } from '../../machines/refusals.js';

/** What waits, runs, or came to an end lately, oldest first; `position` counts what waits. */
export async function readQueue(desk: Desk, sessionId: string): Promise<Json[] | Refusal> {
  const session = await presentSession(desk, sessionId);
  if (isRefusal(session)) return session;
  const actor = { kind: 'session', id: sessionId };
  const [items, messages] = await Promise.all([desk.supervisor.rows(actor, 'queue', { last: itemsMax }), desk.supervisor.rows(actor, 'messages', { last: messagesMax })]);
  const prompts = new Map(messages.map(({ n, row }) => [n, (row as { content?: string }).content ?? '']));
  let position = 0;
  return items.map(({ n, row }) => {
    const { id, status, internal, kind, createdAt, startedAt, completedAt } = row as unknown as QueueRow; // written by the session machine alone
    return {
      id, sessionId, sessionKey: recordOf(session)['sessionKey'], prompt: prompts.get(n) ?? null, status, internal, kind,
      position: status === 'pending' ? ++position : null,
      createdAt: isoTimeOrNull(createdAt), startedAt: isoTimeOrNull(startedAt), completedAt: isoTimeOrNull(completedAt),
    };
  });
}

interface QueueRow {
  readonly id: string; readonly status: string; readonly internal: boolean; readonly kind: string;
  readonly createdAt: number; readonly startedAt: number | null; readonly completedAt: number | null;
}

/** Tools that the session's agent asked for, the latest first, and what became of each. */
export async function readPermissions(desk: Desk, sessionId: string): Promise<Json[] | Refusal> {
  const session = await presentSession(desk, sessionId);
  if (isRefusal(session)) return session;
  const actor = { kind: 'session', id: sessionId };
  const [asked, decided] = await Promise.all([desk.supervisor.rows(actor, 'permissions', { last: itemsMax }), desk.supervisor.rows(actor, 'decisions', { last: 2 * itemsMax })]);
  const decisions = new Map(decided.map(({ n, row }) => [n, row as Record<string, Json>]));
  return [...asked].reverse().map(({ n, row }) => {
    const { n: _n, askedAt, expiresAt, ...rest } = { ...(row as Record<string, Json>), ...decisions.get(n) } as Record<string, Json>;
    return { ...rest, askedAt: isoTimeOrNull(askedAt as number), expiresAt: isoTimeOrNull(expiresAt as number), decidedAt: isoTimeOrNull((rest['decidedAt'] ?? null) as number | null) };
  });
}

const itemsMax = 300;
const messagesMax = 1000;
