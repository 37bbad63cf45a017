import { createServer, IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Where requests come in. Over TLS when a certificate is configured; then there is a second, plain listener
 * on loopback for the programs of this machine, which need no certificate to find each other. Whoever sends
 * or reads too slowly is cut: a connection costs memory for as long as it lives.
 */
export interface Listeners {
  readonly servers: readonly Server[];
  /** Port of the listener that the configuration names. */
  port(): number;
  /** Port on which programs of this machine are served without TLS; the same where there is no TLS. */
  localPort(): number;
  open(host: string, port: number): Promise<void>;
  stop(): void;
}

/** PEM texts. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export function createListeners(options: {
  readonly tls?: Tls | undefined;
  readonly slow?: Partial<Slowness>;
}): Listeners {
  const { tls } = options;
  const main =
    tls === undefined
      ? createServer(limits)
      : createSecureServer({ ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: 10_000 });
  const servers = tls === undefined ? [main] : [main, createServer(limits)];
  for (const server of servers) server.maxConnections = connectionsMax;
  const ward = cutSlowReaders(servers, { ...slowness, ...options.slow });
  const local = servers.at(-1) ?? main;
  return {
    servers,
    port: () => portOf(main),
    localPort: () => portOf(local),
    async open(host, port) {
      await listen(main, host, port);
      if (local === main) return;
      await listen(local, '127.0.0.1', 0).catch((error: unknown) => {
        main.close();
        throw error;
      });
    },
    stop: ward,
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
    return this.offered && (this.method === 'CONNECT' || /^websocket$/i.test(this.headers.upgrade ?? ''));
  }
  set upgrade(offered: boolean | null) {
    this.offered = offered === true;
  }
}

/**
 * Headers within ten seconds, a whole request within a minute; idle ones are let go after fifteen seconds. A
 * missing Host is refused at the door, in words.
 */
const limits = {
  IncomingMessage: Incoming,
  requireHostHeader: false,
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  maxHeaderSize: 16_384,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 15_000,
};
const connectionsMax = 4_096;

/**
 * A reader that has something waiting and took less than `bytesMin` between two looks, `looksMax` times in a
 * row, is cut.
 */
interface Slowness {
  readonly lookEveryMs: number;
  readonly bytesMin: number;
  readonly looksMax: number;
}
/** What all answers together may hold that wait for their readers. */
const heldBytesMax = 256 * 2 ** 20;
const slowness: Slowness = { lookEveryMs: 5_000, bytesMin: 16_384, looksMax: 4 };

function cutSlowReaders(
  servers: readonly Server[],
  { lookEveryMs, bytesMin, looksMax }: Slowness,
): () => void {
  const sockets = new Map<Socket, { sent: number; slow: number }>();
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      sockets.set(socket, { sent: 0, slow: 0 });
      socket.once('close', () => sockets.delete(socket));
    });
  }
  const looking = setInterval(() => {
    for (const [socket, reader] of sockets) {
      const sent = socket.bytesWritten - socket.writableLength;
      reader.slow = socket.writableLength > 0 && sent - reader.sent < bytesMin ? reader.slow + 1 : 0;
      reader.sent = sent;
      if (reader.slow >= looksMax) socket.destroy();
    }
    // Many that are each not slow enough yet: those who hold most go first.
    let held = 0;
    for (const socket of [...sockets.keys()].sort(
      (one, other) => one.writableLength - other.writableLength,
    )) {
      held += socket.writableLength;
      if (held > heldBytesMax && socket.writableLength > 0) socket.destroy();
    }
  }, lookEveryMs).unref();
  return () => clearInterval(looking);
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
