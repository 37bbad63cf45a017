import type { LogEntry, Supervisor } from '../../supervisor/contract.js';
import { addValues, entryTexts, framesOf, resetIn, type Reported, type Reset } from './frames.js';
import { frameOfText } from './text-frame.js';

/** What is told of one commit, and the position of its last entry. */
export interface Commit {
  readonly seq: number;
  readonly entries: readonly Reported[];
}

/**
 * Commits that follow one another, read and made ready together: those who want all that is in it are sent the same
 * bytes. With `reset` there are none: what was asked for is gone from the log.
 */
export interface Burst {
  /** Position of the last entry of its last commit. */
  readonly seq: number;
  readonly commits: readonly Commit[];
  readonly reset?: Reset;
}

const wires = new WeakMap<Burst, Buffer>();

/** All frames of a burst as they go over the wire, made once for all sockets; empty where nothing is told of it. */
export function wireOf(burst: Burst): Buffer {
  let wire = wires.get(burst);
  if (wire === undefined) {
    const texts = burst.commits.flatMap(({ entries, seq }) => framesOf(entries, seq, () => true));
    wire = Buffer.concat(texts.map(frameOfText));
    wires.set(burst, wire);
  }
  return wire;
}

/** How much goes together; weights in characters. A socket that catches up and has as much waiting is not given more. */
interface Most {
  readonly commits: number;
  readonly weight: number;
}

const liveMost: Most = { commits: 256, weight: 262_144 };
const pastMost: Most = { commits: 64, weight: 65_536 };

/** Gathers whole commits, as many as are there at once and one write can carry. */
class Gathering {
  private commits: Commit[] = [];
  private entries: Reported[] = [];
  private weight = 0;

  constructor(
    private readonly supervisor: Supervisor,
    private readonly most: Most,
  ) {}

  async add({ kind, id, at, frames, last, position }: LogEntry): Promise<void> {
    if (frames.length > 0) this.entries.push({ kind, id, at, frames });
    if (!last) return;
    const { entries } = this;
    this.entries = [];
    await addValues(this.supervisor, entries);
    this.commits.push({ seq: position, entries });
    for (const each of entries) for (const text of entryTexts(each, position)) this.weight += text.length;
  }

  get isFull(): boolean {
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

/** The log from `since` (exclusive) as it grows. */
export async function* liveBursts(
  supervisor: Supervisor,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<Burst, void> {
  const gathering = new Gathering(supervisor, liveMost);
  for await (const entry of supervisor.watch({ since, signal })) {
    const reset = resetIn(entry);
    if (reset) {
      gathering.forgetHalf();
      const before = gathering.take();
      if (before) yield before;
      yield { seq: entry.position, commits: [], reset };
      continue;
    }
    await gathering.add(entry);
    // What is behind it is published already, or will be in a moment
    if (!entry.last || (!gathering.isFull && entry.position < supervisor.status.position)) continue;
    const burst = gathering.take();
    if (burst) yield burst;
  }
  const rest = gathering.take();
  if (rest) yield rest;
}

/**
 * The log for those who catch up. Many come back at the same time, after a restart for instance, and want the same:
 * each burst is read once and kept for a moment. They end at multiples of `stride` wherever one begins, so that all
 * soon go the same way.
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
    const now = environment.clock.monotonic();
    this.prune(now);
    const known = position < inspection.floor ? undefined : this.kept.get(position);
    if (known !== undefined) return known.burst;
    const burst = this.read(position);
    this.kept.set(position, { burst, at: now });
    burst.catch(() => this.kept.get(position)?.burst === burst && this.kept.delete(position));
    return burst;
  }

  /** What was erased must not be told again; and a reader that stands still is no reason to keep anything. */
  private prune(now: number): void {
    const { erasures } = this.supervisor.inspection;
    if (this.erasures !== erasures) this.kept.clear();
    this.erasures = erasures;
    for (const [position, { at }] of this.kept)
      if (now - at >= keptMs || this.kept.size > keptMax) this.kept.delete(position);
      else break; // in the order in which they were read
  }

  private async read(since: number): Promise<Burst> {
    const { inspection } = this.supervisor;
    const { erasures } = inspection;
    const gathering = new Gathering(this.supervisor, pastMost);
    const end = (Math.floor(since / stride) + 1) * stride;
    for (let position = since; ;) {
      const limit = position < end ? end - position : stride; // beyond: a commit that does not end there
      const page = position < inspection.floor ? [] : await inspection.entries(position, limit);
      if (inspection.erasures !== erasures) return this.read(since);
      // The retention floor has overtaken the reader
      if (page[0]?.position !== position + 1) return gathering.take() ?? this.reset();
      for (const entry of page) {
        position = entry.position;
        await gathering.add(entry);
        if (!entry.last || (!gathering.isFull && position < end && position < inspection.head)) continue;
        const burst = gathering.take();
        return burst && inspection.erasures === erasures ? burst : this.read(since);
      }
    }
  }

  private reset(): Burst {
    const { floor, head } = this.supervisor.inspection;
    return { seq: head, commits: [], reset: { floor, head } };
  }
}

/** Entries of the log in one reading. */
const stride = 32;
const keptMax = 64;
/** So long a change of an item may be told with what the item was a moment ago; what it has become is told, too. */
const keptMs = 2_000;
