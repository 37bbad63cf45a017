import type { Json } from '../../../machines/outputs.js';
import { isObject, listAt, numberAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import type { TurnIO, TurnResult, Usage } from '../engine.js';
import { contextReader, type ContextReader } from './context.js';
import { limitWindow, type LimitsMemory } from '../limits.js';
import { firstBytes } from '../process/output.js';

/**
 * Reads what the agent writes: `system`, `stream_event`, `assistant`, `user`, `rate_limit_event` for
 * watchers, and the one line that counts for the turn, `result`. A success with `is_error` is an error: that
 * is how it tells of a 401.
 */
export interface ClaudeParser {
  take(message: JsonObject): void;
  /** The answer so far, for a turn that ends in the middle. */
  text(): string;
  sessionId(): string | undefined;
  readonly context: Pick<ContextReader, 'usage'>;
  /** The protocol's last event, once it was there. */
  result(): JsonObject | undefined;
}

export function claudeParser(io: TurnIO, limits: LimitsMemory): ClaudeParser {
  let sessionId: string | undefined;
  let text = '';
  let last: JsonObject | undefined;
  const changing = new Map<string, Change>();
  const context = contextReader();
  return {
    context,
    text: () => text,
    sessionId: () => sessionId,
    result: () => last,
    take(message) {
      context.take(message);
      const id = textAt(message, 'session_id');
      if (
        message['type'] === 'system' &&
        message['subtype'] === 'init' &&
        id !== undefined &&
        id !== sessionId
      ) {
        sessionId = id;
        io.report({ type: 'conversation.named', nativeId: id });
      }
      switch (message['type']) {
        case 'stream_event': {
          const event = objectAt(message, 'event');
          const piece = textAt(objectAt(event, 'delta'), 'text');
          const thought = textAt(objectAt(event, 'delta'), 'thinking');
          if (event['type'] === 'message_start') text = '';
          if (thought !== undefined) io.report({ type: 'thinking', text: thought });
          if (piece === undefined) return;
          text += piece;
          return io.report({ type: 'text', text: piece });
        }
        case 'assistant':
          return reportUses(message, changing, io);
        case 'user':
          return reportResults(message, changing, io);
        case 'system':
          return reportStatus(message, io);
        case 'rate_limit_event':
          return reportLimit(objectAt(message, 'rate_limit_info'), limits);
        case 'result':
          last = message;
          return;
        default:
          return;
      }
    },
  };
}

/** What a tool of the program's own will do to a file, by the tool call's id. */
interface Change {
  readonly path: string;
  readonly change: 'added' | 'changed';
  readonly diff?: string;
}

function reportUses(message: JsonObject, changing: Map<string, Change>, io: TurnIO): void {
  for (const block of listAt(objectAt(message, 'message'), 'content')) {
    if (!isObject(block) || block['type'] !== 'tool_use') continue;
    const input: Json = block['input'] ?? null;
    const toolId = textAt(block, 'id') ?? '';
    const tool = textAt(block, 'name') ?? 'tool';
    const change = changeOf(tool, input);
    if (change !== undefined && changing.size < changingMax) changing.set(toolId, change);
    io.report({ type: 'tool.started', toolId, tool, input: JSON.stringify(input) });
  }
}

const changingMax = 1_000;

function changeOf(tool: string, input: Json): Change | undefined {
  const path = textAt(input, 'file_path') ?? textAt(input, 'notebook_path');
  if (path === undefined) return undefined;
  if (tool === 'Write') return { path, change: 'added' };
  const [before, after] = [textAt(input, 'old_string'), textAt(input, 'new_string')];
  if (tool !== 'Edit' && tool !== 'MultiEdit' && tool !== 'NotebookEdit') return undefined;
  return {
    path,
    change: 'changed',
    ...(before === undefined || after === undefined
      ? {}
      : { diff: `${marked('-', before)}\n${marked('+', after)}` }),
  };
}

const marked = (sign: string, text: string): string =>
  text
    .split('\n')
    .map((line) => sign + line)
    .join('\n');

function reportResults(message: JsonObject, changing: Map<string, Change>, io: TurnIO): void {
  for (const block of listAt(objectAt(message, 'message'), 'content')) {
    if (!isObject(block) || block['type'] !== 'tool_result') continue;
    const said =
      textAt(block, 'content') ??
      listAt(block, 'content')
        .map((part) => textAt(part, 'text') ?? '')
        .join('\n');
    const toolId = textAt(block, 'tool_use_id') ?? '';
    const isError = block['is_error'] === true;
    const exit = isError ? /^Exit code (\d{1,3})(?:\n|$)/.exec(said)?.[1] : undefined; // it stands in its words alone
    io.report({
      type: 'tool.finished',
      toolId,
      output: said,
      isError,
      ...(exit === undefined ? {} : { exitCode: Number(exit) }),
    });
    const change = changing.get(toolId);
    changing.delete(toolId);
    if (change !== undefined && !isError)
      io.report({
        type: 'file.changed',
        ...change,
        // it says whether there was a file before
        ...(change.change === 'added' && /has been updated|overwr/i.test(said) ? { change: 'changed' } : {}),
      });
  }
}

function reportStatus(message: JsonObject, io: TurnIO): void {
  if (message['subtype'] !== 'api_retry') return;
  io.report({
    type: 'notice',
    text:
      `The provider answered ${numberAt(message, 'error_status') ?? 'with an error'}; attempt ` +
      `${numberAt(message, 'attempt') ?? '?'} of ${numberAt(message, 'max_retries') ?? '?'} follows.`,
  });
}

/** Told only to people who are logged in with an account; keys of the API have no windows. */
function reportLimit(info: JsonObject, limits: LimitsMemory): void {
  const name = textAt(info, 'rateLimitType') ?? 'limit';
  const used = numberAt(info, 'utilization');
  const percent =
    info['status'] === 'rejected' ? 100 : used === undefined ? null : used <= 1 ? used * 100 : used;
  limits.report([limitWindow(name, percent, minutesOf[name] ?? null, numberAt(info, 'resetsAt') ?? null)]);
}

const minutesOf: Readonly<Record<string, number>> = {
  five_hour: 300,
  seven_day: 10_080,
  seven_day_opus: 10_080,
  seven_day_sonnet: 10_080,
};

/** The turn's end from its `result` line. */
export function claudeResult(
  result: JsonObject,
  partial: string,
  limits: LimitsMemory,
  {
    isInterrupted,
    context,
  }: { readonly isInterrupted: boolean; readonly context: Pick<ContextReader, 'usage'> },
): TurnResult {
  const usage = { ...usageOf(result), ...context.usage(result) };
  const said = textAt(result, 'result') ?? '';
  const text = said === '' ? partial : said;
  if (isInterrupted) return { outcome: 'interrupted', text: partial, usage };
  if (result['subtype'] === 'success' && result['is_error'] !== true)
    return { outcome: 'succeeded', text, usage };
  const error = sentenceOf(result, said);
  const status = numberAt(result, 'api_error_status');
  const isLimited =
    status === 429 || (status === undefined && /\b(?:429|rate limit|usage limit reached)\b/i.test(said));
  if (!isLimited) return { outcome: 'failed', text: partial, error, usage };
  const resetAt = limits.resetAt();
  return {
    outcome: 'rate-limited',
    text: partial,
    error,
    usage,
    ...(resetAt === undefined ? {} : { resetAt }),
  };
}

function sentenceOf(result: JsonObject, said: string): string {
  const errors = listAt(result, 'errors')
    .filter((error) => typeof error === 'string')
    .join(' ');
  const words = firstBytes(said === '' ? errors : said, 2_000);
  switch (result['subtype']) {
    case 'error_max_turns':
      return 'claude reached its largest number of steps for one turn.';
    case 'success':
      return words === '' ? 'claude reported an error without a message.' : words;
    default:
      return words === '' ? `claude ended the turn with "${String(result['subtype'])}".` : words;
  }
}

/** Per run: each run reports its own. Input counts everything that the model read, cached or not. */
function usageOf(result: JsonObject): Usage {
  const usage = objectAt(result, 'usage');
  const cached = numberAt(usage, 'cache_read_input_tokens') ?? 0;
  const cost = numberAt(result, 'total_cost_usd');
  return {
    inputTokens:
      (numberAt(usage, 'input_tokens') ?? 0) + (numberAt(usage, 'cache_creation_input_tokens') ?? 0) + cached,
    outputTokens: numberAt(usage, 'output_tokens') ?? 0,
    cachedTokens: cached,
    ...(cost === undefined ? {} : { costUsd: cost }),
  };
}
