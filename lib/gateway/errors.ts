import { existsSync } from 'node:fs';
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { Fault } from '../supervisor/kernel.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The one error exit. A refusal becomes its status and `{error, code, …details}`; a fault becomes a 500 with
 * an id under which the log tells everything, and tells the client nothing else.
 */
export function failures(log: Logger, newId: () => string) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const expected = expectedRefusal(error);
      if (expected) return answerRefusal(ctx, expected);
      // The kernel has logged its own faults already
      const faultId = error instanceof Fault ? error.faultId : newId();
      log.error(
        { faultId, method: ctx.method, path: ctx.path, ...(!(error instanceof Fault) && { err: error }) },
        'a request failed',
      );
      ctx.status = 500;
      ctx.body = {
        error: `Internal error. See ${faultId} in the log.`,
        code: 'INTERNAL',
        faultId,
      };
    }
  };
}

export function answerRefusal(ctx: Context, refusal: Refusal): void {
  ctx.status = refusal.status;
  ctx.body = failureBody(refusal);
  const { resetAt, allow } = refusal.details;
  if (refusal.status === 429 && typeof resetAt === 'number')
    ctx.set('Retry-After', String(Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))));
  if (refusal.status === 405 && Array.isArray(allow)) ctx.set('Allow', allow.join(', '));
  if (refusal.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  if (refusal.status === 503) ctx.set('Retry-After', '1');
  // The rest of the body is not worth reading
  if (refusal.status === 413 || refusal.status === 408) ctx.set('Connection', 'close');
}

/** `{error: 'There is no such thing.', code: 'NOT_FOUND', kind, id}` */
export function failureBody({ message, code, details }: Refusal): Record<string, unknown> {
  const { error: _error, code: _code, ...members } = details; // a detail never hides the sentence or the code
  return { error: message, code, ...members };
}

/**
 * What was thrown and is still an expected answer: a refusal, a store that cannot write now, which is safe to retry,
 * or one that cannot say whether it has written, which is not.
 */
export function expectedRefusal(error: unknown): Refusal | undefined {
  if (isRefusal(error)) return error;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'LOST') return refuse('OWNER_ELSEWHERE');
  if (code === 'ERR_MODULE_NOT_FOUND' && wasReplaced(String(error))) return refuse('UPGRADED');
  return code === 'STORE_UNAVAILABLE' || code === 'DISK_LOW' || code === 'OUTCOME_UNKNOWN'
    ? refuse(code)
    : undefined;
}

/** A part that is loaded when it is used first, by a file that has itself gone: an upgrade took the place of both. */
function wasReplaced(message: string): boolean {
  const importer = /imported from (.+)$/m.exec(message)?.[1];
  return importer !== undefined && !existsSync(importer);
}

/**
 * What never becomes a request: bytes that are no HTTP, headers that are too long, bodies that never come.
 * Node would answer these without a body; here they are refused like everything else, with a sentence and a
 * code, and cut.
 */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream: Duplex) => {
    // The stream is in the middle of another answer
    const begun = (stream as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true;
    if (begun || !stream.writable || error.code === 'ECONNRESET') return void stream.destroy();
    stream.end(written(refusalOf(error.code)), () => stream.destroy());
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const refusal = refuse('EXPECTATION_FAILED');
    response.writeHead(refusal.status, headersOf(refusal)).end(JSON.stringify(failureBody(refusal)));
  });
}

/** True for errors that a client makes by what it sends, or by going away. */
export const isClientError = (error: NodeJS.ErrnoException): boolean =>
  error.code?.startsWith('HPE_') === true ||
  ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? '');

function refusalOf(code: string | undefined): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW') return refuse('HEADERS_TOO_LARGE');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return refuse('REQUEST_TIMEOUT');
  return refuse('BAD_REQUEST', {}, 'Malformed HTTP request.');
}

function written(refusal: Refusal): string {
  const lines = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${refusal.status} Refused`, ...lines, '', JSON.stringify(failureBody(refusal))].join(
    '\r\n',
  );
}

const headersOf = (refusal: Refusal): Record<string, string> => ({
  Connection: 'close',
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Length': String(Buffer.byteLength(JSON.stringify(failureBody(refusal)))),
});
