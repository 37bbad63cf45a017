import type { ActorKey } from '../../machines/outputs.js';
import { addressOf, openFeed, queryOf, type Connector, type GatewayFeed, type FeedOptions } from './feed.js';
import type { InspectFrame } from './inspector-frames.js';

/** Which steps of actors come: `client.inspect({ since: 0, kinds: ['session'] })`. */
export interface InspectOptions extends FeedOptions {
  /** Only an actor and what is beneath it, also what is created later. */
  readonly tree?: ActorKey;
  /** Events that were refused, too: nothing of them is written, so a break loses those that fall into it. */
  readonly refusals?: boolean;
}

/** Every step of every actor as it is committed, for the operator. */
export type InspectorFeed = GatewayFeed<InspectFrame>;

export function openInspectorFeed(connector: Connector, options: InspectOptions): InspectorFeed {
  const { tree, refusals } = options;
  let received = options.since;
  return openFeed<InspectFrame>(
    connector,
    {
      address: () =>
        addressOf('/ws/inspect', {
          ...queryOf(options, received),
          tree: tree && `${tree.kind}/${tree.id}`,
          refusals: refusals === true ? '1' : undefined,
        }),
      take(frame) {
        received = reachedBy(frame) ?? received;
        return true;
      },
      reachedBy,
      isQuiet: ({ event }) => event === 'cursor' || event === 'pong',
    },
    options,
  );
}

const reachedBy = (frame: InspectFrame): number | undefined =>
  frame.event === 'hello'
    ? frame.payload.from
    : frame.event === 'reset'
      ? frame.payload.head
      : frame.event === 'entries' || frame.event === 'cursor'
        ? frame.seq
        : undefined;
