import type { EventName } from './api.js';
import { keepConnected, type Connection, type Socket } from './connection.js';
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
  /** Called with true when the gateway has accepted a connection, with false when it is lost. */
  readonly onConnection?: (isOpen: boolean) => void;
  /**
   * Called with `position` when everything up to it was handed on and taken: after the last event of a commit, and
   * every five seconds, so that a reader of few kinds moves with the log, too.
   */
  readonly onPosition?: (position: number) => void;
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

export interface Connector {
  /** Offers `protocols`: the bearer token goes there, for it never goes into an address. */
  connect(path: string): Promise<Socket>;
  /** Throws a `GatewayError` where it makes no sense to go on trying. */
  judge(): Promise<void>;
}

export function openEvents({ connect, judge }: Connector, options: EventsOptions): Events {
  const { giveUpAfterMs = Infinity, onConnection, onPosition } = options;
  const waiting: GatewayEvent[] = [];
  let position = options.since;
  let received = options.since;
  let partial = none; // of a commit whose last frame has not come
  let toSkip = 0;
  let connection: Connection | undefined;
  let failure: unknown;
  let isOver = false;
  let isPaused = false;
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
    options.signal?.removeEventListener('abort', abort);
    connection?.close();
    refused(error ?? new GatewayError('UNREACHABLE', 'The events were closed.'));
    wake();
  }

  const abort = (): void => end(options.signal?.reason);

  function dial(): Promise<Socket> {
    // The frames of a commit that was handed on by half come again, in the same order
    toSkip = partial.count;
    const query = new URLSearchParams({
      ...(received !== undefined && { since: String(received) }),
      ...(options.kinds && { kinds: options.kinds.join(',') }),
      ...(options.ids && { ids: options.ids.join(',') }),
    });
    return connect(query.size === 0 ? '/ws' : `/ws?${query.toString()}`);
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
      connection?.pause();
    }
    wake();
  }

  async function* read(): AsyncGenerator<GatewayEvent, void> {
    try {
      for (;;) {
        const frame = waiting.shift();
        if (frame !== undefined) {
          const reached = reachedBy(frame);
          position = reached ?? position;
          if (frame.event !== 'cursor') yield frame;
          if (reached !== undefined) onPosition?.(reached);
        } else if (isOver) {
          if (failure !== undefined && failure !== options.signal?.reason) throw failure;
          return;
        } else {
          if (isPaused) {
            isPaused = false;
            connection?.resume();
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
    connection = keepConnected({
      open: dial,
      judge,
      take: (frame) => take(frame as GatewayEvent),
      onState(isOpen) {
        if (isOpen) opened();
        onConnection?.(isOpen);
      },
      onEnd: end,
      giveUpAfterMs,
    });
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

/** Everything up to there has come with this frame; undefined: not yet. */
const reachedBy = ({ event, seq, last, payload }: GatewayEvent): number | undefined =>
  event === 'reset'
    ? (payload['head'] as number)
    : last || event === 'cursor'
      ? (seq ?? undefined)
      : undefined;

const none = { seq: -1, count: 0 };
const waitingMax = 4_096;
