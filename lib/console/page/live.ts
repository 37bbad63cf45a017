import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { gaps, head, keepOpen, showConnection, skewMs } from '../../page/connection.js';
import { createNews, loaderOf } from '../../page/loaded.js';
import { openSharedFeed, type Packet } from './shared-feed.js';

/**
 * What the gateway commits, by the events of `troupe/client`, which miss nothing over a gateway that was gone.
 * Frames say what changed; the views read it again.
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

let position: number | undefined;

/** Open the feed and keep it open while the viewer is let in. `since`: where the last visit ended. */
export function stayLive(since: number | undefined): () => void {
  position ??= since;
  return keepOpen((onEnd) =>
    openSharedFeed({ position: () => position, take, onConnection: showConnection, onEnd }),
  );
}

function take({ frames, reset, to }: Packet): void {
  const latest = frames.at(-1);
  if (latest !== undefined) skewMs.value = latest.ts - Date.now();
  if (latest?.event === 'session:delta') return speech.notify(latest);
  if (reset || frames.length > 0) news.notify({ frames, reset });
  if (to !== undefined) move(to, reset);
}

/** `isReset`: the log may have been restored, and be shorter. */
function move(reached: number, isReset: boolean): void {
  if (!isReset && position !== undefined && reached < position) gaps.value += 1;
  begunAt.value ??= reached;
  position = reached;
  head.value = reached;
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
