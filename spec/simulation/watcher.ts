import type { LogEntry, Supervisor } from '../../lib/supervisor/contract.js';
import type { SimulatedProcess } from './machine.js';

/** Someone who follows the log from where he stood, over lives: every entry once, in order, without a gap. */
export class Watcher {
  problem: string | undefined;
  /** The store could not be read. */
  cut = false;
  private readonly leaving = new AbortController();

  constructor(
    /** Position of the last entry that was seen. */
    public last = 0,
  ) {}

  follow(supervisor: Supervisor, process: SimulatedProcess): void {
    this.cut = false;
    void (async () => {
      for await (const entry of supervisor.watch({ since: this.last, signal: this.leaving.signal })) {
        if (!process.alive) return;
        this.see(entry);
      }
    })().catch((error: unknown) => {
      this.cut = true;
      if (process.alive && (error as { code?: string }).code !== 'STORE_UNAVAILABLE')
        this.problem ??= `a watcher was cut off: ${String(error)}`;
    });
  }

  leave(): void {
    this.leaving.abort();
  }

  private see(entry: LogEntry): void {
    const { type, head } = entry.event as { type: string; head?: number };
    if (entry.kind === 'kernel' && type === 'reset') {
      this.last = head ?? entry.position;
      return;
    }
    if (entry.position !== this.last + 1)
      this.problem ??= `a watcher was given entry ${entry.position} after ${this.last}`;
    this.last = entry.position;
  }
}
