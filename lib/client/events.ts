import type { EventName } from './api.js';
import { GatewayError } from './refusal.js';

/** A frame of `GET /ws`. */
export interface GatewayEvent {
  /** `session:started`, `work-item:changed` …; `reset` where the log no longer reaches back. */
  readonly event: EventName;
  /** Position in the log; null for what is not stored: deltas and refusals. */
  readonly seq: number | null;
  /** JSON; the guide to events lists the members of each. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Epoch milliseconds. */
  readonly ts: number;
  /** The last frame of its commit. */
  readonly last?: true;
}

/** Where events begin, which ones come, and what ends them: `client.events({ since, kinds: ['session'] })`. */
export interface EventsOptions {
  /** Everything after this position; default: what is committed from now on. */
  readonly since?: number;
  /** Only of these kinds of actors. */
  readonly kinds?: readonly string[];
  /** Only of these ids. */
  readonly ids?: readonly string[];
  /** Ends the events. */
  readonly signal?: AbortSignal;
  /** Milliseconds without a connection after which they end with a `GatewayError`; default: never. */
  readonly giveUpAfterMs?: number;
}

/**
 * What the gateway commits, frame by frame. A lost connection is opened again, and the events go on after the
 * last frame: none is missing, none comes twice. Deltas, which are not stored, may be missing.
 *
 * A frame `reset` says that the log no longer holds what was missed: read again what you show.
 */
export interface Events extends AsyncIterable<GatewayEvent> {
  /** Everything up to here was handed on: keep it, and give it as `since` after a restart of your own. */
  readonly position: number | undefined;
  /** Resolves when the gateway has accepted the first connection; rejects with the `GatewayError` that ends them. */
  readonly open: Promise<void>;
  /** Ends the iteration and closes the socket. Idempotent. */
  close(): void;
}

/** The part of a WebSocket that is used: the one of browsers and of Node 22, and that of the package ws. */
export interface Socket {
  /** Set by the client, called once the gateway has accepted. */
  onopen: ((event: never) => void) | null;
  /** Set by the client; `data` is the text of a frame. */
  onmessage: ((event: { data: unknown }) => void) | null;
  /** Set by the client; `code` says why. */
  onclose: ((event: { code: number }) => void) | null;
  /** Set by the client; a close follows. */
  onerror: ((event: never) => void) | null;
  /** Called by the client. */
  close(code?: number): void;
}

export interface Connector {
  /** Offers `protocols`: the bearer token goes there, for it never goes into an address. */
  connect(query: string): Promise<Socket>;
  /** Throws a `GatewayError` where it makes no sense to go on trying. */
  judge(): Promise<void>;
}

export function openEvents({ connect, judge }: Connector, options: EventsOptions): Events {
  const { giveUpAfterMs = Infinity } = options;
  const waiting: GatewayEvent[] = [];
  let position = options.since;
  let received = options.since;
  let partial = none; // of a commit whose last frame has not come
  let toSkip = 0;
  let socket: Socket | undefined;
  let failure: unknown;
  let isOver = false;
  let isPaused = false;
  let failed = 0;
  let lostAt: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wake = (): void => undefined;
  let opened = (): void => undefined;
  let refused: (error: unknown) => void = () => undefined;
  const open = new Promise<void>((resolve, reject) => {
    opened = resolve;
    refused = reject;
  });
  open.catch(() => undefined); // who iterates hears of it there

  function end(error?: unknown): void {
    if (isOver) return;
    isOver = true;
    failure = error;
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', abort);
    drop();
    refused(error ?? new GatewayError('UNREACHABLE', 'The events were closed.'));
    wake();
  }

  const abort = (): void => end(options.signal?.reason);

  function drop(): void {
    const left = socket;
    socket = undefined;
    if (left === undefined) return;
    left.onmessage = left.onclose = null;
    left.close();
  }

  async function dial(): Promise<void> {
    const query = new URLSearchParams({
      ...(received !== undefined && { since: String(received) }),
      ...(options.kinds && { kinds: options.kinds.join(',') }),
      ...(options.ids && { ids: options.ids.join(',') }),
    });
    const mine = await connect(query.size === 0 ? '' : `?${query.toString()}`);
    if (isOver) return mine.close();
    socket = mine;
    // The frames of a commit that was handed on by half come again, in the same order
    toSkip = partial.count;
    let isAccepted = false;
    mine.onerror = () => undefined; // a close follows
    mine.onmessage = ({ data }) => {
      isAccepted = true;
      failed = 0;
      lostAt = undefined;
      opened();
      watch(mine);
      take(JSON.parse(String(data)) as GatewayEvent);
    };
    mine.onclose = ({ code }) => {
      if (mine !== socket) return;
      socket = undefined;
      if (code === revoked) return end(new GatewayError('UNAUTHENTICATED', 'The credential was revoked.'));
      void again(isAccepted);
    };
    watch(mine);
  }

  /** The gateway says something every five seconds: one that is silent is gone, whatever TCP believes. */
  function watch(mine: Socket): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (mine !== socket) return;
      drop();
      void again(true);
    }, silenceMs);
  }

  async function again(wasAccepted: boolean): Promise<void> {
    clearTimeout(timer);
    if (!wasAccepted) {
      try {
        await judge();
      } catch (error) {
        return end(error);
      }
    }
    if (isOver || isPaused) return;
    lostAt ??= performance.now();
    if (performance.now() - lostAt > giveUpAfterMs)
      return end(new GatewayError('UNREACHABLE', 'The connection to the gateway was lost.'));
    const delayMs = Math.min(5_000, 100 * 2 ** failed) * (0.75 + Math.random() / 2);
    failed += 1;
    timer = setTimeout(start, delayMs);
  }

  function start(): void {
    dial().catch(() => again(false));
  }

  function take(frame: GatewayEvent): void {
    const { event, seq } = frame;
    if (event === 'cursor') received = Math.max(received ?? 0, seq ?? 0);
    else if (event === 'reset') {
      received = frame.payload['head'] as number;
      partial = none;
    } else if (seq !== null) {
      if (seq === partial.seq && toSkip > 0) return void (toSkip -= 1);
      partial = { seq, count: seq === partial.seq ? partial.count + 1 : 1 };
      if (frame.last) {
        received = seq;
        partial = none;
      }
    }
    waiting.push(frame);
    if (waiting.length >= waitingMax) {
      isPaused = true;
      clearTimeout(timer);
      drop();
    }
    wake();
  }

  async function* read(): AsyncGenerator<GatewayEvent, void> {
    try {
      for (;;) {
        const frame = waiting.shift();
        if (frame !== undefined) {
          if (frame.event === 'reset') position = frame.payload['head'] as number;
          else if (frame.last || frame.event === 'cursor') position = frame.seq ?? position;
          if (frame.event !== 'cursor') yield frame;
        } else if (isOver) {
          if (failure !== undefined && failure !== options.signal?.reason) throw failure;
          return;
        } else {
          if (isPaused) {
            isPaused = false;
            start();
          }
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    } finally {
      end();
    }
  }

  if (options.signal?.aborted) abort();
  else {
    options.signal?.addEventListener('abort', abort);
    start();
  }
  return {
    get position() {
      return position;
    },
    open,
    close: () => end(),
    [Symbol.asyncIterator]: read,
  };
}

const none = { seq: -1, count: 0 };
const revoked = 4001;
const silenceMs = 20_000;
const waitingMax = 4_096;
