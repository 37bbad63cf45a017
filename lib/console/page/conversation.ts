import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { isTemporary, retryMs, said } from '../../page/ask.js';
import { client, must } from '../../page/gateway.js';
import { aboutSession, hear, hearDeltas } from './live.js';
import type { Message, Session } from './session.js';
import type { ToolUse } from './parts/tool-card.js';

/**
 * One session as it is talked with: the newest messages and as many older ones as were scrolled to, what the
 * agent says at this moment, and how the session stands. Messages are read; only the words of a running turn
 * come as deltas, and what is stored takes their place when the turn has ended.
 */
export class Conversation {
  readonly session = signal<Session | undefined>(undefined);
  readonly messages = signal<readonly Message[]>([]);
  readonly hasOlder = signal(false);
  readonly error = signal<string | undefined>(undefined);
  readonly speech = signal<Speech>(silence);
  readonly queue = signal<readonly QueueItem[]>([]);
  /** Older messages are on their way. */
  readonly reaching = signal(false);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private busy = false;
  private stale = false;
  private closed = false;

  constructor(readonly id: string) {}

  /** Begin to follow. Returns the way to stop. */
  follow(): () => void {
    const concerns = aboutSession(this.id);
    const deaf = hear((batch) => {
      if (batch.frames.some(({ event, payload }) => endings.has(event) && payload['sessionId'] === this.id))
        this.ended = true;
      if (batch.reset || concerns(batch)) this.soon();
    });
    const deafer = hearDeltas((frame) => this.hearDelta(frame));
    void this.read();
    return () => {
      this.closed = true;
      deaf();
      deafer();
      clearTimeout(this.timer);
    };
  }

  /** The turn is over: what was said aloud is stored now, and is shown from there once it was read. */
  private ended = false;

  /** What is shown may not be how it is. */
  refresh(): void {
    this.soon();
  }

  private soon(delayMs = 60): void {
    this.timer ??= setTimeout(() => void this.read(), delayMs);
  }

  private async read(): Promise<void> {
    this.timer = undefined;
    if (this.busy) return void (this.stale = true);
    this.busy = true;
    const hadEnded = this.ended;
    try {
      const path = { id: this.id };
      const [{ messages = [], messagesPage, ...session }, queue] = await Promise.all([
        must(client.get('/api/sessions/{id}', { params: { path, query: { last: String(pageMax) } } })),
        must(client.get('/api/sessions/{id}/queue', { params: { path } })),
      ]);
      if (this.closed) return;
      this.join(messages as readonly Message[], messagesPage?.hasOlder ?? false);
      this.session.value = session as Session;
      this.queue.value = queue.filter(({ status }) => status === 'pending');
      if (hadEnded || session.status !== 'running') {
        this.ended = false;
        this.speech.value = silence;
      }
      this.error.value = undefined;
    } catch (error) {
      this.error.value = said(error);
      if (isTemporary(error) && !this.closed) this.soon(retryMs);
    }
    this.busy = false;
    if (!this.stale) return;
    this.stale = false;
    this.soon();
  }

  /** The newest page takes its place behind what was read before; a hole between them is not shown as none. */
  private join(page: readonly Message[], hasOlder: boolean): void {
    const [first] = page;
    const known = this.messages.value;
    const at = first === undefined ? -1 : known.findIndex(({ id }) => id === first.id);
    if (at > 0) this.messages.value = [...known.slice(0, at), ...kept(known.slice(at), page)];
    else {
      this.messages.value = kept(known, page);
      this.hasOlder.value = hasOlder;
    }
  }

  /** The page of messages before those that are here. */
  async older(): Promise<void> {
    const [first] = this.messages.value;
    if (this.reaching.value || !this.hasOlder.value || first === undefined) return;
    this.reaching.value = true;
    try {
      const page = await must(
        client.get('/api/sessions/{id}/messages', {
          params: { path: { id: this.id }, query: { before: first.id, limit: String(pageMax) } },
        }),
      );
      this.messages.value = [...(page.messages as readonly Message[]), ...this.messages.value];
      this.hasOlder.value = page.hasOlder;
    } catch (error) {
      this.error.value = said(error);
    }
    this.reaching.value = false;
  }

  private hearDelta({ payload, ts }: GatewayEvent): void {
    if (payload['sessionId'] !== this.id) return;
    this.ended = false;
    this.speech.value = spoken(this.speech.value, payload, ts);
  }
}

/** The same message is the same object: what has not changed is not drawn again. */
const kept = (known: readonly Message[], page: readonly Message[]): readonly Message[] => {
  const before = new Map(known.map((message) => [message.id, message]));
  return page.map((message) => {
    const old = before.get(message.id);
    return old !== undefined && JSON.stringify(old) === JSON.stringify(message) ? old : message;
  });
};

export interface QueueItem {
  readonly id: string;
  readonly position: number | null;
  readonly prompt: string | null;
}

/** What the agent says and does in the turn that runs. */
export interface Speech {
  /** Of the message that will hold it. */
  readonly messageId: string | undefined;
  readonly text: string;
  readonly tools: readonly ToolUse[];
  /** When the last of it came, by the gateway's clock. */
  readonly at: number | undefined;
}
const silence: Speech = { messageId: undefined, text: '', tools: [], at: undefined };

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
    const from = typeof offset === 'number' ? offset : mine.text.length;
    if (from + said.length <= mine.text.length) return speech;
    const text =
      from > mine.text.length
        ? `${mine.text}${'…'.padStart(from - mine.text.length, ' ')}${said}`
        : mine.text.slice(0, from) + said;
    return { ...speech, text };
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

const endings: ReadonlySet<string> = new Set([
  'session:completed',
  'session:interrupted',
  'session:stopped',
  'session:started',
]);
const pageMax = 100;
const toolsMax = 200;
