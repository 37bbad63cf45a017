import type { Op, Store } from '../../store/contract.js';
import { keys, prefix } from '../../store/keys.js';
import type { Environment } from '../../environment.js';

/**
 * The clock by which things are forgotten: kept log entries, idempotency keys, ended actors, dead letters.
 * Everything that expires is written down on it and judged by it, so an age is time that has really passed.
 *
 * It goes by the machine's time since boot, which runs on while the machine sleeps and does not care who sets
 * the wall clock. A wall that leaps while this process runs is therefore disproved and moves nothing. Only
 * while no gateway was running is there nothing better than a claim:
 * - on the same boot the time since boot proves the pause; a day of it counts at once;
 * - over a restart of the machine the wall claims it; after an hour in which the claim stands, a day counts;
 * - what is longer counts at the pace at which time passes from then on: a day's worth a day.
 * The rest is held: nothing goes for it until a person says that so much time has passed (`allow`), or that
 * it has not (`dismiss`).
 */
export class RetentionClock {
  /** Epoch ms at the last look; begins level with the wall and never goes back. */
  private at = 0;
  private boot = '';
  private sinceBoot = 0;
  /** The wall at the last look. */
  private wall = 0;
  /** How far the wall is known to stand ahead without time having passed. */
  private level = 0;
  /** Part of what is held that is believed little by little. */
  private pause = 0;
  /** So much of it at once, when it has stood for `standingMs`. */
  private allowance = 0;
  private stoodMs = 0;
  private writtenAt = -Infinity;
  private isNew = false;

  constructor(
    private readonly environment: Environment,
    private readonly store: Store,
  ) {}

  /** Before anything is decided. */
  async load(): Promise<void> {
    const wall = this.environment.clock.now();
    const machine = this.machine();
    const text = await this.store.get(key);
    this.isNew = text === undefined;
    if (text === undefined) {
      // A new home, or one from before there was this clock: it goes on at its last commit
      const lastAt = await this.lastCommit();
      this.at = lastAt === undefined ? wall : Math.min(lastAt, wall);
      this.wall = wall;
      if (lastAt !== undefined) this.paused(wall - this.at);
    } else {
      const kept = JSON.parse(text) as Kept;
      ({ at: this.at, level: this.level } = kept);
      this.pause = kept.pause;
      this.allowance = kept.allowance;
      this.wall = wall;
      if (machine.boot !== '' && machine.boot === kept.boot && machine.ms >= kept.sinceBoot) {
        const passed = machine.ms - kept.sinceBoot;
        const counted = Math.min(passed, day);
        this.at += counted;
        this.pause += passed - counted;
      } else this.paused(wall - kept.wall);
    }
    ({ boot: this.boot, ms: this.sinceBoot } = machine);
  }

  /** Epoch ms on this clock, for writing down when something expires. */
  now(): number {
    return this.at + Math.max(0, Math.floor(this.machine().ms - this.sinceBoot));
  }

  /** Time that the wall claims and nothing proves: nothing is forgotten for it. */
  get heldMs(): number {
    const ms = this.environment.clock.now() - this.now() - this.level;
    return ms < apartMsMin ? 0 : ms;
  }

  /** Take in the time that has passed. Called every few seconds. */
  check(): void {
    const passed = this.now() - this.at;
    this.sinceBoot = this.machine().ms;
    this.at += passed;
    this.wall = this.environment.clock.now();
    this.pause = Math.min(this.pause, this.heldMs);
    if (this.pause === 0) {
      this.allowance = this.stoodMs = 0;
      return;
    }
    this.stoodMs += passed;
    if (this.stoodMs < stoppedMs) return;
    const believed = Math.min(this.pause, this.allowance + passed);
    this.at += believed;
    this.pause -= believed;
    this.allowance = 0;
  }

  /** A person says that the time which is held has passed. It counts once that is written. */
  async allow(write: Write): Promise<void> {
    this.check();
    const { heldMs } = this;
    await write([this.row({ at: this.at + heldMs })]);
    this.at += heldMs;
  }

  /** A person says that it has not: the clock was set. */
  async dismiss(write: Write): Promise<void> {
    this.check();
    const { heldMs } = this;
    await write([this.row({ level: this.level + heldMs })]);
    this.level += heldMs;
  }

  /** What must be kept at once, because nothing was: else a next life would have only the wall to go by. */
  first(): readonly Op[] {
    return this.isNew ? [this.row()] : [];
  }

  /** What must be kept of this clock, when it is time to write it again. Say `written` when it is. */
  due(): readonly Op[] {
    return this.at - this.writtenAt < writeEveryMs ? [] : [this.row()];
  }

  written(): void {
    this.writtenAt = this.at;
  }

  private row(changed: Partial<Kept> = {}): Op {
    const { at, boot, sinceBoot, wall, level, pause, allowance } = this;
    const kept: Kept = { at, boot, sinceBoot, wall, level, pause, allowance, ...changed };
    return [key, JSON.stringify(kept)];
  }

  private paused(ms: number): void {
    if (ms <= 0) return;
    this.pause += ms;
    this.allowance = day;
  }

  private machine(): { readonly boot: string; readonly ms: number } {
    return this.environment.clock.sinceBoot?.() ?? { boot: '', ms: this.environment.clock.monotonic() };
  }

  private async lastCommit(): Promise<number | undefined> {
    const [last] = await this.store.page({ ...prefix('l/'), reverse: true, limit: 1 });
    const at = /"at":(\d+)/.exec(last?.[1] ?? '')?.[1];
    return at === undefined ? undefined : Number(at);
  }
}

/** Commits rows; rejects when they were not written. */
type Write = (rows: readonly Op[]) => Promise<unknown>;

interface Kept {
  readonly at: number;
  readonly boot: string;
  readonly sinceBoot: number;
  readonly wall: number;
  readonly level: number;
  readonly pause: number;
  readonly allowance: number;
}

const key = keys.meta('kernel/retention-clock');
const day = 24 * 3600 * 1000;
/** Clocks differ by a little. */
const apartMsMin = 60_000;
/** A clock that was wrong at the start has been set right by then. */
const stoppedMs = 3600 * 1000;
const writeEveryMs = 3600 * 1000;
