import { chainIn } from '../../store/chain.js';
import type { Op } from '../../store/contract.js';
import { keys, logFloorChainKey, logFloorKey } from '../../store/keys.js';
import type { Commits } from '../commit.js';
import type { Kernel } from '../kernel.js';
import type { LogEntry } from '../contract.js';

/**
 * The old end of the log: entries past their days or over the bytes go, oldest first, as fast as new ones
 * come and in slices that no one notices.
 *
 * How old an entry is is told by marks, not by the wall time that stands in it: a mark says that everything up
 * to a position was committed at or before a moment of the retention clock. An entry that was written while
 * the wall was wrong neither goes too early nor holds up all that follow it. The bytes use no clock.
 */
export class LogRetention {
  private marks: readonly Mark[] = [];
  /** The youngest entry at the last look, and when it was committed. */
  private seen: Mark = [0, 0];
  private checkedAt = 0;
  private weighedHead = -1;
  private isNew = false;
  private sliceEntries = 1_000;

  constructor(
    private readonly kernel: Kernel,
    private readonly commits: Commits,
  ) {}

  async load(): Promise<void> {
    const { store, retention } = this.kernel;
    this.kernel.log.floor = Number((await store.get(logFloorKey)) ?? 0);
    this.checkedAt = retention.now();
    const text = await store.get(marksKey);
    this.isNew = text === undefined;
    this.marks = text === undefined ? await this.marksOfOldLog() : (JSON.parse(text) as Mark[]);
    this.seen = this.marks.at(-1) ?? [this.kernel.log.floor, this.checkedAt];
  }

  /** What must be kept at once, because nothing was. */
  first(): readonly Op[] {
    return this.isNew ? [markRow(this.marks)] : [];
  }

  /** One turn: mark what came, and let go what must. Rows to be written anyway go along. */
  async turn(rows: readonly Op[], stopped: () => boolean): Promise<void> {
    const marks = await this.marked();
    const isMarked = marks !== this.marks;
    if (isMarked || rows.length > 0)
      await this.commits.write([...rows, ...(isMarked ? [markRow(marks)] : [])]);
    this.marks = marks;
    for (let rounds = 0; rounds < roundsMax && !stopped(); rounds += 1) {
      const target = Math.max(this.past(this.kernel.retention.now()), await this.overweight());
      if (target <= this.kernel.log.floor) return;
      while (this.kernel.log.floor < target && !stopped()) await this.drop(target);
    }
  }

  /** How many entries would go if so much more time had passed. */
  wouldGo(ms: number): number {
    return Math.max(0, this.past(this.kernel.retention.now() + ms) - this.kernel.log.floor);
  }

  /** Position up to which entries are past their days. */
  private past(now: number): number {
    const horizon = now - this.keptMs;
    return this.marks.findLast(([, at]) => at < horizon)?.[0] ?? 0;
  }

  private get keptMs(): number {
    return this.kernel.limits.keepLogDays * 24 * 3600 * 1000;
  }

  /** The marks as they should be now: the same array when there is nothing to add. */
  private async marked(): Promise<readonly Mark[]> {
    const { store, retention } = this.kernel;
    const now = retention.now();
    const { seq } = store.head;
    if (seq > this.seen[0]) this.seen = [seq, await this.committedAt(seq, now)];
    this.checkedAt = now;
    const [marked, at] = this.marks.at(-1) ?? [0, -Infinity];
    const every = Math.max(60_000, this.keptMs / marksMax);
    if (this.seen[0] <= marked || this.seen[1] - at < every) return this.marks;
    return [...this.marks, this.seen];
  }

  /**
   * When an entry that is new since the last look was committed: what its wall time says, as far as that lies
   * in between.
   */
  private async committedAt(seq: number, now: number): Promise<number> {
    const entry = await this.kernel.log.entry(seq);
    const ageMs = this.kernel.environment.clock.now() - (entry?.at ?? this.kernel.environment.clock.now());
    return Math.min(now, Math.max(this.checkedAt, now - ageMs));
  }

  /** Position up to which entries are more than the bytes that may be kept, as a sample of them weighs. */
  private async overweight(): Promise<number> {
    const { store, limits } = this.kernel;
    const head = store.head.seq;
    const entries = head - this.kernel.log.floor;
    if (entries <= 0 || head === this.weighedHead) return 0;
    let rows = 0;
    let bytes = 0;
    for (let part = 0; part < samples; part += 1) {
      const from = this.kernel.log.floor + Math.floor((entries * part) / samples);
      for (const [, value] of await store.page({
        gt: keys.log(from),
        lte: keys.log(head),
        limit: sampleEntries,
      })) {
        rows += 1;
        bytes += value.length;
      }
    }
    const surplus = rows === 0 ? 0 : Math.ceil(entries - limits.keepLogBytes / (bytes / rows));
    if (surplus <= 0) this.weighedHead = head;
    return this.kernel.log.floor + Math.max(0, Math.min(surplus, entries));
  }

  /** A slice, as large as can be written in a moment. */
  private async drop(target: number): Promise<void> {
    const { environment } = this.kernel;
    const began = environment.clock.monotonic();
    const floor = Math.min(target, this.kernel.log.floor + this.sliceEntries);
    const ops: Op[] = [];
    for (let seq = this.kernel.log.floor + 1; seq <= floor; seq += 1) ops.push([keys.log(seq), null]);
    const kept = this.marks.filter(([seq]) => seq > floor);
    if (kept.length < this.marks.length) ops.push(markRow(kept));
    ops.push(...(await this.floorRows(floor)));
    await this.commits.write(ops);
    this.marks = kept;
    this.kernel.log.floor = floor;
    const tookMs = environment.clock.monotonic() - began;
    if (tookMs < 20) this.sliceEntries = Math.min(sliceEntriesMax, this.sliceEntries * 2);
    else if (tookMs > 60) this.sliceEntries = Math.max(sliceEntriesMin, Math.ceil(this.sliceEntries / 2));
  }

  /**
   * The one place where the floor is written: its position, and the chain of the last entry that went, from
   * which the first one that stays must follow.
   */
  private async floorRows(floor: number): Promise<Op[]> {
    const last = await this.kernel.store.get(keys.log(floor));
    return [
      [logFloorKey, String(floor)],
      [logFloorChainKey, (last === undefined ? undefined : chainIn(last)) ?? null],
    ];
  }

  /** Of a log that was written before there were marks: as its entries say, as far as they agree. */
  private async marksOfOldLog(): Promise<Mark[]> {
    const { store, log, retention } = this.kernel;
    const now = retention.now();
    const head = store.head.seq;
    const marks: Mark[] = [];
    for (let part = 1; part <= oldMarks && head > this.kernel.log.floor; part += 1) {
      const seq = this.kernel.log.floor + Math.ceil(((head - this.kernel.log.floor) * part) / oldMarks);
      const entry: LogEntry | undefined = await log.entry(seq);
      const [before, earliest] = marks.at(-1) ?? [this.kernel.log.floor, 0];
      if (entry === undefined || seq <= before) continue;
      marks.push([seq, Math.min(now, Math.max(earliest, entry.at))]);
    }
    return marks;
  }
}

/** Everything up to `seq` was committed at or before `at`, on the retention clock. */
type Mark = readonly [seq: number, at: number];

const marksKey = keys.meta('kernel/log-marks');
const markRow = (marks: readonly Mark[]): Op => [marksKey, JSON.stringify(marks)];
/** With 30 days: one an hour. */
const marksMax = 720;
const oldMarks = 240;
const samples = 8;
const sampleEntries = 16;
const sliceEntriesMin = 250;
const sliceEntriesMax = 4_000;
/** New entries come while old ones go: look again, and leave the rest to the next turn. */
const roundsMax = 8;
