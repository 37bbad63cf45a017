import type { TurnImage, TurnRequest } from '../engine.js';
import { firstBytes } from '../process/output.js';

/** A message of the wire, as far as this engine writes them. */
export type WireMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly WirePart[] }
  | { readonly role: 'assistant'; readonly content: string; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

type WirePart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

export interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

const pastBytesMax = 256 * 1024;

/**
 * What the model is told: instructions, as much of the past as fits (the newest of it), and the new prompt.
 */
export function conversationOf(
  { prompt, transcript, images = [] }: Pick<TurnRequest, 'prompt' | 'transcript' | 'images'>,
  instructions: string,
): readonly WireMessage[] {
  const past: WireMessage[] = [];
  let bytes = 0;
  for (const { role, content } of [...transcript].reverse()) {
    const text = role === 'notification' ? quoted(content) : content;
    bytes += Buffer.byteLength(text);
    if (bytes > pastBytesMax) {
      const left = transcript.length - past.length;
      past.unshift({ role: 'system', content: `(${left} earlier message${left === 1 ? '' : 's'} left out)` });
      break;
    }
    past.unshift({ role: role === 'assistant' ? 'assistant' : 'user', content: text });
  }
  return [
    ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
    ...past,
    {
      role: 'user',
      content: images.length === 0 ? prompt : [{ type: 'text', text: prompt }, ...images.map(part)],
    },
  ];
}

const part = ({ mimeType, data }: TurnImage): WirePart => ({
  type: 'image_url',
  image_url: { url: `data:${mimeType};base64,${data}` },
});

/** What other sessions told is news, not a person's word: as data, line by line. */
const quoted = (content: string): string =>
  ['[notification]', ...content.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => `> ${line}`)].join('\n');

/** A tool's answer as the model gets it. */
export const toolMessage = (id: string, text: string): WireMessage => ({
  role: 'tool',
  tool_call_id: id,
  content:
    Buffer.byteLength(text) <= toolBytesMax
      ? text
      : `${firstBytes(text, toolBytesMax)}\n… cut here: ask for less.`,
});

const toolBytesMax = 64 * 1024;
