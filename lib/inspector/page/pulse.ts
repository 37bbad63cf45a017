import { signal } from '@preact/signals';
import { hear, type Batch } from './live.js';
import type { InspectEntry, InspectRefusal } from '../frames.js';

/** What just happened, in numbers and the youngest of it: a minute of events by the second, the last entries, the last refusals. */
export const perSecond = signal<readonly number[]>(Array.from({ length: 60 }, () => 0));
export const recent = signal<readonly InspectEntry[]>([]);
export const refused = signal<readonly InspectRefusal[]>([]);
export const refusedCount = signal(0);
/** False while the list of recent entries stands still to be read. */
export const following = signal(true);

let thisSecond = 0;
let held: readonly InspectEntry[] = [];

export function followPulse(): () => void {
  const deaf = hear(take);
  const tick = setInterval(() => {
    perSecond.value = [...perSecond.value.slice(1), thisSecond];
    thisSecond = 0;
  }, 1_000);
  return () => {
    deaf();
    clearInterval(tick);
  };
}

function take({ entries, skipped, refusals }: Batch): void {
  thisSecond += entries.length + skipped;
  if (entries.length > 0) {
    held = [...held.slice(-recentMax), ...entries].slice(-recentMax);
    if (following.value) recent.value = held;
  }
  if (refusals.length > 0) {
    refusedCount.value += refusals.length;
    refused.value = [...refused.value, ...refusals].slice(-20);
  }
}

/** Let the list follow again, from what has happened meanwhile. */
export function follow(on: boolean): void {
  following.value = on;
  if (on) recent.value = held;
}

const recentMax = 60;
