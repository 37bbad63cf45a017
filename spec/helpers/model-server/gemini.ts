import { isAside, listOf, textOf, type Body } from './parser.js';
import { pieces, type ModelTurn } from './script.js';
import type { Wire } from './server.js';

/** Gemini: `POST /v1beta/models/M:streamGenerateContent?alt=sse`. */
export const gemini: Wire = {
  path: /^\/v1(?:beta)?\/models\/[^/]+:(?:streamGenerateContent|generateContent)$/,
  isStream: (path) => path.endsWith(':streamGenerateContent'),
  read(body, path): ModelTurn {
    const contents = listOf(body['contents']);
    const texts = ({ parts }: Body): string =>
      listOf(parts)
        .map(({ text }) => textOf(text))
        .filter((text) => text !== '' && !isAside(text))
        .join('\n');
    const isSaid = (content: Body): boolean =>
      content['role'] === 'user' &&
      texts(content) !== '' &&
      !listOf(content['parts']).some((part) => 'functionResponse' in part);
    const newest = contents.findLastIndex(isSaid);
    return {
      wire: 'gemini',
      model: /models\/([^/:]+)/.exec(path)?.[1] ?? '',
      said: contents.filter(isSaid).map(texts),
      toolResults: contents
        .slice(newest + 1)
        .flatMap(({ parts }) => listOf(parts))
        .filter((part) => 'functionResponse' in part)
        .map((part) => JSON.stringify((part['functionResponse'] as Body)['response'])),
      tools: listOf(body['tools'])
        .flatMap((tool) => listOf(tool['functionDeclarations']))
        .map(({ name }) => textOf(name)),
    };
  },
  *events({ text = '', tool, hold }) {
    for (const piece of pieces(text)) yield [undefined, answer([{ text: piece }])];
    if (hold === true) return;
    yield [
      undefined,
      answer(
        tool === undefined ? [{ text: '' }] : [{ functionCall: { name: tool.name, args: tool.input } }],
        'STOP',
      ),
    ];
  },
  whole: ({ text = '' }) => answer([{ text }], 'STOP'),
  fault: (status) => ({
    error: {
      code: status,
      message: `scripted ${status}`,
      status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL',
    },
  }),
};

const answer = (parts: readonly Body[], finish?: string): Body => ({
  candidates: [
    {
      content: { role: 'model', parts },
      index: 0,
      ...(finish === undefined ? {} : { finishReason: finish }),
    },
  ],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
});
