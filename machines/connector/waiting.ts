import { excerpt } from '../text.js';
import { titleCharsMax, type Waiting } from '../waiting.js';
import { limits, type ConnectorContext, type LinkStatus, type Unsettled } from './context.js';

/**
 * What a person must hear of: each message that did not arrive, or may not have; a link that breaks again and again.
 * @example const waitingFor = ({ value, context }) => connectorWaiting(value.link, context);
 */
export function connectorWaiting(link: LinkStatus, context: ConnectorContext): readonly Waiting[] {
  const { name, unsettled, failures, detail, updatedAt, failingSince } = context;
  const messages = unsettled.map((message) => waitingOf(name, message));
  return link === 'error' && failures >= failuresMax
    ? [
        ...messages,
        {
          id: 'link',
          what: 'connector',
          title: excerpt(`${name}: ${detail ?? 'the link is broken'}`, titleCharsMax),
          on: 'operator',
          since: failingSince ?? updatedAt,
          until: null,
        },
      ]
    : messages;
}

/**
 * Of a message that was tried again a new one: what was decided of the try before decides nothing of this one.
 * @example settleId({ deliveryId: 'd-1', since: 1_700_000_000_000 }) // 'd-1~1700000000000'
 */
export const settleId = ({ deliveryId, since }: Pick<Unsettled, 'deliveryId' | 'since'>): string =>
  `${deliveryId}~${since}`;

function waitingOf(name: string, message: Unsettled): Waiting {
  const { channel, outcome, reason, since } = message;
  const isUnknown = outcome === 'unknown';
  const what = isUnknown ? 'may have arrived, or not' : 'did not arrive';
  return {
    id: settleId(message),
    what: isUnknown ? 'unknown-delivery' : 'delivery',
    title: excerpt(`${name}: a message to ${channel} ${what}. ${reason}`, titleCharsMax),
    on: 'operator',
    since,
    until: isUnknown ? null : since + limits.failedShownMs,
  };
}

/** A link that breaks once opens again by itself. */
const failuresMax = 3;
