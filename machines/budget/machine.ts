import { setup } from 'xstate';
import { isPerson, type Authority } from '../caller.js';
import { instantOf, wallOf } from '../cron-time.js';
import { publish, writeRow, decidesFor, type Stamp, type Output, type Decision } from '../outputs.js';
import { refuse, type Refusal } from '../refusals.js';

/**
 * What an employee's turns have cost this month, against the budget of the roster.
 *
 * **What lives.** The spend of the present month, and what a person granted on top of the budget; a row for every
 * month. The budget itself is in the roster and arrives as a fact, as does the time zone in which months begin.
 *
 * **What can happen.** The cost of a turn is recorded. At 80 and at 100 % a warning is published, each once a month. A
 * person grants more for this month. The first event of a new month starts it at zero.
 *
 * **What can never happen.** A month that comes again, because a clock or the zone was set back: its row would begin
 * at zero. An agent that records a cost or grants money. That no cost is recorded twice is up
 * to its sender: the effect of a turn sends it with the turn's own key.
 */
export interface BudgetContext {
  readonly id: string;
  /** `2026-11` */
  readonly month: string;
  /** In which the month begins and ends, as of the last event. Absent: UTC. */
  readonly timeZone?: string;
  readonly spentUsd: number;
  readonly turns: number;
  readonly grantedUsd: number;
  /** As the roster said at the last event; null: none. */
  readonly limitUsd: number | null;
}

export type Band = 'within' | 'warned' | 'exceeded';

export type BudgetEvent = Stamp<BudgetFacts> &
  (
    | { readonly type: 'spend.noted'; readonly costUsd: number }
    | { readonly type: 'budget.granted'; readonly usd: number; readonly note?: string }
  );
export interface BudgetFacts {
  readonly limitUsd: number | null;
  /** IANA name. Absent: UTC. */
  readonly timeZone?: string;
}
export interface BudgetInput {
  readonly id: string;
  readonly at: number;
  readonly facts?: BudgetFacts;
}

export function budgetPolicy(event: BudgetEvent, { by, onBehalfOf }: Authority): Refusal | undefined {
  switch (event.type) {
    case 'spend.noted':
      if (by.type !== 'system')
        return refuse('FORBIDDEN', {}, 'Only the gateway may record the cost of a turn.');
      return sane(event.costUsd)
        ? undefined
        : refuse('BAD_REQUEST', { path: 'costUsd' }, 'costUsd must be a number of dollars, 0 or more.');
    case 'budget.granted':
      if (!isPerson(onBehalfOf)) return refuse('PERSON_REQUIRED', {}, 'Only a person may raise a budget.');
      return sane(event.usd) && event.usd > 0
        ? undefined
        : refuse(
            'BAD_REQUEST',
            { path: 'usd' },
            `usd must be a number of dollars above 0, at most ${usdMax}.`,
          );
    default:
      return refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

const usdMax = 1_000_000;
const sane = (usd: unknown): boolean =>
  typeof usd === 'number' && Number.isFinite(usd) && usd >= 0 && usd <= usdMax;

/**
 * Where a spend stands against a budget: `bandOf({spentUsd: 8, limitUsd: 10, grantedUsd: 0})` → `'warned'`.
 */
export function bandOf({
  spentUsd,
  limitUsd,
  grantedUsd,
}: Pick<BudgetContext, 'spentUsd' | 'limitUsd' | 'grantedUsd'>): Band {
  if (limitUsd === null) return 'within';
  const allowed = limitUsd + grantedUsd;
  if (spentUsd >= allowed) return 'exceeded';
  return spentUsd >= 0.8 * allowed ? 'warned' : 'within';
}

/**
 * The month of a time in a zone, and the time at which it is over: `monthOf(Date.UTC(2026, 10, 21))` → `{month:
 * '2026-11', endsAt: …}`.
 */
export function monthOf(at: number, timeZone = 'UTC'): { readonly month: string; readonly endsAt: number } {
  const wall = new Date(wallOf(at, timeZone));
  const month = wall.toISOString().slice(0, 7);
  return { month, endsAt: instantOf(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1), timeZone) };
}

/** The account as it stands in the month of `at`. */
export const inMonth = (context: BudgetContext, at: number, timeZone = context.timeZone): BudgetContext => {
  const { month } = monthOf(at, timeZone);
  return month <= context.month ? context : { ...context, month, spentUsd: 0, turns: 0, grantedUsd: 0 };
};

function after(context: BudgetContext, event: BudgetEvent): BudgetContext {
  const { limitUsd = null, timeZone } = event.facts ?? {};
  const now = { ...inMonth(context, event.at, timeZone), limitUsd, ...(timeZone && { timeZone }) };
  return event.type === 'spend.noted'
    ? { ...now, spentUsd: cents(now.spentUsd + event.costUsd), turns: now.turns + 1 }
    : { ...now, grantedUsd: cents(now.grantedUsd + event.usd) };
}

/** Sums of floats gather dust; a millionth of a dollar is fine enough. */
const cents = (usd: number): number => Math.round(usd * 1e6) / 1e6;

function record(context: BudgetContext, event: BudgetEvent): Decision<BudgetContext> {
  const now = after(context, event);
  const { id, month, spentUsd, turns, grantedUsd, limitUsd } = now;
  const before = bandOf({ ...inMonth(context, event.at, event.facts?.timeZone), limitUsd });
  const band = bandOf(now);
  const outputs: Output[] = [
    writeRow('months', Number(month.replace('-', '')), { month, spentUsd, turns, grantedUsd, limitUsd }),
  ];
  const shown = { employee: id, month, spentUsd, limitUsd, grantedUsd };
  if (event.type === 'budget.granted') outputs.push(publish('budget:granted', { ...shown, usd: event.usd }));
  else if (band !== before) {
    if (before === 'within') outputs.push(publish('budget:warning', { ...shown, percent: 80 }));
    if (band === 'exceeded') outputs.push(publish('budget:warning', { ...shown, percent: 100 }));
  }
  return { set: now, outputs };
}

const leads = (to: Band) => ({
  guard: { type: 'leadsTo' as const, params: { band: to } },
  target: to,
  actions: 'record' as const,
});
const account = {
  on: {
    'spend.noted': [leads('within'), leads('warned'), leads('exceeded')],
    'budget.granted': [leads('within'), leads('warned'), leads('exceeded')],
  },
};

export const budgetMachine = setup({
  types: {} as { context: BudgetContext; events: BudgetEvent; input: BudgetInput; emitted: Output },
  guards: {
    leadsTo: ({ context, event }, { band }: { band: Band }) => bandOf(after(context, event)) === band,
  },
  actions: { record: decidesFor<BudgetContext, BudgetEvent>()(record) },
}).createMachine({
  id: 'budget',
  context: ({ input }) => ({
    id: input.id,
    month: monthOf(input.at, input.facts?.timeZone).month,
    ...(input.facts?.timeZone && { timeZone: input.facts.timeZone }),
    spentUsd: 0,
    turns: 0,
    grantedUsd: 0,
    limitUsd: input.facts?.limitUsd ?? null,
  }),
  initial: 'within',
  states: { within: account, warned: account, exceeded: account },
});
