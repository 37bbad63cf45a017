import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure, type TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import type { HomeState, SeenOwner } from '../../store/postgres/seen-home.js';
import { refuse } from '../../../machines/refusals.js';
import { agentProcesses } from '../agent-process.js';
import { goneClient } from '../authentication.js';
import { failureBody } from '../errors.js';
import { forwardPath, forwardProtocol, introduce } from './forwarded.js';
import { limits, type Listeners } from '../listeners.js';
import { clientOf, type ClientEnd } from '../origin.js';

/**
 * What a node serves while it waits for a home. Each connection of a client goes on to the owner, byte by byte, so
 * everything is decided there and nothing is kept here: no state, no credential, no answer that could be stale. A
 * connection that comes while no one owns the home, or cannot be reached, waits a little: it is served as soon as there
 * is an owner, which may be this node. `GET /healthz` alone is answered here.
 */
export interface Standby {
  /** As the database says now. */
  seen(home: SeenHome): void;
  /** This node owns the home: what waits is served here, what was forwarded is cut. */
  end(): void;
  /** The wait was given up: cut everything. */
  close(): void;
}

export type SeenHome = Pick<HomeState, 'owner' | 'position'>;

export interface StandbyOptions {
  readonly listeners: Listeners;
  /** What it listens on. */
  readonly host: string;
  readonly log: Logger;
  /** How long a connection waits for an owner, milliseconds. Default 5,000. */
  readonly holdMs?: number;
  /** How long an owner may take to prove that it is the owner, milliseconds. Default 3,000. */
  readonly dialMs?: number;
}

/** `const standby = openStandby({ listeners, host, log }); standby.seen({ owner, position }); standby.end()` */
export function openStandby({
  listeners,
  host,
  log,
  holdMs = standardHoldMs,
  dialMs = standardDialMs,
}: StandbyOptions): Standby {
  let home: SeenHome | undefined;
  /** What comes next: undefined while it is waited for. */
  let end: 'owned' | 'given up' | undefined;
  /** Of the owner of now: when it was tried and not reached. */
  let failedAt = -Infinity;
  let checked: { readonly at: number; readonly isReached: Promise<boolean> } | undefined;
  /** Each connection, with the key of the owner to whom it is forwarded. */
  const open = new Map<Socket, string | undefined>();
  const changes = new Set<() => void>();
  const peeks = new Set<() => void>();

  const undivert = listeners.divert((socket, serve) => {
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    open.set(socket, undefined);
    take(socket)
      .then((isTaken) => {
        if (!isTaken && end === 'owned') setImmediate(serve); // it looks no more at what has come
        else if (!isTaken) socket.destroy();
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'a connection could not be forwarded');
        socket.destroy();
      });
  });

  /** False: the wait for the home was over first. */
  async function take(socket: Socket): Promise<boolean> {
    const late = setTimeout(() => socket.destroy(), firstBytesMsMax);
    const path = await firstPath(socket, peeks);
    clearTimeout(late);
    // One that takes us for the owner is not sent on: two that were wrong about each other would never end
    if (end === undefined && path !== undefined && own.includes(path)) return answerHere(socket);
    let client: ClientEnd | undefined;
    for (const until = performance.now() + holdMs; end === undefined && !socket.destroyed;) {
      const owner = home?.owner;
      if (owner !== undefined && performance.now() - failedAt > retryMs) {
        client ??= await clientEndOf(socket);
        if (client === undefined) return false;
        const upstream = await reach(owner, client);
        const isStillIt = home?.owner?.key === owner.key && open.has(socket);
        if (upstream !== undefined && isStillIt && end === undefined)
          return join(socket, upstream, owner.key);
        upstream?.destroy();
      } else if (performance.now() >= until) return answerHere(socket);
      else await changed(Math.min(retryMs, until - performance.now()));
    }
    return false;
  }

  async function reach(owner: SeenOwner, client: ClientEnd): Promise<Socket | undefined> {
    // A frozen one takes connections, and no one need wait for it once another owns the home
    const upstream = await dial(owner, client, { dialMs, changes });
    if (upstream !== undefined) failedAt = -Infinity;
    else if (home?.owner?.key === owner.key) {
      if (failedAt === -Infinity)
        log.warn({ owner: owner.node, address: owner.address }, 'the owner of the home cannot be reached');
      failedAt = performance.now();
    }
    return upstream;
  }

  /** Resolves when the owner is another one, and after a while. */
  function changed(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        changes.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      changes.add(done);
    });
  }

  function join(socket: Socket, upstream: Socket, key: string): true {
    open.set(socket, key);
    socket.pipe(upstream).pipe(socket);
    upstream.on('error', () => upstream.destroy());
    socket.once('close', () => upstream.destroy());
    // The owner has said its last: a client that takes it and stays holds nothing here or there
    upstream.once('end', () => socket.destroySoon());
    // Where it ended in order, what it had said is still on its way
    upstream.once('close', () => (upstream.readableEnded ? socket.destroySoon() : socket.destroy()));
    return true;
  }

  // Never quiet: whose agents work on this machine is not known here
  const markedAt = agentProcesses({ size: 1, resolve: () => undefined, sessionOfMark: String });

  /** Undefined: it has sent something and is gone, and whose it was can be told by no one. */
  async function clientEndOf(socket: Socket): Promise<ClientEnd | undefined> {
    const mark = await markedAt(socket);
    if (mark === goneClient) return undefined;
    return {
      address: socket.remoteAddress ?? '',
      port: socket.remotePort ?? 0,
      localPort: socket.localPort ?? 0,
      ...(socket.localAddress !== undefined && { localAddress: socket.localAddress }),
      secure: (socket as Partial<TLSSocket>).encrypted === true,
      host,
      ...(mark !== undefined && { mark: Number(mark) }),
    };
  }

  const local = createServer(
    { ...limits, keepAliveTimeout: 1 },
    (request, response) => void answer(request, response),
  );

  function answerHere(socket: Socket): true {
    const late = setTimeout(() => socket.destroy(), firstBytesMsMax);
    socket.once('close', () => clearTimeout(late));
    local.emit('connection', socket);
    return true;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Connection', 'close');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Cache-Control', 'no-store');
    if (/^\/healthz(?:$|\?)/.test(request.url ?? '')) return health(request, response);
    const refusal = refuse(
      'OWNER_ELSEWHERE',
      {},
      'This node is a standby and cannot reach the owner of the home. Nothing was done; it is safe to try again.',
    );
    response.writeHead(refusal.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Retry-After': '1',
    });
    response.end(JSON.stringify(failureBody(refusal)));
  }

  /** To programs of this machine more than one word. */
  async function health(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isReached = await isOwnerReached();
    const { owner, position } = home ?? {};
    const lines = [
      'standby',
      owner === undefined ? 'owner none' : `owner ${owner.node} ${owner.address} (epoch ${owner.epoch})`,
      `reached ${isReached ? 'yes' : 'no'}`,
      `position ${position?.seq ?? 'unknown'}`,
    ];
    response.writeHead(isReached ? 200 : 503, {
      'Content-Type': 'text/plain; charset=utf-8',
      ...(isReached ? {} : { 'Retry-After': '1' }),
    });
    response.end(clientOf(request).local ? lines.join('\n') : 'standby');
  }

  /** However often it is requested: at most once a second. */
  function isOwnerReached(): Promise<boolean> {
    const now = performance.now();
    if (checked !== undefined && now - checked.at < checkMs) return checked.isReached;
    const owner = home?.owner;
    const isReached =
      owner === undefined
        ? Promise.resolve(false)
        : reach(owner, { address: '', port: 0, localPort: 0, secure: false, host }).then((upstream) => {
            upstream?.destroy();
            return upstream !== undefined;
          });
    checked = { at: now, isReached };
    return isReached;
  }

  /** What was not forwarded is served by its own turn. */
  function finish(why: typeof end): void {
    if (end !== undefined) return;
    end = why;
    undivert();
    for (const notify of [...peeks, ...changes]) notify();
    for (const [socket, key] of open) if (key !== undefined || why === 'given up') socket.destroy();
  }

  return {
    seen(next) {
      const before = home?.owner?.key;
      home = next;
      const key = next.owner?.key;
      if (key === before) return;
      failedAt = -Infinity;
      checked = undefined;
      for (const notify of [...changes]) notify();
      if (key === undefined) return;
      // A former owner that is frozen would keep its clients for ever
      for (const [socket, of] of open) if (of !== undefined && of !== key) socket.destroy();
    },
    end: () => finish('owned'),
    close: () => finish('given up'),
  };
}

const standardHoldMs = 5_000;
const firstBytesMsMax = 10_000;
const standardDialMs = 3_000;
/** How often an owner is tried that was not reached. */
const retryMs = 250;
const checkMs = 1_000;
/** Answered by a standby itself. */
const own: readonly string[] = ['/healthz', forwardPath];

/** A connection to the owner that has proved to be the owner; undefined where there is none in that time. */
function dial(
  { address, key }: SeenOwner,
  client: ClientEnd,
  { dialMs, changes }: { readonly dialMs: number; readonly changes: Set<() => void> },
): Promise<Socket | undefined> {
  if (!URL.canParse(address)) return Promise.resolve(undefined);
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isSecure = protocol === 'https:';
  const to = { host, port: Number(port || (isSecure ? 443 : 80)), allowHalfOpen: true, noDelay: true };
  return new Promise((resolve) => {
    // Its certificate needs no authority that we know: the owner itself says that it is its own
    const socket = isSecure ? connectSecure({ ...to, rejectUnauthorized: false }) : connectPlain(to);
    const give = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    const late = setTimeout(give, dialMs);
    const settle = (): void => {
      clearTimeout(late);
      changes.delete(give);
    };
    changes.add(give);
    socket.once('close', () => {
      settle();
      resolve(undefined);
    });
    socket.on('error', give);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      const certificate = isSecure ? (socket as TLSSocket).getPeerCertificate().fingerprint256 : '';
      const { headers, isOwner } = introduce(key, client, certificate);
      const introduction = httpRequest({
        path: forwardPath,
        headers: { Host: 'localhost', Connection: 'Upgrade', Upgrade: forwardProtocol, ...headers },
        createConnection: () => socket,
      });
      introduction.on('error', give);
      introduction.once('response', give);
      introduction.once('upgrade', (response, _socket, head) => {
        settle();
        if (!isOwner(response.headers)) return give();
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      introduction.end();
    });
  });
}

/** The path of the first request, once enough of it is there; its bytes stay. Undefined: none of ours. */
function firstPath(socket: Socket, peeks: Set<() => void>): Promise<string | undefined> {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    const done = (path?: string): void => {
      socket.off('readable', check);
      socket.off('close', give);
      socket.off('end', give);
      peeks.delete(give);
      if (seen.length > 0 && !socket.readableEnded && !socket.destroyed) socket.unshift(seen);
      resolve(path);
    };
    const give = (): void => done();
    function check(): void {
      const piece = socket.read() as Buffer | null;
      if (piece === null) return;
      seen = Buffer.concat([seen, piece]);
      const text = seen.subarray(0, firstCharsMax).toString('latin1');
      const path = /^(?:GET|HEAD) ([^ ?]*)[ ?]/.exec(text)?.[1];
      if (path !== undefined || !couldBeOwn(text)) done(path);
    }
    socket.on('readable', check);
    socket.once('close', give);
    socket.once('end', give);
    peeks.add(give);
  });
}

const beginnings = own.flatMap((path) => ['GET', 'HEAD'].map((method) => `${method} ${path} `));
const couldBeOwn = (text: string): boolean => beginnings.some((beginning) => beginning.startsWith(text));
const firstCharsMax = 64;
