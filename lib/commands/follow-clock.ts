import { system } from '../../machines/caller.js';
import type { Desk } from './desk.js';
import { ownRow } from './own-row.js';
import { idsOf } from './walk.js';

/**
 * Tells cron jobs when somebody has set the clock back. A job hears its alarm when the time of waits says so, which never
 * goes back: without a word, a monthly job would notice within the month. How far the clock of waits stands ahead of the
 * wall is kept, so that a clock which was set back while nobody was there is noticed at the next start.
 */
export function followClock(desk: Pick<Desk, 'supervisor'>, failed: (error: unknown) => void): { close(): void } {
  const { world } = desk.supervisor;
  let known: number | undefined;
  let closed = false;
  let cancel: (() => void) | undefined;
  const look = async (): Promise<void> => {
    known ??= await leadKept(desk);
    const lead = world.steady() - world.now();
    if (Math.abs(lead - known) > leastMs) {
      if (lead > known) await wake(desk);
      await keep(desk, lead);
      known = lead;
    }
  };
  const turn = (): void => {
    void look().catch((error: unknown) => { if (!closed) failed(error); }).finally(() => { if (!closed) cancel = world.timeout(everyMs, turn); });
  };
  turn();
  return { close() { closed = true; cancel?.(); } };
}

/** Well within the minute in which a run is not late. */
const everyMs = 15_000;
const leastMs = 2_000;
const leadKey = 'cron/clock-lead';

async function leadKept({ supervisor }: Pick<Desk, 'supervisor'>): Promise<number> {
  const kept = await ownRow(supervisor, leadKey);
  return typeof kept === 'number' ? kept : 0;
}

const keep = ({ supervisor }: Pick<Desk, 'supervisor'>, lead: number): Promise<unknown> =>
  supervisor.transact({ name: 'cron-clock', actors: [], by: system('cron'), decide: (turns) => { turns.put(leadKey, lead); return null; } });

/** An alarm that rings before its time makes a job look at the clock. */
async function wake({ supervisor }: Pick<Desk, 'supervisor'>): Promise<void> {
  const jobs = await idsOf(supervisor, 'schedule', { index: 'all' });
  for (let from = 0; from < jobs.length; from += atOnce) {
    await Promise.all(jobs.slice(from, from + atOnce).map((id) => supervisor.ask('schedule', id, { type: 'job.due' }, { by: system('cron') })));
  }
}
const atOnce = 64;
