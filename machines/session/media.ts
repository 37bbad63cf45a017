import type { Deed } from '../deed.js';
import { announce, keep } from '../ground.js';
import type { SessionContext, SessionEventOf } from './context.js';

/** A file is attached: a message of the assistant that shows it, in its place among the others, and nothing else moves. */
export function insertMedia(context: SessionContext, event: SessionEventOf<'media.insert'>): Deed<SessionContext> {
  const { id, content, media } = event.message;
  const n = context.messages + 1;
  return {
    set: { messages: n, lastActivity: event.at },
    wishes: [
      keep('messages', n, { id, role: 'assistant', content, timestamp: event.at, media }),
      announce('session:attachment', { sessionId: context.id, id, content, media, timestamp: event.at }),
    ],
  };
}
