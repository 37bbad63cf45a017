import { WebSocket } from 'ws';
import type { Outlet } from '../inspector/watch.js';

/**
 * A socket as something to write into: whoever has a megabyte waiting for longer than a moment is cut with 4008. It
 * can resume where it stopped, and costs nobody else anything.
 */
export function outletOf(socket: WebSocket, cutting: () => void): Outlet {
  let judged: NodeJS.Timeout | undefined;

  function cut(): void {
    cutting();
    socket.close(4008, 'too slow: resume from your cursor');
    setTimeout(() => socket.terminate(), 1_000).unref(); // who reads nothing will not read the goodbye either
  }

  return {
    send(frame) {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (socket.bufferedAmount > burstBytesMax) return cut();
      if (socket.bufferedAmount > bufferedBytesMax && !judged) {
        // a burst is not slowness: whoever reads has a moment to take it
        judged = setTimeout(() => {
          judged = undefined;
          if (socket.bufferedAmount > bufferedBytesMax) cut();
        }, patienceMs).unref();
      }
      socket.send(frame, { binary: false });
    },
    async drained(signal) {
      do await new Promise((resolve) => { setImmediate(resolve); });
      while (socket.bufferedAmount <= drainedBytes ? false : !signal.aborted && socket.readyState === WebSocket.OPEN && await moment());
    },
  };
}

/** Waiting for longer than `patienceMs`, or more than `burstBytesMax` at any time: cut. */
const bufferedBytesMax = 1_048_576;
const burstBytesMax = 16_777_216;
const patienceMs = 250;
const drainedBytes = 65_536;

const moment = (): Promise<true> => new Promise((resolve) => { setTimeout(() => resolve(true), 5); });
