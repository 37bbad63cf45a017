import { fromKernel, isTrusted, type Authority } from '../caller.js';
import { jsonBytes } from '../json-bytes.js';
import { refuse, type Refusal } from '../refusals.js';
import { limits, type ConnectorContext, type ConnectorEvent, type ConnectorEventOf } from './context.js';

/** Where a connector stands: its link, and what it does with its outbox. */
export interface Standpoint {
  readonly link: LinkStatus;
  readonly outbox: 'quiet' | 'sending';
}
export type LinkStatus = 'stopped' | 'starting' | 'running' | 'error';

/**
 * Who may do what with a connector, and when. A rule looks only at the word of the region that takes its
 * event.
 */
export function connectorPolicy(
  where: Standpoint,
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
      return mayDeliver(where.link, context, event, authority);
    case 'link.opened':
      return authority.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type });
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

function mayDeliver(
  link: LinkStatus,
  context: ConnectorContext,
  event: ConnectorEventOf<'delivery.request'>,
  { by, onBehalfOf }: Authority,
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
  const crooked = event.thread === null ? undefined : fitText('thread', event.thread, limits.channelBytesMax);
  if (crooked) return crooked;
  // An answer that was promised waits for the link; whoever asks now is told now.
  const mayWait = by.type === 'system' && link !== 'stopped';
  if (link !== 'running' && !mayWait)
    return refuse('CONNECTOR_UNAVAILABLE', { connector: context.name, status: link, detail: context.detail });
  return context.queue.length >= limits.queueMax
    ? refuse('QUEUE_FULL', { connector: context.name, queueMax: limits.queueMax })
    : undefined;
}

function fitText(path: string, text: unknown, bytesMax: number): Refusal | undefined {
  if (typeof text !== 'string' || text.trim() === '')
    return refuse('BAD_REQUEST', { path }, `${path} is required.`);
  return jsonBytes(text) - 2 > bytesMax ? refuse('PAYLOAD_TOO_LARGE', { path, bytesMax }) : undefined;
}
