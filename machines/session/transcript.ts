import type { Deed } from '../deed.js';
import { announce, keep } from '../ground.js';
import { refuse, type Refusal } from '../refusals.js';
import type { FoundEntry, SessionContext, SessionEventOf } from './context.js';

/**
 * Somebody went on with the conversation outside, in the agent's own program. Its record and ours share no names, only the
 * clock: whatever it says later than the last thing that happened here was said without us, and nothing else was. So the
 * same words are taken over once, however often they are found.
 */
export function mayFind(context: SessionContext, event: SessionEventOf<'transcript.found'>): Refusal | undefined {
  if (context.turn !== null || context.queue.length > 0) return refuse('CONFLICT', { sessionId: context.id }, 'While a turn runs or waits, what is said is its own.');
  return event.entries.length <= foundMax && news(context, event).length > 0 ? undefined : refuse('BAD_REQUEST', { path: 'entries' }, 'There is nothing new in it.');
}

export const foundMax = 200;

export function takeOver(context: SessionContext, event: SessionEventOf<'transcript.found'>): Deed<SessionContext> {
  const entries = news(context, event);
  return {
    set: { messages: context.messages + entries.length, lastActivity: entries.at(-1)?.timestamp ?? context.lastActivity },
    wishes: [
      ...entries.map(({ id, role, content, timestamp }, place) => keep('messages', context.messages + place + 1, { id, role, content, timestamp, meta: { kind: 'external' } })),
      announce('session:external-turn', { sessionId: context.id, messages: entries.length }),
      announce('session:updated', { sessionId: context.id }),
    ],
  };
}

/** Of the future nothing is believed: a clock that was wrong once would close the door to all that follows. */
const news = (context: SessionContext, { entries, at }: SessionEventOf<'transcript.found'>): readonly FoundEntry[] =>
  entries.filter(({ timestamp }) => timestamp > context.lastActivity && timestamp <= at);
