import { publish, writeRow, type Json, type WriteRow, type Output, type Decision } from '../outputs.js';
import type { MessageIn, MessageRow, QueueItem, SessionContext } from './context.js';

/** The rows and frames that more than one decision of a session leaves behind. */

/** The rows of a session by collection. Times are epoch milliseconds. */
export interface SessionRows {
  readonly messages: MessageRow;
  /** What became of a message that was queued, under its number. */
  readonly queue: QueueRow;
  readonly permissions: PermissionRow;
  /** What became of a permission, under its number. */
  readonly decisions: Pick<PermissionRow, 'id' | 'state' | 'decidedAt' | 'decidedBy' | 'note'>;
}

export interface QueueRow {
  readonly id: string;
  readonly n: number;
  readonly kind: string;
  readonly internal: boolean;
  readonly status: QueueStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

/** A tool that the agent asked for. */
export interface PermissionRow {
  readonly id: string;
  readonly n: number;
  readonly turnId: string;
  readonly tool: string;
  readonly title: string;
  readonly input: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  readonly rule?: string | null;
  readonly state: string;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly note: string | null;
}

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
): WriteRow<'queue', QueueRow> {
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
