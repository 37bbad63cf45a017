import type { Op } from '../store/contract.js';
import { keys } from '../store/keys.js';
import type { Kernel } from './kernel.js';
import type { LogEntry } from './contract.js';

/**
 * What must be done now and then: forget expired keys, let old log entries go, watch the disk. Runs on one slow
 * timer; a failure is logged and tried again at the next turn.
 */
const everyMs = 5_000;
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

  constructor(private readonly kernel: Kernel, private readonly expired: () => Promise<Op[]>, private readonly disk: (low: boolean) => void) {}

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
    this.round += 1;
    if (this.round % 12 !== 1) return;
    const gone = await this.expired();
    if (gone.length > 0) await this.kernel.writeOps(gone);
    await this.trim();
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
