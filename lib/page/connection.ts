import { signal } from '@preact/signals';
import { access, bearer } from './access.js';
import { confirm } from './enter.js';
import { base } from './base.js';

/**
 * The one socket of a page, kept open while the viewer is let in. Which frames come over it is the page's own;
 * that it is opened again, from where it was, is the same for all.
 */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** Last log position that was received. */
export const head = signal(0);
/** Frames that did not begin where the one before them ended. */
export const gaps = signal(0);
/** The gateway's clock minus this browser's, in milliseconds. */
export const skewMs = signal(0);

export interface Feed<Frame> {
  /** `/ws?since=7`: asked before every opening, so that it begins where the last one ended. */
  readonly path: () => string;
  readonly take: (frame: Frame) => void;
}

/** `useEffect(() => keepOpen({ path, take }), [])`. Returns the way to stop. */
export function keepOpen<Frame>({ path, take }: Feed<Frame>): () => void {
  let socket: WebSocket | undefined;
  let failed = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    clearTimeout(retry);
    if (access.value !== 'in') return;
    const mine = openSocket(path());
    socket = mine;
    mine.onmessage = ({ data }) => {
      if (mine !== socket) return;
      failed = 0;
      connection.value = 'live';
      take(JSON.parse(String(data)) as Frame);
    };
    mine.onclose = () => {
      if (mine !== socket) return;
      connection.value = 'lost';
      void confirm();
      failed += 1;
      again(Math.min(5_000, 200 * 2 ** Math.min(failed, 5)) * (0.75 + Math.random() / 2));
    };
  }

  function again(delayMs: number): void {
    clearTimeout(retry);
    retry = setTimeout(open, delayMs);
  }

  open();
  const soon = (): void =>
    void (connection.value === 'lost' && document.visibilityState === 'visible' && again(0));
  addEventListener('online', soon);
  document.addEventListener('visibilitychange', soon);
  return () => {
    removeEventListener('online', soon);
    document.removeEventListener('visibilitychange', soon);
    clearTimeout(retry);
    const open = socket;
    socket = undefined;
    open?.close();
  };
}

/** The token goes into the subprotocol: no address ever holds it. */
export function openSocket(path: string): WebSocket {
  const token = bearer();
  return new WebSocket(
    `${location.origin.replace(/^http/, 'ws')}${base}${path}`,
    token === null ? ['troupe'] : ['troupe', `bearer.${token}`],
  );
}
