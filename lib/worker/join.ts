import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { WorkerOffer } from '../../machines/worker/machine.js';
import { ownBuild, type ToWorker } from './wire.js';
import type { Link, Worker } from './worker.js';

/**
 * A worker's way out to its gateway on another machine, dialled again whenever it breaks.
 *
 * The worker asks in short intervals whether the gateway is there, and counts from when it asked the question that was
 * answered last: whenever the gateway says that it has heard nothing of it for as long as turns may go on, the turns
 * here have been ended before. Frames of an owner of the home that was followed by another are refused by their epoch.
 */
export interface Joined {
  /** Why it will not be dialled again. */
  readonly over: Promise<'removed' | 'closed'>;
  close(): void;
}

export interface JoinOptions {
  /** `https://gateway.example` */
  readonly url: string;
  readonly token: string;
  readonly worker: Worker;
  readonly offer: WorkerOffer;
  readonly onState: (state: 'connected' | 'away', reason?: string) => void;
}

/** `const joined = joinGateway({ url, token, worker, offer, waitMs: 60_000, onState }); await joined.over` */
export function joinGateway({ url, token, worker, offer, onState }: JoinOptions): Joined {
  const address = new URL('/ws/worker', url);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  let socket: WebSocket | undefined;
  let epoch = 0;
  let waitMs = standardWaitMs;
  let tries = 0;
  let redial: NodeJS.Timeout | undefined;
  let finish: (why: 'removed' | 'closed') => void = () => undefined;
  let isOver = false;
  const over = new Promise<'removed' | 'closed'>((resolve) => (finish = resolve));

  function end(why: 'removed' | 'closed'): void {
    isOver = true;
    clearTimeout(redial);
    socket?.close(1000);
    finish(why);
  }

  function dial(): void {
    const mine = new WebSocket(address, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: greetingMsMax,
      maxPayload: frameBytesMax,
      perMessageDeflate: false,
    });
    socket = mine;
    const link: Link = {
      send: (frame) => mine.readyState === WebSocket.OPEN && mine.send(JSON.stringify(frame)),
      end: () => mine.close(1000),
    };
    const asked = new Map<number, number>();
    let beats = 0;
    let answeredAt = performance.now();
    let isGreeted = false;
    let reason = '';
    let beating: NodeJS.Timeout | undefined;
    const greeting = setTimeout(() => mine.terminate(), 2 * greetingMsMax);
    function beat(): void {
      if (performance.now() - answeredAt > waitMs / 2) return mine.terminate();
      asked.set((beats += 1), performance.now());
      link.send({ type: 'beat', n: beats });
    }

    mine.on('open', () => {
      answeredAt = performance.now();
      const { startedAt } = worker;
      link.send({
        type: 'ready',
        pid: process.pid,
        startedAt,
        running: worker.running(),
        offer,
        ...ownBuild,
      });
    });
    mine.on('message', (data, isBinary) => {
      const frame = isBinary ? undefined : frameIn(String(data));
      if (frame === undefined || !(frame.epoch >= epoch)) return mine.terminate();
      epoch = frame.epoch;
      if (frame.type === 'hello') {
        isGreeted = true;
        tries = 0;
        waitMs = frame.waitMs ?? waitMs;
        clearTimeout(greeting);
        clearInterval(beating);
        beating = setInterval(beat, waitMs / 8);
        worker.welcome(link, waitMs);
        return onState('connected');
      }
      if (frame.type !== 'beat') return worker.take(link, frame);
      answeredAt = asked.get(frame.n) ?? answeredAt;
      for (const n of asked.keys()) if (n <= frame.n) asked.delete(n);
    });
    mine.on('unexpected-response', (_request, response) => {
      reason = `the gateway answered ${response.statusCode}`;
      void isRemoval(response).then((isGone) => {
        if (isGone) gone();
        response.destroy();
        mine.terminate();
      });
    });
    mine.on('error', (error) => {
      reason ||= error.message;
      mine.terminate();
    });
    mine.on('close', (code, text) => {
      clearTimeout(greeting);
      clearInterval(beating);
      worker.leave(link, performance.now() - answeredAt);
      if (code === removedCode) return gone();
      if (isOver) return;
      if (isGreeted || tries === 0) onState('away', String(text) || reason || 'the connection broke');
      const pause = Math.min(redialMsMax, waitMs / 8, redialMsMin * 2 ** Math.min(tries, 10));
      tries += 1;
      redial = setTimeout(dial, pause * (0.5 + Math.random() / 2));
    });
  }

  /** It has no rights there any more, and nothing to do. */
  function gone(): void {
    if (isOver) return;
    worker.end();
    end('removed');
  }

  dial();
  return { over, close: () => end('closed') };
}

/** The gateway's own word: a proxy before it may ask for a password of its own. */
async function isRemoval(response: IncomingMessage): Promise<boolean> {
  if (response.statusCode !== 401) return false;
  let text = '';
  try {
    for await (const part of response) {
      text += String(part);
      if (text.length > refusalCharsMax) return false;
    }
    return (JSON.parse(text) as { readonly code?: unknown } | null)?.code === 'UNAUTHENTICATED';
  } catch {
    return false; // cut off, or no answer of a gateway
  }
}

const refusalCharsMax = 10_000;

type Numbered = ToWorker & { readonly epoch: number };

function frameIn(text: string): Numbered | undefined {
  try {
    return (JSON.parse(text) ?? undefined) as Numbered | undefined;
  } catch {
    return undefined;
  }
}

/** What a gateway says to one that was removed. */
export const removedCode = 4001;
/** The beginning of a turn may bring pictures. */
const frameBytesMax = 64 * 1024 * 1024;
const standardWaitMs = 60_000;
const greetingMsMax = 10_000;
const redialMsMin = 200;
const redialMsMax = 5_000;
