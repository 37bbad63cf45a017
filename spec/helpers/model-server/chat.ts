import { contentText, isAside, listOf, textOf, type Body } from './parser.js';
import { pieces, type ModelTurn } from './script.js';
import type { Wire } from './server.js';

/** OpenAI Chat Completions: `POST /v1/chat/completions`, chunks and a `[DONE]`. */
export const chat: Wire = {
  path: /^(?:\/v1)?\/chat\/completions$/,
  read(body): ModelTurn {
    const messages = listOf(body['messages']);
    const said = messages
      .filter(({ role, content }) => role === 'user' && !isAside(contentText(content)))
      .map(({ content }) => contentText(content));
    const newest = messages.findLastIndex(({ role }) => role === 'user');
    return {
      wire: 'chat',
      model: textOf(body['model']),
      said,
      toolResults: messages
        .slice(newest + 1)
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => contentText(content)),
      tools: listOf(body['tools']).map((tool) => textOf((tool['function'] as Body | undefined)?.['name'])),
      ...(typeof body['reasoning_effort'] === 'string' ? { effort: body['reasoning_effort'] } : {}),
    };
  },
  *events({ text = '', tool, hold }, { model }) {
    const chunk = (delta: Body, finish: string | null = null): readonly [undefined, unknown] => [
      undefined,
      {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      },
    ];
    yield chunk({ role: 'assistant', content: '' });
    for (const piece of pieces(text)) yield chunk({ content: piece });
    if (hold === true) return;
    if (tool !== undefined) {
      yield chunk({
        tool_calls: [
          { index: 0, id: 'call_1', type: 'function', function: { name: tool.name, arguments: '' } },
        ],
      });
      for (const piece of pieces(JSON.stringify(tool.input)))
        yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    }
    yield chunk({}, tool === undefined ? 'stop' : 'tool_calls');
    yield [
      undefined,
      { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices: [], usage },
    ];
    yield [undefined, '[DONE]'];
  },
  whole: ({ text = '' }, { model }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage,
  }),
  fault: (status) => ({ error: { message: `scripted ${status}`, type: 'scripted', code: null } }),
};

const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40 },
};
