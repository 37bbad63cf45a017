import type { Answer } from '../../client/index.js';
import type { GatewayEvent } from '../../client/events.js';
import type { Message } from './session.js';
import type { ToolUse } from './parts/tool-card.js';

/**
 * What the agent says and does in the turn that runs. It comes in pieces that are sent once; who comes late, or has
 * missed some, asks for all of it and goes on from there.
 */
export interface Speech {
  /** Of the message that will hold it. */
  readonly messageId: string | undefined;
  readonly text: string;
  /** Position in all text of the turn at which `text` ends. */
  readonly end: number;
  /** From this position on nothing is missing in `text`; above 0 there is an ellipsis before it. */
  readonly wholeFrom: number;
  readonly tools: readonly ToolUse[];
  /** When the last of it came, by the gateway's clock. */
  readonly at: number | undefined;
}

export const silence: Speech = {
  messageId: undefined,
  text: '',
  end: 0,
  wholeFrom: 0,
  tools: [],
  at: undefined,
};

/** `offset` says where a text belongs: what was missed shows as an ellipsis, what comes twice is said once. */
export function spoken(before: Speech, payload: GatewayEvent['payload'], at: number): Speech {
  const { type, messageId, content, offset, toolName, toolId } = payload;
  const mine =
    typeof messageId === 'string' && before.messageId !== undefined && messageId !== before.messageId
      ? silence
      : before;
  const speech = { ...mine, at, messageId: typeof messageId === 'string' ? messageId : mine.messageId };
  const said = typeof content === 'string' ? content : '';
  if (type === 'text') {
    const from = typeof offset === 'number' ? offset : mine.end;
    const end = from + said.length;
    if (end <= mine.end) return speech;
    if (from > mine.end) return { ...speech, text: `${mine.text}…${said}`, end, wholeFrom: from };
    return { ...speech, text: mine.text + said.slice(mine.end - from), end };
  }
  const id = typeof toolId === 'string' ? toolId : `${mine.tools.length}`;
  if (type === 'tool_use') {
    const use: ToolUse = {
      id,
      tool: typeof toolName === 'string' ? toolName : 'Tool',
      input: said,
      output: undefined,
      state: 'running',
      tookMs: undefined,
      exit: undefined,
    };
    return { ...speech, tools: [...mine.tools.filter((one) => one.id !== id), use].slice(-toolsMax) };
  }
  if (type === 'tool_result')
    return {
      ...speech,
      tools: mine.tools.map((one) => (one.id === id ? { ...one, state: 'done', output: said } : one)),
    };
  return speech;
}

const toolsMax = 200;

export type Words = Answer<'/api/sessions/{id}/words', 'get'>;

/** All that was said until the gateway was asked, and what was heard since then behind it. */
export function caughtUp(before: Speech, { messageId, text, end, at }: Words): Speech {
  if (messageId === null || at === null) return before;
  const saidAt = Date.parse(at);
  if (before.messageId !== undefined && before.messageId !== messageId)
    // One of the two is of a turn that is over
    return (before.at ?? 0) > saidAt ? before : { ...silence, messageId, text, end, at: saidAt };
  const speech = { ...before, messageId, wholeFrom: 0, at: Math.max(saidAt, before.at ?? 0) };
  if (end >= before.end) return { ...speech, text, end };
  if (end < before.wholeFrom) return before;
  return { ...speech, text: text + before.text.slice(before.text.length - (before.end - end)) };
}

/**
 * Without what is a message by now: before an agent uses a tool what it said is stored, and shown there. What cannot be
 * found is said twice rather than not at all.
 */
export function unsaid({ messageId, text }: Speech, messages: readonly Message[]): string {
  let from = 0;
  for (const { meta, content } of messages) {
    const { kind, turnId } = (meta ?? {}) as { readonly kind?: unknown; readonly turnId?: unknown };
    if (kind !== 'remark' || content === '' || `${String(turnId)}:answer` !== messageId) continue;
    const found = text.indexOf(content, from);
    if (found >= 0) from = found + content.length;
  }
  return text.slice(from).trimStart();
}
