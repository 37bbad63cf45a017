import type { Decision } from '../decision.js';
import { publish, writeRow } from '../outputs.js';
import type { SessionContext, SessionEventOf } from './context.js';

/**
 * A file is attached: a message of the assistant that shows it, in its place among the others, and nothing
 * else moves.
 */
export function insertMedia(
  context: SessionContext,
  event: SessionEventOf<'media.insert'>,
): Decision<SessionContext> {
  const { id, content, media } = event.message;
  const n = context.messages + 1;
  return {
    set: { messages: n, lastActivity: event.at },
    outputs: [
      writeRow('messages', n, { id, role: 'assistant', content, timestamp: event.at, media }),
      publish('session:attachment', { sessionId: context.id, id, content, media, timestamp: event.at }),
    ],
  };
}
