import { effect, signal } from '@preact/signals';
import { ask } from '../../page/ask.js';
import { connection } from '../../page/connection.js';
import { hear, type Batch } from './live.js';
import type { Pulse } from '../answers.js';
import type { InspectEntry, InspectRefusal } from '../../client/inspector-frames.js';

/**
 * What just happened, in numbers and the youngest of it: a minute of events by the second, the last entries,
 * the last refusals.
 */
export const perSecond = signal<readonly number[]>(Array.from({ length: 60 }, () => 0));
export const recent = signal<readonly InspectEntry[]>([]);
export const refused = signal<readonly InspectRefusal[]>([]);
export const refusedCount = signal(0);
/** False while the list of recent entries stands still to be read. */
export const following = signal(true);

/** Events a second by kind, over the last five. */
export const perKind = signal<ReadonlyMap<string, number>>(new Map());

let thisSecond = 0;
let kindsNow = new Map<string, number>();
let kindsBefore: readonly ReadonlyMap<string, number>[] = [];
let held: readonly InspectEntry[] = [];

/** The gateway remembers what was before this page was opened, and while it was away. */
async function catchUp(): Promise<void> {
  const { perSecond: before, refused: count, refusals } = await ask<Pulse>('/api/inspect/pulse');
  perSecond.value = before;
  refusedCount.value = count;
  refused.value = refusals;
}

export function followPulse(): () => void {
  const deaf = hear(take);
  const deafer = effect(() => {
    if (connection.value === 'live') void catchUp().catch(() => undefined); // the numbers then begin here
  });
  const tick = setInterval(() => {
    perSecond.value = [...perSecond.value.slice(1), thisSecond];
    thisSecond = 0;
    kindsBefore = [...kindsBefore, kindsNow].slice(-5);
    kindsNow = new Map();
    const names = new Set(kindsBefore.flatMap((second) => [...second.keys()]));
    if (names.size + perKind.value.size > 0)
      perKind.value = new Map(
        [...names].map((name) => [
          name,
          kindsBefore.reduce((sum, second) => sum + (second.get(name) ?? 0), 0) / 5,
        ]),
      );
  }, 1_000);
  return () => {
    deaf();
    deafer();
    clearInterval(tick);
  };
}

function take({ entries, skipped, skippedKinds, refusals }: Batch): void {
  for (const { kind } of entries) kindsNow.set(kind, (kindsNow.get(kind) ?? 0) + 1);
  for (const [kind, count] of Object.entries(skippedKinds))
    kindsNow.set(kind, (kindsNow.get(kind) ?? 0) + count);
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

const recentMax = 30;
