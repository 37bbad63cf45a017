import type { Caller } from '../../../machines/caller.js';
import type { Json } from '../../../machines/outputs.js';
import { wordsOf } from '../../../machines/session/activity-entry.js';
import type { MessageRow } from '../../../machines/session/context.js';
import type { SessionView } from '../../../machines/session/view.js';
import type { App, GatewayActor } from '../app.js';
import { relationToSession } from '../relation.js';
import type { Place } from '../work-items/merge-lists.js';
import { foundOf, wordsIn, type Found, type Page } from './search-sessions.js';
import { sessionsFrom, type PlacedSession } from './visible-sessions.js';

/** Messages by what they say, in the sessions that a caller may see. */
export interface MessageSearch extends Page {
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
}

/**
 * Messages that hold every word, session by session, the latest first. Bounded by what is read: `truncated` says
 * that there is more to look at, and the cursor goes on from there.
 * @example await searchMessages(app, { query: 'dig well', limit: 20, offset: 0 }, caller)
 */
export async function searchMessages(
  app: App,
  search: MessageSearch,
  by: Caller,
): Promise<{ readonly messages: readonly Json[] } & Found> {
  const words = wordsIn(search.query);
  const found: Json[] = [];
  const answer = (more?: Place) => ({ messages: found, ...foundOf(found, search, more) });
  let read = 0;
  let skip = search.cursor === undefined ? search.offset : 0;
  let last: Place | undefined;
  for await (const { place, session, before } of remaining(app, search, by)) {
    if (!isSought(session, search, by)) continue;
    for (let end = before; ;) {
      const rows = await app.supervisor.rows({ kind: 'session', id: session.id }, 'messages', {
        last: rowsAtOnce,
        ...(end !== undefined && { before: end }),
      });
      read += rows.length;
      for (const { n, row } of rows.toReversed()) {
        const content = wordsOf(row);
        if (!isWithin(row, search) || !holdsAll(content, words)) continue;
        if (skip-- > 0) continue;
        if (found.length === search.limit && last !== undefined) return answer(last);
        last = { key: place.key, id: `${place.id}/${n}` };
        found.push(hit(session, row, snippet(content, words)));
      }
      end = rows.length < rowsAtOnce ? 1 : Number(rows[0]?.n);
      if (read >= rowsMax) return answer({ key: place.key, id: `${place.id}/${end}` });
      if (end === 1) break;
    }
  }
  return answer();
}

/** A place in a search: of the session that was looked into, and of its row that was seen last. */
interface Begun {
  readonly place: Place;
  readonly before: number;
}

function inSession({ key, id }: Place): Begun {
  const at = id.lastIndexOf('/');
  return { place: { key, id: id.slice(0, at) }, before: Number(id.slice(at + 1)) || 1 };
}

/**
 * One session, where it is named. Else the rest of the one in which the page before ended, wherever that stands now,
 * and those behind its place.
 */
async function* remaining(
  app: App,
  { sessionId, cursor }: MessageSearch,
  by: Caller,
): AsyncGenerator<PlacedSession & { readonly before?: number }> {
  const begun = cursor && inSession(cursor);
  const named = sessionId ?? begun?.place.id;
  const first = named === undefined ? undefined : await visibleSession(app, by, named);
  if (first !== undefined && begun?.before !== 1)
    yield {
      place: begun?.place ?? { key: '', id: first.id },
      session: first.view,
      ...(begun && { before: begun.before }),
    };
  if (sessionId !== undefined) return;
  for await (const next of sessionsFrom(app, by, begun?.place)) if (next.session.id !== first?.id) yield next;
}

/** A session that this caller may see: of an agent itself and what is beneath it. */
async function visibleSession(
  { supervisor }: App,
  by: Caller,
  id: string,
): Promise<GatewayActor<'session'> | undefined> {
  const session = await supervisor.get('session', id);
  if (session === undefined || session.value === 'deleted') return undefined;
  const isVisible = by.type !== 'session' || ['self', 'above'].includes(relationToSession(by, session));
  return isVisible ? session : undefined;
}

/** An agent looks for what others said, unless it asks for its own session. */
function isSought(session: SessionView, search: MessageSearch, by: Caller): boolean {
  const { sessionId, includeOwnSession, excludeSessionId, employee, engine } = search;
  const isOwn = by.type === 'session' && by.id === session.id;
  if (isOwn && includeOwnSession !== true && sessionId === undefined) return false;
  return (
    session.id !== excludeSessionId &&
    (employee === undefined || session.employee === employee) &&
    (engine === undefined || session.engine === engine)
  );
}

function isWithin({ role, timestamp }: MessageRow, { role: wanted, since, until }: MessageSearch): boolean {
  return (
    (wanted === undefined || role === wanted) &&
    (since === undefined || timestamp >= since) &&
    (until === undefined || timestamp < until)
  );
}

function holdsAll(content: string, words: readonly string[]): boolean {
  const low = content.toLowerCase();
  return words.every((word) => low.includes(word));
}

/** A message as it was found. */
const hit = ({ id: sessionId, title, employee, engine }: SessionView, message: MessageRow, text: string) => ({
  sessionId,
  sessionTitle: title,
  employee,
  engine,
  messageId: message.id,
  sessionRef: { sessionId, ref: message.id },
  role: message.role,
  timestamp: message.timestamp,
  snippet: text,
});

function snippet(content: string, [word = '']: readonly string[]): string {
  const at = content.toLowerCase().indexOf(word);
  return content.slice(Math.max(0, at - 120), at + 240);
}

const rowsAtOnce = 1_000;
const rowsMax = 50_000;
