import { keepConnected, type Connection, type Socket } from './connection.js';
import { GatewayError } from './refusal.js';

/** Where a feed begins, and what ends it. */
export interface FeedOptions {
  /** Everything after this position; default: what is committed from now on. */
  readonly since?: number;
  /** Only of these kinds of actors. */
  readonly kinds?: readonly string[];
  /** Only of these ids. */
  readonly ids?: readonly string[];
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Milliseconds without a connection after which it ends with a `GatewayError`; default: never. */
  readonly giveUpAfterMs?: number;
  /** Called with true when the gateway has accepted a connection, with false when it is lost. */
  readonly onConnection?: (isOpen: boolean) => void;
  /**
   * Called with `position` when everything up to it was handed on and taken: after the last frame of a commit, and
   * every five seconds, so that a reader of few kinds moves with the log, too.
   */
  readonly onPosition?: (position: number) => void;
}

/**
 * Frames of a gateway. A lost connection is opened again, and they go on after the last one: none is missing, none
 * comes twice.
 */
export interface GatewayFeed<Frame> extends AsyncIterable<Frame> {
  /** Everything up to here was handed on: keep it, and give it as `since` after a restart of your own. */
  readonly position: number | undefined;
  /** Resolves when the gateway has accepted the first connection; rejects with the `GatewayError` that ends it. */
  readonly open: Promise<void>;
  /** Ends the iteration and closes the socket. Idempotent. */
  close(): void;
}

export interface Connector {
  /** Offers `protocols`: the bearer token goes there, for it never goes into an address. */
  connect(path: string): Promise<Socket>;
  /** Throws a `GatewayError` where it makes no sense to go on trying. */
  judge(signal: AbortSignal): Promise<void>;
}

/** What one path says, and how far the log has come with it. */
export interface FeedPath<Frame> {
  /** Of the next socket: it begins where the one before stopped. */
  address(): string;
  /** A frame has come. False: it had come before. */
  take(frame: Frame): boolean;
  /** Everything up to there has come with this frame; undefined: not yet. */
  reachedBy(frame: Frame): number | undefined;
  /** The reader has no use for it. */
  isQuiet(frame: Frame): boolean;
}

/** `/ws?since=7&kinds=session`; what is undefined is left out. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set).toString()}`;
}

/** The members of an address that every feed has. */
export const queryOf = ({ kinds, ids }: FeedOptions, since: number | undefined) => ({
  since: since === undefined ? undefined : String(since),
  kinds: kinds?.join(','),
  ids: ids?.join(','),
});

/** A feed that waits for its reader: one that falls behind closes the socket until it has caught up. */
export function openFeed<Frame>(
  { connect, judge }: Connector,
  path: FeedPath<Frame>,
  options: FeedOptions,
): GatewayFeed<Frame> {
  const { giveUpAfterMs = Infinity, onConnection, onPosition } = options;
  const waiting: Frame[] = [];
  let position = options.since;
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
    refused(error ?? new GatewayError('UNREACHABLE', 'The feed was closed.'));
    wake();
  }

  const abort = (): void => end(options.signal?.reason);

  function take(frame: Frame): void {
    if (!path.take(frame)) return;
    waiting.push(frame);
    if (waiting.length >= waitingMax) {
      isPaused = true;
      connection?.pause();
    }
    wake();
  }

  async function* read(): AsyncGenerator<Frame, void> {
    try {
      for (;;) {
        const frame = waiting.shift();
        if (frame !== undefined) {
          const reached = path.reachedBy(frame);
          position = reached ?? position;
          if (!path.isQuiet(frame)) yield frame;
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
      open: () => connect(path.address()),
      judge,
      take: (frame) => take(frame as Frame),
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

const waitingMax = 4_096;
