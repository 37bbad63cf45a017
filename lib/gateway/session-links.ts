import { createHash } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, request as askPlain, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as askSecure } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { withPort, type TurnLink } from '../../actors/session/turn-sandbox.js';
import { readSocketBearer, type TokenBook } from './authentication.js';

/**
 * The only way out of a `strict` sandbox: a Unix socket for each session, at the same path for its whole life.
 * It carries requests to the gateway, with the session's own token and no other, and connections to the hosts
 * that are named.
 */
export interface SessionLinksOptions {
  /** Where the sockets lie. */
  readonly folder: string;
  readonly tokens: TokenBook;
  readonly gatewayUrl: () => string | undefined;
  /** `host` or `host:port`, beside those of the engine. */
  readonly hosts: () => readonly string[];
}

/** `const open = sessionLinks({folder, tokens, gatewayUrl, hosts}); await open('s1', ['api.example:443'])` */
export function sessionLinks({ folder, tokens, gatewayUrl, hosts }: SessionLinksOptions) {
  return async (sessionId: string, ofEngine: readonly string[]): Promise<TurnLink> => {
    const socket = join(folder, createHash('sha256').update(sessionId).digest('hex').slice(0, 16));
    if (Buffer.byteLength(socket) > pathBytesMax)
      throw new Error(`The path of the home is too long for the socket of a session: ${socket}.`);
    const mayReach = new Set([...ofEngine, ...hosts().map(withPort)]);
    // The gateway finds a process of its own at the other end: it would take no one there for an agent
    const isOwn = ({ headers: { authorization } }: IncomingMessage): boolean =>
      authorization !== undefined && tokens.resolve(authorization.replace(/^Bearer /, '')) === sessionId;
    const mayAsk = (incoming: IncomingMessage): boolean =>
      isOwn(incoming) || (incoming.headers.authorization === undefined && isRead(incoming));

    const server = createServer((incoming, answer) => {
      const url = gatewayUrl();
      if (url === undefined || incoming.url?.startsWith('/') !== true || !mayAsk(incoming))
        return void answer.writeHead(403).end();
      const onward = ask(url, incoming, (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      });
      onward.once('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
      incoming.pipe(onward);
    });
    server.on('upgrade', (incoming: IncomingMessage, near: Duplex, head: Buffer) => {
      const url = gatewayUrl();
      readSocketBearer(incoming); // where the gateway will look, too
      if (url === undefined || !isOwn(incoming) || !isSocket(incoming))
        return turnAway(near, '403 Forbidden');
      const onward = ask(url, incoming, (reply) => {
        near.write(headOf(reply));
        reply.on('end', () => near.destroy()).pipe(near);
      });
      near.on('error', () => near.destroy()).on('close', () => onward.destroy());
      onward.once('upgrade', (reply, far: Socket, first) => {
        near.write(headOf(reply));
        near.write(first);
        carry(near, far, head);
      });
      onward.once('error', () => turnAway(near, '502 Bad Gateway'));
      onward.end();
    });
    server.on('connect', ({ url = '' }: IncomingMessage, near: Duplex, head: Buffer) => {
      if (!mayReach.has(url)) return turnAway(near, '403 Forbidden');
      near.on('error', () => near.destroy());
      const at = url.lastIndexOf(':');
      const far = connect(Number(url.slice(at + 1)), url.slice(0, at), () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        carry(near, far, head);
      });
      far.once('error', () => turnAway(near, '502 Bad Gateway'));
    });

    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rm(socket, { force: true }); // of an earlier life
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
    await chmod(socket, 0o600);
    return {
      socket,
      close() {
        server.close();
        server.closeAllConnections();
      },
    };
  };
}

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

/** What the gateway does not upgrade it answers, and reads on: requests that no one has looked at here. */
const isSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '');

/** The gateway of a worker is on another machine, behind TLS: nothing of a session goes there in clear. */
function ask(
  url: string,
  incoming: IncomingMessage,
  answer: (reply: IncomingMessage) => void,
): ClientRequest {
  const { protocol, hostname, host, port } = new URL(url);
  const { cookie: _ofAPerson, ...headers } = incoming.headers;
  const name = hostname.replace(/^\[|\]$/g, '');
  const place = { hostname: name, port, path: incoming.url, method: incoming.method };
  const given = { ...place, headers: { ...headers, host } };
  return protocol === 'https:'
    ? askSecure({ ...given, servername: isIP(name) === 0 ? name : '' }, answer)
    : askPlain(given, answer);
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, n, all) => (n % 2 === 0 ? [`${name}: ${all[n + 1]}`] : []));
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n');
}

/** What fits the address of a Unix socket everywhere. */
const pathBytesMax = 100;

/** No server looks after it any more: not after its faults, and not after its end. */
function turnAway(near: Duplex, status: string): void {
  near.on('error', () => near.destroy());
  near.end(`HTTP/1.1 ${status}\r\n\r\n`, () => near.destroy());
}

function carry(near: Duplex, far: Socket, head: Buffer): void {
  if (head.length > 0) far.write(head);
  near.pipe(far);
  far.pipe(near);
  near.on('error', () => far.destroy()).on('close', () => far.destroy());
  far.on('error', () => near.destroy()).on('close', () => near.destroy());
}
