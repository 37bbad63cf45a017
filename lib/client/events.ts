import type { EventName } from './api.js';
import { addressOf, openFeed, queryOf, type Connector, type GatewayFeed, type FeedOptions } from './feed.js';

/** A frame of `GET /ws`. */
export interface GatewayEvent {
  /** `session:started`, `work-item:changed` …; `reset` where the log no longer reaches back. */
  readonly event: EventName;
  /** Position in the log; null for what is not stored: deltas and refusals. */
  readonly seq: number | null;
  /** JSON; the guide to events lists the members of each. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** Epoch milliseconds. */
  readonly ts: number;
  /** The last frame of its commit. */
  readonly last?: true;
}

/** Where events begin, which ones come, and what ends them: `client.events({ since, kinds: ['session'] })`. */
export type EventsOptions = FeedOptions;

/**
 * What the gateway commits, frame by frame. Deltas, which are not stored, may be missing after a break.
 *
 * A frame `reset` says that the log no longer holds what was missed: read again what you show.
 */
export type Events = GatewayFeed<GatewayEvent>;

export function openEvents(connector: Connector, options: EventsOptions): Events {
  let received = options.since;
  let partial = none; // of a commit whose last frame has not come
  let toSkip = 0;

  function take({ event, seq, last, payload }: GatewayEvent): boolean {
    if (event === 'cursor') received = Math.max(received ?? 0, seq ?? 0);
    else if (event === 'reset') {
      received = payload['head'] as number;
      partial = none;
    } else if (seq !== null) {
      if (seq === partial.seq && toSkip > 0) {
        toSkip -= 1;
        return false;
      }
      partial = { seq, count: seq === partial.seq ? partial.count + 1 : 1 };
      if (last) {
        received = seq;
        partial = none;
      }
    }
    return true;
  }

  return openFeed<GatewayEvent>(
    connector,
    {
      address() {
        // The frames of a commit that was handed on by half come again, in the same order
        toSkip = partial.count;
        return addressOf('/ws', queryOf(options, received));
      },
      take,
      reachedBy: ({ event, seq, last, payload }) =>
        event === 'reset'
          ? (payload['head'] as number)
          : last || event === 'cursor'
            ? (seq ?? undefined)
            : undefined,
      isQuiet: ({ event }) => event === 'cursor',
    },
    options,
  );
}

const none = { seq: -1, count: 0 };
