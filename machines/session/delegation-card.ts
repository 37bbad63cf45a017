import { publish, writeRow, type Json, type Decision } from '../outputs.js';
import type { SessionContext, SessionEventOf } from './context.js';

/**
 * What was delegated beneath a session leaves a card in it: a message of the assistant, in its place among the
 * others. The row says what was dispatched; how the child stands is looked up when the message is read.
 */
export type DelegationCard = {
  /** `dg-<work item>` */
  readonly id: string;
  readonly type: 'delegation';
  readonly version: 1;
  readonly status: 'dispatched' | 'running' | 'succeeded' | 'failed' | 'interrupted';
  readonly payload: {
    readonly employee: string | null;
    readonly employeeDisplay: string | null;
    readonly title: string;
    readonly childSessionId: string;
    readonly workItemId: string;
    readonly dispatchedAt: string;
    readonly repliedAt: string | null;
  };
};

export function insertCard(
  context: SessionContext,
  event: SessionEventOf<'delegation.dispatched'>,
): Decision<SessionContext> {
  const { id, content, blocks } = event.message;
  const n = context.messages + 1;
  return {
    set: { messages: n, lastActivity: event.at },
    outputs: [
      writeRow('messages', n, { id, role: 'assistant', content, timestamp: event.at, blocks }),
      publish('session:updated', { sessionId: context.id }),
    ],
  };
}

/** The card in a message; undefined: it has none. */
export const cardIn = (blocks: Json | undefined): DelegationCard | undefined =>
  (Array.isArray(blocks) ? (blocks as readonly { readonly type?: unknown }[]) : []).find(
    (block): block is DelegationCard => block.type === 'delegation',
  );
