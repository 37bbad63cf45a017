import type { Clock } from '../environment.js';
import type { ActorKey, Json } from '../../machines/outputs.js';
import type { Supervisor } from '../supervisor/contract.js';
import { readEntry } from '../supervisor/event-log.js';
import type { SealedEntry } from '../supervisor/inspection-answers.js';
import { entryOf } from './entry-of.js';
import { mayHoldSecrets } from './redact.js';
import type {
  EntriesFrame,
  InspectFilter,
  InspectRefusal,
  RefusalsFrame,
} from '../client/inspector-frames.js';
import { parentAtCreation, placeOf, treeOf } from './relations.js';

/**
 * The live end of the log for all who watch with the same filter: gathered, cut to what people can take in,
 * and written down once for all of them. While no one watches it listens to nothing and costs nothing.
 *
 * At most ten frames a second, six where much happens, and 100 entries in each: the youngest are shown, the others
 * counted. An entry that is only counted costs a count.
 */
export interface Channel {
  /** Everything up to here was handed on, or concerns no one who watches here. */
  readonly position: number;
  readonly size: number;
  /** The last listener has left; it tells nothing any more. */
  readonly ended: boolean;
  wants(actor: ActorKey): boolean;
  join(listener: (frame: Buffer) => void): () => void;
  /** Tell at once what is held back. */
  settle(): void;
}

export const framesPerSecond = 10;
export const entriesPerFrame = 100;
const everyMs = 1_000 / framesPerSecond;
/** After a frame of so many entries, where each socket's write costs more than what is in it. */
const busyEntries = 20;
const busyMs = 160;
const treeMax = 10_000;
const refusalsPerFrame = 50;

/** `closed` is called when the last listener has left. */
export async function openChannel(
  supervisor: Supervisor,
  filter: InspectFilter,
  closed: () => void,
): Promise<Channel> {
  const { inspection, environment } = supervisor;
  const wanted = await input(supervisor, filter);
  const live = new Live(
    supervisor,
    environment.clock,
    wanted,
    filter.refusals === true,
    inspection.head,
    closed,
  );
  wanted.leave?.();
  return live;
}

class Live implements Channel {
  private readonly listeners = new Set<(frame: Buffer) => void>();
  private pending: SealedEntry[] = [];
  private readonly skipped = new Map<string, number>();
  private refusals: InspectRefusal[] = [];
  private refusalsSkipped = 0;
  private sent: number;
  private seen: number;
  private mayFlushAt = -Infinity;
  private cancel: (() => void) | undefined;
  private readonly leave: (() => void)[] = [];

  constructor(
    supervisor: Supervisor,
    private readonly clock: Clock,
    private readonly wanted: Wanted,
    refusals: boolean,
    position: number,
    private readonly closed: () => void,
  ) {
    this.sent = this.seen = position;
    this.leave.push(supervisor.inspection.tap((entries) => this.take(entries)));
    if (refusals)
      this.leave.push(
        supervisor.onProgress(
          ({ actor, event, payload, at }) =>
            event === 'refusal' && this.refused(actor, payload as Json & RefusalPayload, at),
        ),
      );
  }

  get position(): number {
    return this.sent;
  }
  get size(): number {
    return this.listeners.size;
  }
  ended = false;
  wants(actor: ActorKey): boolean {
    return this.wanted.has(actor);
  }

  join(listener: (frame: Buffer) => void): () => void {
    this.listeners.add(listener);
    return () => {
      if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
      this.ended = true;
      this.cancel?.();
      for (const leave of this.leave) leave();
      this.closed();
    };
  }

  settle(): void {
    this.cancel?.();
    this.flush();
  }

  private take(entries: readonly SealedEntry[]): void {
    const { wanted } = this;
    for (const entry of entries) {
      // Also of one that was committed already when this channel began: it may be a creation
      const concerns = wanted.everything || wanted.takes(entry);
      if (entry.position <= this.seen) continue;
      this.seen = entry.position;
      if (concerns) this.pending.push(entry);
    }
    if (this.pending.length > entriesPerFrame * 4) this.countOff();
    if (this.pending.length > 0) this.schedule();
    else if (this.skipped.size === 0) this.sent = this.seen;
  }

  private refused(actor: ActorKey, { event, code, message }: RefusalPayload, at: number): void {
    if (!this.wanted.has(actor)) return;
    if (this.refusals.length >= refusalsPerFrame) this.refusalsSkipped += 1;
    else this.refusals.push({ ...actor, at, event: { type: event }, refusal: { code, message } });
    this.schedule();
  }

  /** Keep the youngest that one frame shows; of the others only how many. */
  private countOff(): void {
    const surplus = this.pending.length - entriesPerFrame;
    for (let n = 0; n < surplus; n += 1) {
      const { kind } = (this.pending[n] as SealedEntry).actor;
      this.skipped.set(kind, (this.skipped.get(kind) ?? 0) + 1);
    }
    if (surplus > 0) this.pending = this.pending.slice(surplus);
  }

  /** The first after a pause goes out at once; from then on ten a second, or six where much happens. */
  private schedule(): void {
    this.cancel ??= this.clock.timeout(Math.max(0, this.mayFlushAt - this.clock.monotonic()), () =>
      this.flush(),
    );
  }

  private flush(): void {
    this.cancel = undefined;
    this.countOff();
    this.mayFlushAt = this.clock.monotonic() + (this.pending.length < busyEntries ? everyMs : busyMs);
    const ts = this.clock.now();
    if (this.refusals.length > 0) {
      const payload = {
        refusals: this.refusals,
        ...(this.refusalsSkipped === 0 ? {} : { skipped: this.refusalsSkipped }),
      };
      this.refusals = [];
      this.refusalsSkipped = 0;
      this.send(JSON.stringify({ event: 'refusals', seq: null, payload, ts } satisfies RefusalsFrame));
    }
    const { sent, seen, pending } = this;
    if (pending.length === 0) {
      this.sent = seen;
      return;
    }
    const skipped =
      this.skipped.size === 0
        ? undefined
        : {
            total: [...this.skipped.values()].reduce((sum, count) => sum + count, 0),
            kinds: Object.fromEntries(this.skipped),
          };
    this.pending = [];
    this.skipped.clear();
    this.sent = seen;
    this.send(entriesText(sent, seen, pending.map(textOf), ts, skipped));
  }

  private send(text: string): void {
    const frame = Buffer.from(text); // once, however many sockets it goes into
    for (const listener of [...this.listeners]) listener(frame);
  }
}

/** A frame from entries that are text already. */
export function entriesText(
  from: number,
  seq: number,
  entries: readonly string[],
  ts: number,
  skipped?: EntriesFrame['payload']['skipped'],
): string {
  return (
    `{"event":"entries","seq":${seq},"payload":{"from":${from},"entries":[${entries.join(',')}]` +
    `${skipped === undefined ? '' : `,"skipped":${JSON.stringify(skipped)}`}},"ts":${ts}}`
  );
}

const written = new WeakMap<SealedEntry, string>();

/** An entry is written once, however many channels show it, and parsed only where something may have to be hidden. */
function textOf(sealed: SealedEntry): string {
  const known = written.get(sealed);
  if (known !== undefined) return known;
  const shown = sealed.shown && `${sealed.shown.join('')}}`;
  const text =
    shown === undefined || mayHoldSecrets(shown) ? JSON.stringify(entryOf(readEntry(sealed.value))) : shown;
  written.set(sealed, text);
  return text;
}

interface Wanted {
  readonly everything: boolean;
  has(actor: ActorKey): boolean;
  /** The same for an entry; learns of creations. */
  takes(entry: SealedEntry): boolean;
  /** Listen for creations no longer: the channel does from now on. */
  leave?(): void;
}

interface RefusalPayload {
  readonly event: string;
  readonly code: string;
  readonly message: string;
}

async function input(supervisor: Supervisor, { kinds, ids, tree }: InspectFilter): Promise<Wanted> {
  const byKind = kinds && new Set(kinds);
  const byId = ids && new Set(ids);
  const named = ({ kind, id }: ActorKey): boolean => (byKind?.has(kind) ?? true) && (byId?.has(id) ?? true);
  if (tree === undefined)
    return {
      everything: byKind === undefined && byId === undefined,
      has: named,
      takes: ({ actor }) => named(actor),
    };
  const family = new Set<string>();
  const learn = (sealed: SealedEntry): void => {
    if (family.size >= treeMax || !isCreation(sealed)) return;
    const entry = readEntry(sealed.value);
    const parent =
      entry.parent ?? parentAtCreation(entry.kind, (entry.event as { readonly input?: unknown }).input);
    if (parent !== null && family.has(placeOf(parent))) family.add(placeOf(entry));
  };
  // Who is created while the tree is read must not be missed.
  let meanwhile: SealedEntry[] | undefined = [];
  const leave = supervisor.inspection.tap((entries) => {
    for (const entry of entries) {
      if (meanwhile === undefined) learn(entry);
      else if (isCreation(entry)) meanwhile.push(entry);
    }
  });
  const found = await treeOf(supervisor, tree, treeMax).catch((error: unknown) => {
    leave();
    throw error;
  });
  for (const place of found) family.add(place);
  const early = meanwhile;
  meanwhile = undefined;
  for (const entry of early) learn(entry);
  const has = (actor: ActorKey): boolean => family.has(placeOf(actor)) && named(actor);
  return {
    everything: false,
    has,
    leave,
    takes: (sealed) => {
      learn(sealed);
      return has(sealed.actor);
    },
  };
}

/** An actor's first entry has none before it; told by the head of its text, without parsing the rest. */
const isCreation = ({ value }: SealedEntry): boolean => value.slice(0, 160).includes('"prev":0,');
