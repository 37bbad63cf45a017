import type { Caller } from '../../../machines/caller.js';
import { asJson, type Json } from '../../../machines/outputs.js';
import type { SessionView } from '../../../machines/session/view.js';
import type { App } from '../app.js';
import { cursorOf } from '../page-after.js';
import type { Place } from '../work-items/merge-lists.js';
import { sessionsFrom } from './visible-sessions.js';

/**
 * Sessions by what they say, who they are and when they were. Agents find themselves and what is beneath them.
 */
export interface SessionSearch extends Page {
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
}

/** Which part of what a search finds is wanted. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** The place of the last that was seen; instead of an offset. */
  readonly cursor?: Place | undefined;
}

/**
 * Last active first, archived ones last. `truncated` when there may be more.
 * @example await searchSessions(app, { text: 'well', limit: 20, offset: 0 }, caller)
 */
export async function searchSessions(
  app: App,
  search: SessionSearch,
  by: Caller,
): Promise<{ readonly sessions: readonly Json[] } & Found> {
  const sessions: Json[] = [];
  let skip = search.cursor === undefined ? search.offset : 0;
  let last: Place | undefined;
  for await (const { place, session } of sessionsFrom(app, by, search.cursor)) {
    if (session.id === search.excludeSessionId || !fits(session, search)) continue;
    if (skip-- > 0) continue;
    if (sessions.length === search.limit) return { sessions, ...foundOf(sessions, search, last) };
    last = place;
    const sessionRef = { sessionId: session.id, ref: `session:${session.id}` };
    sessions.push(asJson({ ...session, sessionRef }));
  }
  return { sessions, ...foundOf(sessions, search, undefined) };
}

/** What every search says: its page, also under the name `results`, and whether there may be more. */
export interface Found {
  readonly results: readonly Json[];
  readonly truncated: boolean;
  readonly nextOffset: number | null;
  readonly nextCursor: string | null;
}

/** `more`: where the search stopped, if it did not reach the end. */
export const foundOf = (
  results: readonly Json[],
  { offset, limit, cursor }: Page,
  more: Place | undefined,
): Found => ({
  results,
  truncated: more !== undefined,
  nextOffset: more !== undefined && cursor === undefined && results.length === limit ? offset + limit : null,
  nextCursor: more === undefined ? null : cursorOf(more),
});

function fits(row: SessionView, search: SessionSearch): boolean {
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
      (['id', 'title', 'promptExcerpt', 'employee', 'engine', 'workItemId'] as const).some((member) =>
        String(row[member] ?? '')
          .toLowerCase()
          .includes(word),
      ),
    )
  );
}

/** What is looked for: at most twenty words, whatever their case. */
export const wordsIn = (text: string): string[] =>
  text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 20);
