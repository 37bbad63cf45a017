import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { FrameSink } from '../../inspector/watch.js';
import { textFrame } from './text-frame.js';

/**
 * A socket as something to write into: anyone who has a megabyte waiting for longer than a moment is cut with
 * 4008. It can resume where it stopped, and costs no one else anything. Bytes that many sockets share go straight into
 * the `stream` below it: the servers negotiate no extension that would have to change them.
 */
export function backpressured(socket: WebSocket, cutting: () => void, stream: Duplex): BackpressuredSocket {
  let judged: NodeJS.Timeout | undefined;

  function cut(): false {
    cutting();
    socket.close(4008, 'too slow: resume from your cursor');
    setTimeout(() => socket.terminate(), 1_000).unref(); // who reads nothing will not read the goodbye either
    return false;
  }

  /** False when the socket is gone or was cut. */
  function mayTake(): boolean {
    if (socket.readyState !== WebSocket.OPEN) return false;
    const { bufferedAmount } = socket;
    if (bufferedAmount > burstBytesMax) return cut();
    if (bufferedAmount > bufferedBytesMax && !judged) {
      // a burst is not slowness: anyone who reads has a moment to take it
      judged = setTimeout(() => {
        judged = undefined;
        if (socket.bufferedAmount > bufferedBytesMax) cut();
      }, patienceMs).unref();
    }
    return true;
  }

  return {
    send(frame) {
      if (!mayTake()) return false;
      if (typeof frame === 'string') socket.send(frame, { binary: false });
      else stream.write(textFrame(frame));
      return true;
    },
    sendWire(bytes) {
      if (!mayTake()) return false;
      stream.write(bytes);
      return true;
    },
    async drained(signal) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      // who never reads is asked less and less often
      for (
        let waitMs = 5;
        socket.bufferedAmount > drainedBytes && socket.readyState === WebSocket.OPEN && !signal.aborted;
        waitMs = Math.min(waitMs * 2, 500)
      )
        await pause(waitMs);
    },
  };
}

export interface BackpressuredSocket extends FrameSink {
  /** False when the socket is gone or was cut. */
  send(frame: string | Buffer): boolean;
  /** The same for whole frames as they go over the wire (`textFrame`), one or more. */
  sendWire(bytes: Buffer): boolean;
}

/** Waiting for longer than `patienceMs`, or more than `burstBytesMax` at any time: cut. */
const bufferedBytesMax = 1_048_576;
const burstBytesMax = 16_777_216;
const patienceMs = 250;
/** One that has so much waiting is not given more. */
export const drainedBytes = 65_536;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());

/**
 * Long work of many, a slice at a time: one slice runs, then everything else that waits for the processor has
 * its turn, then the next in line. Five hundred watchers that replay the whole log at once are slow to catch
 * up; no one else notices them.
 * @example const share = fairShare(); while (more) await share(() => nextSlice())
 */
export function fairShare(): FairShare {
  let line: Promise<void> = Promise.resolve();
  return async (slice) => {
    const mine = line.then(slice);
    // A slice that waits for something else must not hold up the line for ever.
    line = Promise.race([
      mine.then(
        () => undefined,
        () => undefined,
      ),
      pause(sliceMsMax),
    ]).then(breath);
    return mine;
  };
}

export type FairShare = <Result>(slice: () => Promise<Result>) => Promise<Result>;

const sliceMsMax = 250;
const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
