import type { Json } from '../../../machines/outputs.js';
import { listAt, numberAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import type { TurnIO, TurnResult, Usage } from '../engine.js';
import type { ContextUse } from '../turn-events.js';
import { limitWindow, type LimitsMemory } from '../limits.js';
import { firstBytes } from '../process/output.js';

/**
 * Reads what `codex app-server` tells of a turn: streaming text, the tools that it uses, tokens, limits, and
 * the turn's end.
 */
export interface CodexParser {
  take(method: string, params: JsonObject): void;
  /** The answer so far, for a turn that ends in the middle. */
  text(): string;
  usage(): Usage | undefined;
  /** Something that it works on, by id: what an approval is asked for. */
  item(id: string): JsonObject | undefined;
  /** The turn as its last event tells it, once it was there. */
  ended(): JsonObject | undefined;
}

const itemsMax = 64;

export function codexParser(io: TurnIO, limits: LimitsMemory): CodexParser {
  let text = '';
  let speaking: string | undefined;
  let last: JsonObject | undefined;
  let turnId: string | undefined;
  let first: Tokens | undefined;
  let total: Tokens | undefined;
  let context: ContextUse = {};
  const items = new Map<string, JsonObject>();

  function remember(item: JsonObject): void {
    items.set(textAt(item, 'id') ?? '', item);
    const [oldest] = items.keys();
    if (items.size > itemsMax && oldest !== undefined) items.delete(oldest);
  }

  return {
    text: () => text,
    item: (id) => items.get(id),
    ended: () => last,
    usage: () =>
      total === undefined ? undefined : { ...usageBetween(first ?? noTokens, total), ...context },
    take(method, params) {
      switch (method) {
        case 'turn/started':
          turnId = textAt(objectAt(params, 'turn'), 'id');
          return;
        case 'item/agentMessage/delta': {
          const piece = textAt(params, 'delta') ?? '';
          const message = textAt(params, 'itemId');
          if (message !== speaking) text = '';
          speaking = message;
          text += piece;
          return io.report({ type: 'text', text: piece });
        }
        case 'item/started': {
          const item = objectAt(params, 'item');
          remember(item);
          return reportUse(item, io);
        }
        case 'item/reasoning/summaryTextDelta':
        case 'item/reasoning/textDelta':
          return io.report({ type: 'thinking', text: textAt(params, 'delta') ?? '' });
        case 'item/completed': {
          const item = objectAt(params, 'item');
          if (item['type'] === 'agentMessage') text = textAt(item, 'text') ?? text;
          return reportResult(item, io);
        }
        case 'thread/tokenUsage/updated': {
          // told once more when a conversation is resumed: those were counted in the turn that spent them
          if (turnId === undefined || textAt(params, 'turnId') !== turnId) return;
          const usage = objectAt(params, 'tokenUsage');
          total = tokensOf(objectAt(usage, 'total'));
          const last = tokensOf(objectAt(usage, 'last'));
          first ??= less(total, last);
          context = contextOf(last, numberAt(usage, 'modelContextWindow') ?? 0);
          return io.report({ type: 'usage', usage: { ...usageBetween(first, total), ...context } });
        }
        case 'account/rateLimits/updated':
          return reportLimits(objectAt(params, 'rateLimits'), limits);
        case 'error':
          if (params['willRetry'] === true)
            io.report({
              type: 'notice',
              text: `${textAt(objectAt(params, 'error'), 'message') ?? 'The provider failed'}; codex tries again.`,
            });
          return;
        case 'warning':
        case 'configWarning':
          return io.report({
            type: 'notice',
            text: firstBytes(textAt(params, 'message') ?? textAt(params, 'summary') ?? '', 1_000),
          });
        case 'turn/completed':
          last = objectAt(params, 'turn');
          return;
        default:
          return;
      }
    },
  };
}

/** Counters of a whole conversation, never of a turn: a turn is the difference of two. */
interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

const noTokens: Tokens = { input: 0, cached: 0, output: 0 };
const tokensOf = (reported: JsonObject): Tokens => ({
  input: numberAt(reported, 'inputTokens') ?? 0,
  cached: numberAt(reported, 'cachedInputTokens') ?? 0,
  output: numberAt(reported, 'outputTokens') ?? 0,
});
const less = (one: Tokens, other: Tokens): Tokens => ({
  input: Math.max(0, one.input - other.input),
  cached: Math.max(0, one.cached - other.cached),
  output: Math.max(0, one.output - other.output),
});

/** The last request alone says how large the context is: the others read the same again. */
const contextOf = ({ input, output }: Tokens, window: number): ContextUse => ({
  contextTokens: input + output,
  ...(window > 0 && { contextWindow: window }),
});

function usageBetween(before: Tokens, after: Tokens): Usage {
  const { input, cached, output } = less(after, before);
  return { inputTokens: input, outputTokens: output, cachedTokens: cached };
}

function reportUse(item: JsonObject, io: TurnIO): void {
  const [name, input] = useOf(item);
  if (name !== undefined)
    io.report({
      type: 'tool.started',
      toolId: textAt(item, 'id') ?? '',
      tool: name,
      input: typeof input === 'string' ? input : JSON.stringify(input ?? null),
    });
}

function useOf(item: JsonObject): readonly [name?: string, input?: Json] {
  switch (item['type']) {
    case 'commandExecution':
      return ['commandExecution', textAt(item, 'command') ?? ''];
    case 'fileChange':
      return ['fileChange', listAt(item, 'changes').map((change) => textAt(change, 'path') ?? '')];
    case 'mcpToolCall':
      return [`${textAt(item, 'server') ?? ''}/${textAt(item, 'tool') ?? ''}`, item['arguments'] ?? null];
    case 'webSearch':
      return ['webSearch', textAt(item, 'query') ?? ''];
    default:
      return [];
  }
}

function reportResult(item: JsonObject, io: TurnIO): void {
  if (useOf(item)[0] === undefined) return;
  const said =
    textAt(item, 'aggregatedOutput') ??
    (textAt(objectAt(item, 'error'), 'message') ||
      listAt(objectAt(item, 'result'), 'content')
        .map((part) => textAt(part, 'text') ?? '')
        .join('\n')) ??
    '';
  const status = textAt(item, 'status') ?? '';
  const [exitCode, durationMs] = [numberAt(item, 'exitCode'), numberAt(item, 'durationMs')];
  io.report({
    type: 'tool.finished',
    toolId: textAt(item, 'id') ?? '',
    output: said === '' ? status : said,
    isError: status === 'failed' || status === 'declined',
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(durationMs === undefined ? {} : { durationMs }),
  });
  if (item['type'] !== 'fileChange' || status !== 'completed') return;
  for (const change of listAt(item, 'changes')) {
    const diff = textAt(change, 'diff');
    io.report({
      type: 'file.changed',
      path: textAt(change, 'path') ?? '',
      change: kindOfChange(textAt(objectAt(change, 'kind'), 'type') ?? textAt(change, 'kind')),
      ...(diff === undefined ? {} : { diff }),
    });
  }
}

/** Of codex' words for it. */
export const kindOfChange = (kind: string | undefined): 'added' | 'changed' | 'deleted' =>
  kind === 'add' ? 'added' : kind === 'delete' ? 'deleted' : 'changed';

function reportLimits(reported: JsonObject, limits: LimitsMemory): void {
  const windows = (['primary', 'secondary'] as const).flatMap((name) => {
    const window = objectAt(reported, name);
    const used = numberAt(window, 'usedPercent');
    return used === undefined
      ? []
      : [
          limitWindow(
            name,
            used,
            numberAt(window, 'windowDurationMins') ?? null,
            numberAt(window, 'resetsAt') ?? null,
          ),
        ];
  });
  if (windows.length > 0) limits.report(windows, textAt(reported, 'planType'));
}

/**
 * The turn's end from its last event. `codexErrorInfo` says which kind of error it was, where codex kept the
 * status.
 */
export function codexResult(turn: JsonObject, parser: CodexParser, limits: LimitsMemory): TurnResult {
  const usage = parser.usage();
  const rest = { text: parser.text(), ...(usage === undefined ? {} : { usage }) };
  if (turn['status'] === 'completed') return { outcome: 'succeeded', ...rest };
  if (turn['status'] === 'interrupted') return { outcome: 'interrupted', ...rest };
  const reported = objectAt(turn, 'error');
  return {
    ...failed(textAt(reported, 'message') ?? '', JSON.stringify(reported['codexErrorInfo'] ?? ''), limits),
    ...rest,
  };
}

/** A failure in codex' own words, told apart from a limit. */
export function failed(message: string, kind: string, limits: LimitsMemory): TurnResult {
  const error = message === '' ? 'codex reported an error without a message.' : firstBytes(message, 2_000);
  const isLimited =
    /usageLimitExceeded|rateLimitExceeded|"httpStatusCode":429/.test(kind) ||
    /\b429\b|hit your usage limit/i.test(message);
  if (!isLimited) return { outcome: 'failed', text: '', error };
  const resetAt = limits.resetAt();
  return { outcome: 'rate-limited', text: '', error, ...(resetAt === undefined ? {} : { resetAt }) };
}
