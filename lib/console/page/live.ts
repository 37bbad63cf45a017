import { signal } from '@preact/signals';
import type { GatewayEvent } from '../../client/events.js';
import { GatewayError } from '../../client/refusal.js';
import { gaps, head, keepOpen, showConnection, skewMs } from '../../page/connection.js';
import { client } from '../../page/gateway.js';
import { createNews, loaderOf } from '../../page/loaded.js';

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
let partial: GatewayEvent[] = [];

/** Open the feed and keep it open while the viewer is let in. `since`: where the last visit ended. */
export function stayLive(since: number | undefined): () => void {
  position ??= since;
  return keepOpen((onEnd) => {
    partial = [];
    const events = client.events({
      ...(position !== undefined && { since: position }),
      onConnection: showConnection,
      onPosition: move,
    });
    let isClosed = false;
    async function follow(): Promise<void> {
      try {
        for await (const frame of events) take(frame);
      } catch (error) {
        if (!(error instanceof GatewayError)) reportError(error); // else why is asked for by itself
      }
      if (!isClosed) onEnd();
    }
    void follow();
    return () => {
      isClosed = true;
      events.close();
    };
  });
}

function take(frame: GatewayEvent): void {
  const { event, seq, ts, last } = frame;
  skewMs.value = ts - Date.now();
  if (event === 'session:delta') return speech.notify(frame);
  if (event === 'reset') {
    partial = [];
    position = undefined; // the log may have been restored, and be shorter
    return news.notify({ frames: [], reset: true });
  }
  if (seq === null) return news.notify({ frames: [frame], reset: false });
  partial.push(frame);
  if (last !== true) return;
  const frames = partial;
  partial = [];
  news.notify({ frames, reset: false });
}

function move(reached: number): void {
  if (position !== undefined && reached < position) gaps.value += 1;
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
