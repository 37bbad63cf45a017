import type { LogEntry } from '../supervisor/contract.js';
import type { Json } from '../../machines/ground.js';
import type { InspectEntry } from './frames.js';
import { redact } from './redact.js';

/** A log entry as inspectors show it: without chain, frames and snapshot, secrets blacked out. */
export function entryOf(entry: LogEntry): InspectEntry {
  const { seq, tx, last, at, kind, id, rev, version, event, from, to, effects, cause, by } = entry;
  return { seq, tx, last, at, kind, id, rev, version, event: redact(event) as InspectEntry['event'], from, to, effects, cause, by };
}

/** What it changed in the context; `before` is needed where the entry holds the whole snapshot. */
export function diffOf(entry: LogEntry, before: Readonly<Record<string, Json>> | undefined): NonNullable<InspectEntry['diff']> {
  const change = unwrapped(entry.snapshot);
  if (change.whole === undefined) {
    return { ...(change.set === undefined ? {} : { set: redact(change.set) as Record<string, Json> }), ...(change.unset === undefined ? {} : { unset: change.unset }) };
  }
  const now = unwrapped(change.whole as Json).context ?? {};
  const set = Object.fromEntries(Object.entries(now).filter(([member, value]) => before === undefined || JSON.stringify(before[member]) !== JSON.stringify(value)));
  const unset = Object.keys(before ?? {}).filter((member) => !(member in now));
  return { whole: true, set: redact(set) as Record<string, Json>, ...(unset.length === 0 ? {} : { unset }) };
}

interface Change {
  readonly whole?: unknown;
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
  readonly context?: Readonly<Record<string, Json>>;
}

/** A host's Dates and Maps are kept in superjson's envelope; for people its plain part is enough. */
function unwrapped(value: Json): Change {
  const marked = value as { readonly '~'?: { readonly json?: Change } } & Change;
  return marked['~']?.json ?? marked;
}
