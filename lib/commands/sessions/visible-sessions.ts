import type { Caller } from '../../../machines/caller.js';
import type { SessionView } from '../../../machines/session/view.js';
import { sortable } from '../../../machines/sortable.js';
import type { App } from '../app.js';
import { recordsOf } from '../iterate.js';
import type { Agent } from '../relation.js';
import { inOrder, mergedAfter, type Place } from '../work-items/merge-lists.js';
import { treeOf } from './stop-session.js';

/** A session where it stands among those that a caller may see. */
export interface PlacedSession {
  readonly place: Place;
  readonly session: SessionView;
}

/**
 * The sessions that a caller may see, last active first, those put away last: of people all, of an agent itself and
 * what is beneath it, which alone is read for it. From a place on, wherever that session has come to stand.
 * @example for await (const { session } of sessionsFrom(app, caller)) …
 */
export async function* sessionsFrom(app: App, by: Caller, after?: Place): AsyncGenerator<PlacedSession> {
  if (by.type === 'session') yield* await ownSessions(app, by, after);
  else for (const section of sections) yield* everySession(app, section, after);
}

/** What is at work or rests, then what was put away: each a list, and the beginning of its keys here. */
const sections = [
  { mark: '0', index: 'all' },
  { mark: '1', index: 'archived' },
] as const;
type Section = (typeof sections)[number];

async function* everySession(
  app: App,
  { mark, index }: Section,
  after: Place | undefined,
): AsyncGenerator<PlacedSession> {
  if (after !== undefined && after.key.slice(0, 1) > mark) return;
  const from = after?.key.startsWith(mark) ? { key: after.key.slice(1), id: after.id } : undefined;
  const ranges = [{ index, prefix: '' }];
  let batch: Place[] = [];
  let batchMax = firstBatch;
  for await (const place of mergedAfter(app.supervisor, 'session', ranges, {
    after: from,
    first: batchMax,
  })) {
    batch.push(place);
    if (batch.length < batchMax) continue;
    yield* placed(app, mark, batch);
    batch = [];
    batchMax = Math.min(2 * batchMax, lastBatch);
  }
  yield* placed(app, mark, batch);
}

/** Few at first: most who search stop at a page. */
const firstBatch = 32;
const lastBatch = 256;

async function* placed(app: App, mark: string, places: readonly Place[]): AsyncGenerator<PlacedSession> {
  const views = await Promise.all(places.map(({ id }) => app.supervisor.get('session', id)));
  for (const [at, { key, id }] of places.entries()) {
    const found = views[at];
    if (found === undefined || found.value === 'deleted') continue;
    yield { place: { key: `${mark}${key}`, id }, session: found.view };
  }
}

/** Those of an agent stand in no list of their own: they are few, and sorted here as the lists are. */
export async function ownSessions(app: App, by: Agent, after?: Place): Promise<readonly PlacedSession[]> {
  const sessions = await recordsOf(app.supervisor, 'session', await treeOf(app, by.id, treeMax));
  return sessions
    .map((session) => ({ place: placeOf(session), session }))
    .filter(({ place }) => after === undefined || inOrder(place, after) > 0)
    .sort((one, other) => inOrder(one.place, other.place));
}

const placeOf = ({ id, archivedAt, lastActivity }: SessionView): Place => ({
  key: `${archivedAt === null ? '0' : '1'}${sortable(Date.parse(lastActivity), { descending: true })}`,
  id,
});

const treeMax = 1_000;
