import { firstBytes } from '../engines/process/output.js';
import type { TurnResult } from '../engines/engine.js';
import { finiteUsage, type Redact, type Usage } from '../engines/turn-events.js';

/** How a turn may end, as the session hears it. */
export interface TurnOutput extends TurnResult {
  /**
   * A process that could not be confirmed gone: the session stays interrupted and its queue paused until a
   * person looked.
   */
  readonly unconfirmedPid?: number;
  /** Below the working folder. */
  readonly changedFiles?: readonly string[];
  /** The end of the gateway cut it off; `resume`: it goes on by itself. */
  readonly cut?: 'wait' | 'resume';
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

/** An interruption that is the gateway's doing and not the turn's. */
export const cutOff = (
  output: TurnOutput,
  { resumes }: { readonly resumes?: (() => boolean) | undefined },
): TurnOutput =>
  output.outcome === 'interrupted' && output.unconfirmedPid === undefined
    ? { ...output, cut: resumes?.() === true ? 'resume' : 'wait' }
    : output;

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

/** What we did to the turn outranks what the engine makes of it. */
export function judged(
  result: TurnResult,
  ending: {
    /** The session has left it. */
    readonly isLeft: boolean;
    /** Why we ended it. */
    readonly overdue: string | undefined;
    /** What it said and used on the way. */
    readonly said: string;
    readonly used: Usage | undefined;
    /** What may be amiss with its login. */
    readonly access: string | undefined;
  },
): TurnResult {
  const text = result.text === '' ? ending.said : result.text;
  const used = result.usage ?? ending.used;
  const usage = used === undefined ? {} : { usage: used };
  if (ending.isLeft) return { ...interruption(text), ...usage };
  if (ending.overdue !== undefined) return { ...failure(ending.overdue, text), ...usage };
  if (result.outcome === 'failed' && ending.access !== undefined)
    return { ...failure([result.error, ending.access].filter(Boolean).join(' '), text), ...usage };
  return { ...result, ...usage };
}

export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));
