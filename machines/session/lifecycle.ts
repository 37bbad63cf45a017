import { publish, writeRow, type WriteRow, type Output, type Decision } from '../outputs.js';
import type { SessionContext, SessionEventOf, SessionInput } from './context.js';
import { limits } from './context.js';
import { withOutput } from './sweep-output.js';
import { clearQueue } from './queue.js';
import { written } from './rows.js';

/** What people do with a session at rest: put it away, begin it again, copy it, take it out of the world. */

export function archive(context: SessionContext, at: number | null): Decision<SessionContext> {
  if ((context.archivedAt ?? null) === at || (at !== null && (context.archivedAt ?? null) !== null))
    return {};
  return { set: { archivedAt: at }, outputs: [updated(context)] };
}

/**
 * A new beginning in the same place: engines forget their native sessions, and what was said before the mark
 * below is shown to people and no longer given to agents.
 */
export function reset(
  context: SessionContext,
  event: SessionEventOf<'session.reset'>,
): Decision<SessionContext> {
  const cleared = clearQueue(context, { ...event, type: 'queue.clear' });
  const emptied = { ...context, ...cleared.set };
  const mark = {
    id: `reset-${context.messages + 1}`,
    role: 'notification' as const,
    content: 'The conversation starts over here.',
    meta: { kind: 'reset' },
  };
  const noted = written(emptied, mark, event.at);
  return {
    set: {
      ...cleared.set,
      ...noted.set,
      engineSessions: {},
      lastError: null,
      resetAt: null,
      waits: 0,
      queuePaused: false,
      attemptOutcome: null,
      lastContextTokens: null,
      unfinished: null,
    },
    outputs: [...(cleared.outputs ?? []), ...(noted.outputs ?? []), updated(context)],
  };
}

/** Its rows go with it; what is left is a tombstone, so that the id is never given out again. */
export function erase(context: SessionContext): Decision<SessionContext> {
  const { set, outputs } = empty(context);
  return {
    set: { ...set, title: '' },
    outputs: [...outputs, publish('session:deleted', { sessionId: context.id })],
  };
}

/** What was said in it goes; that it was, with whom, when and at what cost stays. */
export function eraseContents(context: SessionContext): Decision<SessionContext> {
  const { set, outputs } = empty(context);
  return {
    set: {
      ...set,
      title: 'Erased session',
      openMessages: [],
      untrusted: null,
      // a channel of a person's; steps and fires are no one's words
      ...(context.source === 'connector' ? { sourceRef: null } : {}),
      // rules name files, commands and hosts: what it may do it is asked for again
      ...(context.toolPolicy === undefined || context.toolPolicy.mode === 'full'
        ? {}
        : { toolPolicy: { mode: 'ask', allow: [] } }),
    },
    outputs: [...outputs, updated(context)],
  };
}

function empty(context: SessionContext): {
  readonly set: Partial<SessionContext>;
  readonly outputs: readonly Output[];
} {
  const gone = (collection: string, count: number): WriteRow[] =>
    Array.from({ length: count }, (_, place) => writeRow(collection, place + 1, null));
  const asked = context.permissionsAsked ?? 0;
  return {
    set: {
      messages: 0,
      queue: [],
      unfinished: null,
      promptExcerpt: null,
      lastError: null,
      engineSessions: {},
      permissions: [],
      permissionsAsked: 0,
      toolOutput: null,
    },
    outputs: [
      ...gone('messages', context.messages),
      ...gone('queue', context.messages),
      ...gone('permissions', asked),
      ...gone('decisions', asked),
    ],
  };
}

/** A person has looked at the settings of its project: it asks for them no longer. */
export function settleSettings(
  context: SessionContext,
  event: SessionEventOf<'settings.judged'>,
): Decision<SessionContext> {
  return context.untrusted?.sha256 === event.sha256
    ? {
        set: { untrusted: null },
        outputs: [publish('session:updated', { sessionId: context.id })],
      }
    : {};
}

/** The messages of the session that this one is a copy of. */
export function inherit(
  context: SessionContext,
  transcript: NonNullable<SessionInput['transcript']>,
): Decision<SessionContext> {
  const rows = transcript
    .slice(-limits.transcriptMax)
    .map((row, place) => writeRow('messages', context.messages + place + 1, row));
  return {
    set: { messages: context.messages + rows.length, ...withOutput(context, rows) },
    outputs: rows,
  };
}

const updated = (context: SessionContext): Output => publish('session:updated', { sessionId: context.id });
