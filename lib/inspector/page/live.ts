import { ask } from '../../page/ask.js';
import type { MachineAnswer } from '../answers.js';
import { signal, type Signal } from '@preact/signals';
import { access } from '../../page/access.js';
import { keepConnected, type Socket } from '../../client/connection.js';
import { socketsOf } from '../../client/sockets.js';
import { gaps, head, keepOpen, showConnection, skewMs } from '../../page/connection.js';
import { confirm } from '../../page/enter.js';
import { token, url } from '../../page/gateway.js';
import { createNews, loaderOf, type Loaded } from '../../page/loaded.js';
import type { InspectEntry, InspectFrame, InspectRefusal } from '../../client/inspector-frames.js';

/**
 * The feed of everything that happens, kept open. The cursor moves with every frame, and a new socket begins
 * at it: a gateway that was gone for a while has nothing to hide afterwards. Whether that is true is counted
 * (`gaps`).
 */
export interface Batch {
  readonly entries: readonly InspectEntry[];
  /** More happened than was told one by one. */ readonly skipped: number;
  /** The same by kind. */ readonly skippedKinds: Readonly<Record<string, number>>;
  readonly refusals: readonly InspectRefusal[];
  /** The log no longer holds what was missed: read again. */ readonly reset: boolean;
}

/** Oldest position that the log still holds. */
export const floor = signal(0);
const news = createNews<Batch>();
/** Hear of everything from now on. Returns the way to stop. */
export const hear = news.hear;
export const useLoaded = loaderOf(hear);

let cursor: number | undefined;

const connect = socketsOf({ url: () => url, token });
/** `/ws/inspect`, after a position. */
export const openFeed = (since: number | undefined, more = ''): Promise<Socket> =>
  connect(`/ws/inspect?${since === undefined ? '' : `since=${since}&`}${more}`);

/** Open the feed and keep it open while the viewer is let in. */
export const stayLive = (): (() => void) =>
  keepOpen(
    (onEnd) =>
      keepConnected({
        open: () => openFeed(cursor, 'refusals=1'),
        judge: async () => {
          await confirm();
          if (access.value !== 'in') throw new Error('The viewer is no longer let in.');
        },
        take: (frame) => take(frame as InspectFrame),
        onState: showConnection,
        onEnd,
        giveUpAfterMs: Infinity,
      }).close,
  );

function take(frame: InspectFrame): void {
  if ('ts' in frame) skewMs.value = frame.ts - Date.now();
  if (frame.event === 'hello') {
    if (cursor === undefined) cursor = frame.payload.from;
    head.value = Math.max(frame.payload.head, cursor);
    floor.value = frame.payload.floor;
  } else if (frame.event === 'entries') {
    const { from, entries, skipped } = frame.payload;
    if (cursor !== undefined && from > cursor) gaps.value += 1;
    const before = cursor ?? from;
    move(frame.seq);
    news.notify({
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
    news.notify({ ...nothing, reset: true });
  } else if (frame.event === 'refusals') news.notify({ ...nothing, refusals: frame.payload.refusals });
}

function move(seq: number): void {
  cursor = Math.max(cursor ?? 0, seq);
  if (cursor > head.value) head.value = cursor;
}

const nothing: Batch = { entries: [], skipped: 0, skippedKinds: {}, refusals: [], reset: false };

/** The machine of a kind, as data. */
export const useMachine = (kind: string): Signal<Loaded<MachineAnswer>> =>
  useLoaded(kind, (signal) =>
    ask<MachineAnswer>(`/api/inspect/machines/${encodeURIComponent(kind)}`, { signal }),
  );
