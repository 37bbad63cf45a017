import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

/**
 * The far side of a chat connector: a real HTTP server (and WebSocket server) on loopback that answers as the
 * vendor's documentation says. A spec gives the answers by path; every request is kept.
 */
export interface Vendor {
  readonly url: string;
  readonly requests: readonly Asked[];
  /** Answers of the next requests to a path, before its usual one. `reset` cuts the connection. */
  next(path: string, ...answers: (Answered | 'reset')[]): void;
  /** Resolves when so many requests to a path have come. */
  came(path: string, count: number): Promise<void>;
  /** The first request that fits, also one that has come already. */
  asked(fits: (asked: Asked) => boolean): Promise<Asked>;
  /** The next connection to the socket. */
  socket(): Promise<WebSocket>;
  close(): Promise<void>;
}
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}
export interface Answered {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

export async function vendor(
  usual: (asked: Asked, url: string) => Answered | Promise<Answered>,
): Promise<Vendor> {
  const requests: Asked[] = [];
  const queued = new Map<string, (Answered | 'reset')[]>();
  const watching: { readonly path: string; readonly count: number; readonly resolve: () => void }[] = [];
  const looking = new Set<{
    readonly fits: (asked: Asked) => boolean;
    readonly found: (asked: Asked) => void;
  }>();
  const comeTo = (path: string): number => requests.filter((one) => one.path === path).length;
  const arrivals: WebSocket[] = [];
  const expecting: ((socket: WebSocket) => void)[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const path = (request.url ?? '').split('?')[0] ?? '';
      const asked = {
        method: request.method ?? '',
        path,
        authorization: request.headers.authorization,
        body,
      };
      requests.push(asked);
      for (const one of looking)
        if (one.fits(asked)) {
          looking.delete(one);
          one.found(asked);
        }
      for (const { path: wanted, count, resolve } of watching) if (comeTo(wanted) >= count) resolve();
      const answer = queued.get(path)?.shift() ?? (await usual(asked, url));
      if (answer === 'reset') return request.socket.destroy();
      response
        .writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
        .end(JSON.stringify(answer.body));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const waiting = expecting.shift();
    if (waiting) waiting(socket);
    else arrivals.push(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    next: (path, ...answers) => {
      queued.set(path, [...(queued.get(path) ?? []), ...answers]);
    },
    came: (path, count) =>
      new Promise((resolve) => {
        if (comeTo(path) >= count) resolve();
        else watching.push({ path, count, resolve });
      }),
    asked: (fits) =>
      new Promise((found) => {
        const come = requests.find(fits);
        if (come) found(come);
        else looking.add({ fits, found });
      }),
    socket: () =>
      new Promise((resolve) => {
        const come = arrivals.shift();
        if (come) resolve(come);
        else expecting.push(resolve);
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        sockets.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  if (text === '') return {};
  return request.headers['content-type']?.includes('json') === true
    ? (JSON.parse(text) as Record<string, unknown>)
    : Object.fromEntries(new URLSearchParams(text));
}
