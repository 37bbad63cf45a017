import type { Context, Next } from 'koa';
import type { Logger } from 'pino';

/** Headers of every answer, W3C trace context passed on, and one line per request where the log wants it. */
export function trace(log: Logger) {
  return (ctx: Context, next: Next): Promise<void> => {
    for (const [name, value] of standing) ctx.res.setHeader(name, value);
    if ((ctx.req.socket as { encrypted?: boolean }).encrypted === true) ctx.res.setHeader('Strict-Transport-Security', 'max-age=31536000');
    const traceparent = ctx.req.headers['traceparent'];
    const known = typeof traceparent === 'string' && wellFormed.test(traceparent) ? traceparent : undefined;
    if (known !== undefined) ctx.res.setHeader('traceparent', known);
    return log.isLevelEnabled('debug') ? logged(ctx, next, known) : next();
  };

  async function logged(ctx: Context, next: Next, traceparent: string | undefined): Promise<void> {
    const began = performance.now();
    try {
      await next();
    } finally {
      const durationMs = Math.round((performance.now() - began) * 10) / 10;
      log.debug({ method: ctx.method, path: ctx.path, status: ctx.status, durationMs, ...(traceparent !== undefined && { traceparent }) }, 'a request was answered');
    }
  }
}

/** On every answer; a page names what more it may do. An answer is data: it runs nothing, is shown in no frame and loaded by no other origin. */
const standing: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', 'default-src \'none\'; frame-ancestors \'none\'; sandbox'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Frame-Options', 'DENY'],
];

const wellFormed = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
