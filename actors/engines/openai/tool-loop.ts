import type { Json } from '../../../machines/outputs.js';
import type { TurnIO, TurnResult, Usage } from '../engine.js';
import { toolMessage, type WireCall, type WireMessage } from './conversation.js';
import type { Chunk, Endpoint } from './endpoint.js';
import type { Prices } from './options.js';
import type { ToolBox } from './tools.js';

/**
 * One turn with a model: it answers, its tools are called, it is told what they said, until it has nothing
 * more to call.
 */
export interface ToolLoop {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly tools: ToolBox;
  readonly io: TurnIO;
  readonly signal: AbortSignal;
  /** Called whenever something arrived. */
  readonly heard: () => void;
  readonly model: string;
  readonly effort: string | undefined;
  readonly messages: readonly WireMessage[];
  readonly roundsMax: number;
  readonly prices: Prices | undefined;
  /** What is being said, also when the turn ends in the middle. */
  readonly said: { text: string };
}

export async function runToolLoop(loop: ToolLoop): Promise<TurnResult> {
  const { name, endpoint, tools, io, model, effort, roundsMax, prices, said } = loop;
  const messages = [...loop.messages];
  let usage: Usage | undefined;
  const result = (end: TurnResult): TurnResult =>
    usage === undefined ? end : { ...end, usage: priced(usage, prices) };
  for (let round = 1; round <= roundsMax; round += 1) {
    const answer = await heardAnswer(
      await endpoint.stream({ model, effort, messages, tools: tools.offered }),
      loop,
    );
    usage = sum(usage, answer.usage);
    if (usage !== undefined) io.report({ type: 'usage', usage: priced(usage, prices) });
    if (answer.finish === 'length')
      return result({
        outcome: 'failed',
        text: answer.text,
        error: `${name} reached the largest length of an answer.`,
      });
    if (answer.finish === 'content_filter')
      return result({
        outcome: 'failed',
        text: answer.text,
        error: `${name} held its answer back (content filter).`,
      });
    if (answer.calls.length === 0) {
      if (answer.finish === undefined)
        return result({
          outcome: 'failed',
          text: answer.text,
          error: `${name} ended before its answer was complete.`,
        });
      return result(
        answer.text === ''
          ? { outcome: 'failed', text: '', error: `${name} returned an empty answer.` }
          : { outcome: 'succeeded', text: answer.text },
      );
    }
    messages.push({ role: 'assistant', content: answer.text, tool_calls: answer.calls });
    for (const call of answer.calls) messages.push(await called(call, tools, io));
    loop.heard();
  }
  return result({
    outcome: 'failed',
    text: said.text,
    error: `${name} called tools ${roundsMax} times without finishing.`,
  });
}

interface Answer {
  readonly text: string;
  readonly calls: readonly WireCall[];
  readonly finish: string | undefined;
  readonly usage: Usage | undefined;
}

const callsMax = 32;
const argumentsCharactersMax = 1024 * 1024;

/** Reads one answer as it comes. Calls arrive in pieces, by their place. */
async function heardAnswer(
  stream: AsyncIterable<Chunk>,
  { io, heard, said, signal }: ToolLoop,
): Promise<Answer> {
  const calls = new Map<number, { id: string; name: string; words: string }>();
  let finish: string | undefined;
  let usage: Usage | undefined;
  said.text = '';
  for await (const chunk of stream) {
    heard();
    usage = usageOf(chunk) ?? usage;
    const choice = chunk.choices?.[0]; // some endpoints send chunks without choices, whatever the types say
    if (choice === undefined) continue;
    finish = choice.finish_reason ?? finish;
    const piece = choice.delta?.content;
    if (typeof piece === 'string' && piece !== '') {
      said.text += piece;
      io.report({ type: 'text', text: piece });
    }
    for (const part of choice.delta?.tool_calls ?? []) {
      const index = part.index ?? calls.size;
      const call = calls.get(index) ?? { id: '', name: '', words: '' };
      calls.set(index, call);
      if (part.id) call.id = part.id;
      call.name += part.function?.name ?? '';
      call.words += part.function?.arguments ?? '';
      if (calls.size > callsMax || call.words.length > argumentsCharactersMax)
        throw new Error('The model called more than may be called at once.');
    }
  }
  signal.throwIfAborted(); // the SDK ends an aborted stream as if it were complete
  const made = [...calls.entries()]
    .sort(([one], [other]) => one - other)
    .map(([index, { id, name, words }]): WireCall => ({
      id: id === '' ? `call_${index}` : id,
      type: 'function',
      function: { name, arguments: words === '' ? '{}' : words },
    }));
  return { text: said.text, calls: made, finish, usage };
}

async function called(
  { id, function: { name, arguments: words } }: WireCall,
  tools: ToolBox,
  io: TurnIO,
): Promise<WireMessage> {
  io.report({ type: 'tool.started', toolId: id, tool: name, input: words });
  const input = objectOf(words);
  const { text, isError } =
    input === undefined
      ? { isError: true, text: 'The arguments are not a JSON object. Correct them and call again.' }
      : await tools.call(name, input);
  io.report({ type: 'tool.finished', toolId: id, output: text, isError });
  return toolMessage(id, text);
}

function objectOf(words: string): Readonly<Record<string, Json>> | undefined {
  try {
    const value: unknown = JSON.parse(words);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, Json>)
      : undefined; // parsed from JSON
  } catch {
    return undefined;
  }
}

/** Told once, in the last chunk; some endpoints count up in every chunk, so the last word counts. */
function usageOf({ usage }: Chunk): Usage | undefined {
  if (usage === undefined || usage === null) return undefined;
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    contextTokens: (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0),
  };
}

function sum(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const of = (member: 'inputTokens' | 'outputTokens' | 'cachedTokens'): number =>
    (one[member] ?? 0) + (other[member] ?? 0);
  return {
    inputTokens: of('inputTokens'),
    outputTokens: of('outputTokens'),
    cachedTokens: of('cachedTokens'),
    ...(other.contextTokens !== undefined && { contextTokens: other.contextTokens }),
  };
}

/** Tokens that were cached count among the input, at their own price where there is one. */
function priced(usage: Usage, prices: Prices | undefined): Usage {
  if (prices === undefined) return usage;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.inputTokens ?? 0);
  const fresh = (usage.inputTokens ?? 0) - cached;
  return {
    ...usage,
    costUsd:
      (fresh * prices.input +
        cached * (prices.cachedInput ?? prices.input) +
        (usage.outputTokens ?? 0) * prices.output) /
      1_000_000,
  };
}
