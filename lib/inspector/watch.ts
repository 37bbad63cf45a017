import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { entriesPerFrame, entriesText, openChannel, type Channel } from './channel.js';
import { entryOf } from './entry-of.js';
import type { HelloFrame, InspectFilter, ResetFrame } from './frames.js';

/**
 * One watch over the log: replayed from where the watcher stands, at the watcher's own pace, then joined to
 * the channel that serves all who watch alike. Between the two nothing is missed and nothing comes twice.
 */
export interface InspectWatch {
  /** How far the watcher has been told; after `stop` how far it had been. */
  readonly position: number;
  stop(): void;
}

export interface Outlet {
  send(frame: string | Buffer): void;
  /** Resolves once the watcher can take more. */
  drained(signal: AbortSignal): Promise<void>;
}

interface Standing {
  position(): number;
  leave(): void;
}

/** Channels by filter, shared by all watches of one gateway. */
export class Channels {
  private readonly open = new Map<string, Promise<Channel>>();

  constructor(readonly supervisor: Supervisor) {}

  /** Frames from `since` (exclusive) on, or from now on. */
  watch(
    filter: InspectFilter,
    since: number | undefined,
    outlet: Outlet,
    failed: (error: unknown) => void,
  ): InspectWatch {
    const end = new AbortController();
    const standing: Standing = {
      position: () => since ?? this.supervisor.inspection.head,
      leave: () => undefined,
    };
    this.run(filter, since, outlet, end.signal, standing).catch(
      (error: unknown) => end.signal.aborted || failed(error),
    );
    return {
      get position() {
        return standing.position();
      },
      stop() {
        const position = standing.position();
        standing.position = () => position;
        end.abort();
        standing.leave();
      },
    };
  }

  /** How many channels are open. */
  get size(): number {
    return this.open.size;
  }

  private async run(
    filter: InspectFilter,
    since: number | undefined,
    outlet: Outlet,
    signal: AbortSignal,
    standing: Standing,
  ): Promise<void> {
    let channel = await this.channel(filter);
    // Whoever opened it has gone while it was opened
    while (channel.ended) channel = await this.channel(filter);
    const release = channel.join(() => undefined); // holds it open while this watch catches up
    standing.leave = release;
    if (signal.aborted) return release();
    channel.settle();
    let position = since ?? channel.position;
    standing.position = () => position;
    const { inspection, environment } = this.supervisor;
    const { head, floor } = inspection;
    outlet.send(
      JSON.stringify({
        event: 'hello',
        seq: null,
        payload: { head, floor, from: position },
        ts: environment.clock.now(),
      } satisfies HelloFrame),
    );
    // The log is shorter than the watcher remembers: it was restored
    if (position > head) position = this.reset(outlet);
    while (position !== channel.position) {
      if (position > channel.position) await this.settled(channel, position);
      // Also when the floor has overtaken a slow watcher
      else if (position < inspection.floor) position = this.reset(outlet);
      else position = await this.replay(channel, position, outlet, signal);
      if (signal.aborted) return;
    }
    // Nothing was awaited since the last look: what the channel tells next begins where this watch stands.
    standing.leave = channel.join((frame) => outlet.send(frame));
    standing.position = () => channel.position;
    release();
  }

  /** The channel holds back what this watcher knows already: let it tell the others now. */
  private async settled(channel: Channel, position: number): Promise<void> {
    channel.settle();
    if (channel.position < position)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }

  private async replay(channel: Channel, from: number, outlet: Outlet, signal: AbortSignal): Promise<number> {
    const { inspection, environment } = this.supervisor;
    const until = channel.position;
    const read = await inspection.entries(from, 500);
    // The floor has moved while the page was read
    if ((read[0]?.seq ?? until + 1) > from + 1) return this.reset(outlet);
    const page = read.filter(({ seq }) => seq <= until);
    const last = page.at(-1)?.seq ?? until;
    const wanted = page.filter((entry: LogEntry) => channel.wants(entry));
    let told = from;
    for (let start = 0; start < wanted.length && !signal.aborted; start += entriesPerFrame) {
      const part = wanted.slice(start, start + entriesPerFrame);
      const seq = start + entriesPerFrame >= wanted.length ? last : (part.at(-1)?.seq ?? last);
      outlet.send(
        entriesText(
          told,
          seq,
          part.map((entry) => JSON.stringify(entryOf(entry))),
          environment.clock.now(),
        ),
      );
      told = seq;
      await outlet.drained(signal);
    }
    return last;
  }

  private reset(outlet: Outlet): number {
    const { inspection, environment } = this.supervisor;
    const { head, floor } = inspection;
    outlet.send(
      JSON.stringify({
        event: 'reset',
        seq: null,
        payload: { floor, head },
        ts: environment.clock.now(),
      } satisfies ResetFrame),
    );
    return head;
  }

  private channel(filter: InspectFilter): Promise<Channel> {
    const name = nameOf(filter);
    const known = this.open.get(name);
    if (known !== undefined) return known;
    const made = openChannel(this.supervisor, filter, () => {
      if (this.open.get(name) === made) this.open.delete(name);
    });
    this.open.set(name, made);
    made.catch(() => this.open.delete(name));
    return made;
  }
}

/** Filters that mean the same have the same name. */
function nameOf({ kinds, ids, tree, refusals }: InspectFilter): string {
  const sorted = (names: readonly string[] | undefined): readonly string[] | null =>
    names === undefined ? null : [...new Set(names)].sort();
  return JSON.stringify([
    sorted(kinds),
    sorted(ids),
    tree === undefined ? null : [tree.kind, tree.id],
    refusals === true,
  ]);
}
