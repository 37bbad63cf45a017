import type { Store } from '../store/contract.js';
import { keys, prefix } from '../store/keys.js';
import type { Environment } from '../environment.js';
import type { Draft } from './draft.js';

/**
 * How far the clock of waits stands ahead of the wall, kept over restarts. It does where somebody set the
 * wall back: waits never go back, whether it was set back while somebody was there or not. Timers are written
 * down on the clock of waits, so a new process must take it up where it stood, or every timer that was set
 * since would be late by as much.
 */
export class ClockSkew {
  private known = 0;

  constructor(private readonly store: Store) {}

  /** At the start, before any time is told. */
  async resumeEffect(world: Environment): Promise<void> {
    this.known = Number((await this.store.get(key)) ?? 0);
    if (this.known > leadMsMin) world.lead?.(this.known);
    // The wall may have been set back while nobody was there: then the last commit lies in the future.
    const behind = (await this.lastAt()) + this.known - world.steady();
    if (behind > leadMsMin) world.lead?.(behind);
  }

  /** Wall time of the last commit; 0 when there is none. */
  private async lastAt(): Promise<number> {
    const [last] = await this.store.page({ ...prefix('l/'), reverse: true, limit: 1 });
    // It stands before anything that others wrote
    return Number(/"at":(\d+)/.exec(last?.[1] ?? '')?.[1] ?? 0);
  }

  /** The row that must be written with a stage whose times tell of another lead than is known. */
  row({ steady, at }: Pick<Draft, 'steady' | 'at'>): readonly [key: string, value: string] | undefined {
    const lead = steady - at;
    if (Math.abs(lead - this.known) <= leadMsMin) return undefined; // never so where it is not known
    this.known = lead;
    return [key, String(lead)];
  }

  /** The row may not have been written: the next draft carries it again. */
  unwritten(): void {
    this.known = Number.NaN;
  }
}

const key = keys.meta('kernel/clock-lead');
/** Clocks are read one after the other and differ by a little. */
const leadMsMin = 1_000;
