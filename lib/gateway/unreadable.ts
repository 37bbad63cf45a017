import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureBody } from './failures.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * What never becomes a request: bytes that are no HTTP, headers that are too long, bodies that never come. Node would
 * answer these without a body; here they are refused like everything else, with a sentence and a code, and cut.
 */
export function answerUnreadable(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream: Duplex) => {
    const begun = (stream as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true; // the stream is in the middle of another answer
    if (begun || !stream.writable || error.code === 'ECONNRESET') return void stream.destroy();
    stream.end(written(refusalOf(error.code)), () => stream.destroy());
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const refusal = refuse('EXPECTATION_FAILED');
    response.writeHead(refusal.status, headersOf(refusal)).end(JSON.stringify(failureBody(refusal)));
  });
}

/** True for errors that a client makes by what it sends, or by going away. */
export const isClients = (error: NodeJS.ErrnoException): boolean =>
  error.code?.startsWith('HPE_') === true || ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '');

function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('REQUEST_TIMEOUT');
  return refuse('BAD_REQUEST', {}, 'This is not an HTTP request that can be read.');
}

function written(refusal: Refusal): string {
  const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${refusal.status} Refused`, ...lines, '', JSON.stringify(failureBody(refusal))].join('\r\n');
}

const headersOf = (refusal: Refusal): Record<string, string> => ({
  Connection: 'close', 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store',
  'Content-Length': String(Buffer.byteLength(JSON.stringify(failureBody(refusal)))),
});
