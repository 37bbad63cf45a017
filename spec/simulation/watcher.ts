import type { LogEntry, Supervisor } from '../../lib/supervisor/contract.js';
import type { SimulatedProcess } from './machine.js';

/** Somebody who follows the log over all lives from where he stood: every entry once, in order, without a gap. */
export class Watcher {
  /** Position of the last entry that was seen. */
  last = 0;
  problem: string | undefined;

  follow(supervisor: Supervisor, process: SimulatedProcess): void {
    void (async () => {
      for await (const entry of supervisor.watch({ since: this.last })) {
        if (!process.alive) return;
        this.see(entry);
      }
    })().catch((error: unknown) => {
      if (process.alive && (error as { code?: string }).code !== 'STORE_UNAVAILABLE')
        this.problem ??= `a watcher was cut off: ${String(error)}`;
    });
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
