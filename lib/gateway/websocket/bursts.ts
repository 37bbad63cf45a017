import type { LogEntry, Supervisor } from '../../supervisor/contract.js';
import { addValues, entryTexts, framesOf, resetIn } from './frames.js';
import { textFrame } from './text-frame.js';

/** The entries of one commit and the position of its last. */
export interface Commit {
  readonly seq: number;
  readonly entries: readonly LogEntry[];
}

/**
 * Commits that follow one another, read and made ready together: those who want all that is in it are sent the same
 * bytes. With `reset` there are none: what was asked for is gone from the log.
 */
export interface Burst {
  /** Position of the last entry of its last commit. */
  readonly seq: number;
  readonly commits: readonly Commit[];
  readonly reset?: { readonly floor: number; readonly head: number };
}

const written = new WeakMap<Burst, Buffer>();

/** All frames of a burst as they go over the wire, made once for all sockets; empty where nothing is told of it. */
export function wireOf(burst: Burst): Buffer {
  let wire = written.get(burst);
  if (wire === undefined) {
    const texts = burst.commits.flatMap(({ entries, seq }) => framesOf(entries, seq, () => true));
    wire = Buffer.concat(texts.map((text) => textFrame(Buffer.from(text))));
    written.set(burst, wire);
  }
  return wire;
}

/** Gathers whole commits, as many as are there at once and one write can carry. */
class Gathering {
  private commits: Commit[] = [];
  private entries: LogEntry[] = [];
  private weight = 0;

  constructor(
    private readonly supervisor: Supervisor,
    private readonly most: { readonly commits: number; readonly weight: number },
  ) {}

  /** True when it should be handed on. */
  async add(entry: LogEntry): Promise<boolean> {
    this.entries.push(entry);
    if (!entry.last) return false;
    const { entries } = this;
    await addValues(this.supervisor, entries);
    this.commits.push({ seq: entry.position, entries });
    this.entries = [];
    for (const each of entries)
      for (const text of entryTexts(each, entry.position)) this.weight += text.length;
    return this.weight >= this.most.weight || this.commits.length >= this.most.commits;
  }

  /** Undefined: there is no whole commit. What is half a commit stays. */
  take(): Burst | undefined {
    const { commits } = this;
    this.commits = [];
    this.weight = 0;
    const last = commits.at(-1);
    return last && { seq: last.seq, commits };
  }

  /** What stood before a reset in the same commit is gone, too. */
  forgetHalf(): void {
    this.entries = [];
  }
}

/** Weights in characters. A socket that catches up and has as much waiting is not given more. */
const liveMost = { commits: 256, weight: 262_144 };
const pastMost = { commits: 64, weight: 65_536 };

/** The log from `since` (exclusive) as it grows. */
export async function* liveBursts(
  supervisor: Supervisor,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<Burst, void> {
  const gathering = new Gathering(supervisor, liveMost);
  for await (const entry of supervisor.watch({ since, signal })) {
    const reset = resetIn(entry);
    if (reset) gathering.forgetHalf();
    const isEnough = reset || (await gathering.add(entry));
    // What is behind it is published already, or will be in a moment
    if (!isEnough && (!entry.last || entry.position < supervisor.status.position)) continue;
    const burst = gathering.take();
    if (burst) yield burst;
    if (reset) yield { seq: entry.position, commits: [], reset };
  }
  const rest = gathering.take();
  if (rest) yield rest;
}

/**
 * The log for those who catch up. Many come back at the same time, after a restart for instance, and want the same:
 * each burst is read once and kept for a moment. They end at the same places wherever one begins, so that all soon go
 * the same way.
 */
export class PastBursts {
  private readonly kept = new Map<number, { readonly burst: Promise<Burst>; readonly at: number }>();
  private erasures = 0;
  private readers = 0;

  constructor(private readonly supervisor: Supervisor) {}

  /** Until the returned function is called; what is kept goes with the last. */
  enter(): () => void {
    this.readers += 1;
    return () => {
      this.readers -= 1;
      if (this.readers === 0) this.kept.clear();
    };
  }

  /** The commits after `position` (exclusive), of which there are some. */
  after(position: number): Promise<Burst> {
    const { inspection, environment } = this.supervisor;
    if (this.erasures !== inspection.erasures) this.kept.clear(); // what was said then must not be said again
    this.erasures = inspection.erasures;
    const now = environment.clock.monotonic();
    const known = position < inspection.floor ? undefined : this.kept.get(position);
    if (known !== undefined && now - known.at < keptMs) return known.burst;
    const burst = this.read(position);
    burst.catch(() => this.kept.delete(position));
    this.kept.delete(position);
    this.kept.set(position, { burst, at: now });
    const [eldest] = this.kept.keys();
    if (eldest !== undefined && this.kept.size > keptMax) this.kept.delete(eldest);
    return burst;
  }

  private async read(since: number): Promise<Burst> {
    const { inspection } = this.supervisor;
    const gathering = new Gathering(this.supervisor, pastMost);
    const end = (Math.floor(since / pageEntries) + 1) * pageEntries;
    for (let position = since; ;) {
      const page = position < inspection.floor ? [] : await inspection.entries(position, pageEntries);
      // The retention floor has overtaken the reader
      if (page[0]?.position !== position + 1) return gathering.take() ?? this.reset();
      for (const entry of page) {
        position = entry.position;
        const isEnough = await gathering.add(entry);
        if (!entry.last || (!isEnough && position < end && position < inspection.head)) continue;
        const burst = gathering.take();
        if (burst) return burst;
      }
    }
  }

  private reset(): Burst {
    const { floor, head } = this.supervisor.inspection;
    return { seq: head, commits: [], reset: { floor, head } };
  }
}

const pageEntries = 32;
const keptMax = 128;
/** So long a change of an item may be told with what the item was a moment ago; what it has become is told, too. */
const keptMs = 2_000;
