import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { isTemporary, retryMs, said } from '../../page/ask.js';
import { connection } from '../../page/connection.js';
import { client, must } from '../../page/gateway.js';
import { aboutSession, hear, hearDeltas } from './live.js';
import type { Message, Session } from './session.js';
import { caughtUp, silence, spoken, type Speech } from './speech.js';

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
    // Deltas that were sent while there was no connection do not come again
    const leave = connection.subscribe((now) => {
      if (now === 'live' && this.session.value?.status === 'running') void this.catchUp();
    });
    return () => {
      this.closed = true;
      deaf();
      deafer();
      leave();
      clearTimeout(this.timer);
    };
  }

  private catching = false;
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
    const { ended: hadEnded, moves } = this;
    try {
      const path = { id: this.id };
      const [{ messages = [], messagesPage, ...session }, queue] = await Promise.all([
        must(client.get('/api/sessions/{id}', { params: { path, query: { last: String(pageMax) } } })),
        must(client.get('/api/sessions/{id}/queue', { params: { path } })),
      ]);
      if (this.closed) return;
      this.join(messages as readonly Message[], messagesPage?.hasOlder ?? false);
      this.session.value = session as Session;
      // What was read while something was moved would put it back
      if (this.sending === undefined && moves === this.moves)
        this.queue.value = queue.filter(({ status }) => status === 'pending');
      if (hadEnded || session.status !== 'running') {
        this.ended = false;
        this.speech.value = silence;
      }
      this.error.value = undefined;
      if (session.status === 'running' && this.speech.value.text === '') void this.catchUp();
    } catch (error) {
      this.error.value = said(error);
      if (isTemporary(error) && !this.closed) this.soon(retryMs);
    }
    this.busy = false;
    if (!this.stale) return;
    this.stale = false;
    this.soon();
  }

  private readonly unsent: { readonly item: string; readonly position: number }[] = [];
  private sending: Promise<void> | undefined;
  private moves = 0;

  /**
   * A message that waits stands at its new place at once, and that is sent in turn. Where a move is refused, those
   * behind it are not sent; in the end all is read again.
   */
  moveQueued(item: QueueItem, to: number): Promise<void> {
    const items = this.queue.value;
    this.queue.value = items.toSpliced(items.indexOf(item), 1).toSpliced(to, 0, item);
    this.moves += 1;
    this.unsent.push({ item: item.id, position: to + 1 });
    return (this.sending ??= this.sendMoves().finally(() => {
      this.unsent.length = 0;
      this.sending = undefined;
      this.refresh();
    }));
  }

  private async sendMoves(): Promise<void> {
    for (let next = this.unsent.shift(); next !== undefined; next = this.unsent.shift()) {
      const { item, position } = next;
      const params = { path: { id: this.id, item } };
      await must(client.post('/api/sessions/{id}/queue/{item}/move', { params, body: { position } }));
    }
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
    const { wholeFrom } = this.speech.value;
    this.speech.value = spoken(this.speech.value, payload, ts);
    if (this.speech.value.wholeFrom > wholeFrom) void this.catchUp();
  }

  /** Deltas come once: what was said before the page was here, or while it heard nothing, is asked for. */
  private async catchUp(): Promise<void> {
    if (this.catching) return;
    this.catching = true;
    const words = await must(
      client.get('/api/sessions/{id}/words', { params: { path: { id: this.id } } }),
    ).catch(() => undefined); // it is shown where it is stored, at the latest
    this.catching = false;
    const isOver = this.closed || this.ended || this.session.value?.status !== 'running';
    if (words !== undefined && !isOver) this.speech.value = caughtUp(this.speech.value, words);
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

const endings: ReadonlySet<string> = new Set([
  'session:completed',
  'session:interrupted',
  'session:stopped',
  'session:started',
]);
const pageMax = 100;
