import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Channels, InspectWatch } from '../inspector/watch.js';
import type { ComplaintFrame, CursorFrame, InspectFilter } from '../inspector/frames.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { outletOf } from './outlet.js';
import type { Watcher } from './watcher.js';

/** `/ws/inspect` for one socket: what it asked for, and what it says while it is open. The frames are the inspector's. */
export function inspectWatcher(options: { readonly channels: Channels; readonly socket: WebSocket; readonly filter: InspectFilter; readonly log: Logger }): Watcher {
  const { channels, socket, log } = options;
  const { world } = channels.supervisor;
  let { filter } = options;
  let watch: InspectWatch | undefined;
  const outlet = outletOf(socket, () => watch?.stop());

  function start(since: number | undefined): void {
    watch?.stop();
    watch = channels.watch(filter, since, outlet, (error) => {
      log.error({ err: error }, 'an inspecting watcher ended in a fault');
      socket.close(1011, 'a fault; resume from your cursor');
    });
  }

  const complain = (error: string): void => void outlet.send(JSON.stringify({ event: 'error', seq: null, payload: { error, code: 'BAD_REQUEST' }, ts: world.now() } satisfies ComplaintFrame));

  return {
    start,
    stop: () => watch?.stop(),
    cursor: () => watch && outlet.send(JSON.stringify({ event: 'cursor', seq: watch.position } satisfies CursorFrame)),
    hear(text) {
      const said = parsed(text);
      if (said === undefined) return complain('Frames are JSON objects.');
      if (said['event'] === 'ping') return void outlet.send('{"event":"pong","payload":{}}');
      const { type, since } = said;
      if (type === 'resume' && typeof since === 'number' && Number.isSafeInteger(since) && since >= 0) return start(since);
      if (type !== 'subscribe') return complain('Known are {event: "ping"}, {type: "resume", since} and {type: "subscribe", kinds?, ids?, tree?, refusals?}.');
      const wish = filterOf(said);
      if (isRefusal(wish)) return complain(wish.message);
      filter = wish;
      start(watch?.position);
    },
  };
}

/** From the address: `?kinds=session,work-item&ids=a,b&tree=session/s1&refusals=1`. */
export function filterOfQuery(query: Readonly<Record<string, string>>): InspectFilter | Refusal {
  const list = (text: string | undefined): readonly string[] | undefined => text?.split(',').filter((name) => name !== '');
  const [kind, ...rest] = (query['tree'] ?? '').split('/');
  return filterOf({
    ...(query['kinds'] !== undefined && { kinds: list(query['kinds']) }), ...(query['ids'] !== undefined && { ids: list(query['ids']) }),
    ...(query['tree'] !== undefined && { tree: { kind, id: rest.join('/') } }), ...(query['refusals'] === '1' && { refusals: true }),
  });
}

function filterOf({ kinds, ids, tree, refusals }: Readonly<Record<string, unknown>>): InspectFilter | Refusal {
  if (!isNames(kinds)) return wrong('kinds', 'kinds: at most a thousand names');
  if (!isNames(ids)) return wrong('ids', 'ids: at most a thousand names');
  const root = (tree ?? undefined) as { readonly kind?: unknown; readonly id?: unknown } | undefined;
  if (root !== undefined && (typeof root.kind !== 'string' || typeof root.id !== 'string' || root.kind === '' || root.id === '')) return wrong('tree', 'tree: an actor, kind and id');
  return {
    ...(kinds && { kinds }), ...(ids && { ids }), ...(refusals === true && { refusals: true }),
    ...(root !== undefined && { tree: { kind: root.kind as string, id: root.id as string } }),
  };
}

const wrong = (path: string, message: string): Refusal => refuse('BAD_REQUEST', { path }, message);
const isNames = (value: unknown): value is readonly string[] | undefined =>
  value === undefined || (Array.isArray(value) && value.length <= 1_000 && value.every((name) => typeof name === 'string' && name.length <= 200));

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined; // not JSON
  }
}
