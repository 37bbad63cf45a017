import type { Decision } from '../decision.js';
import { publish, writeRow, type Json, type WriteRow, type Output } from '../outputs.js';
import type { MessageIn, QueueItem, SessionContext } from './context.js';

/** The rows and frames that more than one decision of a session leaves behind. */

/** The row of a message, one further than the last. */
export function written(
  context: SessionContext,
  message: Omit<MessageIn, 'kind'>,
  at: number,
): Decision<SessionContext> {
  const n = context.messages + 1;
  const row: Record<string, Json> = {
    id: message.id,
    role: message.role,
    content: message.content,
    timestamp: at,
  };
  if (message.media !== undefined) row['media'] = message.media;
  if (message.meta !== undefined) row['meta'] = message.meta;
  return { set: { messages: n, lastActivity: at }, outputs: [writeRow('messages', n, row)] };
}

/** The queue row of a message, under the same number: what became of it. */
export function queueRow(
  item: QueueItem,
  status: QueueStatus,
  startedAt: number | null,
  completedAt: number | null,
): WriteRow {
  const row = {
    id: item.id,
    n: item.n,
    kind: item.kind,
    internal: item.kind !== 'user',
    status,
    createdAt: item.createdAt,
    startedAt,
    completedAt,
  };
  return writeRow('queue', item.n, row);
}

export type QueueStatus = 'pending' | 'running' | 'completed' | 'interrupted' | 'cancelled';

export const queueFrame = (context: SessionContext): Output =>
  publish('queue:updated', {
    sessionId: context.id,
    sessionKey: sessionKey(context),
    depth: context.queue.length,
    paused: context.queuePaused,
  });

export const sessionKey = (context: SessionContext): string =>
  context.sourceRef ?? `${context.source}:${context.createdAt}`;
