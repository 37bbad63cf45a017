import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server at the other end of a webhook: keeps what it got, answers what the spec tells it to. */
export interface FarSide {
  readonly url: string;
  readonly got: readonly {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[];
  /** Answers for the next POSTs, in order; then 200. `hang` never answers, `reset` cuts the connection. */
  answers: (Answer | 'hang' | 'reset')[];
  /** Resolves when so many requests have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export async function farSide(): Promise<FarSide> {
  const got: { method: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (chunk: string) => {
        body += chunk;
      })
      .on('end', () => {
        got.push({ method: request.method ?? '', headers: request.headers, body });
        for (const { count, resolve } of waiting) if (got.length >= count) resolve();
        const answer = request.method === 'POST' ? (far.answers.shift() ?? { status: 200 }) : { status: 204 };
        if (answer === 'reset') request.socket.destroy();
        else if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end(answer.body);
      });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const far: FarSide = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    got,
    answers: [],
    came: (count) =>
      new Promise((resolve) => {
        if (got.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return far;
}
