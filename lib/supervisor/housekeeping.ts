import { StoreError, type Op } from '../store/contract.js';
import { expiriesFrom, keys, partsOf } from '../store/keys.js';
import { forget } from './forget.js';
import type { Kernel } from './kernel.js';
import type { LogEntry } from './contract.js';

/**
 * What must be done now and then: forget expired keys, let old log entries go, watch the disk. Runs on one slow
 * timer; a failure is logged and tried again at the next turn.
 */
const everyMs = 5_000;
/** In one turn: 20,000 a second for as long as it takes, which is more than can be made. */
const expiryPagesMax = 100;
const expiryPage = 1_000;
const diskBytesMin = 200 * 1024 * 1024;
const trimPagesMax = 20;
const floorKey = keys.meta('log-floor');

export class Housekeeping {
  /** Entries at or below this position are gone. */
  floor = 0;
  diskLow = false;
  private cancel: (() => void) | undefined;
  private stopped = false;
  private round = 0;
  private working: Promise<void> = Promise.resolve();

  constructor(private readonly kernel: Kernel, private readonly disk: (low: boolean) => void) {}

  async start(): Promise<void> {
    this.floor = Number(await this.kernel.store.get(floorKey) ?? 0);
    await this.watchDisk();
    this.next();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel?.();
    await this.working;
  }

  private next(): void {
    if (this.stopped) return;
    this.cancel = this.kernel.world.timeout(everyMs, () => {
      this.working = this.turn().catch((error: unknown) => { this.kernel.fault('housekeeping failed', error); }).finally(() => this.next());
    });
  }

  private async turn(): Promise<void> {
    await this.watchDisk();
    await this.expire();
    this.round += 1;
    if (this.round % 12 === 1) await this.trim();
  }

  /** Keys and ended actors whose time is over, all of them: what goes slower than it comes piles up for ever. */
  private async expire(): Promise<void> {
    const { store, world } = this.kernel;
    for (let pages = 0; pages < expiryPagesMax && !this.stopped; pages += 1) {
      const due = await store.page({ gte: expiriesFrom(0), lt: expiriesFrom(world.now()), limit: expiryPage });
      const rows = due.map(([row]) => ({ row, key: partsOf(row)[2] as string }));
      const gone = rows.filter(({ key }) => !key.startsWith('a/')).flatMap(({ row, key }): Op[] => [[row, null], [key, null]]);
      if (gone.length > 0) await this.kernel.writeOps(gone);
      if (this.stopped) return;
      await Promise.all(rows.filter(({ key }) => key.startsWith('a/')).map(({ row, key }) => this.forget(row, key)));
      if (due.length < expiryPage) return;
    }
  }

  /** A record that nobody can read stays where it is, and stands in nobody's way. While the store cannot write nothing is decided. */
  private async forget(row: string, key: string): Promise<void> {
    const [, kind = '', id = ''] = partsOf(key);
    try {
      await forget(this.kernel, { kind, id }, row);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.kernel.fault(`the ended ${kind} ${id} could not be forgotten`, error);
      await this.kernel.writeOps([[row, null]]);
    }
  }

  private async watchDisk(): Promise<void> {
    const free = await this.kernel.store.freeBytes?.();
    if (free === undefined || free < diskBytesMin === this.diskLow) return;
    this.diskLow = !this.diskLow;
    this.disk(this.diskLow);
  }

  /** Drop the oldest entries that are past their days or over the bytes; bounded steps, so that nobody notices. */
  private async trim(): Promise<void> {
    for (let pages = 0; pages < trimPagesMax && !this.stopped; pages += 1) if (!await this.trimPage()) return;
  }

  private async trimPage(): Promise<boolean> {
    const { store, world, limits } = this.kernel;
    const oldest = await store.page({ gt: keys.log(this.floor), lte: keys.log(store.head.seq), limit: 1000 });
    const horizon = world.now() - limits.keepLogDays * 24 * 3600 * 1000;
    const bytes = oldest.reduce((sum, [, value]) => sum + value.length, 0);
    const entries = store.head.seq - this.floor;
    // What the whole log weighs, judged by its oldest page.
    const surplus = oldest.length === 0 ? 0 : Math.ceil(entries - limits.keepLogBytes / (bytes / oldest.length));
    const kept = oldest.findIndex(([, value], index) => index >= surplus && (JSON.parse(value) as LogEntry).at >= horizon);
    const gone = kept < 0 ? oldest : oldest.slice(0, kept);
    const last = gone.at(-1);
    if (last === undefined) return false;
    const floor = Number(last[0].slice(2));
    await this.kernel.writeOps([...gone.map(([key]): Op => [key, null]), [floorKey, String(floor)]]);
    this.floor = floor;
    return kept < 0;
  }
}
