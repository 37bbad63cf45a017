import type { GatewayActor } from '../app.js';
import type { MessageRow, SessionContext } from '../../../machines/session/context.js';
import { cardIn, type DelegationCard } from '../../../machines/session/delegation-card.js';
import type { App } from '../app.js';
import { newestRow } from '../iterate.js';
import type { Row } from '../../supervisor/contract.js';
import type { Json } from '../../../machines/outputs.js';
import { refuse, type Refusal, isRefusal } from '../../../machines/refusals.js';
import { isoTimeOrNull } from '../../../machines/sortable.js';

export interface MessagesPage {
  readonly messages: readonly MessageRow[];
  readonly hasOlder: boolean;
}

/** The last messages of a session, oldest first; at most 500. */
export async function lastMessages(app: App, sessionId: string, last: number): Promise<MessagesPage> {
  return page(
    app,
    await app.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', {
      last: Math.min(last, messagesMax),
    }),
  );
}

/** The page of messages before the one with that id; an unknown id gives an empty page. */
export async function messagesBefore(
  app: App,
  sessionId: string,
  before: string,
  limit: number,
): Promise<MessagesPage> {
  const n = await placeOf(app, sessionId, before);
  if (n === undefined) return { messages: [], hasOlder: false };
  return page(
    app,
    await app.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', {
      before: n,
      last: Math.min(limit, messagesMax),
    }),
  );
}

/** A message with so many on either side; undefined for an unknown id. */
export async function messagesAround(
  app: App,
  sessionId: string,
  messageId: string,
  radius: number,
): Promise<(MessagesPage & { readonly hasNewer: boolean }) | undefined> {
  const n = await placeOf(app, sessionId, messageId);
  if (n === undefined) return undefined;
  const rows = await app.supervisor.rows({ kind: 'session', id: sessionId }, 'messages', {
    before: n + radius + 2,
    last: 2 * radius + 2,
  });
  const shown = rows.filter((row) => Number(row.n) >= n - radius && Number(row.n) <= n + radius);
  return { ...(await page(app, shown)), hasNewer: rows.some((row) => Number(row.n) > n + radius) };
}

async function placeOf(
  { supervisor }: App,
  sessionId: string,
  messageId: string,
): Promise<number | undefined> {
  const found = await newestRow(
    supervisor,
    { kind: 'session', id: sessionId },
    'messages',
    (row) => (row as { id?: string } | null)?.id === messageId,
  );
  return found && Number(found.n);
}

/** Messages count from 1, so a page that begins later has older ones before it. */
const page = async (app: App, rows: readonly Row<MessageRow>[]): Promise<MessagesPage> => ({
  messages: await Promise.all(rows.map(({ row }) => withCard(app, row))),
  hasOlder: Number(rows[0]?.n ?? 1) > 1,
});

/** A card of a delegation says how its child stands now. */
async function withCard(app: App, message: MessageRow): Promise<MessageRow> {
  const card = cardIn(message.blocks);
  if (card === undefined) return message;
  const child = (await app.supervisor.get('session', card.payload.childSessionId))?.view;
  if (child === undefined) return message;
  const { attemptOutcome, lastActivity, status } = child;
  const outcome = status === 'running' ? null : attemptOutcome;
  const now: DelegationCard = {
    ...card,
    status: outcome ?? 'running',
    payload: { ...card.payload, repliedAt: outcome === null ? null : lastActivity },
  };
  return { ...message, blocks: [now] };
}

export const messagesMax = 500;

/** A session that is there; a deleted one is as absent as one that never was. */
export async function presentSession(app: App, id: string): Promise<GatewayActor<'session'> | Refusal> {
  const view = await app.supervisor.get('session', id);
  return view && view.view.status !== 'deleted'
    ? view
    : refuse('NOT_FOUND', { kind: 'session', id }, 'Not found');
}

/**
 * What waits, runs, or came to an end lately, oldest first; what waits stands in the order of its turns, which
 * `position` counts.
 */
export async function readQueue(app: App, sessionId: string): Promise<Json[] | Refusal> {
  const session = await presentSession(app, sessionId);
  if (isRefusal(session)) return session;
  const actor = { kind: 'session', id: sessionId } as const;
  const [items, messages, [stored]] = await Promise.all([
    app.supervisor.rows(actor, 'queue', { last: itemsMax }),
    app.supervisor.rows(actor, 'messages', { last: promptsMax }),
    app.supervisor.inspection.stored([actor]),
  ]);
  const prompts = new Map(messages.map(({ n, row }) => [n, row.content]));
  const { queue = [] } = (stored?.context ?? {}) as Partial<Pick<SessionContext, 'queue'>>;
  // Rows stand by the number of their message, whatever was written first or moved since: what waits changes places
  // among itself
  const places = new Map(queue.map(({ id }, place) => [id, place]));
  const turnOf = ({ row }: (typeof items)[number]): number => places.get(row.id) ?? queue.length;
  const isWaiting = ({ row }: (typeof items)[number]): boolean => row.status === 'pending';
  const turns = items.filter(isWaiting).toSorted((one, other) => turnOf(one) - turnOf(other));
  const ordered = items.map((item) => (isWaiting(item) && turns.shift()) || item);
  let position = 0;
  return ordered.map(({ n, row }) => {
    const { id, status, internal, kind, createdAt, startedAt, completedAt } = row;
    return {
      id,
      sessionId,
      sessionKey: session.view.sessionKey,
      prompt: prompts.get(n) ?? null,
      status,
      internal,
      kind,
      position: status === 'pending' ? ++position : null,
      createdAt: isoTimeOrNull(createdAt),
      startedAt: isoTimeOrNull(startedAt),
      completedAt: isoTimeOrNull(completedAt),
    };
  });
}

/** Tools that the session's agent asked for, the latest first, and what became of each. */
export async function readPermissions(app: App, sessionId: string): Promise<Json[] | Refusal> {
  const session = await presentSession(app, sessionId);
  if (isRefusal(session)) return session;
  const actor = { kind: 'session', id: sessionId };
  const [asked, decided] = await Promise.all([
    app.supervisor.rows(actor, 'permissions', { last: itemsMax }),
    app.supervisor.rows(actor, 'decisions', { last: 2 * itemsMax }),
  ]);
  const decisions = new Map(decided.map(({ n, row }) => [n, row as Record<string, Json>]));
  return [...asked].reverse().map(({ n, row }) => {
    const {
      n: _n,
      askedAt,
      expiresAt,
      ...rest
    } = { ...(row as Record<string, Json>), ...decisions.get(n) } as Record<string, Json>;
    return {
      ...rest,
      askedAt: isoTimeOrNull(askedAt as number),
      expiresAt: isoTimeOrNull(expiresAt as number),
      decidedAt: isoTimeOrNull((rest['decidedAt'] ?? null) as number | null),
    };
  });
}

const itemsMax = 300;
const promptsMax = 1000;
