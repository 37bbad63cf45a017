import { limitOf, type BudgetPort } from '../../actors/budget/kind.js';
import { bandOf, inMonth, monthOf } from '../../machines/budget/machine.js';
import { system } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { sortableText } from '../../machines/sortable.js';
import type { Records } from '../records/records.js';
import type { Committed, EventObject, Supervisor } from '../supervisor/contract.js';
import { timeZoneOf, type App } from './app.js';
import { optionsOf, replyWith, type Request, type RequestedBy, type Reply } from './request.js';
import { idsOf } from './iterate.js';

/**
 * Budgets of employees: what they may cost in a month, what they have. An account is an actor of the kind
 * `budget`, made at the first cost. Nothing is ever blocked unless `budgets.enforce` says so; then a turn
 * waits, visibly, until the month is over or a person grants more.
 */
export interface BudgetRecord {
  readonly employee: string;
  readonly month: string;
  readonly limitUsd: number | null;
  readonly grantedUsd: number;
  readonly spentUsd: number;
  readonly turns: number;
  /** Of limit and grants; null without a limit. */
  readonly percent: number | null;
  readonly state: 'within' | 'warned' | 'exceeded';
}

export interface BudgetWorld {
  readonly roster: unknown;
  /** In which months begin and end. */
  readonly timeZone: string;
}

/** The account as of now, whether or not anything was ever spent. */
export async function budgetOf(
  supervisor: App['supervisor'],
  { roster, timeZone }: BudgetWorld,
  employee: string,
): Promise<BudgetRecord> {
  const known = await supervisor.get('budget', employee);
  const at = supervisor.environment.clock.now();
  const { month } = monthOf(at, timeZone);
  const kept =
    known === undefined
      ? { id: employee, month, spentUsd: 0, turns: 0, grantedUsd: 0, limitUsd: null }
      : known.view;
  const now = { ...inMonth(kept, at, timeZone), limitUsd: limitOf(roster, employee) };
  const { month: current, limitUsd, grantedUsd, spentUsd, turns } = now;
  const percent =
    limitUsd === null
      ? null
      : limitUsd + grantedUsd === 0
        ? 100
        : Math.floor((spentUsd / (limitUsd + grantedUsd)) * 100);
  return { employee, month: current, limitUsd, grantedUsd, spentUsd, turns, percent, state: bandOf(now) };
}

export const worldOf = ({ settings }: App, { roster }: Pick<Records, 'roster'>): BudgetWorld => ({
  roster: roster.value,
  timeZone: timeZoneOf(settings),
});

/** The port of the effect of a turn. `roster` and `enforce` are read at every turn. */
export function budgetPortOf(
  supervisor: Supervisor,
  world: {
    readonly roster: () => unknown;
    readonly enforce: () => boolean;
    /** Absent: UTC. */
    readonly timeZone?: () => string;
  },
): BudgetPort {
  const by = system('turns');
  return {
    async admits(employee) {
      if (!world.enforce()) return undefined;
      const timeZone = world.timeZone?.() ?? 'UTC';
      const { state, spentUsd, limitUsd, grantedUsd, month } = await budgetOf(
        supervisor,
        { roster: world.roster(), timeZone },
        employee,
      );
      if (state !== 'exceeded') return undefined;
      const reason =
        `The budget of ${employee} for ${month} is used up: $${spentUsd.toFixed(2)} of ` +
        `$${((limitUsd ?? 0) + grantedUsd).toFixed(2)}. A person can grant more, in the inbox of the ` +
        `console or by: troupe approve ${employee} --usd 5`;
      return { reason, resetAt: monthOf(supervisor.environment.clock.now(), timeZone).endsAt };
    },
    async spent(employee, turnId, costUsd) {
      const noted = await book(
        supervisor,
        employee,
        { type: 'spend.noted', costUsd },
        { caller: by, idempotency: { scope: 'budget', key: turnId, hash: turnId } },
      );
      if (isRefusal(noted)) throw new Error(`could not record the cost of turn ${turnId}: ${noted.message}`);
    },
  };
}

/**
 * A person grants more for this month; turns that waited for money go on. Answers the account as it stands
 * then.
 */
export async function grant(
  request: Request,
  records: Records,
  employee: string,
  { usd, note }: { readonly usd: number; readonly note?: string | undefined },
): Promise<Reply<BudgetRecord> | Refusal> {
  if (records.roster.named(employee) === undefined)
    return refuse(
      'NOT_FOUND',
      { kind: 'employee', id: employee },
      `Unknown employee ${JSON.stringify(employee)}.`,
    );
  const done = await book(
    request.app.supervisor,
    employee,
    { type: 'budget.granted', usd, ...(note === undefined ? {} : { note }) },
    request,
  );
  if (isRefusal(done)) return done;
  // A repetition, too: a crash may have come in between
  if (request.dryRun !== true) await wake(request.app, employee, request);
  return replyWith(done, await budgetOf(request.app.supervisor, worldOf(request.app, records), employee));
}

/** One event to an account, which its first event makes. */
function book(
  supervisor: Supervisor,
  employee: string,
  event: EventObject,
  request: RequestedBy,
): Promise<Committed<null> | Refusal> {
  const account = { kind: 'budget', id: employee };
  return supervisor.transact<null>({
    name: 'book',
    startsWork: false,
    actors: [account],
    ...optionsOf(request),
    run(turns) {
      if (turns.read(account) === undefined) turns.create('budget', employee);
      turns.send(account, event);
      return null;
    },
  });
}

/**
 * Sessions that wait are tried again at once; one that waits for its provider finds that out again by itself.
 */
async function wake(app: App, employee: string, { caller: by }: Request): Promise<void> {
  const ids = await idsOf(app.supervisor, 'session', {
    index: 'group',
    prefix: `${sortableText(employee)}/`,
    most: wokenMax,
  });
  for (const id of ids) {
    const session = await app.supervisor.get('session', id);
    if ((session?.view as { status?: string } | undefined)?.status === 'waiting')
      await app.supervisor.ask('session', id, { type: 'queue.resume' }, { by });
  }
}

const wokenMax = 1_000;
