import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { gaps, head, keepOpen, skewMs } from '../../page/connection.js';
import { loaderOf } from '../../page/loaded.js';
import { createNews } from '../../page/news.js';

/**
 * What the gateway commits, as frames over the page's one socket. The cursor moves with the last frame of each
 * commit and a new socket begins at it, so that a gateway that was gone hides nothing. Frames say what changed;
 * the views read it again.
 */
export interface Batch {
  readonly frames: readonly GatewayEvent[];
  /** The log no longer holds what was missed: read again. */
  readonly reset: boolean;
}

const news = createNews<Batch>();
export const hear = news.hear;
export const useLoaded = loaderOf(hear);
/** What an agent says while it works; not stored, and never repeated. */
const speech = createNews<GatewayEvent>();
export const hearDeltas = speech.hear;
/** Since which position the frames are complete. */
export const begunAt = signal<number | undefined>(undefined);

let cursor: number | undefined;
let partial: GatewayEvent[] = [];

/** Open the feed and keep it open while the viewer is let in. `since`: where the last visit ended. */
export const stayLive = (since: number | undefined) => (): (() => void) => {
  cursor ??= since;
  return keepOpen<GatewayEvent>({
    path: () => {
      partial = [];
      return `/ws${cursor === undefined ? '' : `?since=${cursor}`}`;
    },
    take,
  });
};

function take(frame: GatewayEvent): void {
  const { event, seq } = frame;
  skewMs.value = frame.ts === undefined ? skewMs.value : frame.ts - Date.now();
  if (event === 'session:delta') return speech.notify(frame);
  if (event === 'cursor') return move(seq);
  if (event === 'reset') {
    move(frame.payload['head'] as number);
    return news.notify({ frames: [], reset: true });
  }
  if (seq === null) return news.notify({ frames: [frame], reset: false });
  // A commit is handed on whole: half of it comes again after a break
  partial.push(frame);
  if (frame.last !== true) return;
  const frames = partial;
  partial = [];
  if (cursor !== undefined && seq <= cursor) return;
  move(seq);
  news.notify({ frames, reset: false });
}

function move(seq: number | null): void {
  if (seq === null) return;
  if (cursor !== undefined && seq < cursor) gaps.value += 1;
  begunAt.value ??= seq;
  cursor = Math.max(cursor ?? 0, seq);
  if (cursor > head.value) head.value = cursor;
}

/** `touches: about('session', id)`: a frame that names this session. */
export const aboutSession =
  (id: string) =>
  ({ frames }: Batch): boolean =>
    frames.some(({ payload }) => payload['sessionId'] === id || payload['sessionKey'] === id);

/** `touches: named(/^(?:run|company):/)` */
export const named =
  (pattern: RegExp) =>
  ({ frames }: Batch): boolean =>
    frames.some(({ event }) => pattern.test(event));
