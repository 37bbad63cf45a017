import { writeRow, type Json, type WriteRow, type Decision } from '../outputs.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import { activityLimits, isActivity } from './activity-entry.js';
import type { SessionContext, SessionEventOf } from './context.js';
import { withOutput } from './sweep-output.js';

/**
 * What an agent does in a turn, as messages beside its answer. The effect of the turn makes them; here they become
 * rows. Of a message that will be written again the context knows which row that is, until then.
 */
export function record(
  context: SessionContext,
  event: SessionEventOf<'turn.recorded'>,
): Decision<SessionContext> {
  const isKnown = (turnId: string): boolean =>
    context.turn?.id === turnId || context.leftTurns.includes(turnId);
  if (!isKnown(event.turnId)) return {};
  let messages = context.messages;
  let open = (context.openMessages ?? []).filter(({ turnId }) => isKnown(turnId));
  const rows = event.entries.map(({ isOpen, ...entry }): WriteRow => {
    const known = open.find(({ id }) => id === entry.id);
    const place = known ?? { id: entry.id, turnId: event.turnId, n: (messages += 1), at: event.at };
    open = open.filter(({ id }) => id !== entry.id);
    if (isOpen) {
      const others = open.filter(({ turnId }) => turnId !== event.turnId); // a turn that was left ends beside the next
      const own = open.filter(({ turnId }) => turnId === event.turnId);
      open = [...others, ...[...own, place].slice(-activityLimits.openMax)];
    }
    const row: Record<string, Json> = { role: 'assistant', timestamp: place.at };
    for (const [name, member] of Object.entries(entry)) if (member !== undefined) row[name] = member as Json;
    return writeRow('messages', place.n, row);
  });
  return {
    set: { messages, openMessages: open, lastActivity: event.at, ...withOutput(context, rows) },
    outputs: rows,
  };
}

export function fitActivity({ entries }: SessionEventOf<'turn.recorded'>): Refusal | undefined {
  const isFit =
    Array.isArray(entries) &&
    entries.length <= activityLimits.entriesMax &&
    entries.every(
      ({ id, content, meta }) =>
        typeof id === 'string' &&
        /^[A-Za-z0-9._:-]{1,64}$/.test(id) &&
        typeof content === 'string' &&
        isActivity({ meta }),
    ) &&
    jsonBytes(entries as unknown as Json) <= activityLimits.bytesMax; // made of JSON alone
  return isFit ? undefined : refuse('BAD_REQUEST', { path: 'entries' }, 'Invalid messages of a turn.');
}
