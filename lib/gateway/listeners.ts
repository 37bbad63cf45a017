import { readFileSync } from 'node:fs';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { Context, Next } from 'koa';
import { refuse } from '../../machines/refusals.js';
import { answerRefusal } from './errors.js';
import { forwardProtocol } from './standby/forwarded.js';
import { isLoopback } from './origin.js';

/**
 * Where requests come in. Over TLS when a certificate is configured; then there is a second, plain listener
 * on loopback for the programs of this machine, which need no certificate to find each other. Anyone who sends
 * or reads too slowly is cut: a connection costs memory for as long as it lives.
 */
export interface Listeners {
  /** Node's servers, for sockets (`upgrade`). */
  readonly servers: readonly Server[];
  /** Port of the listener that the configuration names. */
  readonly port: number;
  /** Port on which programs of this machine are served without TLS; the same where there is no TLS. */
  readonly localPort: number;
  /** Answer requests. Those that came before now have waited. */
  serve(answer: Answer): void;
  /**
   * Hand each connection that comes from now on to `take`, which may have it served here after all. Answers what ends
   * that. @internal
   */
  divert(take: (socket: Socket, serve: () => void) => void): () => void;
  /** Close, at once. Idempotent. */
  close(): void;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Where to listen, and how slow a reader may be. */
export interface ListenersOptions {
  /** Address, or `localhost`. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Certificate and key. Absent: plain HTTP. */
  readonly tls?: Tls | undefined;
  /** When a client is too slow. Default: bounds that no working client meets. */
  readonly slow?: Partial<Slowness>;
}

/** PEM texts. */
export interface Tls {
  /** The certificate, with those between it and the root. */
  readonly cert: string;
  /** The private key. */
  readonly key: string;
}

/**
 * Listens from now on, so that the address is known to all that is made next; answers once there is something
 * to answer with. `const listeners = await openListeners({host: '127.0.0.1', port: 0})` Rejects with the
 * system's error: `EADDRINUSE`, `EACCES` ….
 * @example const listeners = await openListeners({ host: '127.0.0.1', port: 0 });
 */
export async function openListeners({ host, port, tls, slow }: ListenersOptions): Promise<Listeners> {
  const main =
    tls === undefined
      ? createServer(limits)
      : createSecureServer({ ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: 10_000 });
  const servers = tls === undefined ? [main] : [main, createServer(limits)];
  for (const server of servers)
    server.maxConnections = Math.min(connectionsMax, Math.floor(openFilesMax() / 4));
  const ways = servers.map((server) => wayOf(server, tls !== undefined && server === main));
  const ward = cutSlowReaders(servers, { ...slowness, ...slow });
  const local = servers.at(-1) ?? main;
  const begin = servers.map((server) => holdRequests(server));
  try {
    await listen(main, host, port);
    if (local !== main) await listen(local, '127.0.0.1', 0);
  } catch (error) {
    ward();
    main.close();
    throw error;
  }
  return {
    servers,
    port: portOf(main),
    localPort: portOf(local),
    serve(answer) {
      for (const server of servers) server.on('request', answer);
      for (const start of begin) start();
    },
    divert(take) {
      const ends = ways.map((divert) => divert(take));
      return () => ends.forEach((end) => end());
    },
    close() {
      ward();
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** How Node's own server takes connections in, which is all that listens for them while it is new. */
function wayOf(server: Server, isSecure: boolean): Listeners['divert'] {
  const event = isSecure ? 'secureConnection' : 'connection';
  const [serve] = server.listeners(event) as ((socket: Socket) => void)[];
  if (serve === undefined) throw new Error(`a server of Node has no listener of ${event}`);
  return (take) => {
    const taken = (socket: Socket): void => take(socket, () => serve.call(server, socket));
    server.off(event, serve);
    server.on(event, taken);
    return () => {
      server.off(event, taken);
      server.on(event, serve);
    };
  };
}

/** Where programs of this machine find it, and how others reach it, if they do. */
export function addressesOf(
  { port, localPort }: Pick<Listeners, 'port' | 'localPort'>,
  host: string,
  secure: boolean,
): { readonly localHost: string; readonly url: string; readonly publicUrl: string | undefined } {
  const localHost = secure ? '127.0.0.1' : host;
  // A wildcard is an address to bind to, not one to go to
  const there = localHost === '0.0.0.0' ? '127.0.0.1' : localHost === '::' ? '::1' : localHost;
  const url = `http://${bracketed(there)}:${localPort}`;
  if (!secure && isLoopback(host)) return { localHost, url, publicUrl: undefined };
  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
  const address = host === '0.0.0.0' || host === '::' ? (own ?? hostname()) : host;
  return { localHost, url, publicUrl: `${secure ? 'https' : 'http'}://${bracketed(address)}:${port}` };
}

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

/** Keeps what comes in before there are listeners for it; then it is as if it had come now. */
function holdRequests(server: Server): () => void {
  const held: (() => void)[] = [];
  const holders = (['request', 'upgrade'] as const).map((name) => {
    const hold = (...given: unknown[]): void => void held.push(() => server.emit(name, ...given));
    server.on(name, hold);
    return [name, hold] as const;
  });
  return () => {
    for (const [name, hold] of holders) server.off(name, hold);
    for (const release of held) release();
  };
}

/**
 * A server with an `upgrade` listener is asked by Node to upgrade to whatever a client offers. Clients that
 * would rather speak HTTP/2 offer `h2c` with each request (Java's does so unasked): that may be passed over,
 * and the request is answered like any other.
 */
class Incoming extends IncomingMessage {
  // Declared only: the constructor above sets it before fields of ours would be
  declare private offered: boolean;
  get upgrade(): boolean {
    return this.offered && (this.method === 'CONNECT' || upgrades.test(this.headers.upgrade ?? ''));
  }
  set upgrade(offered: boolean | null) {
    this.offered = offered === true;
  }
}

const upgrades = new RegExp(`^(?:websocket|${forwardProtocol})$`, 'i');

/**
 * Headers within ten seconds, a whole request within a minute; idle ones are let go after fifteen seconds. A
 * missing Host is refused on arrival, in words.
 */
export const limits = {
  IncomingMessage: Incoming,
  requireHostHeader: false,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  maxHeaderSize: 16_384,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 15_000,
};
/** Of who says nothing yet, without any credential: files and programs need their room, too. */
const connectionsMax = 4_096;

/** How many this process may have open; infinite where the system does not say so. */
function openFilesMax(): number {
  try {
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? Infinity : Number(found);
  } catch {
    return Infinity;
  }
}

/**
 * A reader that has something waiting and took less than `bytesMin` between two looks, `looksMax` times in a
 * row, is cut.
 */
interface Slowness {
  readonly checkEveryMs: number;
  readonly bytesMin: number;
  readonly checksMax: number;
}
/** What all answers together may hold that wait for their readers. */
const heldBytesMax = 256 * 2 ** 20;
const slowness: Slowness = { checkEveryMs: 5_000, bytesMin: 16_384, checksMax: 4 };

function cutSlowReaders(
  servers: readonly Server[],
  { checkEveryMs, bytesMin, checksMax }: Slowness,
): () => void {
  const sockets = new Map<Socket, { sent: number; slow: number }>();
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      sockets.set(socket, { sent: 0, slow: 0 });
      socket.once('close', () => sockets.delete(socket));
    });
  }
  const checking = setInterval(() => {
    for (const [socket, reader] of sockets) {
      const sent = socket.bytesWritten - socket.writableLength;
      reader.slow = socket.writableLength > 0 && sent - reader.sent < bytesMin ? reader.slow + 1 : 0;
      reader.sent = sent;
      if (reader.slow >= checksMax) socket.destroy();
    }
    // Many that are each not slow enough yet: those who hold most go first.
    let held = 0;
    for (const socket of [...sockets.keys()].sort(
      (one, other) => one.writableLength - other.writableLength,
    )) {
      held += socket.writableLength;
      if (held > heldBytesMax && socket.writableLength > 0) socket.destroy();
    }
  }, checkEveryMs).unref();
  // Those too that were upgraded, of which the servers know no more
  return () => {
    clearInterval(checking);
    for (const socket of sockets.keys()) socket.destroy();
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 511 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * An orderly end: no new connection, no new request on an old one, answers for all that had begun, then the
 * sockets. What is open after that is left to `Listeners.close`.
 *
 * @internal
 */
export function drainable(servers: readonly Server[]) {
  let draining = false;
  return {
    async middleware(ctx: Context, next: Next): Promise<void> {
      if (!draining) {
        await next();
        // an answer that was begun before the drain ends its connection, so that the server can close
        if (draining && !ctx.headerSent) ctx.set('Connection', 'close');
        return;
      }
      ctx.set('Connection', 'close');
      answerRefusal(ctx, refuse('DRAINING'));
    },
    async close(drainMs: number, closeSockets: () => void): Promise<void> {
      draining = true;
      const closed = Promise.all(
        servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      );
      const letIdleGo = (): void => servers.forEach((server) => server.closeIdleConnections());
      letIdleGo();
      closeSockets();
      const idle = setInterval(letIdleGo, 50); // a connection becomes idle when its last answer is out
      const late = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), drainMs);
      let last: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => (last = setTimeout(resolve, drainMs + socketsMs)));
      await Promise.race([closed, over]);
      clearInterval(idle);
      clearTimeout(late);
      clearTimeout(last);
    },
  };
}

/** A socket that was asked to close and does not is cut after a second. */
const socketsMs = 1_500;

/**
 * One answer at a time per connection. Node hands out every request that a client has sent ahead (pipelining)
 * at once, and keeps all their answers until the client reads them: forty small requests and a deaf reader
 * would cost forty large answers of memory. Here the next one begins when the one before is with the system.
 */
export function oneAtATime(answer: (...of: Parameters<Answer>) => Promise<void>): Answer {
  const lanes = new WeakMap<Socket, Lane>();
  return (request, response) => {
    const { socket } = request;
    const lane = lanes.get(socket) ?? { busy: false, waiting: [] };
    lanes.set(socket, lane);
    const begin = (): void => {
      lane.busy = true;
      response.once('close', () => {
        lane.busy = false;
        lane.waiting.shift()?.();
      });
      if (!socket.destroyed && !request.destroyed) void answer(request, response);
      // Who hung up before its turn came gets no answer, and nothing waits for the rest of its body
      else socket.destroy();
    };
    if (!lane.busy) return begin();
    if (lane.waiting.length >= waitingMax) return void socket.destroy();
    lane.waiting.push(begin);
  };
}

interface Lane {
  busy: boolean;
  readonly waiting: (() => void)[];
}

const waitingMax = 100;
