import type { App } from '../app.js';
import type { Agent } from '../relation.js';
import { cursorOf, pageAfter } from '../page-after.js';
import type { Place } from '../work-items/merge-lists.js';
import { treeOf } from './stop-session.js';
import { ownSessions } from './visible-sessions.js';
import { idsOf, recordsOf, iterate, iterateRecords, iteratedMax } from '../iterate.js';
import type { Caller } from '../../../machines/caller.js';
import { asJson, type Json } from '../../../machines/outputs.js';
import { sortableText } from '../../../machines/sortable.js';

export interface SessionsQuery {
  readonly q?: string | undefined;
  readonly group?: string | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** A page that says where the next one begins, behind a place or from the start. */
  readonly cursor?: { readonly place: Place | undefined } | undefined;
}

/**
 * Sessions, newest activity first, in the four ways of the API: by search (`q`), one group, all (`limit=0`),
 * or the overview with the first `limit` of every group (else 50). Archived ones are found by search only. Search and
 * group page by `offset` and `limit` (at most 100 of a search). An agent sees itself and what is beneath it.
 */
export async function listSessions(app: App, query: SessionsQuery, by: Caller): Promise<Json> {
  if (query.cursor !== undefined) return listAfter(app, query, query.cursor.place, by);
  if (by.type === 'session') return listSubtree(app, query, by);
  if (query.q !== undefined) return search(app, query.q, pageOfSearch(query));
  if (query.group !== undefined)
    return group(app, query.group, query.offset ?? 0, query.limit || perGroupUsual);
  if (query.limit === 0) return collect(app, 'all');
  return overview(app, query.limit ?? perGroupUsual);
}

/** One group, what a search finds among those not archived, or all: newest activity first. */
async function listAfter(
  app: App,
  { q, group: name, limit }: SessionsQuery,
  after: Place | undefined,
  by: Caller,
): Promise<Json> {
  const matches = q === undefined ? () => true : matcher(q);
  const pageMax = Math.min(limit || perGroupUsual, searchMax);
  if (by.type === 'session') {
    const own = (await ownSessions(app, by, after)).filter(
      ({ session }) =>
        session.archivedAt === null && (name === undefined || groupOf(session) === name) && matches(session),
    );
    const shown = own.slice(0, pageMax);
    const last = own.length > pageMax ? shown.at(-1) : undefined;
    return asJson({
      sessions: shown.map(({ session }) => session),
      nextCursor: last ? cursorOf(last.place) : null,
    });
  }
  const { rows: sessions, nextCursor } = await pageAfter(
    app.supervisor,
    'session',
    name === undefined ? { index: 'all', prefix: '' } : { index: 'group', prefix: `${sortableText(name)}/` },
    { after, limit: pageMax, fits: matches },
  );
  return { sessions, nextCursor };
}

const perGroupUsual = 50;
const searchMax = 100;

interface Page {
  readonly offset: number;
  readonly limit: number;
}

const pageOfSearch = ({ offset = 0, limit }: SessionsQuery): Page => ({
  offset,
  limit: Math.min(limit || searchMax, searchMax),
});

async function group(app: App, name: string, offset: number, limit: number): Promise<Json> {
  const page = await app.supervisor.list('session', {
    index: 'group',
    prefix: `${sortableText(name)}/`,
    offset,
    limit,
  });
  return recordsOf(
    app.supervisor,
    'session',
    page.items.map((item) => item.id),
  );
}

async function collect(app: App, index: string, prefix?: string): Promise<Json[]> {
  return recordsOf(
    app.supervisor,
    'session',
    await idsOf(app.supervisor, 'session', { index, ...(prefix !== undefined && { prefix }) }),
  );
}

async function search(app: App, q: string, { offset, limit }: Page): Promise<Json> {
  const matches = matcher(q);
  const found: Json[] = [];
  let passed = 0;
  const ids = [
    ...(await idsOf(app.supervisor, 'session', { index: 'all' })),
    ...(await idsOf(app.supervisor, 'session', { index: 'archived' })),
  ];
  for await (const row of iterateRecords(app.supervisor, 'session', ids)) {
    if (!matches(row)) continue;
    if (passed++ < offset) continue;
    found.push(row);
    if (found.length === limit) break;
  }
  return found;
}

/** `counts` tells how many there are per group, by keys alone; only the first of each group are read. */
async function overview(app: App, perGroup: number): Promise<Json> {
  const groups = new Map<string, { ids: string[]; count: number }>();
  for await (const { id, key } of iterate(app.supervisor, 'session', { index: 'group' })) {
    const name = key.slice(0, key.indexOf('/'));
    const one = groups.get(name) ?? { ids: [], count: 0 };
    groups.set(name, one);
    if (one.ids.length < perGroup) one.ids.push(id);
    one.count++;
  }
  const counts: Record<string, number> = {};
  const sessions: Json[] = [];
  for (const { ids, count } of groups.values()) {
    const rows = await recordsOf(app.supervisor, 'session', ids);
    sessions.push(...rows);
    if (rows[0]) counts[groupOf(rows[0])] = count; // the key holds the name in another spelling
  }
  return { sessions, counts, perGroup };
}

async function listSubtree(app: App, query: SessionsQuery, agent: Agent): Promise<Json> {
  const all = await recordsOf(app.supervisor, 'session', await treeOf(app, agent.id, 1000));
  if (query.q !== undefined) {
    const { offset, limit } = pageOfSearch(query);
    return all.filter(matcher(query.q)).slice(offset, offset + limit);
  }
  if (query.group !== undefined) {
    const offset = query.offset ?? 0;
    return all
      .filter((row) => groupOf(row) === query.group)
      .slice(offset, offset + (query.limit || perGroupUsual));
  }
  if (query.limit === 0) return all;
  const perGroup = query.limit ?? perGroupUsual;
  const counts: Record<string, number> = {};
  const sessions = all.filter((row) => {
    const name = groupOf(row);
    counts[name] = (counts[name] ?? 0) + 1;
    return counts[name] <= perGroup;
  });
  return { sessions, counts, perGroup };
}

const groupOf = (row: Json): string => {
  const session = row as { employee?: string | null; source?: string };
  return session.source === 'cron' ? '__cron__' : (session.employee ?? '__direct__');
};

function matcher(q: string): (row: Json) => boolean {
  const wanted = q.toLowerCase();
  return (row) => {
    const session = row as Record<string, Json | undefined>;
    return ['id', 'title', 'promptExcerpt', 'employee', 'engine', 'workItemId'].some((member) => {
      const text = session[member];
      return typeof text === 'string' && text.toLowerCase().includes(wanted);
    });
  };
}

/** The sessions directly beneath one, oldest first. */
export const childrenOf = (app: App, sessionId: string): Promise<Json[]> =>
  collect(app, 'parent', `${sortableText(sessionId)}/`);

/** The sessions that attempted a work item, oldest first. */
export const attemptsOf = (app: App, workItemId: string): Promise<Json[]> =>
  collect(app, 'work-item', `${sortableText(workItemId)}/`);

/** What the item's attempts have cost so far, in US dollars; never stored, always summed. */
export async function spendOf(app: App, workItemId: string): Promise<number> {
  let sum = 0;
  for (const session of await attemptsOf(app, workItemId)) {
    const cost = (session as { totalCost?: unknown }).totalCost;
    if (typeof cost === 'number') sum += cost;
  }
  return sum;
}

/**
 * How many sessions there are, and how many run or wait, for GET /api/status: by keys alone, up to 100,000.
 * Those that were put away do not count.
 */
export async function countSessions({
  supervisor,
}: App): Promise<{ total: number; running: number; active: number }> {
  const [total, running, waiting] = await Promise.all([
    supervisor.countRange('session', { index: 'all', limit: iteratedMax }),
    supervisor.countRange('session', { index: 'status', prefix: 'running/' }),
    supervisor.countRange('session', { index: 'status', prefix: 'waiting/' }),
  ]);
  return { total, running, active: running + waiting };
}
