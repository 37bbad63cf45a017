import { endWithoutResult } from '../turn-result.js';
import { listAt, numberAt, objectAt, startLines, textAt, type JsonObject } from '../agent/lines.js';
import { chosenWord } from '../agent/program.js';
import { promptWithTranscript } from '../command.js';
import type { TurnIO, TurnRequest, TurnResult, Usage } from '../engine.js';
import type { LimitsMemory } from '../limits.js';
import { failed, kindOfChange } from './parser.js';
import {
  codexEnvironment,
  processSettings,
  threadSettings,
  trustSettings,
  type CodexOptions,
} from './settings.js';

/**
 * A turn by `codex exec --json`, for a codex that has no app-server: no streaming of words, no limits, and
 * nothing is asked for. What it may do without permission is bounded by codex' own sandbox instead, unless
 * everything was allowed.
 */
export async function playExec(
  bin: string,
  options: CodexOptions,
  request: TurnRequest,
  io: TurnIO,
  limits: LimitsMemory,
): Promise<TurnResult> {
  if (request.nativeId !== null && /^[0-9a-f-]{36}$/i.test(request.nativeId)) {
    const result = await play(bin, options, request, request.nativeId, io, limits);
    if (result !== 'unknown session') return result;
    io.report({
      type: 'notice',
      text: 'The agent no longer has this conversation; it continues from the stored transcript.',
    });
  }
  const prompt = promptWithTranscript(request.prompt, request.transcript, 256 * 1024);
  const result = await play(bin, options, { ...request, prompt }, undefined, io, limits);
  return result === 'unknown session'
    ? { outcome: 'failed', text: '', error: 'codex could not begin a conversation.' }
    : result;
}

async function play(
  bin: string,
  options: CodexOptions,
  request: TurnRequest,
  resume: string | undefined,
  io: TurnIO,
  limits: LimitsMemory,
): Promise<TurnResult | 'unknown session'> {
  let text = '';
  let last: JsonObject | undefined;
  let isKnown = false;
  const child = await startLines(
    bin,
    execArguments(options, request, { resume, trust: await trustSettings(request) }),
    {
      request,
      env: codexEnvironment(options, request),
      stdin: request.prompt,
      onMessage(message, self) {
        const item = objectAt(message, 'item');
        switch (message['type']) {
          case 'thread.started': {
            const id = textAt(message, 'thread_id');
            isKnown = true;
            if (id !== undefined && id !== resume) io.report({ type: 'conversation.named', nativeId: id });
            return;
          }
          case 'item.started':
            return reportUse(item, io);
          case 'item.completed': {
            if (item['type'] !== 'agent_message') return reportResult(item, io);
            text = textAt(item, 'text') ?? '';
            return io.report({ type: 'text', text });
          }
          case 'turn.completed':
          case 'turn.failed':
            last = message;
            return self.finish();
          default:
            return;
        }
      },
    },
    io,
  );
  const ended = await child.done;
  if (last === undefined && resume !== undefined && !isKnown && ended.ended === null)
    return 'unknown session';
  if (last === undefined) return endWithoutResult(ended, 'codex', text);
  if (last['type'] === 'turn.failed')
    return { ...failed(textAt(objectAt(last, 'error'), 'message') ?? '', '', limits), text };
  // counted over the whole conversation; of a resumed one no one here knows what was counted before
  return {
    outcome: 'succeeded',
    text,
    ...(resume === undefined ? { usage: usageOf(objectAt(last, 'usage')) } : {}),
  };
}

/**
 * Values stand behind their keys, as strings of TOML: none of them can be an option. The prompt goes over
 * stdin.
 */
function execArguments(
  options: CodexOptions,
  request: TurnRequest,
  { resume, trust }: { readonly resume: string | undefined; readonly trust: readonly string[] },
): readonly string[] {
  const model = chosenWord(request.model ?? options.model);
  const effort = chosenWord(request.effort ?? options.effort);
  const sandbox =
    options.sandbox ?? (options.allow?.includes('*') === true ? 'danger-full-access' : 'workspace-write');
  const settings = {
    ...threadSettings(options, request),
    approval_policy: 'never',
    sandbox_mode: sandbox,
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { model_reasoning_effort: effort }),
  };
  return [
    ...(options.args ?? []),
    'exec',
    ...(resume === undefined ? [] : ['resume']),
    '--json',
    '--skip-git-repo-check',
    ...processSettings,
    ...trust,
    ...leavesOf(settings).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`]),
    ...(resume === undefined ? [] : [resume]),
    '-',
  ];
}

function leavesOf(value: unknown, path = ''): readonly (readonly [key: string, value: unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, path === '' ? name : `${path}.${name}`),
  );
}

function reportUse(item: JsonObject, io: TurnIO): void {
  const name = textAt(item, 'type');
  if (name === 'command_execution' || name === 'mcp_tool_call')
    io.report({
      type: 'tool.started',
      toolId: textAt(item, 'id') ?? '',
      tool: name,
      input: textAt(item, 'command') ?? textAt(item, 'tool') ?? '',
    });
}

function reportResult(item: JsonObject, io: TurnIO): void {
  const said =
    textAt(item, 'aggregated_output') ??
    listAt(objectAt(item, 'result'), 'content')
      .map((part) => textAt(part, 'text') ?? '')
      .join('\n');
  const toolId = textAt(item, 'id') ?? '';
  if (item['type'] === 'file_change') return reportChanges(item, io);
  if (item['type'] === 'reasoning') return io.report({ type: 'thinking', text: textAt(item, 'text') ?? '' });
  const exitCode = numberAt(item, 'exit_code');
  if (item['type'] === 'command_execution' || item['type'] === 'mcp_tool_call')
    io.report({
      type: 'tool.finished',
      toolId,
      output: said,
      isError: item['status'] === 'failed',
      ...(exitCode === undefined ? {} : { exitCode }),
    });
}

function reportChanges(item: JsonObject, io: TurnIO): void {
  for (const change of listAt(item, 'changes')) {
    const path = textAt(change, 'path');
    if (path !== undefined)
      io.report({ type: 'file.changed', path, change: kindOfChange(textAt(change, 'kind')) });
  }
}

const usageOf = (counts: JsonObject): Usage => ({
  inputTokens: numberAt(counts, 'input_tokens') ?? 0,
  outputTokens: numberAt(counts, 'output_tokens') ?? 0,
  cachedTokens: numberAt(counts, 'cached_input_tokens') ?? 0,
});
