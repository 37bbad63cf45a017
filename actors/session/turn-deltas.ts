import type { Json } from '../../machines/outputs.js';
import { firstBytes } from '../engines/process/output.js';

type DeltaType = 'text' | 'thinking' | 'tool_use' | 'tool_result' | 'status' | 'error';

/**
 * What an agent says while it works, on its way to watchers: gathered into few small frames, so that an agent
 * that prints without pause costs watchers little. Watchers are a courtesy and never slow the work down: what
 * is too much is left out, and the `offset` of the next text shows the hole.
 */
export interface Deltas {
  add(type: DeltaType, content: string, extra?: Record<string, Json>): void;
  /** All text so far (at most 256 KiB of it): the half of an answer when a turn is interrupted. */
  text(): string;
  /** When the last of it came, epoch milliseconds. */
  textAt(): number | undefined;
  /** What waits was shown by an earlier gateway: leave it out. */
  skip(): void;
  /** Send what waits and stop. */
  close(): void;
}

export interface DeltaFrame {
  readonly type: DeltaType;
  readonly content: string;
  /** Position of this text in all text of the turn, in UTF-16 units. Only with `text`. */
  readonly offset?: number;
  readonly [member: string]: Json | undefined;
}

const frameMs = 50;
const frameBytesMax = 8 * 1024;
const waitingFramesMax = 64;
const waitingUnitsMax = 64 * 1024;
const keptUnitsMax = 256 * 1024;

/** `const deltas = createDeltas((frame) => context.progress('session:delta', {sessionId, ...frame}))` */
export function createDeltas(send: (frame: DeltaFrame) => void): Deltas {
  const waiting: DeltaFrame[] = [];
  let waitingUnits = 0;
  let offset = 0;
  let kept = '';
  let textAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function sendNext(): void {
    const frame = waiting.shift();
    if (frame === undefined) return;
    const content = firstBytes(frame.content, frameBytesMax);
    const rest = frame.content.slice(content.length);
    waitingUnits -= content.length;
    if (rest !== '' && frame.type === 'text')
      waiting.unshift({ ...frame, content: rest, offset: (frame.offset ?? 0) + content.length });
    else waitingUnits -= rest.length;
    send({ ...frame, content });
  }

  function tick(): void {
    timer = undefined;
    if (waiting.length === 0) return;
    // First the pause, then the frame: anyone who hears it may add more at once
    timer = setTimeout(tick, frameMs).unref();
    sendNext();
  }

  function put(frame: DeltaFrame): void {
    const last = waiting.at(-1);
    const follows =
      last?.type === 'text' &&
      frame.type === 'text' &&
      (last.offset ?? 0) + last.content.length === frame.offset;
    if (follows && last !== undefined)
      waiting[waiting.length - 1] = { ...last, content: last.content + frame.content };
    else waiting.push(frame);
    waitingUnits += frame.content.length;
  }

  return {
    add(type, content, extra) {
      if (isClosed || typeof content !== 'string') return;
      const position = offset;
      if (type === 'text') {
        offset += content.length;
        textAt = Date.now();
        if (kept.length < keptUnitsMax) kept += content.slice(0, keptUnitsMax - kept.length);
        if (content === '') return;
      }
      const isTooMuch = waiting.length >= waitingFramesMax || waitingUnits + content.length > waitingUnitsMax;
      if (!isTooMuch) put({ ...extra, type, content, ...(type === 'text' ? { offset: position } : {}) });
      if (timer === undefined) tick();
    },
    text: () => kept,
    textAt: () => textAt,
    skip() {
      waiting.length = 0;
      waitingUnits = 0;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      while (waiting.length > 0) sendNext();
    },
  };
}
