import { wordsOf } from '../../../machines/session/activity-entry.js';
import type { App } from '../app.js';
import { treeOf } from './stop-session.js';
import { idsOf, iterateRecords } from '../iterate.js';
import type { Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';

/**
 * Sessions and messages by what they say, who they are and when they were. Agents find themselves and what is
 * beneath them.
 */
export interface SessionSearch {
  readonly text?: string | undefined;
  readonly employee?: string | undefined;
  readonly engine?: string | undefined;
  readonly status?: string | undefined;
  readonly source?: string | undefined;
  readonly parentSessionId?: string | undefined;
  readonly activeSince?: number | undefined;
  readonly activeBefore?: number | undefined;
  readonly needsAttention?: boolean | undefined;
  readonly excludeSessionId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest activity first; archived ones last. `truncated` when there may be more. */
export async function searchSessions(
  app: App,
  search: SessionSearch,
  by: Caller,
): Promise<{ readonly sessions: readonly Json[] } & Found> {
  const sessions: Json[] = [];
  let skip = search.offset;
  const found = (truncated: boolean) => ({ sessions, ...foundOf(sessions, search, truncated) });
  for await (const row of iterateRecords(app.supervisor, 'session', await visibleSessions(app, by))) {
    const session = row as SessionRecord;
    if (session.id === search.excludeSessionId || !fits(session, search)) continue;
    if (skip-- > 0) continue;
    if (sessions.length === search.limit) return found(true);
    sessions.push({
      ...(row as object),
      sessionRef: { sessionId: session.id, ref: `session:${session.id}` },
    });
  }
  return found(false);
}

/** What every search says: its page, also under the name `results`, and whether there may be more. */
interface Found {
  readonly results: readonly Json[];
  readonly truncated: boolean;
  readonly nextOffset: number | null;
}

const foundOf = (
  results: readonly Json[],
  { offset, limit }: { readonly offset: number; readonly limit: number },
  truncated: boolean,
): Found => ({
  results,
  truncated,
  nextOffset: truncated && results.length === limit ? offset + limit : null,
});

export interface SessionRecord {
  readonly id: string;
  readonly title: string;
  readonly employee: string | null;
  readonly engine: string;
  readonly status: string;
  readonly source: string;
  readonly parentSessionId: string | null;
  readonly lastActivity: string;
  readonly pendingPermissions: readonly unknown[];
  readonly model: string | null;
  readonly workItemId: string | null;
  readonly totalCost: number;
  readonly totalTurns: number;
  readonly usage: Readonly<Record<'inputTokens' | 'outputTokens' | 'cachedTokens', number>>;
  readonly [member: string]: unknown;
}

function fits(row: SessionRecord, search: SessionSearch): boolean {
  const exact = (['employee', 'engine', 'status', 'source', 'parentSessionId'] as const).every(
    (member) => search[member] === undefined || row[member] === search[member],
  );
  if (!exact) return false;
  const activeAt = Date.parse(row.lastActivity);
  if (search.activeSince !== undefined && activeAt < search.activeSince) return false;
  if (search.activeBefore !== undefined && activeAt >= search.activeBefore) return false;
  if (
    search.needsAttention === true &&
    !['error', 'interrupted'].includes(row.status) &&
    row.pendingPermissions.length === 0
  )
    return false;
  return (
    search.text === undefined ||
    wordsIn(search.text).every((word) =>
      ['id', 'title', 'promptExcerpt', 'employee', 'engine', 'workItemId'].some((member) =>
        String(row[member] ?? '')
          .toLowerCase()
          .includes(word),
      ),
    )
  );
}

/** The ids that a caller may see, newest activity first for people, parents first for agents. */
export async function visibleSessions(app: App, by: Caller): Promise<string[]> {
  if (by.type === 'session') return treeOf(app, by.id, treeMax);
  return [
    ...(await idsOf(app.supervisor, 'session', { index: 'all' })),
    ...(await idsOf(app.supervisor, 'session', { index: 'archived' })),
  ];
}

export interface MessageSearch {
  readonly query: string;
  readonly sessionId?: string | undefined;
  /** Of an agent; people have none. */
  readonly includeOwnSession?: boolean | undefined;
  readonly employee?: string | undefined;
  readonly engine?: string | undefined;
  readonly role?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly excludeSessionId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Messages that hold every word, session by session. Bounded by what is read: `truncated` says that there is
 * more to look at.
 */
export async function searchMessages(
  app: App,
  search: MessageSearch,
  by: Caller,
): Promise<{ readonly messages: readonly Json[] } & Found> {
  const words = wordsIn(search.query);
  const own =
    by.type === 'session' && search.includeOwnSession !== true && search.sessionId === undefined
      ? by.id
      : undefined;
  const ids = (await visibleSessions(app, by)).filter(
    (id) =>
      id !== own &&
      id !== search.excludeSessionId &&
      (search.sessionId === undefined || id === search.sessionId),
  );
  const found: Json[] = [];
  const answer = (truncated: boolean) => ({ messages: found, ...foundOf(found, search, truncated) });
  let read = 0;
  let skip = search.offset;
  for await (const row of iterateRecords(app.supervisor, 'session', ids)) {
    const session = row as SessionRecord;
    if (search.employee !== undefined && session.employee !== search.employee) continue;
    if (search.engine !== undefined && session.engine !== search.engine) continue;
    const rows = await app.supervisor.rows({ kind: 'session', id: session.id }, 'messages', {
      last: messagesPerSession,
    });
    read += rows.length;
    for (const { row: message } of [...rows].reverse()) {
      const { id, role, timestamp } = message;
      const content = wordsOf(message);
      if (search.role !== undefined && role !== search.role) continue;
      if (
        (search.since !== undefined && timestamp < search.since) ||
        (search.until !== undefined && timestamp >= search.until)
      )
        continue;
      const low = content.toLowerCase();
      if (!words.every((word) => low.includes(word))) continue;
      if (skip-- > 0) continue;
      if (found.length === search.limit) return answer(true);
      found.push({
        sessionId: session.id,
        sessionTitle: session.title,
        employee: session.employee,
        engine: session.engine,
        messageId: id,
        sessionRef: { sessionId: session.id, ref: id },
        role,
        timestamp,
        snippet: snippet(content, low.indexOf(words[0] ?? '')),
      });
    }
    if (read >= rowsMax) return answer(true);
  }
  return answer(false);
}

const wordsIn = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
const snippet = (content: string, at: number): string => content.slice(Math.max(0, at - 120), at + 240);

const treeMax = 1_000;
const messagesPerSession = 1_000;
const rowsMax = 50_000;

export const groupings = ['employee', 'engine', 'model', 'session', 'workItem', 'day'] as const;

export interface CostQuery {
  readonly groupBy: (typeof groupings)[number];
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly employee?: string | undefined;
  readonly limit: number;
}

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
 * the day of its last
 * activity: sums are kept per session, never stored again.
 */
export async function costReport(
  app: App,
  query: CostQuery,
  by: Caller,
): Promise<{
  readonly groupBy: string;
  readonly totals: Sum;
  readonly groups: readonly (Sum & { readonly key: string | null })[];
  readonly truncated: boolean;
}> {
  const totals = nothing();
  const groups = new Map<string | null, Sum>();
  for await (const row of iterateRecords(app.supervisor, 'session', await visibleSessions(app, by))) {
    const session = row as SessionRecord;
    const at = Date.parse(session.lastActivity);
    if ((query.since !== undefined && at < query.since) || (query.until !== undefined && at >= query.until))
      continue;
    if (query.employee !== undefined && session.employee !== query.employee) continue;
    const key = keyOf[query.groupBy](session);
    const sum = groups.get(key) ?? nothing();
    groups.set(key, sum);
    for (const each of [totals, sum]) add(each, session);
  }
  const sorted = [...groups]
    .map(([key, sum]) => ({ key, ...sum }))
    .sort((a, b) => b.costUsd - a.costUsd || b.turns - a.turns);
  return {
    groupBy: query.groupBy,
    totals,
    groups: sorted.slice(0, query.limit),
    truncated: sorted.length > query.limit,
  };
}

const keyOf: Record<CostQuery['groupBy'], (session: SessionRecord) => string | null> = {
  employee: ({ employee }) => employee,
  engine: ({ engine }) => engine,
  model: ({ model }) => model,
  session: ({ id }) => id,
  workItem: ({ workItemId }) => workItemId,
  day: ({ lastActivity }) => lastActivity.slice(0, 10),
};

const nothing = (): Sum => ({
  sessions: 0,
  turns: 0,
  costUsd: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
});

function add(sum: Sum, { totalCost, totalTurns, usage }: SessionRecord): void {
  sum.sessions += 1;
  sum.turns += totalTurns;
  sum.costUsd += totalCost;
  sum.inputTokens += usage.inputTokens;
  sum.outputTokens += usage.outputTokens;
  sum.cachedTokens += usage.cachedTokens;
}
