import type { Caller } from '../../../machines/caller.js';
import { wallOf } from '../../../machines/cron-time.js';
import { isoTime } from '../../../machines/sortable.js';
import type { SessionView } from '../../../machines/session/view.js';
import { timeZoneOf, type App } from '../app.js';
import { relationTo } from '../relation.js';
import { sessionsFrom } from './visible-sessions.js';

/** What sessions have cost, in groups. */
export const groupings = ['employee', 'engine', 'model', 'session', 'workItem', 'day'] as const;

export interface CostQuery {
  readonly groupBy: (typeof groupings)[number];
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly employee?: string | undefined;
  readonly limit: number;
}

/** `title` of groups by session and by work item: what a person calls it; null where the caller may not read it. */
type Group = Sum & { readonly key: string | null; readonly title?: string | null };

interface Sum {
  sessions: number;
  turns: number;
  costUsd: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
}

/**
 * The cost of the sessions visible to the caller, the most expensive group first. A session counts whole, on
 * the day of its last activity: sums are kept per session, never stored again. Days are those of `portal.timeZone`, as
 * the months of budgets.
 * @example await costReport(app, { groupBy: 'employee', limit: 20 }, caller)
 */
export async function costReport(
  app: App,
  query: CostQuery,
  by: Caller,
): Promise<{
  readonly groupBy: string;
  readonly timeZone: string;
  readonly totals: Sum;
  readonly groups: readonly Group[];
  readonly truncated: boolean;
}> {
  const timeZone = timeZoneOf(app.settings);
  const totals = nothing();
  const groups = new Map<string | null, Sum>();
  const titles = new Map<string, string | null>();
  for await (const { session } of sessionsFrom(app, by)) {
    const at = Date.parse(session.lastActivity);
    if ((query.since !== undefined && at < query.since) || (query.until !== undefined && at >= query.until))
      continue;
    if (query.employee !== undefined && session.employee !== query.employee) continue;
    const key = keyOf[query.groupBy](session, timeZone);
    const sum = groups.get(key) ?? nothing();
    groups.set(key, sum);
    if (query.groupBy === 'session') titles.set(session.id, session.title ?? session.promptExcerpt);
    for (const each of [totals, sum]) add(each, session);
  }
  const sorted = [...groups]
    .map(([key, sum]) => ({ key, ...sum }))
    .sort((a, b) => b.costUsd - a.costUsd || b.turns - a.turns);
  const shown: readonly Group[] = sorted.slice(0, query.limit);
  if (query.groupBy === 'workItem')
    for (const { key } of shown) if (key !== null) titles.set(key, await workItemTitle(app, key, by));
  const isTitled = query.groupBy === 'session' || query.groupBy === 'workItem';
  return {
    groupBy: query.groupBy,
    timeZone,
    totals,
    groups: isTitled
      ? shown.map((group) => ({ ...group, title: titles.get(group.key ?? '') ?? null }))
      : shown,
    truncated: sorted.length > query.limit,
  };
}

async function workItemTitle(app: App, id: string, by: Caller): Promise<string | null> {
  if (by.type === 'session' && !['self', 'above'].includes(await relationTo(app, by, 'work-item', id)))
    return null;
  return (await app.supervisor.get('work-item', id))?.view.title ?? null;
}

const keyOf: Record<CostQuery['groupBy'], (session: SessionView, timeZone: string) => string | null> = {
  employee: ({ employee }) => employee,
  engine: ({ engine }) => engine,
  model: ({ model }) => model,
  session: ({ id }) => id,
  workItem: ({ workItemId }) => workItemId,
  day: ({ lastActivity }, timeZone) => isoTime(wallOf(Date.parse(lastActivity), timeZone)).slice(0, 10),
};

const nothing = (): Sum => ({
  sessions: 0,
  turns: 0,
  costUsd: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
});

function add(sum: Sum, { totalCost, totalTurns, usage }: SessionView): void {
  sum.sessions += 1;
  sum.turns += totalTurns;
  sum.costUsd += totalCost;
  sum.inputTokens += usage.inputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.cachedTokens += usage.cachedTokens;
}
