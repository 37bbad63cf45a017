import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';
import {
  nameOf,
  refusedIdentity,
  type Identity,
  type Authenticator,
  type TokenBook,
  crossSite,
  readSocketBearer,
} from '../authentication.js';
import { forwardPath, type forwardedConnections } from '../standby/forwarded.js';
import { hangUp, workerSockets } from './worker-socket.js';
import type { OriginCheck } from '../origin.js';
import { clientOf } from '../origin.js';
import { fairShare } from './backpressured-socket.js';
import { PastBursts } from './bursts.js';
import { openFeed } from './feed.js';
import { floodOf } from './flood.js';
import { filterOfQuery, inspectSubscription, firstOfQuery, statelySubscription } from './inspect-socket.js';
import { readQuery } from '../parse.js';
import { subscription, type Subscription } from './subscription.js';
import type { InspectFilter } from '../../client/inspector-frames.js';
import { statelyLinksOf } from '../../inspector/stately-links.js';
import { Channels } from '../../inspector/watch.js';
import type { App } from '../../commands/app.js';
import type { DeviceBook } from '../../records/devices/devices.js';
import { operator, type Caller } from '../../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';

/**
 * `GET /ws`, `/ws/inspect`, `/ws/stately`: the upgrade, and what keeps a socket alive. Host, Origin and
 * credential are judged before the upgrade; what a socket then sees is the watcher's matter.
 */
export function openSocket(
  servers: readonly Server[],
  options: {
    app: App;
    step: OriginCheck;
    authenticator: Authenticator;
    authRequired: boolean;
    log: Logger;
    tokens: TokenBook;
    heartbeatMs: number;
    onRevoked?: DeviceBook['onRevoked'] | undefined;
    /** Takes in the connections that a standby of the home forwards. */
    forwarded?: ReturnType<typeof forwardedConnections> | undefined;
  },
) {
  const { app, step, authenticator, log, tokens } = options;
  const socketsMax = (): number => app.settings.socketsMax ?? socketsMaxStandard;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 65_536,
    perMessageDeflate: false,
    clientTracking: true,
  });
  const subscriptions = new Map<WebSocket, Served>();
  const { environment } = app.supervisor;
  const share = fairShare();
  const channels = new Channels(app.supervisor);
  const links = statelyLinksOf(app.supervisor);
  const workers = workerSockets({ app, step, authenticator, log });
  const past = new PastBursts(app.supervisor);
  const feed = openFeed(app.supervisor, (error) => log.error({ err: error }, 'the live feed failed'));

  /** Connections that a server takes beside its sockets, whose number has a bound of its own. */
  const connections = servers.map(({ maxConnections }) => maxConnections);
  const makeRoom = (): void =>
    servers.forEach(
      (server, n) => (server.maxConnections = (connections[n] ?? Infinity) + subscriptions.size),
    );

  for (const server of servers)
    server.on('upgrade', (request, stream, head) => {
      stream.on('error', () => stream.destroy());
      if (pathOf(request) === forwardPath) {
        if (options.forwarded?.(request, stream as Socket, head) !== true)
          hangUp(stream, refuse('FORBIDDEN'));
        return;
      }
      readSocketBearer(request);
      upgrade(request, stream, head).catch((error: unknown) => {
        log.error({ err: error }, 'an upgrade failed');
        stream.destroy();
      });
    });

  async function upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    if (pathOf(request) === '/ws/worker') return workers.upgrade(request, stream, head);
    const code = codeIn(request);
    const { identity, admitted } = await (code === undefined ? admit(request) : admitByLink(request, code));
    const turned =
      isRefusal(admitted) && (admitted.status === 401 || admitted.status === 403) ? admitted.code : undefined;
    app.records?.audit.decided({
      by: nameOf(identity),
      address: clientOf(request).address,
      authority: 'ws.watch',
      method: 'GET',
      verdict: turned === undefined ? 'allowed' : 'refused',
      code: turned,
    });
    if (isRefusal(admitted)) return hangUp(stream, admitted);
    sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, stream, admitted));
  }

  async function admit(request: IncomingMessage): Promise<Judged> {
    const { address } = clientOf(request);
    const identity = await authenticator.identify(request.headers, address, request.socket);
    return { identity, admitted: judge(request, identity) };
  }

  /** A link stands for the person who made it, and shows what it was made for. An agent that found one is none. */
  async function admitByLink(request: IncomingMessage, code: string): Promise<Judged> {
    const holder = await authenticator.newcomer(request.socket);
    const refusal = step.check(request);
    const link = refusal ? undefined : links.take(code);
    if (holder.type === 'orphaned' || link === undefined)
      return { identity: holder, admitted: refusal ?? refusedIdentity(holder) };
    const { caller, filter, first } = link;
    const admitted =
      subscriptions.size >= socketsMax()
        ? refuse('BUSY')
        : { path: '/ws/stately', caller, filter, first, token: undefined, since: undefined };
    return { identity: { type: 'authenticated', caller }, admitted };
  }

  function judge(request: IncomingMessage, identity: Identity): Admitted | Refusal {
    const refusal = step.check(request);
    if (refusal) return refusal;
    const reading = identity.type === 'anonymous' && !options.authRequired;
    if (identity.type !== 'authenticated' && !reading) return refusedIdentity(identity);
    const crossed = crossSite(identity, request, step);
    if (crossed) return crossed;
    const url = request.url ?? '';
    const path = url.split('?', 1)[0] ?? '';
    if (!paths.includes(path)) return refuse('NOT_FOUND', {}, 'Not found');
    if (path !== '/ws' && identity.type === 'authenticated' && identity.caller.type === 'session')
      return refuse('FORBIDDEN', {}, 'Only people may inspect.');
    if (subscriptions.size >= socketsMax() || (identity.type === 'authenticated' && crowded(identity.caller)))
      return refuse('BUSY');
    const query = readQuery(url);
    if (isRefusal(query)) return query;
    if (query['token'] !== undefined)
      return refuse('BAD_REQUEST', {}, 'Credentials must not be sent in a URL.');
    const { since } = query;
    if (since !== undefined && !/^\d{1,15}$/.test(since))
      return refuse('BAD_REQUEST', { path: 'since' }, 'since: must be a log position');
    const filter = filterOfQuery(query);
    if (isRefusal(filter)) return filter;
    const first = path === '/ws/stately' ? firstOfQuery(query) : undefined;
    if (isRefusal(first)) return first;
    return {
      path,
      filter,
      first,
      caller: identity.type === 'authenticated' ? identity.caller : operator,
      token: identity.type === 'authenticated' ? identity.token : undefined,
      since: since === undefined ? undefined : Number(since),
    };
  }

  /** However many agents hold however many sockets, people find a place. */
  function crowded(caller: Caller): boolean {
    if (caller.type !== 'session') return false;
    const agents = [...subscriptions.values()].filter(({ agentId }) => agentId !== undefined);
    return (
      agents.length >= socketsMax() / 2 ||
      agents.filter(({ agentId }) => agentId === caller.id).length >= agentSocketsEach
    );
  }

  function serve(socket: WebSocket, stream: Duplex, admitted: Admitted): void {
    const { caller, token, since } = admitted;
    const entry: Served = {
      subscription: subscriptionOf(socket, stream, admitted),
      pingedAt: environment.clock.monotonic(),
      unansweredSince: undefined,
      token,
      deviceId: caller.type === 'device' ? caller.id : undefined,
      agentId: caller.type === 'session' ? caller.id : undefined,
    };
    subscriptions.set(socket, entry);
    makeRoom();
    const isTooMany = floodOf(
      socket,
      () => environment.clock.monotonic(),
      () => entry.subscription.stop(),
    );
    socket.on('pong', () => (entry.unansweredSince = undefined));
    socket.on('message', (data, binary) => {
      if (isTooMany()) return;
      entry.unansweredSince = undefined;
      if (binary) return socket.close(1003, 'text frames only');
      entry.subscription.hear(String(data));
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      entry.subscription.stop();
      subscriptions.delete(socket);
      makeRoom();
    });
    entry.subscription.start(since);
  }

  function subscriptionOf(
    socket: WebSocket,
    stream: Duplex,
    { path, filter, first, caller }: Admitted,
  ): Subscription {
    if (path === '/ws/inspect') return inspectSubscription({ channels, socket, stream, filter, log });
    return path === '/ws/stately'
      ? statelySubscription({ supervisor: app.supervisor, socket, stream, filter, first, log })
      : subscription({ app, feed, past, socket, stream, caller, filter, log, share });
  }

  const forget = options.onRevoked?.((id) => {
    links.withdraw(id);
    for (const [socket, { deviceId, subscription: one }] of subscriptions) {
      if (deviceId !== id) continue;
      one.stop(); // not a frame more, however slowly it says goodbye
      socket.close(4001, 'this browser was revoked');
      setTimeout(() => socket.terminate(), 1_000).unref();
    }
  });

  let beating = false;
  const heartbeat = setInterval(() => {
    if (beating) return;
    beating = true;
    void beat().finally(() => (beating = false));
  }, options.heartbeatMs).unref();

  /**
   * Thousands take a while: what else waits for the processor has its turn between them. Who was not asked is not taken
   * for dead: the machine may have slept, or this process may have been late.
   */
  async function beat(): Promise<void> {
    let left = beatsAtOnce;
    for (const [socket, entry] of [...subscriptions]) {
      const { subscription: one, unansweredSince, token } = entry;
      if (left-- === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        left = beatsAtOnce;
      }
      const now = environment.clock.monotonic();
      if (unansweredSince !== undefined && now - unansweredSince > answerMsMax) socket.terminate();
      else if (token !== undefined && tokens.resolve(token) === undefined)
        socket.close(4001, 'the session token was revoked');
      else {
        one.cursor();
        if (now - entry.pingedAt < options.heartbeatMs * pingEveryBeats) continue;
        entry.pingedAt = now;
        entry.unansweredSince ??= now;
        socket.ping();
      }
    }
  }

  return {
    /** Tell everybody to come back later; who does not say goodbye within a second is cut. */
    close(): void {
      clearInterval(heartbeat);
      forget?.();
      feed.close();
      workers.close();
      for (const socket of subscriptions.keys()) socket.close(1001, 'the gateway is shutting down');
      setTimeout(() => {
        for (const socket of subscriptions.keys()) socket.terminate();
      }, 1_000).unref();
    },
  };
}

/** `/ws/stately/<code>`: a link takes the place of a credential. */
const codeIn = ({ url = '' }: IncomingMessage): string | undefined =>
  /^\/ws\/stately\/([\w-]{1,200})$/.exec(url.split('?', 1)[0] ?? '')?.[1];

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** `/ws` tells what concerns a caller; the others lay everything open, to people only. */
const paths: readonly string[] = ['/ws', '/ws/inspect', '/ws/stately'];

interface Admitted {
  readonly path: string;
  readonly filter: InspectFilter;
  readonly first: number | undefined;
  readonly caller: Caller;
  readonly token: string | undefined;
  readonly since: number | undefined;
}

interface Served {
  readonly subscription: Subscription;
  pingedAt: number;
  /** When it was asked first whether it lives, since it was heard last. */
  unansweredSince: number | undefined;
  readonly token: string | undefined;
  readonly deviceId: string | undefined;
  readonly agentId: string | undefined;
}

interface Judged {
  readonly identity: Identity;
  readonly admitted: Admitted | Refusal;
}

/** With the beat behind it, every thirty seconds. */
const pingEveryBeats = 5.5;
const beatsAtOnce = 200;
// With the way to the first ping and to the next look, within 90 s
const answerMsMax = 50_000;
const socketsMaxStandard = 1_024;
const agentSocketsEach = 16;
