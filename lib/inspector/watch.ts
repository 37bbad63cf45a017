import type { LogEntry, Supervisor } from '../supervisor/contract.js';
import { entriesPerFrame, entriesText, openChannel, type Channel } from './channel.js';
import { entryOf } from './entry-of.js';
import type { HelloFrame, InspectFilter, ResetFrame } from '../client/inspector-frames.js';

/**
 * One watch over the log: replayed from where the watcher stands, at the watcher's own pace, then joined to
 * the channel that serves all who watch alike. Between the two nothing is missed and nothing comes twice.
 */
export interface InspectWatch {
  /** How far the watcher has been told; after `stop` how far it had been. */
  readonly position: number;
  stop(): void;
}

export interface FrameSink {
  send(frame: string | Buffer): void;
  /** Resolves once the watcher can take more. */
  drained(signal: AbortSignal): Promise<void>;
}

interface Progress {
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
    sink: FrameSink,
    failed: (error: unknown) => void,
  ): InspectWatch {
    const end = new AbortController();
    const progress: Progress = {
      position: () => since ?? this.supervisor.inspection.head,
      leave: () => undefined,
    };
    this.run(filter, since, sink, end.signal, progress).catch(
      (error: unknown) => end.signal.aborted || failed(error),
    );
    return {
      get position() {
        return progress.position();
      },
      stop() {
        const position = progress.position();
        progress.position = () => position;
        end.abort();
        progress.leave();
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
    sink: FrameSink,
    signal: AbortSignal,
    progress: Progress,
  ): Promise<void> {
    let channel = await this.channel(filter);
    // Anyone who opened it has gone while it was opened
    while (channel.ended) channel = await this.channel(filter);
    const release = channel.join(() => undefined); // holds it open while this watch catches up
    progress.leave = release;
    if (signal.aborted) return release();
    channel.settle();
    let position = since ?? channel.position;
    progress.position = () => position;
    const { inspection, environment } = this.supervisor;
    const { head, floor } = inspection;
    sink.send(
      JSON.stringify({
        event: 'hello',
        seq: null,
        payload: { head, floor, from: position },
        ts: environment.clock.now(),
      } satisfies HelloFrame),
    );
    // The log is shorter than the watcher remembers: it was restored
    if (position > head) position = this.reset(sink);
    while (position !== channel.position) {
      if (position > channel.position) await this.settled(channel, position);
      // Also when the floor has overtaken a slow watcher
      else if (position < inspection.floor) position = this.reset(sink);
      else position = await this.replay(channel, position, sink, signal);
      if (signal.aborted) return;
    }
    // Nothing was awaited since the last look: what the channel tells next begins where this watch stands.
    progress.leave = channel.join((frame) => sink.send(frame));
    progress.position = () => channel.position;
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

  private async replay(
    channel: Channel,
    from: number,
    sink: FrameSink,
    signal: AbortSignal,
  ): Promise<number> {
    const { inspection, environment } = this.supervisor;
    const until = channel.position;
    const read = await inspection.entries(from, 500);
    // The floor has moved while the page was read
    if ((read[0]?.position ?? until + 1) > from + 1) return this.reset(sink);
    const page = read.filter(({ position: seq }) => seq <= until);
    const last = page.at(-1)?.position ?? until;
    const wanted = page.filter((entry: LogEntry) => channel.wants(entry));
    let sent = from;
    for (let start = 0; start < wanted.length && !signal.aborted; start += entriesPerFrame) {
      const part = wanted.slice(start, start + entriesPerFrame);
      const seq = start + entriesPerFrame >= wanted.length ? last : (part.at(-1)?.position ?? last);
      sink.send(
        entriesText(
          sent,
          seq,
          part.map((entry) => JSON.stringify(entryOf(entry))),
          environment.clock.now(),
        ),
      );
      sent = seq;
      await sink.drained(signal);
    }
    return last;
  }

  private reset(sink: FrameSink): number {
    const { inspection, environment } = this.supervisor;
    const { head, floor } = inspection;
    sink.send(
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
