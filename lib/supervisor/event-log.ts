import type { ActorKey, Kind, Persisted } from '../../actors/contracts.js';
import type { Json } from '../../machines/outputs.js';
import type { Store } from '../store/contract.js';
import { keys } from '../store/keys.js';
import { decode, decodeState } from './draft/codec.js';
import type { Inspection, LogEntry, PastState, SealedEntry, WatchOptions } from './contract.js';
import { xstate5 } from './draft/driver.js';
import { metaOf, none, noFailures } from './draft/actor-state.js';

/**
 * Reading the one ordered truth: as it grows (`watch`), of one actor (`history`), and as of a moment
 * (`past`). Nothing is ever re-executed.
 */
const ringEntriesMax = 8_192;
const pageEntries = 500;

export class EventLog {
  /** The youngest entries, so that watchers who keep up never touch the disk. Empty while no one watches. */
  private ring: SealedEntry[] = [];
  private watching = 0;
  /** Position of the last entry that was published. */
  private head = 0;
  private readonly waiters = new Set<() => void>();
  private readonly taps = new Set<(entries: readonly SealedEntry[]) => void>();
  private closed = false;

  /** Entries at or below this position are gone. */
  floor = 0;

  /** How often contents of entries were erased. */
  erasures = 0;

  constructor(private readonly store: Store) {}

  /** Be given every entry as it is committed, as text. */
  tap(listener: (entries: readonly SealedEntry[]) => void): () => void {
    this.taps.add(listener);
    return () => {
      this.taps.delete(listener);
    };
  }

  published(entries: readonly SealedEntry[]): void {
    this.head = entries.at(-1)?.position ?? this.head;
    if (this.watching > 0) {
      for (const entry of entries) this.ring.push(entry);
      if (this.ring.length > ringEntriesMax * 2) this.ring = this.ring.slice(-ringEntriesMax);
      for (const wake of [...this.waiters]) wake();
    }
    for (const tap of this.taps) tap(entries); // last: one that throws must take no entry from a watcher
  }

  /** What is kept in memory is not what the log says any more: it is read again. */
  erased(): void {
    this.ring = [];
    this.erasures += 1;
  }

  close(): void {
    this.closed = true;
    for (const wake of [...this.waiters]) wake();
  }

  async *watch(options: WatchOptions = {}): AsyncGenerator<LogEntry> {
    this.watching += 1;
    try {
      yield* this.read(options);
    } finally {
      this.watching -= 1;
      if (this.watching === 0) this.ring = [];
    }
  }

  private async *read({ signal, kinds, ids, ...options }: WatchOptions): AsyncGenerator<LogEntry> {
    let cursor = options.since ?? this.store.head.seq;
    while (!aborted(signal)) {
      if (cursor < this.floor) {
        // also when the floor has overtaken a slow watcher
        yield reset(this.floor, this.store.head.seq);
        cursor = this.store.head.seq;
      }
      const { erasures } = this;
      const batch = await this.after(cursor);
      const [first] = batch;
      if (first !== undefined && first.position > cursor + 1) {
        // the floor has moved while the page was read: what is missing must not be passed over in silence
        yield reset(this.floor, this.store.head.seq);
        cursor = this.store.head.seq;
        continue;
      }
      for (const { position: seq, value, actor } of batch) {
        if (aborted(signal)) return;
        if (this.erasures !== erasures) break; // it may say what the log does not say any more
        cursor = seq;
        if (kinds !== undefined && !kinds.includes(actor.kind)) continue;
        if (ids !== undefined && !ids.includes(actor.id)) continue;
        yield readEntry(value);
      }
      if (batch.length > 0) continue;
      if (this.closed) return;
      await this.more(cursor, signal);
    }
  }

  async history(
    actor: ActorKey,
    head: number,
    { before, limit = 100 }: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    const most = Math.min(limit, 1000);
    for (let seq = head; seq > 0 && found.length < most;) {
      const entry = await this.entry(seq);
      if (entry === undefined) break; // below the retention floor
      if (before === undefined || seq < before) found.push(entry);
      // Whole snapshots are 32 entries apart: far from the place asked for, walk by those.
      seq =
        before !== undefined && entry.snapshotAt >= before && entry.snapshotAt < seq
          ? entry.snapshotAt
          : entry.previous;
    }
    return found;
  }

  /** The state after the last step at or before log position `at`. */
  async past(kind: Kind, actor: ActorKey, head: number, at: number): Promise<PastState | undefined> {
    const [latest] = await this.history(actor, head, { before: at + 1, limit: 1 });
    if (latest === undefined || latest.erased === true) return undefined;
    const steps = [latest];
    for (let entry = latest; !('whole' in (entry.snapshot as object));) {
      const earlier = await this.entry(entry.previous);
      if (earlier === undefined || earlier.erased === true) return undefined;
      steps.push(earlier);
      entry = earlier;
    }
    const state = steps.reverse().reduce<Persisted>(apply, { value: null, context: {} });
    return {
      position: latest.position,
      at: latest.at,
      value: state.value,
      context: state.context,
      ...(state.historyValue === undefined ? {} : { historyValue: state.historyValue }),
      view: viewOfPast(kind, actor, latest, state),
    };
  }

  async entry(seq: number): Promise<LogEntry | undefined> {
    const value = await this.store.get(keys.log(seq));
    return value === undefined ? undefined : readEntry(value);
  }

  private async after(cursor: number): Promise<readonly SealedEntry[]> {
    const first = this.ring[0];
    if (first !== undefined && first.position <= cursor + 1)
      return this.ring.slice(Math.max(0, cursor + 1 - first.position));
    if (cursor >= this.store.head.seq) return [];
    const rows = await this.store
      .page({ gt: keys.log(cursor), lte: keys.log(this.store.head.seq), limit: pageEntries })
      .catch((error: unknown) => {
        // The store went with the supervisor: a watcher that was behind resumes in the next life
        if (this.closed) return [];
        throw error;
      });
    return rows.map(([key, value]) => {
      const { kind, id } = JSON.parse(value) as ActorKey;
      return { position: Number(key.slice(2)), value, actor: { kind, id } };
    });
  }

  /** Until there is an entry behind `cursor`, the log is closed or the watcher gives up. */
  private more(cursor: number, signal: AbortSignal | undefined): Promise<void> {
    // Something may have come between the look and the wait.
    if (this.closed || aborted(signal) || this.head > cursor) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.waiters.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.waiters.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }
}

/**
 * An entry as it lies in the log, which is chained and never rewritten: under the short names that the sockets show,
 * too. This is the one place that knows them.
 */
type StoredEntry = Omit<LogEntry, 'position' | 'transaction' | 'revision' | 'previous' | 'snapshotAt'> & {
  readonly seq: number;
  readonly tx: number;
  readonly rev: number;
  readonly prev: number;
  readonly base: number;
  /** Counted by the kernel alone: what its whole group changed in totals. */
  readonly totals?: unknown;
};

/** `readEntry(text)`: an entry by its public names. */
export function readEntry(text: string): LogEntry {
  const { seq, tx, rev, prev, base, totals: _totals, ...rest } = JSON.parse(text) as StoredEntry;
  return { position: seq, transaction: tx, revision: rev, previous: prev, snapshotAt: base, ...rest };
}

type Difference = {
  whole?: unknown;
  value?: Json;
  set?: Record<string, Json>;
  unset?: string[];
  status?: 'done' | 'error';
  output?: Json;
  historyValue?: Json;
  extra?: Json;
};

/** The state after an entry, from the state before it. */
export function apply(state: Persisted, entry: Pick<LogEntry, 'snapshot'>): Persisted {
  const change = decode(entry.snapshot) as Difference;
  if (change.whole !== undefined) return decodeState(change.whole);
  const context = { ...state.context, ...change.set };
  for (const member of change.unset ?? []) delete context[member];
  return {
    ...state,
    context,
    ...(change.value === undefined ? {} : { value: change.value }),
    ...(change.status === undefined ? {} : { status: change.status }),
    ...(change.output === undefined ? {} : { output: change.output }),
    ...(change.historyValue === undefined ? {} : { historyValue: change.historyValue }),
    ...(change.extra === undefined ? {} : { extra: change.extra }),
  };
}

/** The view of then by the code of now; null when an old shape no longer fits it. */
function viewOfPast(kind: Kind, actor: ActorKey, entry: LogEntry, state: Persisted): Json {
  try {
    const snapshot = (kind.driver ?? xstate5).restore(kind.machine, structuredClone(state), none);
    return kind.view(
      snapshot,
      metaOf(actor, {
        revision: entry.revision,
        position: entry.position,
        snapshotAt: entry.snapshotAt,
        sinceSnapshot: 0,
        createdAt: entry.at,
        updatedAt: entry.at,
        parent: null,
        snapshot,
        timers: none,
        calls: none,
        children: none,
        failures: noFailures,
        halted: null,
        places: none,
        indexed: 0,
      }),
    );
  } catch {
    return null;
  }
}

/** What a watcher below the retention floor gets instead of what is gone. */
function reset(floor: number, head: number): LogEntry {
  return {
    position: head,
    transaction: head,
    last: true,
    at: 0,
    kind: 'kernel',
    id: 'log',
    revision: 0,
    machine: 'kernel',
    version: 1,
    event: { type: 'reset', floor, head },
    from: null,
    to: null,
    effects: [],
    frames: [{ event: 'reset', payload: { floor, head } }],
    cause: null,
    by: 'kernel',
    snapshot: {},
    previous: 0,
    snapshotAt: 0,
    chain: '',
  };
}

// Read through a function: the compiler would otherwise take the flag for constant across an await.
const aborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/**
 * The entry that caused this one, where it is still in the log. The log says it of each: the position of the entry that
 * sent the message, the effect that ended, a timer, the name of a transaction; behind a name may stand the effect that
 * carried it out.
 */
export async function causeOf(
  inspection: Pick<Inspection, 'entry'>,
  entry: LogEntry,
): Promise<LogEntry | undefined> {
  const { cause } = entry;
  if (typeof cause === 'number') return inspection.entry(cause);
  if (cause === null || (!cause.startsWith('effect:') && cause !== 'timer'))
    return entry.position === entry.transaction ? undefined : inspection.entry(entry.transaction);
  for (
    let earlier = await inspection.entry(entry.previous), steps = 0;
    earlier !== undefined && steps < causeDepthMax;
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

const causeDepthMax = 200;
