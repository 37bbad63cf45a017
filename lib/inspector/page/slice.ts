import { head } from '../../page/connection.js';
import { floor, openFeed } from './live.js';
import type { InspectEntry, InspectFrame } from '../../client/inspector-frames.js';

/**
 * A piece of the log around a position, read from the feed: a socket of its own replays from there and is
 * closed as soon as there is enough. Reading runs nothing.
 */
export function readSlice(at: number, signal: AbortSignal): Promise<readonly InspectEntry[]> {
  const since = Math.max(0, floor.value - 1, at - before - 1);
  const until = Math.min(head.value, at + after);
  if (until <= since) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => void replay(since, until, signal).then(resolve, reject), restMs);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(passed());
      },
      { once: true },
    );
  });
}

async function replay(since: number, until: number, signal: AbortSignal): Promise<readonly InspectEntry[]> {
  const socket = await openFeed(since);
  const entries: InspectEntry[] = [];
  return new Promise((resolve, reject) => {
    const end = (): void => {
      socket.onmessage = socket.onclose = null;
      socket.close();
    };
    const abort = (): void => {
      end();
      reject(passed());
    };
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    socket.onclose = () => reject(new Error('The gateway does not answer.'));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as InspectFrame;
      if (frame.event === 'entries') entries.push(...frame.payload.entries);
      const reached = frame.event === 'entries' || frame.event === 'cursor' ? frame.seq : 0;
      if (frame.event !== 'reset' && reached < until) return;
      end();
      resolve(entries.filter(({ seq }) => seq <= until));
    };
  });
}

const passed = (): Error => new Error('Something else was asked for.');
/** Where someone drags over the log, only what they come to rest at is read. */
const restMs = 60;
const before = 40;
const after = 20;
