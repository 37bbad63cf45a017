import { publish, writeRow, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';
import type { FoundEntry, SessionContext, SessionEventOf } from './context.js';
import { withOutput } from './sweep-output.js';

/**
 * The conversation went on outside, in the agent's own program. Its record and ours share no
 * names, only the clock: whatever it says later than the last thing that happened here was said without us,
 * and nothing else was. So the same words are taken over once, however often they are found. While a turn runs or
 * waits, what is said is its own: then the chart takes none.
 */
export function fitFound(
  context: SessionContext,
  event: SessionEventOf<'transcript.found'>,
): Refusal | undefined {
  return event.entries.length <= foundMax && news(context, event).length > 0
    ? undefined
    : refuse('BAD_REQUEST', { path: 'entries' }, 'There is nothing new in it.');
}

export const foundMax = 200;

export function takeOver(
  context: SessionContext,
  event: SessionEventOf<'transcript.found'>,
): Decision<SessionContext> {
  const entries = news(context, event);
  return {
    set: {
      messages: context.messages + entries.length,
      lastActivity: entries.at(-1)?.timestamp ?? context.lastActivity,
    },
    outputs: [
      ...entries.map(({ id, role, content, timestamp }, place) =>
        writeRow('messages', context.messages + place + 1, {
          id,
          role,
          content,
          timestamp,
          meta: { kind: 'external' },
        }),
      ),
      publish('session:external-turn', { sessionId: context.id, messages: entries.length }),
      publish('session:updated', { sessionId: context.id }),
    ],
  };
}

/**
 * Of the future nothing is believed: a clock that was wrong once would shut out all that follows.
 */
const news = (
  context: SessionContext,
  { entries, at }: SessionEventOf<'transcript.found'>,
): readonly FoundEntry[] =>
  entries.filter(({ timestamp }) => timestamp > context.lastActivity && timestamp <= at);

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

/** What one commit takes of what is imported. */
export const historyLimits = { entriesMax: 200, charsMax: 4_000_000 } as const;

/**
 * What was said in another home goes before anything that is said here, and never again into a session that was erased:
 * so it is taken while no turn has begun, and right after the messages that who sends it has seen.
 */
export function fitHistory(
  context: SessionContext,
  { after, entries }: SessionEventOf<'history.imported'>,
): Refusal | undefined {
  const wrong = (path: string): Refusal =>
    refuse('BAD_REQUEST', { path }, 'Invalid messages of an imported session.');
  if (context.source !== importedSource || context.turns > 0 || context.queue.length > 0)
    return refuse(
      'CONFLICT',
      { sessionId: context.id },
      'This session goes on by itself: nothing is put before that.',
    );
  if (after !== context.messages)
    return refuse('CONFLICT', { messages: context.messages }, 'Its messages have changed. Import again.');
  const given: unknown = entries;
  if (!Array.isArray(given) || given.length > historyLimits.entriesMax) return wrong('entries');
  const place = entries.findIndex(
    ({ id, role, content, timestamp }) =>
      !/^[A-Za-z0-9._:-]{1,64}$/.test(id) ||
      !roles.has(role) ||
      typeof content !== 'string' ||
      !Number.isFinite(timestamp),
  );
  if (place >= 0) return wrong(`entries.${place}`);
  return JSON.stringify(entries).length <= historyLimits.charsMax ? undefined : wrong('entries');
}

/** The `source` of sessions that were imported. */
export const importedSource = 'import';
const roles: ReadonlySet<string> = new Set(['user', 'assistant', 'notification']);

export function takeIn(
  context: SessionContext,
  { entries }: SessionEventOf<'history.imported'>,
): Decision<SessionContext> {
  const rows = entries.map((row, place) => writeRow('messages', context.messages + place + 1, row));
  return {
    set: { messages: context.messages + rows.length, ...withOutput(context, rows) },
    outputs: [...rows, publish('session:updated', { sessionId: context.id })],
  };
}
