import { contentText, isAside, listOf, textOf, type Body } from './parser.js';
import { pieces, type ModelTurn } from './script.js';
import type { Wire } from './server.js';

/** OpenAI Responses: `POST /v1/responses`, events from `response.created` to `response.completed`. */
export const responses: Wire = {
  path: /^(?:\/v1)?\/responses$/,
  read(body): ModelTurn {
    const input = listOf(body['input']);
    const isSaid = ({ type, role, content }: Body): boolean =>
      role === 'user' && (type === 'message' || type === undefined) && !isAside(contentText(content));
    const newest = input.findLastIndex(isSaid);
    const effort = (body['reasoning'] as Body | null | undefined)?.['effort'];
    return {
      wire: 'responses',
      model: textOf(body['model']),
      said: input.filter(isSaid).map(({ content }) => contentText(content)),
      toolResults: input
        .slice(newest + 1)
        .filter(({ type }) => type === 'function_call_output')
        .map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output))),
      tools: listOf(body['tools']).flatMap((tool) => toolNames(tool)),
      ...(typeof effort === 'string' ? { effort } : {}),
    };
  },
  *events({ text = '', tool, hold }, { model }) {
    const event = (type: string, rest: Body): readonly [string, unknown] => [type, { type, ...rest }];
    const id = `resp_${Date.now()}`;
    yield event('response.created', {
      response: { id, object: 'response', model, status: 'in_progress', output: [] },
    });
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    };
    if (text !== '') {
      yield event('response.output_item.added', {
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      });
      for (const delta of pieces(text))
        yield event('response.output_text.delta', {
          item_id: 'msg_1',
          output_index: 0,
          content_index: 0,
          delta,
        });
      if (hold === true) return;
      yield event('response.output_item.done', { output_index: 0, item: message });
    }
    const call = tool === undefined ? undefined : functionCall(tool.name, JSON.stringify(tool.input));
    if (call !== undefined) yield event('response.output_item.done', { output_index: 0, item: call });
    yield event('response.completed', {
      response: {
        id,
        object: 'response',
        model,
        status: 'completed',
        output: call === undefined ? [message] : [call],
        usage,
      },
    });
  },
  whole: ({ text = '' }, { model }) => ({
    id: 'resp_1',
    object: 'response',
    model,
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
    usage,
  }),
  fault: (status) => ({
    error: {
      message: `scripted ${status}`,
      type: status === 429 ? 'rate_limit_exceeded' : 'scripted',
      code: null,
    },
  }),
};

/** Tools of a server stand in a namespace of their own: `troupe/list_todos`. */
function toolNames(tool: Body): readonly string[] {
  if (tool['type'] === 'namespace')
    return listOf(tool['tools']).map(({ name }) => `${textOf(tool['name'])}/${textOf(name)}`);
  return [textOf(tool['name'])];
}

function functionCall(name: string, argumentsText: string): Body {
  const [namespace, short] = name.includes('/')
    ? [name.slice(0, name.indexOf('/')), name.slice(name.indexOf('/') + 1)]
    : [undefined, name];
  return {
    type: 'function_call',
    id: 'fc_1',
    call_id: `call_${Date.now()}`,
    name: short,
    arguments: argumentsText,
    status: 'completed',
    ...(namespace === undefined ? {} : { namespace }),
  };
}

const usage = {
  input_tokens: 100,
  output_tokens: 20,
  total_tokens: 120,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens_details: { reasoning_tokens: 0 },
};
