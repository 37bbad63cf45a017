import type { LogEntry } from '../supervisor/contract.js';
import { began, causeOf } from '../supervisor/event-log.js';
import type { Inspection } from '../supervisor/inspection-answers.js';
import { titleOf } from './actors.js';
import type { Causes } from './answers.js';
import { entryOf } from './entry-of.js';

/**
 * What led to a log entry, and what came of it, across actors. Backwards along the causes that each entry
 * names; then forwards through the log from the first of them. Both are bounded: a log is long, and a
 * question about one entry of it must not read all of it.
 */
export async function causes(inspection: Inspection, seq: number): Promise<Causes | undefined> {
  const asked = await inspection.entry(seq);
  if (asked === undefined) return undefined;
  const root = await rootOf(inspection, asked);
  const members = new Map<number, LogEntry>();
  const links: Causes['links'][number][] = [];
  const byActor = new Map<string, LogEntry[]>();
  let truncated = false;
  const join = (entry: LogEntry): void => {
    members.set(entry.position, entry);
    const place = `${entry.kind}/${entry.id}`;
    byActor.set(place, [...(byActor.get(place) ?? []), entry]);
  };
  let cursor = root.transaction - 1;
  scan: for (let read = 0; read < scannedMax;) {
    const page = await inspection.entries(cursor, 500);
    for (const entry of page) {
      cursor = entry.position;
      read += 1;
      const link = entry.position === root.position ? undefined : linkOf(entry, members, byActor);
      if (entry.position !== root.position && link === undefined) continue;
      if (link !== undefined) links.push({ ...link, to: entry.position });
      join(entry);
      if (members.size >= entriesMax && entry.position >= seq) {
        truncated = true;
        break scan;
      }
    }
    if (page.length < 500) break;
    if (read >= scannedMax) truncated = true;
  }
  if (!members.has(seq)) members.set(seq, asked);
  const entries = [...members.values()].sort((a, b) => a.position - b.position).slice(-entriesMax);
  return {
    seq,
    root: root.position,
    entries: entries.map(entryOf),
    links,
    titles: await titlesOf(inspection, entries),
    truncated,
  };
}

/** As they are called now: the log tells of states, not of views. */
async function titlesOf(
  inspection: Inspection,
  entries: readonly LogEntry[],
): Promise<Readonly<Record<string, string>>> {
  const actors = [...new Map(entries.map(({ kind, id }) => [`${kind}/${id}`, { kind, id }]))];
  const stored = await inspection.stored(actors.map(([, actor]) => actor));
  const named = actors.map(([key], n) => [key, stored[n] === undefined ? null : titleOf(stored[n].view)]);
  return Object.fromEntries(named.filter(([, title]) => title !== null)) as Record<string, string>;
}

const scannedMax = 20_000;
const entriesMax = 500;
const depthMax = 200;

async function rootOf(inspection: Inspection, asked: LogEntry): Promise<LogEntry> {
  let root = asked;
  for (let depth = 0; depth < depthMax; depth += 1) {
    const earlier = await causeOf(inspection, root);
    if (earlier === undefined || earlier.position >= root.position) return root;
    root = earlier;
  }
  return root;
}

function linkOf(
  entry: LogEntry,
  members: ReadonlyMap<number, LogEntry>,
  byActor: ReadonlyMap<string, readonly LogEntry[]>,
): { from: number; how: Causes['links'][number]['how'] } | undefined {
  const { cause } = entry;
  if (typeof cause === 'number')
    return members.has(cause) ? { from: cause, how: 'message' } : together(entry, members);
  if (cause !== null && (cause.startsWith('effect:') || cause === 'timer')) {
    const own = byActor.get(`${entry.kind}/${entry.id}`) ?? [];
    const earlier = [...own].reverse().find((one) => began(entry, one));
    if (earlier !== undefined) return { from: earlier.position, how: cause === 'timer' ? 'timer' : 'effect' };
  }
  return together(entry, members);
}

/** Entries of one commit were decided together: the first of them stands for what they have in common. */
const together = (
  entry: LogEntry,
  members: ReadonlyMap<number, LogEntry>,
): { from: number; how: 'together' } | undefined =>
  entry.transaction !== entry.position && members.has(entry.transaction)
    ? { from: entry.transaction, how: 'together' }
    : undefined;
