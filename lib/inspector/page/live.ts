import { signal } from '@preact/signals';
import { access, bearer } from './access.js';
import type { InspectEntry, InspectFrame, InspectRefusal } from '../frames.js';

/**
 * The feed of everything that happens, kept open. The cursor moves with every frame, and a new socket begins
 * at it: a gateway that was gone for a while has nothing to hide afterwards. Whether that is true is counted
 * (`gaps`).
 */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');
/** Last log position that was told. */
export const head = signal(0);
/** Oldest position that the log still holds. */
export const floor = signal(0);
/** Frames that did not begin where the one before them ended. */
export const gaps = signal(0);
/** The gateway's clock minus this browser's, in milliseconds. */
export const skewMs = signal(0);

export interface Batch {
  readonly entries: readonly InspectEntry[];
  /** More happened than was told one by one. */ readonly skipped: number;
  /** The same by kind. */ readonly skippedKinds: Readonly<Record<string, number>>;
  readonly refusals: readonly InspectRefusal[];
  /** The log no longer holds what was missed: read anew. */ readonly reset: boolean;
}
const listeners = new Set<(batch: Batch) => void>();

/** Hear of everything from now on. Returns the way to stop. */
export function hear(listener: (batch: Batch) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

let socket: WebSocket | undefined;
let cursor: number | undefined;
let tries = 0;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Open the feed and keep it open while somebody is let in. */
export function stayLive(): () => void {
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

/** A socket of its own for a look at the log from a position on. */
export function openSocket(query: string): WebSocket {
  const token = bearer();
  return new WebSocket(
    `${location.origin.replace(/^http/, 'ws')}/ws/inspect${query}`,
    token === null ? ['troupe'] : ['troupe', `bearer.${token}`],
  );
}

function open(): void {
  clearTimeout(retry);
  if (access.value !== 'in') return;
  const mine = openSocket(`?refusals=1${cursor === undefined ? '' : `&since=${cursor}`}`);
  socket = mine;
  mine.onmessage = ({ data }) => mine === socket && take(JSON.parse(String(data)) as InspectFrame);
  mine.onclose = () => {
    if (mine !== socket) return;
    connection.value = 'lost';
    tries += 1;
    again(Math.min(5_000, 200 * 2 ** Math.min(tries, 5)) * (0.75 + Math.random() / 2));
  };
}

function again(delayMs: number): void {
  clearTimeout(retry);
  retry = setTimeout(open, delayMs);
}

function take(frame: InspectFrame): void {
  if ('ts' in frame) skewMs.value = frame.ts - Date.now();
  if (frame.event === 'hello') {
    tries = 0;
    if (cursor === undefined) cursor = frame.payload.from;
    head.value = Math.max(frame.payload.head, cursor);
    floor.value = frame.payload.floor;
    connection.value = 'live';
  } else if (frame.event === 'entries') {
    const { from, entries, skipped } = frame.payload;
    if (cursor !== undefined && from > cursor) gaps.value += 1;
    const before = cursor ?? from;
    move(frame.seq);
    notify({
      ...nothing,
      entries: entries.filter(({ seq }) => seq > before),
      skipped: skipped?.total ?? 0,
      skippedKinds: skipped?.kinds ?? {},
    });
  } else if (frame.event === 'cursor') move(frame.seq);
  else if (frame.event === 'reset') {
    cursor = frame.payload.head;
    head.value = cursor;
    floor.value = frame.payload.floor;
    notify({ ...nothing, reset: true });
  } else if (frame.event === 'refusals') notify({ ...nothing, refusals: frame.payload.refusals });
}

function move(seq: number): void {
  cursor = Math.max(cursor ?? 0, seq);
  if (cursor > head.value) head.value = cursor;
}

const nothing: Batch = { entries: [], skipped: 0, skippedKinds: {}, refusals: [], reset: false };
const notify = (batch: Batch): void => {
  for (const listener of [...listeners]) listener(batch);
};
