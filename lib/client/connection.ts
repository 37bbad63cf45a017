import { GatewayError } from './refusal.js';

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
  /** Of the package `ws`, which waits 30 s for a far side that does not answer a close. */
  terminate?(): void;
}

export interface ConnectionOptions {
  /** Opens the next socket, where the one before it stopped. */
  readonly open: () => Promise<Socket>;
  /** Throws where it makes no sense to go on trying; asked after a socket that was not accepted. */
  readonly judge: (signal: AbortSignal) => Promise<void>;
  /** A frame, parsed. */
  readonly take: (frame: unknown) => void;
  /** True with the first frame of a socket, false when it is lost or cannot be opened; each once until the other. */
  readonly onState: (isOpen: boolean) => void;
  /** It will not be opened again: `judge` threw, the credential was revoked, or time is up. */
  readonly onEnd: (error: unknown) => void;
  /** Milliseconds without a connection until it ends; Infinity: never. */
  readonly giveUpAfterMs: number;
}

/** A socket that is opened again whenever it is lost, until `close` or `onEnd`. */
export interface Connection {
  /** Closes the socket and opens no other until `resume`. */
  pause(): void;
  resume(): void;
  /** Idempotent; nothing is called afterwards. */
  close(): void;
}

/**
 * `const connection = keepConnected({ open, judge, take, … })`: each attempt waits longer than the one before,
 * five seconds at most (one while sockets are accepted, but do not hold), and none waits once a browser says that
 * its network is back or its page is looked at.
 */
export function keepConnected(options: ConnectionOptions): Connection {
  let socket: Socket | undefined;
  let state: 'active' | 'paused' | 'over' = 'active';
  let failed = 0;
  let lostAt: number | undefined;
  let isRetrying = false;
  let isOpen: boolean | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let steady: ReturnType<typeof setTimeout> | undefined;
  const over = new AbortController();
  const forget = onChance(() => void (isRetrying && start()));

  function close(): void {
    state = 'over';
    over.abort();
    forget();
    drop();
  }

  function end(error: unknown): void {
    if (state === 'over') return;
    close();
    options.onEnd(error);
  }

  function drop(): void {
    clearTimeout(timer);
    clearTimeout(steady);
    isRetrying = false;
    const left = socket;
    socket = undefined;
    if (left === undefined) return;
    left.onmessage = left.onclose = null;
    leave(left);
  }

  function say(now: boolean): void {
    if (now === isOpen) return;
    isOpen = now;
    options.onState(now);
  }

  async function dial(): Promise<void> {
    const mine = await options.open();
    mine.onerror = () => undefined; // a close follows
    if (state !== 'active') return leave(mine);
    socket = mine;
    let isAccepted = false;
    mine.onmessage = ({ data }) => {
      if (!isAccepted) {
        say(true);
        // A proxy may cut each one after its first frame: only one that holds is dialled again at once
        failed = Math.min(failed, 3);
        steady = setTimeout(() => (failed = 0), steadyMs);
      }
      isAccepted = true;
      lostAt = undefined;
      watch(mine, true);
      options.take(JSON.parse(String(data)));
    };
    mine.onclose = ({ code }) => {
      if (mine !== socket) return;
      socket = undefined;
      if (code === revoked)
        return end(new GatewayError('UNAUTHENTICATED', 'The credential was revoked.', { cause: code }));
      void again(isAccepted);
    };
    watch(mine, false);
  }

  /** The gateway says something every five seconds: one that is silent is gone, whatever TCP believes. */
  function watch(mine: Socket, isAccepted: boolean): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (mine !== socket) return;
      drop();
      void again(isAccepted);
    }, silenceMs);
  }

  async function again(wasAccepted: boolean): Promise<void> {
    if (state !== 'active') return; // closed while a socket was being opened
    clearTimeout(timer);
    clearTimeout(steady);
    say(false);
    if (!wasAccepted) {
      try {
        await options.judge(over.signal);
      } catch (error) {
        return end(error);
      }
    }
    if (state !== 'active') return;
    lostAt ??= performance.now();
    if (performance.now() - lostAt > options.giveUpAfterMs)
      return end(new GatewayError('UNREACHABLE', 'The connection to the gateway was lost.'));
    const delayMs = Math.min(5_000, 100 * 2 ** failed) * (0.75 + Math.random() / 2);
    failed += 1;
    isRetrying = true;
    timer = setTimeout(start, delayMs);
  }

  function start(): void {
    clearTimeout(timer);
    isRetrying = false;
    dial().catch(() => again(false));
  }

  start();
  return {
    close,
    pause() {
      state = 'paused';
      drop();
    },
    resume() {
      if (state !== 'paused') return;
      state = 'active';
      start();
    },
  };
}

/** One that was closed must not keep a program from ending. */
function leave(socket: Socket): void {
  socket.close();
  if (socket.terminate === undefined) return;
  const timer: { unref?(): void } | number = setTimeout(() => socket.terminate?.(), closeMsMax);
  if (typeof timer === 'object') timer.unref?.();
}

interface PageEvents {
  readonly document?: PageEvents & { readonly visibilityState: string };
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** In a browser: the network is back, or the page is looked at again. Nothing elsewhere. */
function onChance(listener: () => void): () => void {
  const page = globalThis as unknown as PageEvents;
  const { document } = page;
  if (document === undefined) return () => undefined;
  const seen = (): void => void (document.visibilityState === 'visible' && listener());
  page.addEventListener('online', listener);
  document.addEventListener('visibilitychange', seen);
  return () => {
    page.removeEventListener('online', listener);
    document.removeEventListener('visibilitychange', seen);
  };
}

const revoked = 4001;
const silenceMs = 20_000;
const steadyMs = 5_000;
const closeMsMax = 1_000;
