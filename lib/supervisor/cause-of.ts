import type { LogEntry } from './answers.js';
import type { Inspection } from './inspection-answers.js';

/**
 * Which entry of the log caused another one. The log says it of each: the position of the entry that sent the message,
 * the effect that ended, a timer, the name of a transaction; behind a name may stand the effect that carried it out.
 */

const depthMax = 200;

/** The entry that caused this one, where it is still in the log. */
export async function causeOf(inspection: Inspection, entry: LogEntry): Promise<LogEntry | undefined> {
  const { cause } = entry;
  if (typeof cause === 'number') return inspection.entry(cause);
  if (cause === null || (!cause.startsWith('effect:') && cause !== 'timer'))
    return entry.position === entry.transaction ? undefined : inspection.entry(entry.transaction);
  for (
    let earlier = await inspection.entry(entry.previous), steps = 0;
    earlier !== undefined && steps < depthMax;
    steps += 1
  ) {
    if (began(entry, earlier)) return earlier;
    earlier = await inspection.entry(earlier.previous);
  }
  return undefined;
}

/** Did this earlier entry of the same actor begin what the later one is the end of? */
export function began(entry: LogEntry, earlier: LogEntry): boolean {
  const { cause } = entry;
  if (cause === 'timer')
    return JSON.stringify(earlier.from) !== JSON.stringify(earlier.to) || earlier.from === null;
  const generation = /^effect:(\d+)\.\d+$/.exec(String(cause))?.[1];
  if (generation !== undefined) return earlier.revision === Number(generation);
  return earlier.effects.includes(String(cause).slice('effect:'.length));
}
