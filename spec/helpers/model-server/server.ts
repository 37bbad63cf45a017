import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.js';
import { chat } from './chat.js';
import { gemini } from './gemini.js';
import type { Body } from './parser.js';
import { responses } from './responses.js';
import { obedient, type ModelReply, type ModelTurn, type Script } from './script.js';

/**
 * A model provider of our own on a loopback port: it speaks the four wires that agent programs speak and says
 * what a script says. Nothing leaves the machine, nothing is random, and what it was asked can be looked at.
 */
export interface ModelServer {
  /** `http://127.0.0.1:PORT` without a path. */
  readonly url: string;
  readonly turns: readonly ModelTurn[];
  /** Of each turn the whole request, as it came. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** Resolves when a reply is held open (again). */
  held(): Promise<void>;
  close(): Promise<void>;
}

/** One provider's way of speaking. */
export interface Wire {
  readonly path: RegExp;
  readonly isStream?: (path: string) => boolean;
  read(body: Body, path: string): ModelTurn;
  events(reply: ModelReply, turn: ModelTurn): Iterable<readonly [event: string | undefined, data: unknown]>;
  whole(reply: ModelReply, turn: ModelTurn): unknown;
  fault(status: number): unknown;
}

const wires: readonly Wire[] = [anthropic, chat, responses, gemini];
const bodyBytesMax = 32 * 1024 * 1024;

/** `const model = await startModelServer(); … await model.close()` */
export async function startModelServer(script: Script = obedient): Promise<ModelServer> {
  const turns: ModelTurn[] = [];
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://loopback');
    const text = await bodyOf(request);
    if (request.method === 'GET' && /\/models$/.test(pathname))
      return json(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    if (pathname.endsWith('/count_tokens')) return json(response, 200, { input_tokens: 100 });
    const wire = request.method === 'POST' ? wires.find(({ path }) => path.test(pathname)) : undefined;
    if (wire === undefined)
      return json(response, 404, { error: { message: `nothing is served at ${pathname}` } });
    const body = JSON.parse(text === '' ? '{}' : text) as Body;
    const turn = wire.read(body, pathname);
    turns.push(turn);
    bodies.push(text);
    headers.push(request.headers);
    const reply = script(turn);
    if (reply.status !== undefined)
      return json(response, reply.status, wire.fault(reply.status), reply.headers);
    if (!(wire.isStream?.(pathname) ?? body['stream'] === true))
      return json(response, 200, wire.whole(reply, turn), reply.headers);
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      ...reply.headers,
    });
    for (const [event, data] of wire.events(reply, turn)) {
      response.write(
        `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    }
    if (reply.hold !== true) return void response.end();
    for (const wake of waiting.splice(0)) wake();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turns,
    bodies,
    headers,
    held: () =>
      new Promise((resolve) => {
        waiting = [...waiting, resolve];
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
