import type { LogEntry } from '../supervisor/contract.js';
import type { Json } from '../../machines/outputs.js';
import type { InspectEntry } from '../client/inspector-frames.js';
import { redact } from './redact.js';

/** A log entry as inspectors show it: without chain, frames and snapshot, secrets blacked out. */
export function entryOf(entry: LogEntry): InspectEntry {
  const {
    position: seq,
    transaction: tx,
    last,
    at,
    kind,
    id,
    revision: rev,
    version,
    event,
    from,
    to,
    effects,
    cause,
    by,
    onBehalfOf,
  } = entry;
  return {
    seq,
    tx,
    last,
    at,
    kind,
    id,
    rev,
    version,
    event: redact(event) as InspectEntry['event'],
    from,
    to,
    effects,
    cause,
    by,
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
  };
}

/** What it changed in the context; `before` is needed where the entry holds the whole snapshot. */
export function diffOf(
  entry: LogEntry,
  before: Readonly<Record<string, Json>> | undefined,
): NonNullable<InspectEntry['diff']> {
  const change = decodeChange(entry.snapshot);
  if (change.whole === undefined) {
    return {
      ...(change.set === undefined ? {} : { set: redact(change.set) as Record<string, Json> }),
      ...(change.unset === undefined ? {} : { unset: change.unset }),
    };
  }
  const now = change.whole.context;
  const set = Object.fromEntries(
    Object.entries(now).filter(
      ([member, value]) => before === undefined || JSON.stringify(before[member]) !== JSON.stringify(value),
    ),
  );
  const unset = Object.keys(before ?? {}).filter((member) => !(member in now));
  return { whole: true, set: redact(set) as Record<string, Json>, ...(unset.length === 0 ? {} : { unset }) };
}

/** What an entry of the log says of the snapshot: all of it, or what changed in the context. */
export interface Change {
  readonly whole?: {
    readonly value: Json;
    readonly context: Readonly<Record<string, Json>>;
    readonly status?: 'done' | 'error';
  };
  readonly value?: Json;
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
  readonly status?: 'done' | 'error';
}

/** A host's Dates and Maps are kept in superjson's envelope: for people its plain part is enough. */
export function decodeChange(snapshot: Json): Change {
  const change = plain(snapshot) as Change;
  return change.whole === undefined
    ? change
    : { ...change, whole: plain(change.whole) as NonNullable<Change['whole']> };
}

const plain = (value: Json): unknown =>
  (value as { readonly '~'?: { readonly json?: unknown } } | null)?.['~']?.json ?? value;
