import { publish, afterwards, type Output, type Decision } from '../outputs.js';
import {
  excerpt,
  limits,
  type MessageIn,
  type QueueItem,
  type SessionContext,
  type SessionEventOf,
} from './context.js';
import { link, settle } from './completion.js';
import { queueFrame, queueRow, written } from './rows.js';

/**
 * The durable queue of a session: what waits for a turn, in the order of its arrival until a person moves it.
 * Every message is a row before it is answered for; a queue row of the same number tells what became of it
 * (`pending running completed interrupted cancelled`).
 */

/** A message arrives. */
export function post(
  context: SessionContext,
  event: SessionEventOf<'message.post'>,
): Decision<SessionContext> {
  return afterwards(context, { set: link(context, event.step) }, (now) =>
    enqueued(now, event.message, event.at),
  );
}

/**
 * A user's message arrives while a user's turn is running: that turn is left, and all that people wrote since
 * runs next, as one turn.
 */
export function postUrgently(
  context: SessionContext,
  event: SessionEventOf<'message.post'>,
): Decision<SessionContext> {
  const left = context.turn;
  const arrived = post(context, event);
  return afterwards(context, arrived, ({ queue, leftTurns }) => {
    const people = queue
      .filter((item) => item.kind === 'user')
      .map((item, place) => ({ ...item, join: place > 0 }));
    const others = queue
      .filter((item) => item.kind !== 'user')
      .map((item, place) => (place === 0 ? { ...item, join: false } : item));
    return {
      set: {
        queue: [...people, ...others],
        turn: null,
        leftTurns: left ? [...leftTurns, left.id].slice(-limits.leftTurnsMax) : leftTurns,
        attemptOutcome: 'interrupted',
        attemptTerminalVersion: context.attemptTerminalVersion + 1,
        totalTurns: context.totalTurns + 1,
      },
      outputs: [
        ...(left?.items ?? []).map((item) =>
          queueRow(item, 'interrupted', left?.startedAt ?? null, event.at),
        ),
        publish('session:interrupted', { sessionId: context.id, reason: 'A new message arrived.' }),
      ],
    };
  });
}

/** A child came to its end: a notification to read, and a turn to act on it. */
export function queueChild(
  context: SessionContext,
  event: SessionEventOf<'child.finished'>,
): Decision<SessionContext> {
  const message = notice(context, event);
  const full = context.queue.length + (context.turn?.items.length ?? 0) >= limits.queueMax;
  const decision = full ? written(context, message, event.at) : enqueued(context, message, event.at);
  return { ...decision, outputs: [...(decision.outputs ?? []), notified(context, message)] };
}

/**
 * The same for a stopped session: the notification is kept and shown, but only a message wakes a session that
 * someone stopped.
 */
export function noteChild(
  context: SessionContext,
  event: SessionEventOf<'child.finished'>,
): Decision<SessionContext> {
  const message = notice(context, event);
  const decision = written(context, message, event.at);
  return { ...decision, outputs: [...(decision.outputs ?? []), notified(context, message)] };
}

export function cancelQueued(
  context: SessionContext,
  event: SessionEventOf<'queue.cancel'>,
): Decision<SessionContext> {
  return withdrawn(
    context,
    context.queue.filter((item) => item.id === event.messageId),
    event.at,
  );
}

export function clearQueue(
  context: SessionContext,
  event: SessionEventOf<'queue.clear'>,
): Decision<SessionContext> {
  return withdrawn(context, context.queue, event.at);
}

/**
 * Messages that share a turn go on to share it while they stand side by side: what is put between them parts
 * them, and what is taken out from among them has a turn of its own.
 */
export function moveQueued(
  { queue: before, ...context }: SessionContext,
  event: SessionEventOf<'queue.move'>,
): Decision<SessionContext> {
  const from = before.findIndex(({ id }) => id === event.messageId);
  const to = Math.min(event.place, before.length) - 1;
  const item = before[from];
  if (item === undefined || from === to) return {};
  let turns = 0;
  const turnOf = new Map(before.map((one) => [one.id, one.join ? turns : (turns += 1)]));
  const moved = before.toSpliced(from, 1).toSpliced(to, 0, item);
  const queue = moved.map((one, place) => {
    const ahead = moved[place - 1];
    return { ...one, join: ahead !== undefined && turnOf.get(ahead.id) === turnOf.get(one.id) };
  });
  return { set: { queue }, outputs: [queueFrame({ ...context, queue })] };
}

export function pauseQueue(context: SessionContext, paused: boolean): Decision<SessionContext> {
  if (context.queuePaused === paused) return {};
  return { set: { queuePaused: paused }, outputs: [queueFrame({ ...context, queuePaused: paused })] };
}

/** The items of the next turn, and what stays. */
export function nextBatch(queue: readonly QueueItem[]): {
  readonly batch: readonly QueueItem[];
  readonly rest: readonly QueueItem[];
} {
  let size = Math.min(1, queue.length);
  while (size < queue.length && size < limits.joinedMax && queue[size]?.join) size += 1;
  return { batch: queue.slice(0, size), rest: queue.slice(size) };
}

export const queueReady = (context: SessionContext): boolean =>
  !context.queuePaused && context.queue.length > 0;

/**
 * Written down, and in the queue; who is spoken to is not put away. Callbacks in a row share one turn, so
 * that ten finished children are not ten turns.
 */
function enqueued(context: SessionContext, message: MessageIn, at: number): Decision<SessionContext> {
  return afterwards(context, written(context, message, at), (now) => {
    const join = message.kind === 'callback' && now.queue.at(-1)?.kind === 'callback';
    const item: QueueItem = { id: message.id, n: now.messages, kind: message.kind, createdAt: at, join };
    const queue = [...now.queue, item];
    return {
      set: { queue, archivedAt: null, promptExcerpt: now.promptExcerpt ?? excerpt(message.content, 140) },
      outputs: [queueRow(item, 'pending', null, null), queueFrame({ ...now, queue })],
    };
  });
}

function withdrawn(
  context: SessionContext,
  items: readonly QueueItem[],
  at: number,
): Decision<SessionContext> {
  if (items.length === 0) return {};
  const queue = context.queue
    .filter((item) => !items.includes(item))
    .map((item, place) => (place === 0 ? { ...item, join: false } : item));
  const decision: Decision<SessionContext> = {
    set: { queue, lastActivity: at },
    outputs: [
      ...items.map((item) => queueRow(item, 'cancelled', null, at)),
      queueFrame({ ...context, queue }),
    ],
  };
  // Nothing runs and nothing is left to run: this work is at its end.
  return afterwards(context, decision, (now) =>
    now.turn === null && queue.length === 0 ? settle(now, 'interrupted', '') : {},
  );
}

function notice(context: SessionContext, event: SessionEventOf<'child.finished'>): MessageIn {
  const text = excerpt(event.text, limits.callbackCharsMax);
  return {
    id: `callback-${context.messages + 1}`,
    role: 'notification',
    kind: 'callback',
    content: `Session "${event.title}" (${event.childId}) ${event.outcome}.${text === '' ? '' : `\n\n${text}`}`,
    meta: { kind: 'child-callback', childId: event.childId, outcome: event.outcome },
  };
}

const notified = (context: SessionContext, message: MessageIn): Output =>
  publish('session:notification', {
    sessionId: context.id,
    message: excerpt(message.content, 280),
    meta: message.meta ?? null,
  });
