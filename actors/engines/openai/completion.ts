import type { TurnResult } from '../engine.js';
import { limitWindow, type LimitsMemory } from '../limits.js';
import { firstBytes } from '../process/output.js';
import { keyOf } from '../remote/bounded-fetch.js';
import type { OpenAiOptions } from './options.js';

/** What an error of the SDK means for the turn. The key never stands in what is told. */
export function endOfFault(
  error: unknown,
  options: Pick<OpenAiOptions, 'name' | 'apiKeyEnv' | 'baseUrl'>,
  limits: LimitsMemory,
  text: string,
): TurnResult {
  const { status, headers, code } = error as {
    readonly status?: unknown;
    readonly headers?: unknown;
    readonly code?: unknown;
  };
  const words = withoutKey(firstBytes(wordsOf(error), 2_000), keyOf(options));
  if (headers instanceof Headers) reportLimits(headers, limits);
  if (status === 429 && code !== 'insufficient_quota') {
    const resetAt = headers instanceof Headers ? (resetOf(headers) ?? limits.resetAt()) : limits.resetAt();
    return { outcome: 'rate-limited', text, error: words, ...(resetAt === undefined ? {} : { resetAt }) };
  }
  const failed = (sentence: string): TurnResult => ({ outcome: 'failed', text, error: sentence });
  if (status === 401 || status === 403) {
    const variable = options.apiKeyEnv;
    return failed(
      `Authentication with ${options.name} failed (${words}). ` +
        (variable === undefined
          ? `Name the variable with its key as engines.openai.${options.name}.apiKeyEnv.`
          : `Check the key in ${variable}.`),
    );
  }
  if (error instanceof SyntaxError) return failed(`${options.name} sent an unreadable response: ${words}`);
  if (status === undefined && (error as Error | undefined)?.name !== 'Flood')
    return failed(`${options.name} could not be reached at ${new URL(options.baseUrl).host}: ${words}`);
  return failed(words);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const deeper = cause?.cause instanceof Error ? cause.cause : cause;
  return deeper === undefined || error.message.includes(deeper.message)
    ? error.message
    : `${error.message} ${deeper.message}`;
}

const withoutKey = (words: string, key: string | undefined): string =>
  key === undefined ? words : words.replaceAll(key, '…');

/**
 * When to come again, in epoch ms: `retry-after-ms`, `retry-after` in seconds or as a date, at most a year
 * away.
 */
function resetOf(headers: Headers): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? NaN);
  const after = headers.get('retry-after') ?? '';
  const waitMs = Number.isFinite(ms)
    ? ms
    : /^\d+(?:\.\d+)?$/.test(after)
      ? Number(after) * 1000
      : Date.parse(after) - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 && waitMs < 366 * 86_400_000
    ? Math.ceil(Date.now() + waitMs)
    : undefined;
}

/** `x-ratelimit-limit-requests`, `-remaining-`, `-reset-`, and the same for tokens. */
export function reportLimits(headers: Headers, limits: LimitsMemory): void {
  const windows = ['requests', 'tokens'].flatMap((name) => {
    const number = (what: string): number => Number(headers.get(`x-ratelimit-${what}-${name}`) ?? NaN);
    const [limit, remaining] = [number('limit'), number('remaining')];
    if (!(limit > 0) || !(remaining >= 0)) return [];
    const resetMs = durationMs(headers.get(`x-ratelimit-reset-${name}`) ?? '');
    return [
      limitWindow(
        name,
        (1 - remaining / limit) * 100,
        null,
        resetMs === undefined ? null : Math.ceil((Date.now() + resetMs) / 1000),
      ),
    ];
  });
  if (windows.length > 0) limits.report(windows);
}

/** `6m0s`, `1.5s`, `20ms` → milliseconds. */
function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)];
  if (parts.length === 0 || parts.length > 6) return undefined;
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (unitMs[unit ?? ''] ?? 0), 0);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
