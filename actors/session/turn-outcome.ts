import { firstBytes } from '../engines/process/output.js';
import type { TurnResult } from '../engines/engine.js';
import { finiteUsage, type Redact } from '../engines/turn-events.js';

/** How a turn may end, as the session hears it. */
export interface TurnOutput extends TurnResult {
  /**
   * A process that could not be confirmed gone: the session stays interrupted and its queue paused until a
   * person looked.
   */
  readonly unconfirmedPid?: number;
  /** Below the working folder. */
  readonly changedFiles?: readonly string[];
}

const textBytesMax = 256 * 1024;
const errorBytesMax = 4 * 1024;
const outcomes: readonly unknown[] = ['succeeded', 'failed', 'interrupted', 'rate-limited'];

/** `failure('It broke.')` → `{outcome: 'failed', text: '', error: 'It broke.'}` */
export const failure = (error: string, text = ''): TurnResult => ({
  outcome: 'failed',
  text,
  error: firstBytes(error, errorBytesMax),
});

export const interruption = (text: string, error?: string): TurnResult => ({
  outcome: 'interrupted',
  text: firstBytes(text, textBytesMax),
  ...(error === undefined ? {} : { error }),
});

/**
 * An engine's answer, checked at run time, redacted and cut to what may be stored: engines are other people's
 * code.
 */
export function boundedResult(engine: string, result: TurnResult, redact: Redact): TurnResult {
  const given: Partial<Record<keyof TurnResult, unknown>> =
    typeof result === 'object' && result !== null ? result : {};
  if (!outcomes.includes(given.outcome) || typeof given.text !== 'string') {
    return failure(`Engine "${engine}" answered with something that is not a turn result.`);
  }
  const { outcome, text, error, usage, resetAt } = result;
  return {
    outcome,
    text: firstBytes(redact(text), textBytesMax),
    ...(usage === undefined || usage === null ? {} : { usage: finiteUsage(usage) }),
    ...(typeof error === 'string' ? { error: firstBytes(redact(error), errorBytesMax) } : {}),
    ...(typeof resetAt === 'number' && Number.isFinite(resetAt) ? { resetAt } : {}),
  };
}

export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
