import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { Fault } from '../supervisor/faults.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * The one error exit. A refusal becomes its status and `{error, code, …details}`; a fault becomes a 500 with an id
 * under which the log tells everything, and tells the client nothing else.
 */
export function failures(log: Logger, newId: () => string) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const expected = expectedRefusal(error);
      if (expected) return answerRefusal(ctx, expected);
      const faultId = error instanceof Fault ? error.faultId : newId(); // the kernel has logged its own faults already
      log.error({ faultId, method: ctx.method, path: ctx.path, ...(!(error instanceof Fault) && { err: error }) }, 'a request ended in a fault');
      ctx.status = 500;
      ctx.body = { error: `Something failed here. The log tells more under ${faultId}.`, code: 'INTERNAL', faultId };
    }
  };
}

export function answerRefusal(ctx: Context, refusal: Refusal): void {
  ctx.status = refusal.status;
  ctx.body = failureBody(refusal);
  const { resetAt, allow } = refusal.details;
  if (refusal.status === 429 && typeof resetAt === 'number') ctx.set('Retry-After', String(Math.max(1, Math.ceil((resetAt - Date.now()) / 1000))));
  if (refusal.status === 405 && Array.isArray(allow)) ctx.set('Allow', allow.join(', '));
  if (refusal.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  if (refusal.status === 503) ctx.set('Retry-After', '1');
  if (refusal.status === 413 || refusal.status === 408) ctx.set('Connection', 'close'); // the rest of the body is not worth reading
}

/** `{error: 'There is no such thing.', code: 'NOT_FOUND', kind, id}` */
export function failureBody({ message, code, details }: Refusal): Record<string, unknown> {
  const { error: _error, code: _code, ...members } = details; // a detail never hides the sentence or the code
  return { error: message, code, ...members };
}

/** What was thrown and is still an expected answer: a refusal, or a store that cannot write now, which is safe to retry. */
export function expectedRefusal(error: unknown): Refusal | undefined {
  if (isRefusal(error)) return error;
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'STORE_UNAVAILABLE' || code === 'DISK_LOW' ? refuse(code) : undefined;
}
