import type { Json } from '../../../machines/outputs.js';
import { isObject, listAt, numberAt, objectAt, textAt, type JsonObject } from '../agent/lines.js';
import type { TurnIO, Usage } from '../engine.js';
import type { ContextUse } from '../turn-events.js';
import { firstBytes } from '../process/output.js';
import type { TurnReport } from '../turn-events.js';

/**
 * Reads the updates of one conversation: text and tools for watchers, and the answer so far. What an agent
 * replays while it loads an old conversation is not said now, so nothing counts before `begin`.
 */
export interface AcpParser {
  /** From here on it is this turn of this conversation. */
  begin(sessionId: string): void;
  take(params: JsonObject): void;
  /**
   * Resolves when nothing was told for a moment: some agents go on replaying after they said that the
   * conversation is loaded.
   */
  quiet(): Promise<void>;
  /** The last thing that was said: after a tool the agent begins again. */
  text(): string;
  /** With how full the context is; in place of what was counted `answered`, where the answer said it. */
  usage(answered?: Usage): Usage | undefined;
  /** What the agent told about a tool call that it now asks for. */
  toolCall(id: string): JsonObject;
}

const toolsMax = 200;
const quietMs = 200;
const quietWaitsMax = 100;

export function acpParser(io: TurnIO): AcpParser {
  let sessionId: string | undefined;
  let text = '';
  let isAfterTool = false;
  let usage: Usage | undefined;
  let context: ContextUse | undefined;
  let heard = 0;
  const tools = new Map<string, JsonObject>();

  const count = (used: Usage | undefined): void => {
    if (used === undefined) return;
    usage = used;
    io.report({ type: 'usage', usage: { ...usage, ...context } });
  };
  const say = (content: JsonObject): void => {
    const piece = textAt(content, 'text');
    if (piece === undefined || piece === '') return;
    if (isAfterTool) text = '';
    isAfterTool = false;
    text += piece;
    io.report({ type: 'text', text: piece });
  };
  const tool = (update: JsonObject): void => {
    const id = textAt(update, 'toolCallId') ?? '';
    // ids are the model's and may come again: what an earlier call was must not speak for a later one
    const isNew = update['sessionUpdate'] === 'tool_call' || !tools.has(id);
    const known = {
      ...(isNew ? {} : tools.get(id)),
      ...Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null)),
    };
    if (isNew && tools.size >= toolsMax) tools.delete(tools.keys().next().value ?? '');
    tools.set(id, known);
    isAfterTool = true;
    if (isNew)
      io.report({
        type: 'tool.started',
        toolId: id,
        tool: toolName(known),
        title: textAt(known, 'title') ?? '',
        input: JSON.stringify(known['rawInput'] ?? null),
      });
    const status = textAt(update, 'status');
    if (status !== 'completed' && status !== 'failed') return;
    tools.delete(id);
    io.report({
      type: 'tool.finished',
      toolId: id,
      output: resultOf(known),
      isError: status === 'failed',
    });
    if (status === 'completed') for (const change of changesOf(known)) io.report(change);
  };

  return {
    text: () => text,
    usage: (answered) => {
      const used = answered ?? usage;
      return used === undefined && context === undefined ? undefined : { ...used, ...context };
    },
    toolCall: (id) => tools.get(id) ?? {},
    begin(id) {
      sessionId = id;
    },
    async quiet() {
      for (let waits = 0, before = -1; waits < quietWaitsMax && before !== heard; waits += 1) {
        before = heard;
        await new Promise((resolve) => setTimeout(resolve, quietMs));
      }
    },
    take(params) {
      heard += 1;
      if (sessionId === undefined || params['sessionId'] !== sessionId) return;
      const update = objectAt(params, 'update');
      switch (update['sessionUpdate']) {
        case 'agent_message_chunk':
          count(usageOf(objectAt(objectAt(update, '_meta'), 'usage')));
          return say(objectAt(update, 'content'));
        case 'agent_thought_chunk':
          return io.report({
            type: 'thinking',
            text: textAt(objectAt(update, 'content'), 'text') ?? '',
          });
        case 'tool_call':
        case 'tool_call_update':
          return tool(update);
        case 'usage_update':
          context = contextOf(update) ?? context;
          if (context !== undefined) io.report({ type: 'usage', usage: { ...usage, ...context } });
          return;
        case 'notice':
          return io.report({
            type: 'notice',
            text: firstBytes(textAt(update, 'message') ?? textAt(update, 'text') ?? '', 2_048),
          });
        default:
          return;
      }
    },
  };
}

/** The tool's own name where the agent tells it, else its kind: `execute`, `edit`, `read` … */
export const toolName = (call: JsonObject): string => textAt(call, 'name') ?? textAt(call, 'kind') ?? 'other';

/** What it shows as a difference of texts. */
function changesOf(call: JsonObject): readonly TurnReport[] {
  return listAt(call, 'content').flatMap((part): readonly TurnReport[] => {
    const path = textAt(part, 'path');
    if (textAt(part, 'type') !== 'diff' || path === undefined) return [];
    return [
      { type: 'file.changed', path, change: textAt(part, 'oldText') === undefined ? 'added' : 'changed' },
    ];
  });
}

function resultOf(call: JsonObject): string {
  const said = listAt(call, 'content')
    .map((part) => textAt(objectAt(part, 'content'), 'text') ?? textAt(part, 'path') ?? '')
    .filter((part) => part !== '');
  if (said.length > 0) return said.join('\n');
  const raw: Json | undefined = call['rawOutput'];
  return raw === undefined || raw === null ? '' : typeof raw === 'string' ? raw : JSON.stringify(raw);
}

/** Many agents tell how full the context is, and of how many tokens; an agent that does not know says 0. */
function contextOf(update: JsonObject): ContextUse | undefined {
  const [used = 0, size = 0] = [numberAt(update, 'used'), numberAt(update, 'size')];
  if (used <= 0) return undefined;
  return size > 0 ? { contextTokens: used, contextWindow: size } : { contextTokens: used };
}

/**
 * Agents tell what a prompt cost in members of their own making, or not at all: the answer's `usage`,
 * gemini's `_meta.quota`, qwen's `_meta.usage` of a chunk. A process plays one turn, so what counts up in it
 * counts this turn.
 */
export function usageOf(given: unknown): Usage | undefined {
  if (!isObject(given)) return undefined;
  const input = numberAt(given, 'inputTokens') ?? numberAt(given, 'input_tokens');
  const output = numberAt(given, 'outputTokens') ?? numberAt(given, 'output_tokens');
  if (input === undefined && output === undefined) return undefined;
  const cached =
    numberAt(given, 'cachedReadTokens') ??
    numberAt(given, 'cached_read_tokens') ??
    numberAt(given, 'cachedTokens');
  return {
    inputTokens: input ?? 0,
    outputTokens: output ?? 0,
    ...(cached === undefined ? {} : { cachedTokens: cached }),
  };
}

export function usageOfAnswer(answer: JsonObject): Usage | undefined {
  return (
    usageOf(answer['usage']) ?? usageOf(objectAt(objectAt(objectAt(answer, '_meta'), 'quota'), 'token_count'))
  );
}
