import type { App } from '../app.js';
import { optionsOf, askActor, type Request, type Reply } from '../request.js';
import { presentSession } from './read-session.js';
import { sortableText } from '../../../machines/sortable.js';
import { isRefusal, type Refusal } from '../../../machines/refusals.js';
import type { PlannedStep } from '../../supervisor/contract.js';

export interface Stopped {
  readonly sessionId: string;
  readonly stopped: readonly string[];
}

/**
 * Stop a session, and with `descendants` the tree beneath it, parents first so that none can spawn again
 * behind our back. Up to 16 sessions are one commit; a larger tree is stopped in several, each all or
 * nothing.
 */
export async function stopSession(
  request: Request,
  sessionId: string,
  options: { descendants: boolean; reason?: string },
): Promise<Reply<Stopped> | Refusal> {
  const found = await presentSession(request.app, sessionId);
  if (isRefusal(found)) return found;
  const ids = options.descendants ? await treeOf(request.app, sessionId) : [sessionId];
  if (ids.length === 1) return stopOne(request, sessionId, options.reason);
  const event = {
    type: 'session.stop' as const,
    ...(options.reason !== undefined && { reason: options.reason }),
  };
  const steps: PlannedStep[] = [];
  let replayed = false;
  for (let from = 0; from < ids.length; from += actorsMax) {
    const part = ids.slice(from, from + actorsMax);
    const { idempotency, ...how } = optionsOf(request);
    const committed = await request.app.supervisor.transact({
      name: 'stop-session',
      startsWork: false,
      actors: part.map((id) => ({ kind: 'session', id })),
      ...how,
      ...(idempotency && from === 0 && { idempotency }), // the key names the operation; the rest may stop twice
      run(turns) {
        for (const id of part) turns.send({ kind: 'session', id }, event);
        return { stopped: part };
      },
    });
    if (isRefusal(committed)) return committed;
    replayed ||= committed.replayed;
    steps.push(...committed.steps);
  }
  return { body: { sessionId, stopped: ids }, replayed, steps };
}

async function stopOne(
  request: Request,
  sessionId: string,
  reason: string | undefined,
): Promise<Reply<Stopped> | Refusal> {
  const done = await askActor(request, 'session', sessionId, {
    type: 'session.stop',
    ...(reason !== undefined && { reason }),
  });
  return isRefusal(done) ? done : { ...done, body: { sessionId, stopped: [sessionId] } };
}

const actorsMax = 16;
const treeMax = 10_000;

/** A session and everything beneath it, parents before children. Bounded. */
export async function treeOf(app: App, rootId: string, limit = treeMax): Promise<string[]> {
  const found = [rootId];
  const seen = new Set(found);
  for (let at = 0; at < found.length && found.length < limit; at++) {
    for (const child of await childIds(app, found[at] ?? '')) {
      if (seen.has(child) || found.length >= limit) continue;
      seen.add(child);
      found.push(child);
    }
  }
  return found;
}

async function childIds(app: App, parentId: string): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page: { items: readonly { id: string }[]; next: string | null } = await app.supervisor.list(
      'session',
      {
        index: 'parent',
        prefix: `${sortableText(parentId)}/`,
        limit: 1000,
        ...(after !== null && { after }),
      },
    );
    for (const item of page.items) ids.push(item.id);
    after = page.next;
  } while (after !== null && ids.length < treeMax);
  return ids;
}
