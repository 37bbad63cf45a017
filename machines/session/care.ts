import type { Deed } from '../deed.js';
import { announce, keep, type KeepRow, type Wish } from '../ground.js';
import type { SessionContext, SessionEventOf, SessionInput } from './context.js';
import { limits } from './context.js';
import { clearQueue } from './queue.js';
import { written } from './rows.js';

/** What people do with a session at rest: put it away, begin it anew, copy it, take it out of the world. */

export function archive(context: SessionContext, at: number | null): Deed<SessionContext> {
  if ((context.archivedAt ?? null) === at || (at !== null && (context.archivedAt ?? null) !== null)) return {};
  return { set: { archivedAt: at }, wishes: [updated(context)] };
}

/**
 * A new beginning in the same place: engines forget their native sessions, and what was said before the mark below is
 * shown to people and no longer told to agents.
 */
export function reset(context: SessionContext, event: SessionEventOf<'session.reset'>): Deed<SessionContext> {
  const cleared = clearQueue(context, { ...event, type: 'queue.clear' });
  const emptied = { ...context, ...cleared.set };
  const mark = { id: `reset-${context.messages + 1}`, role: 'notification' as const, content: 'The conversation begins anew here.', meta: { kind: 'reset' } };
  const noted = written(emptied, mark, event.at);
  return {
    set: { ...cleared.set, ...noted.set, engineSessions: {}, lastError: null, resetAt: null, waits: 0, queuePaused: false, attemptOutcome: null, lastContextTokens: null },
    wishes: [...(cleared.wishes ?? []), ...(noted.wishes ?? []), updated(context)],
  };
}

/** Its rows go with it; what is left is a tombstone, so that the id is never given out again. */
export function erase(context: SessionContext): Deed<SessionContext> {
  const gone = (collection: string, count: number): KeepRow[] => Array.from({ length: count }, (_, place) => keep(collection, place + 1, null));
  const asked = context.permissionsAsked ?? 0;
  return {
    set: { messages: 0, queue: [], title: '', promptExcerpt: null, lastError: null, engineSessions: {}, permissions: [], permissionsAsked: 0 },
    wishes: [
      ...gone('messages', context.messages), ...gone('queue', context.messages), ...gone('permissions', asked), ...gone('decisions', asked),
      announce('session:deleted', { sessionId: context.id }),
    ],
  };
}

/** The messages of the session that this one is a copy of. */
export function inherit(context: SessionContext, transcript: NonNullable<SessionInput['transcript']>): Deed<SessionContext> {
  const rows = transcript.slice(-limits.transcriptMax).map((row, place) => keep('messages', context.messages + place + 1, row));
  return { set: { messages: context.messages + rows.length }, wishes: rows };
}

const updated = (context: SessionContext): Wish => announce('session:updated', { sessionId: context.id });
