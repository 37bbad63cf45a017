import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Channels, InspectWatch } from '../../inspector/watch.js';
import type { ComplaintFrame, CursorFrame, InspectFilter } from '../../client/inspector-frames.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { backpressured } from './backpressured-socket.js';
import type { Subscription } from './subscription.js';
import { firstMax, statelyWatch } from '../../inspector/stately.js';
import type { Supervisor } from '../../supervisor/contract.js';

/**
 * `/ws/inspect` for one socket: what it asked for, and what it says while it is open. The frames are the
 * inspector's.
 */
export function inspectSubscription(options: {
  readonly channels: Channels;
  readonly socket: WebSocket;
  /** What the socket was opened on. */
  readonly stream: Duplex;
  readonly filter: InspectFilter;
  readonly log: Logger;
}): Subscription {
  const { channels, socket, stream, log } = options;
  const { environment } = channels.supervisor;
  let { filter } = options;
  let watch: InspectWatch | undefined;
  const sink = backpressured(socket, () => watch?.stop(), stream);

  function start(since: number | undefined): void {
    watch?.stop();
    watch = channels.watch(filter, since, sink, (error) => {
      log.error({ err: error }, 'an inspector subscription failed');
      socket.close(1011, 'internal error; resume from your cursor');
    });
  }

  const complain = (error: string): void =>
    void sink.send(
      JSON.stringify({
        event: 'error',
        seq: null,
        payload: { error, code: 'BAD_REQUEST' },
        ts: environment.clock.now(),
      } satisfies ComplaintFrame),
    );

  return {
    start,
    stop: () => watch?.stop(),
    cursor: () =>
      watch && sink.send(JSON.stringify({ event: 'cursor', seq: watch.position } satisfies CursorFrame)),
    hear(text) {
      const said = parsed(text);
      if (said === undefined) return complain('A frame must be a JSON object.');
      if (said['event'] === 'ping') return void sink.send('{"event":"pong","payload":{}}');
      const { type, since } = said;
      if (type === 'resume' && typeof since === 'number' && Number.isSafeInteger(since) && since >= 0)
        return start(since);
      if (type !== 'subscribe')
        return complain(
          'Unknown frame. Send {event: "ping"}, {type: "resume", since} and {type: "subscribe", ' +
            'kinds?, ids?, tree?, refusals?}.',
        );
      const input = filterOf(said);
      if (isRefusal(input)) return complain(input.message);
      filter = input;
      start(watch?.position);
    },
  };
}

/** From the address: `?kinds=session,work-item&ids=a,b&tree=session/s1&refusals=1`. */
export function filterOfQuery(query: Readonly<Record<string, string>>): InspectFilter | Refusal {
  const list = (text: string | undefined): readonly string[] | undefined =>
    text?.split(',').filter((name) => name !== '');
  const [kind, ...rest] = (query['tree'] ?? '').split('/');
  return filterOf({
    ...(query['kinds'] !== undefined && { kinds: list(query['kinds']) }),
    ...(query['ids'] !== undefined && { ids: list(query['ids']) }),
    ...(query['tree'] !== undefined && { tree: { kind, id: rest.join('/') } }),
    ...(query['refusals'] === '1' && { refusals: true }),
  });
}

function filterOf({
  kinds,
  ids,
  tree,
  refusals,
}: Readonly<Record<string, unknown>>): InspectFilter | Refusal {
  if (!isNames(kinds)) return wrong('kinds', 'kinds: must be at most 1000 names');
  if (!isNames(ids)) return wrong('ids', 'ids: must be at most 1000 names');
  const root = (tree ?? undefined) as { readonly kind?: unknown; readonly id?: unknown } | undefined;
  if (
    root !== undefined &&
    (typeof root.kind !== 'string' || typeof root.id !== 'string' || root.kind === '' || root.id === '')
  )
    return wrong('tree', 'tree: must be an actor as kind/id');
  return {
    ...(kinds && { kinds }),
    ...(ids && { ids }),
    ...(refusals === true && { refusals: true }),
    ...(root !== undefined && { tree: { kind: root.kind as string, id: root.id as string } }),
  };
}

const wrong = (path: string, message: string): Refusal => refuse('BAD_REQUEST', { path }, message);
const isNames = (value: unknown): value is readonly string[] | undefined =>
  value === undefined ||
  (Array.isArray(value) &&
    value.length <= 1_000 &&
    value.every((name) => typeof name === 'string' && name.length <= 200));

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // not JSON
  }
}

/**
 * `/ws/stately` for one socket. It speaks and does not listen: the protocol has nothing to say to who sends.
 * `since` (the `seq` of the last snapshot) goes on from there; without it a socket begins with the actors as
 * they are, the `first` of every kind or those that the filter names.
 */
export function statelySubscription(options: {
  readonly supervisor: Supervisor;
  readonly socket: WebSocket;
  readonly stream: Duplex;
  readonly filter: InspectFilter;
  readonly first: number | undefined;
  readonly log: Logger;
}): Subscription {
  const { supervisor, socket, stream, filter, first, log } = options;
  let watch: { stop(): void } | undefined;
  const sink = backpressured(socket, () => watch?.stop(), stream);
  return {
    start(since) {
      watch = statelyWatch(supervisor, { ...filter, first, since }, sink, (error) => {
        log.error({ err: error }, 'a Stately subscription failed');
        socket.close(1011, 'a fault');
      });
    },
    hear: () => undefined,
    cursor: () => undefined,
    stop: () => watch?.stop(),
  };
}

/** `?first=500`: how many of each kind are introduced. */
export function firstOfQuery({ first }: Readonly<Record<string, string>>): number | undefined | Refusal {
  if (first === undefined) return undefined;
  return /^\d{1,4}$/.test(first) && Number(first) <= firstMax
    ? Number(first)
    : refuse('BAD_REQUEST', { path: 'first' }, `first: must be a number up to ${firstMax}`);
}
