import { contentText, isAside, listOf, textOf, type Body } from './parser.js';
import { pieces, type ModelReply, type ModelTurn } from './script.js';
import type { Wire } from './server.js';

/** Anthropic Messages: `POST /v1/messages`, server-sent events from `message_start` to `message_stop`. */
export const anthropic: Wire = {
  path: /^\/v1\/messages$/,
  read(body): ModelTurn {
    const messages = listOf(body['messages']);
    const said = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => userText(content))
      .filter((text) => text !== '');
    const newest = messages.findLastIndex(
      ({ role, content }) => role === 'user' && userText(content) !== '' && results(content).length === 0,
    );
    return {
      wire: 'anthropic',
      model: textOf(body['model']),
      said,
      toolResults: messages.slice(newest + 1).flatMap(({ content }) => results(content)),
      tools: listOf(body['tools']).map(({ name }) => textOf(name)),
      ...(effortOf(body) === '' ? {} : { effort: effortOf(body) }),
    };
  },
  *events({ text = '', tool, hold }: ModelReply, { model }) {
    const event = (type: string, rest: Body): readonly [string, unknown] => [type, { type, ...rest }];
    yield event('message_start', {
      message: {
        id: `msg_${Date.now()}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 100, output_tokens: 1 },
      },
    });
    yield event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for (const piece of pieces(text))
      yield event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } });
    if (hold === true) return;
    yield event('content_block_stop', { index: 0 });
    if (tool !== undefined) {
      yield event('content_block_start', {
        index: 1,
        content_block: { type: 'tool_use', id: `toolu_${Date.now()}`, name: tool.name, input: {} },
      });
      yield event('content_block_delta', {
        index: 1,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) },
      });
      yield event('content_block_stop', { index: 1 });
    }
    yield event('message_delta', {
      delta: { stop_reason: tool === undefined ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    });
    yield event('message_stop', {});
  },
  whole: ({ text = '' }, { model }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20 },
  }),
  fault: (status) => ({
    type: 'error',
    error: { type: kinds[status] ?? 'api_error', message: `scripted ${status}` },
  }),
};

const kinds: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function userText(content: unknown): string {
  if (typeof content === 'string') return isAside(content) ? '' : content;
  return listOf(content)
    .filter(({ type, text }) => type === 'text' && !isAside(textOf(text)))
    .map(({ text }) => textOf(text))
    .join('\n');
}

const results = (content: unknown): readonly string[] =>
  listOf(content)
    .filter(({ type }) => type === 'tool_result')
    .map((part) => contentText(part['content']));

const effortOf = (body: Body): string => textOf((body['output_config'] as Body | undefined)?.['effort']);
