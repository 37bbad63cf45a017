import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';
import { nameOf, refusedIdentity, type Identity, type Reception, type TokenBook } from './caller.js';
import { failureBody } from './failures.js';
import type { Doorstep } from './host.js';
import { visitorOf } from './cookies.js';
import { crossSite } from './door.js';
import { fairShare } from './fair-share.js';
import { openFeed } from './feed.js';
import { filterOfQuery, inspectWatcher } from './inspect-socket.js';
import { readQuery } from './parse.js';
import { readSocketBearer } from './socket-bearer.js';
import { firstOfQuery, statelyWatcher } from './stately-socket.js';
import { watcher, type Watcher } from './watcher.js';
import type { InspectFilter } from '../inspector/frames.js';
import { Channels } from '../inspector/watch.js';
import type { Desk } from '../commands/desk.js';
import type { DeviceBook } from '../records/devices/devices.js';
import { operator, type Caller } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * `GET /ws`, `/ws/inspect`, `/ws/stately`: the upgrade, and what keeps a socket alive. Host, Origin and credential are judged before the upgrade;
 * what a socket then sees is the watcher's matter.
 */
export function openSocket(servers: readonly Server[], options: { desk: Desk; step: Doorstep; visitors: Reception; authRequired: boolean; log: Logger; tokens: TokenBook; heartbeatMs: number; onRevoked?: DeviceBook['onRevoked'] | undefined }) {
  const { desk, step, visitors, log, tokens } = options;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536, perMessageDeflate: false, clientTracking: true });
  const watchers = new Map<WebSocket, { watcher: Watcher; heardAt: number; token: string | undefined; deviceId: string | undefined; agentId: string | undefined }>();
  const { world } = desk.supervisor;
  const share = fairShare();
  const channels = new Channels(desk.supervisor);
  const feed = openFeed(desk.supervisor, (error) => log.error({ err: error }, 'the live feed ended in a fault'));

  for (const server of servers) server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy());
    readSocketBearer(request);
    upgrade(request, stream, head).catch((error: unknown) => {
      log.error({ err: error }, 'an upgrade ended in a fault');
      stream.destroy();
    });
  });

  async function upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const identity: Identity = await visitors.identify(request.headers, visitorOf(request).address);
    const admitted = admit(request, identity);
    const turned = isRefusal(admitted) && (admitted.status === 401 || admitted.status === 403) ? admitted.code : undefined;
    desk.records?.audit.decided({ by: nameOf(identity), address: visitorOf(request).address, authority: 'ws.watch', method: 'GET', verdict: turned === undefined ? 'allowed' : 'refused', code: turned });
    if (isRefusal(admitted)) return hangUp(stream, admitted);
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, admitted));
  }

  function admit(request: IncomingMessage, identity: Identity): Admitted | Refusal {
    const refusal = step.check(request);
    if (refusal) return refusal;
    const reading = identity.type === 'none' && !options.authRequired;
    if (identity.type !== 'known' && !reading) return refusedIdentity(identity);
    const crossed = crossSite(identity, request, step);
    if (crossed) return crossed;
    const url = request.url ?? '';
    const path = url.split('?', 1)[0] ?? '';
    if (!paths.includes(path)) return refuse('NOT_FOUND', {}, 'Not found');
    if (path !== '/ws' && identity.type === 'known' && identity.caller.type === 'session') return refuse('FORBIDDEN', {}, 'Inspecting is for people.');
    if (watchers.size >= socketsMax || (identity.type === 'known' && crowded(identity.caller))) return refuse('BUSY');
    const query = readQuery(url);
    if (isRefusal(query)) return query;
    if (query['token'] !== undefined) return refuse('BAD_REQUEST', {}, 'A credential does not belong into an address.');
    const { since } = query;
    if (since !== undefined && !/^\d{1,15}$/.test(since)) return refuse('BAD_REQUEST', { path: 'since' }, 'since: must be a log position');
    const filter = path === '/ws' ? {} : filterOfQuery(query);
    if (isRefusal(filter)) return filter;
    const first = path === '/ws/stately' ? firstOfQuery(query) : undefined;
    if (isRefusal(first)) return first;
    return {
      path, filter, first,
      caller: identity.type === 'known' ? identity.caller : operator,
      token: identity.type === 'known' ? identity.token : undefined,
      since: since === undefined ? undefined : Number(since),
    };
  }

  /** However many agents hold however many sockets, people find a place. */
  function crowded(caller: Caller): boolean {
    if (caller.type !== 'session') return false;
    const agents = [...watchers.values()].filter(({ agentId }) => agentId !== undefined);
    return agents.length >= agentSocketsMax || agents.filter(({ agentId }) => agentId === caller.id).length >= agentSocketsEach;
  }

  function serve(socket: WebSocket, admitted: Admitted): void {
    const { caller, token, since } = admitted;
    const entry = { watcher: watcherOf(socket, admitted), heardAt: world.steady(), token, deviceId: caller.type === 'device' ? caller.id : undefined, agentId: caller.type === 'session' ? caller.id : undefined };
    watchers.set(socket, entry);
    socket.on('pong', () => (entry.heardAt = world.steady()));
    socket.on('message', (data, binary) => {
      entry.heardAt = world.steady();
      if (binary) return socket.close(1003, 'text frames only');
      entry.watcher.hear(String(data));
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      entry.watcher.stop();
      watchers.delete(socket);
    });
    entry.watcher.start(since);
  }

  function watcherOf(socket: WebSocket, { path, filter, first, caller }: Admitted): Watcher {
    if (path === '/ws/inspect') return inspectWatcher({ channels, socket, filter, log });
    return path === '/ws/stately' ? statelyWatcher({ supervisor: desk.supervisor, socket, filter, first, log }) : watcher({ desk, feed, socket, caller, log, share });
  }

  const forget = options.onRevoked?.((id) => {
    for (const [socket, { deviceId, watcher: one }] of watchers) {
      if (deviceId !== id) continue;
      one.stop(); // not a frame more, however slowly it says goodbye
      socket.close(4001, 'this browser was removed');
      setTimeout(() => socket.terminate(), 1_000).unref();
    }
  });

  let ticks = 0;
  const heartbeat = setInterval(() => {
    ticks++;
    for (const [socket, { watcher: one, heardAt, token }] of watchers) {
      if (world.steady() - heardAt > deadAfterMs) socket.terminate();
      else if (token !== undefined && tokens.resolve(token) === undefined) socket.close(4001, 'the session token has ended');
      else {
        one.cursor();
        if (ticks % pingEveryTicks === 0) socket.ping();
      }
    }
  }, options.heartbeatMs).unref();

  return {
    /** Tell everybody to come back later; who does not say goodbye within a second is cut. */
    close(): void {
      clearInterval(heartbeat);
      forget?.();
      feed.close();
      for (const socket of watchers.keys()) socket.close(1001, 'the gateway is shutting down');
      setTimeout(() => {
        for (const socket of watchers.keys()) socket.terminate();
      }, 1_000).unref();
    },
  };
}

/** `/ws` tells what concerns a caller; the others lay everything open, to people only. */
const paths: readonly string[] = ['/ws', '/ws/inspect', '/ws/stately'];

interface Admitted { readonly path: string; readonly filter: InspectFilter; readonly first: number | undefined; readonly caller: Caller; readonly token: string | undefined; readonly since: number | undefined }

const pingEveryTicks = 6;
const deadAfterMs = 90_000;
const socketsMax = 1_024;
const agentSocketsMax = 512;
const agentSocketsEach = 16;

function hangUp(stream: Duplex, refusal: Refusal): void {
  const body = JSON.stringify(failureBody(refusal));
  stream.end([
    `HTTP/1.1 ${refusal.status} Refused`, 'Connection: close', 'Content-Type: application/json; charset=utf-8',
    'X-Content-Type-Options: nosniff', `Content-Length: ${Buffer.byteLength(body)}`, '', body,
  ].join('\r\n'));
}
