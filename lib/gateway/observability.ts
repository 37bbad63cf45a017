import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import type { Identity } from './authentication.js';
import { scrub } from '../home/log.js';
import type { Telemetry } from '../telemetry/telemetry.js';

/**
 * How long requests took, and how they ended. A few numbers in memory, whatever is asked; read by `/metrics`.
 */
export interface RequestMetrics {
  readonly middleware: (ctx: Context, next: Next) => Promise<void>;
  /** Requests answered, by the first digit of the status: `{'2': 17, '4': 1}`. */
  readonly answered: ReadonlyMap<string, number>;
  readonly durations: Durations;
}

export interface Durations {
  /** Upper bounds, seconds. */
  readonly bounds: readonly number[];
  /** How many took at most so long; the last one counts all. */
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

/** `const meter = meterOf(); app.use(meter.middleware); meter.answered.get('2') // 17` */
export function requestMetricsOf(): RequestMetrics {
  const answered = new Map<string, number>();
  const counts = bounds.map(() => 0);
  counts.push(0);
  const durations = { bounds, counts, sumSeconds: 0 };

  function note(status: number, seconds: number): void {
    const digit = String(Math.floor(status / 100));
    answered.set(digit, (answered.get(digit) ?? 0) + 1);
    durations.sumSeconds += seconds;
    for (let index = counts.length - 1; index >= 0 && (bounds[index] ?? Infinity) >= seconds; index--)
      counts[index] = (counts[index] ?? 0) + 1;
  }

  return {
    answered,
    durations,
    async middleware(ctx, next) {
      const began = performance.now();
      try {
        await next();
      } finally {
        note(ctx.status, (performance.now() - began) / 1_000);
      }
    },
  };
}

const bounds: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

/** Headers of every answer, W3C trace context passed on, and one line per request where the log wants it. */
export function trace(log: Logger) {
  return (ctx: Context, next: Next): Promise<void> => {
    for (const [name, value] of always) ctx.res.setHeader(name, value);
    if ((ctx.req.socket as { encrypted?: boolean }).encrypted === true)
      ctx.res.setHeader('Strict-Transport-Security', 'max-age=31536000');
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
      log.debug(
        {
          method: ctx.method,
          path: ctx.path,
          status: ctx.status,
          durationMs,
          ...(traceparent !== undefined && { traceparent }),
        },
        'a request was handled',
      );
    }
  }
}

/**
 * On every answer; a page names what more it may do. An answer is data: it runs nothing, is shown in no frame
 * and loaded by no other origin.
 */
const always: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Frame-Options', 'DENY'],
];

const wellFormed = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Requests of known callers as spans. Those of unknown ones never get here. */
export const traceRequests =
  (telemetry: Pick<Telemetry, 'request'>) =>
  (ctx: Context, next: Next): Promise<void> => {
    if (!/^\/(?:api\/|mcp$)/.test(ctx.path)) return next();
    const identity = ctx.state['identity'] as Identity | undefined;
    const caller = identity?.type === 'authenticated' ? identity.caller : undefined;
    const route = (): string | undefined => ctx['_matchedRoute'] as string | undefined;
    return telemetry.request(
      {
        traceparent: ctx.get('traceparent') || undefined,
        sessionId: caller?.type === 'session' ? caller.id : undefined,
        name: () => `${ctx.method} ${route() ?? ''}`.trimEnd(),
        attributes: () => ({
          'http.request.method': ctx.method,
          'http.route': route(),
          'http.response.status_code': ctx.status,
          'url.path': scrub(ctx.path),
          'troupe.caller': caller?.type ?? 'anonymous',
        }),
      },
      next,
    );
  };
