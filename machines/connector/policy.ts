import { fromKernel, isTrusted, type Authority, type Caller } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  limits,
  type ConnectorContext,
  type ConnectorEvent,
  type ConnectorEventOf,
  type LinkStatus,
} from './context.js';

/**
 * Who may do what with a connector, and whether a message fits. Answers the refusal, or undefined for yes;
 * never throws.
 * @example
 *   const policy = (context: ConnectorContext, event: ConnectorEvent & Stamp) =>
 *     connectorPolicy(context, event, authorityOf(event));
 */
export function connectorPolicy(
  context: ConnectorContext,
  event: ConnectorEvent,
  authority: Authority,
): Refusal | undefined {
  switch (event.type) {
    case 'connector.start':
    case 'connector.stop':
    case 'connector.reload':
      return isTrusted(authority.onBehalfOf)
        ? undefined
        : refuse('FORBIDDEN', {}, 'Agents may not start, stop or reload connectors.');
    case 'delivery.request':
      return mayDeliver(context, event, authority.onBehalfOf);
    case 'link.opened':
      return authority.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type });
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** A message while the link is down: see the statechart. */
export const connectorNotInState = (
  link: LinkStatus,
  { name, detail }: ConnectorContext,
  event: ConnectorEvent,
): Refusal | undefined =>
  event.type === 'delivery.request'
    ? refuse('CONNECTOR_UNAVAILABLE', { connector: name, status: link, detail })
    : undefined;

function mayDeliver(
  context: ConnectorContext,
  event: ConnectorEventOf<'delivery.request'>,
  onBehalfOf: Caller,
): Refusal | undefined {
  const employee = onBehalfOf.type === 'session' ? onBehalfOf.employee : null;
  if (!isTrusted(onBehalfOf) && (employee === null || event.facts?.senders.includes(employee) !== true)) {
    return refuse(
      'FORBIDDEN',
      { connector: context.name },
      `Your employee does not list the connector ${context.name}.`,
    );
  }
  const unfit =
    fitText('channel', event.channel, limits.channelBytesMax) ??
    fitText('text', event.text, limits.textBytesMax) ??
    fitText('deliveryId', event.deliveryId, limits.idBytesMax);
  if (unfit) return unfit;
  const unfitThread =
    event.thread === null ? undefined : fitText('thread', event.thread, limits.channelBytesMax);
  if (unfitThread) return unfitThread;
  return context.queue.length >= limits.queueMax
    ? refuse('QUEUE_FULL', { connector: context.name, queueMax: limits.queueMax })
    : undefined;
}

function fitText(path: string, text: unknown, bytesMax: number): Refusal | undefined {
  if (typeof text !== 'string' || text.trim() === '')
    return refuse('BAD_REQUEST', { path }, `${path} is required.`);
  return jsonBytes(text) - 2 > bytesMax ? refuse('PAYLOAD_TOO_LARGE', { path, bytesMax }) : undefined;
}
