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

function waitingOf(name: string, { deliveryId, channel, outcome, reason, since }: Unsettled): Waiting {
  const isUnknown = outcome === 'unknown';
  const what = isUnknown ? 'may have arrived, or not' : 'did not arrive';
  return {
    id: deliveryId,
    what: isUnknown ? 'unknown-delivery' : 'delivery',
    title: excerpt(`${name}: a message to ${channel} ${what}. ${reason}`, titleCharsMax),
    on: 'operator',
    since,
    until: isUnknown ? null : since + limits.failedShownMs,
  };
}

/** A link that breaks once opens again by itself. */
const failuresMax = 3;
