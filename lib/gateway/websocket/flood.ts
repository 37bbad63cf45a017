import type { WebSocket } from 'ws';
import { perMinute } from '../limiter.js';

/**
 * A client that watches says little: where it goes on from, what it wants, that it lives. One that says more than a
 * working client ever would is let go, for each of its frames is answered, and tens of thousands fit into what is read
 * at once: one socket kept all others waiting for seconds.
 *
 * Answers what to ask of each frame: whether it is one too many, and is not to be heard.
 */
export function floodOf(socket: WebSocket, now: () => number, ending: () => void): () => boolean {
  const heard = perMinute(framesPerMinute, now);
  let isOver = false;
  const isTooMany = (): boolean => {
    if (isOver || heard.take() === undefined) return isOver;
    isOver = true;
    ending();
    socket.pause(); // what it has sent is not read any more
    socket.close(1008, 'too many frames in a minute: say less, and resume from your cursor');
    setTimeout(() => socket.terminate(), goodbyeMs).unref();
    return true;
  };
  // Answered by the library, and as cheap to send
  for (const name of ['ping', 'pong'] as const) socket.on(name, isTooMany);
  return isTooMany;
}

const framesPerMinute = 600;
const goodbyeMs = 1_000;
