import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryResult } from './connector.js';

/** What connectors share: waiting for a far side's rate limit, and messages that are longer than it takes. */

export interface RateLimited {
  readonly retryAfterMs: number;
}

/** How a connector meets a rate limit; specs bring their own. */
export interface Patience {
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** A limit that lasts longer is a failure. Default 60. */
  readonly retryAfterSecondsMax?: number;
}

/** Try, and try again after each rate limit, at most thrice. */
export async function withinLimits(
  signal: AbortSignal,
  patience: Patience,
  attempt: () => Promise<DeliveryResult | RateLimited>,
): Promise<DeliveryResult> {
  const { wait = (ms: number) => delay(ms, undefined, { signal }), retryAfterSecondsMax = 60 } = patience;
  for (let n = 1; ; n += 1) {
    if (signal.aborted) return { outcome: 'failed', reason: 'Cancelled before it was sent.' };
    const answer = await attempt();
    if (!('retryAfterMs' in answer)) return answer;
    if (n >= attemptsMax || answer.retryAfterMs > retryAfterSecondsMax * 1000) {
      return {
        outcome: 'failed',
        reason: `The service is rate limited; it asks to wait ${Math.ceil(answer.retryAfterMs / 1000)} s.`,
      };
    }
    const isWaited = await wait(answer.retryAfterMs, signal).then(
      () => true,
      () => false,
    );
    if (!isWaited)
      return {
        outcome: 'failed',
        reason: 'Cancelled while waiting for the rate limit of the service.',
      };
  }
}

const attemptsMax = 3;

/**
 * Pieces of at most so many characters, cut at line ends or blanks where there are any, never within a
 * character.
 */
export function pieces(text: string, charsMax: number): string[] {
  const all: string[] = [];
  let rest = text;
  while (rest.length > charsMax) {
    const head = rest.slice(0, charsMax);
    const cut =
      [head.lastIndexOf('\n'), head.lastIndexOf(' ')].find((at) => at > charsMax / 2) ?? whole(head);
    all.push(rest.slice(0, cut));
    rest = rest.slice(cut).replace(/^[ \n]/, '');
  }
  if (rest !== '') all.push(rest);
  return all;
}

const whole = (head: string): number => (/[\uD800-\uDBFF]$/.test(head) ? head.length - 1 : head.length);

/**
 * Send piece after piece; the first gives the message its name. After a part has gone, a failure leaves an
 * `unknown` whole.
 */
export async function inPieces(
  text: string,
  charsMax: number,
  send: (piece: string, n: number) => Promise<DeliveryResult>,
): Promise<DeliveryResult> {
  let first: DeliveryResult | undefined;
  for (const [n, piece] of pieces(text, charsMax).entries()) {
    const result = await send(piece, n);
    if (result.outcome !== 'sent')
      return n === 0
        ? result
        : { outcome: 'unknown', reason: `Only its first ${n} part(s) arrived: ${result.reason}` };
    first ??= result;
  }
  return first ?? { outcome: 'failed', reason: 'It is empty.' };
}

/** Faults that come before the first byte of a request has left: no connection, no name, no trust. */
export const neverSent =
  /^(?:bad port|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_.*|ERR_TLS_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*)$/;

/** The system's code of a failed request, wherever the client library has put it. */
export function codeOf(error: unknown): string {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const {
      code,
      name,
      message,
      cause,
      original,
      error: inner,
    } = at as {
      readonly code?: unknown;
      readonly name?: unknown;
      readonly message?: unknown;
      readonly cause?: unknown;
      readonly original?: unknown;
      readonly error?: unknown;
    };
    const next = cause ?? original ?? inner;
    if (typeof next === 'object' && next !== null) {
      at = next;
      continue;
    }
    if (typeof code === 'string') return code;
    if (name === 'TimeoutError') return 'timeout';
    if (name === 'AbortError') return 'given up';
    return String(message ?? name);
  }
  return String(error);
}

/** How a request that got no answer ended. */
export const unanswered = (where: string, error: unknown): DeliveryResult => {
  const code = codeOf(error);
  return neverSent.test(code)
    ? { outcome: 'failed', reason: `${where} could not be reached (${code}).` }
    : { outcome: 'unknown', reason: `${where} did not answer (${code}); it may have the message.` };
};
