import type { ActorKey, Kind, Persisted } from '../../actors/contracts.js';
import type { Caller } from '../../machines/caller.js';
import type { Json } from '../../machines/outputs.js';
import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { encodeState } from '../supervisor/draft/codec.js';
import { apply } from '../supervisor/event-log.js';
import { blankedEvent, blankedState, keptBy, maskedLike } from './blank.js';
import { bundleEntriesMax, type Bundle, type BundledActor, type BundledEntry } from './bundle.js';
import { chartOf } from './chart/chart-of.js';
import { machineHash } from './machines.js';
import { memberHash, Replay, stateHash } from './replay.js';
import { version } from '../version.js';

export interface BundleQuery {
  /** One actor; else all that have entries between the positions. */
  readonly actor?: ActorKey;
  /** Positions of the first and last entry, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Undefined when the log holds nothing of it. */
export async function makeBundle(supervisor: Supervisor, query: BundleQuery): Promise<Bundle | undefined> {
  const { inspection, environment } = supervisor;
  const entries =
    query.actor === undefined
      ? await range(supervisor, query)
      : await ofActor(supervisor, query.actor, query);
  const slice = entries.slice(-bundleEntriesMax);
  const [first] = slice;
  if (first === undefined) return undefined;
  const byActor = new Map<string, LogEntry[]>();
  for (const entry of slice)
    byActor.set(`${entry.kind}/${entry.id}`, [...(byActor.get(`${entry.kind}/${entry.id}`) ?? []), entry]);
  const kinds = inspection.kinds().filter(({ kind }) => slice.some((entry) => entry.kind === kind));
  const actors: BundledActor[] = [];
  for (const own of byActor.values()) {
    const kind = kinds.find(({ kind: name }) => name === own[0]?.kind);
    if (kind !== undefined) actors.push(await bundled(supervisor, kind.definition, own));
  }
  return {
    format: 'troupe-bundle',
    version: 1,
    madeAt: environment.clock.now(),
    troupe: version,
    node: process.version,
    from: first.position,
    to: slice.at(-1)?.position ?? first.position,
    truncated: entries.length > slice.length,
    machines: Object.fromEntries(
      kinds.map(({ kind, version: of, machine }) => [
        kind,
        { version: of, hash: machineHash(chartOf(machine)) },
      ]),
    ),
    actors,
  };
}

async function range(
  { inspection }: Supervisor,
  { from = 1, to = inspection.head }: BundleQuery,
): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for (let after = from - 1; after < to && found.length <= bundleEntriesMax;) {
    const page = (await inspection.entries(after, 1_000)).filter(({ position: seq }) => seq <= to);
    found.push(...page);
    after = page.at(-1)?.position ?? to;
  }
  return found.slice(0, bundleEntriesMax);
}

async function ofActor(
  supervisor: Supervisor,
  actor: ActorKey,
  { from = 0, to }: BundleQuery,
): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for (let before = to === undefined ? undefined : to + 1; found.length <= bundleEntriesMax;) {
    const page = await supervisor.history(actor, {
      limit: 1_000,
      ...(before === undefined ? {} : { before }),
    });
    found.push(...page.filter(({ position: seq }) => seq >= from));
    const last = page.at(-1);
    if (page.length < 1_000 || last === undefined || last.position < from) break;
    before = last.position;
  }
  return found.reverse();
}

/**
 * What was recorded, blanked out, beside what a replay of the blanked events comes to: where texts went is
 * seen there.
 */
async function bundled(
  supervisor: Supervisor,
  kind: Kind,
  entries: readonly LogEntry[],
): Promise<BundledActor> {
  const [first] = entries as readonly [LogEntry];
  const keeps = keptBy(kind);
  const began = first.previous === 0 ? undefined : await supervisor.past(first, first.previous);
  const usable = entries.slice(
    notReplayed(entries, kind.version, first.previous === 0 || began !== undefined) + 1,
  );
  let recorded: Persisted =
    began === undefined
      ? { value: null, context: {} }
      : {
          value: began.value,
          context: began.context as Record<string, Json>,
          ...(began.historyValue === undefined ? {} : { historyValue: began.historyValue }),
        };
  for (const entry of entries.slice(0, entries.length - usable.length)) recorded = apply(recorded, entry);
  const start =
    usable.length === entries.length && first.previous === 0
      ? null
      : {
          seq: usable[0]?.previous ?? entries.at(-1)?.position ?? 0,
          state: blankedState(JSON.parse(encodeState(recorded)) as Json, keeps),
        };
  const replay = new Replay(kind, start);
  const result: BundledEntry[] = [];
  for (const entry of usable) {
    const before = recorded.context;
    recorded = apply(recorded, entry);
    const {
      position: seq,
      transaction: tx,
      at,
      revision: rev,
      version: of,
      cause,
      from,
      to,
      effects,
    } = entry;
    const step = {
      event: blankedEvent(entry.event as BundledEntry['event'], keeps),
      at,
      by: callerOf(entry),
    };
    const plain = essenceOf(recorded);
    const replayed = tried(() => replay.next(step));
    const masked: Persisted = {
      ...plain,
      ...(maskedLike(textsOf(plain), replayed === undefined ? null : textsOf(essenceOf(replayed)), keeps) as {
        readonly context: Record<string, Json>;
      }),
    };
    const changed = Object.entries(masked.context ?? {}).filter(
      ([member]) => recorded.context[member] !== before[member],
    );
    result.push({
      seq,
      tx,
      rev,
      version: of,
      ...step,
      cause,
      from,
      to,
      effects,
      state: stateHash(masked),
      changed: Object.fromEntries(changed.map(([member, value]) => [member, memberHash(value)])),
    });
  }
  return { kind: first.kind, id: first.id, start, entries: result };
}

/** As the store encodes it, without the envelope of a host's Dates and Maps. */
function essenceOf(state: Persisted): Persisted {
  const encoded = JSON.parse(encodeState(state)) as Persisted & {
    readonly '~'?: { readonly json: Persisted };
  };
  return encoded['~']?.json ?? encoded;
}

const textsOf = ({ context, output }: Persisted): Json => ({
  context,
  ...(output !== undefined && { output }),
});

/**
 * Index of the last entry that only leads to the state to begin with, -1 where all can be replayed. What an
 * earlier version decided is past: the first entry of this version holds the migrated state whole. Where the
 * state before the slice is gone, the first entry that holds a whole one stands in for it.
 */
function notReplayed(entries: readonly LogEntry[], version: number, begun: boolean): number {
  const older = entries.findLastIndex((entry) => entry.version !== version || entry.erased === true);
  if (older >= 0) return Math.min(older + 1, entries.length - 1);
  return begun ? -1 : entries.findIndex(({ snapshot }) => 'whole' in (snapshot as object));
}

/** Who asked, as policies saw them. */
function callerOf({ by, agent }: LogEntry): Caller {
  if (by === 'operator') return { type: 'operator' };
  if (by.startsWith('device:')) return { type: 'device', id: by.slice('device:'.length) };
  if (agent !== undefined) return { type: 'session', id: by.slice('session:'.length), ...agent };
  return { type: 'system', part: by };
}

/**
 * A replay that throws is a finding for who replays the bundle; here it only means that nothing is known of
 * where texts went.
 */
function tried(migrate: () => Persisted): Persisted | undefined {
  try {
    return migrate();
  } catch {
    return undefined;
  }
}
