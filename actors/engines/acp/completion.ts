import { objectAt, textAt, type JsonObject } from '../agent/lines.js';
import type { TurnResult, Usage } from '../engine.js';
import { firstBytes } from '../process/output.js';

/** What the turn came to when the agent has answered the prompt. */
export interface Completion {
  readonly program: string;
  readonly text: string;
  readonly usage: Usage | undefined;
  /** We asked it to stop. */
  readonly isAsked: boolean;
  /** Of agents that tell of errors in the words of an answer. */
  readonly errorInText?: RegExp;
}

/** By the answer's stop reason. An end without a word is no answer. */
export function endOfPrompt(answer: JsonObject, completion: Completion): TurnResult {
  const { program, text } = completion;
  const used = completion.usage === undefined ? {} : { usage: completion.usage };
  const failed = (error: string): TurnResult => ({ outcome: 'failed', text, error, ...used });
  if (completion.isAsked) return { outcome: 'interrupted', text, ...used };
  switch (answer['stopReason']) {
    case 'end_turn':
      break;
    case 'cancelled':
      return failed(`${program} cancelled the turn.`);
    case 'max_tokens':
      return failed(`${program} reached the largest length of an answer.`);
    case 'max_turn_requests':
      return failed(`${program} reached its largest number of steps for one turn.`);
    case 'refusal':
      return failed(`${program} refused to go on.`);
    default:
      return failed(`${program} ended the turn with "${String(answer['stopReason'])}".`);
  }
  if (text === '')
    return failed(
      `${program} ended its turn without an answer; some programs do so when a tool was refused.`,
    );
  if (completion.errorInText?.test(text) !== true) return { outcome: 'succeeded', text, ...used };
  return {
    outcome: isLimit(text) ? 'rate-limited' : 'failed',
    text: '',
    error: firstBytes(text, 2_000),
    ...used,
  };
}

/** By the error that the agent gave instead of an answer. */
export function endOfError(
  error: Error & { readonly code: number; readonly data?: unknown },
  completion: Completion,
): TurnResult {
  const { program, text } = completion;
  const used = completion.usage === undefined ? {} : { usage: completion.usage };
  if (completion.isAsked) return { outcome: 'interrupted', text, ...used };
  const details = detailsOf(error.data);
  const words = firstBytes(
    details === '' || error.message.includes(details) ? error.message : `${error.message}: ${details}`,
    2_000,
  );
  if (error.code === 429 || isLimit(`${words} ${firstBytes(JSON.stringify(error.data ?? ''), 4_096)}`))
    return { outcome: 'rate-limited', text, error: words, ...used };
  if (error.code === -32_000)
    return {
      outcome: 'failed',
      text,
      error: `${program} is not logged in (${words}). Start it once manually and log in, or name a key with apiKeyEnv.`,
      ...used,
    };
  return {
    outcome: 'failed',
    text,
    error: words === '' ? `${program} reported an error without a message.` : words,
    ...used,
  };
}

const isLimit = (words: string): boolean =>
  /\b429\b|rate.?limit|usage.?limit|RESOURCE_EXHAUSTED|quota exceeded/i.test(words);

function detailsOf(data: unknown): string {
  if (typeof data === 'string') return data;
  return (
    textAt(data, 'details') ??
    textAt(data, 'message') ??
    textAt(objectAt(data, 'error'), 'message') ??
    textAt(data, 'errorName') ??
    ''
  );
}
