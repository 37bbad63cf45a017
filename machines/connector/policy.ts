import { fromKernel, isPerson, isTrusted, type Authority, type Caller } from '../caller.js';
import { jsonBytes } from '../text.js';
import { refuse, type Refusal } from '../refusals.js';
import {
  deliveryChoices,
  limits,
  type ConnectorContext,
  type ConnectorEvent,
  type ConnectorEventOf,
  type LinkStatus,
} from './context.js';
import { settleId } from './waiting.js';

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
    case 'delivery.settle':
      if (event.choice === 'give-up' && isErasure(authority)) return mayErase(context, event);
      return isPerson(authority.onBehalfOf) ? maySettle(context, event) : refuse('PERSON_REQUIRED');
    case 'link.opened':
    case 'unsettled.over':
      return authority.by.type === 'system' ? undefined : refuse('UNKNOWN_EVENT', { type: event.type });
    default:
      return fromKernel(event)
        ? undefined
        : refuse('UNKNOWN_EVENT', { type: (event as { type: string }).type });
  }
}

/** Also what waits, or is on its way. */
const mayErase = (
  context: ConnectorContext,
  { deliveryId }: ConnectorEventOf<'delivery.settle'>,
): Refusal | undefined =>
  isOpen(context, deliveryId)
    ? undefined
    : refuse(
        'CONFLICT',
        { connector: context.name, deliveryId },
        'There is nothing of this message to erase.',
      );

/** Something may still become of a message of this id. */
const isOpen = ({ queue, current, unsettled }: ConnectorContext, id: string): boolean =>
  [...queue, current, ...unsettled].some((one) => one?.deliveryId === id);

/** What a person erased is taken up again after a crash. */
const isErasure = ({ by }: Authority): boolean => by.type === 'system' && by.part === 'erasure';

/** A message while the link is down: see the statechart. */
export const connectorNotInState = (
  link: LinkStatus,
  { name, detail }: ConnectorContext,
  event: ConnectorEvent,
): Refusal | undefined =>
  event.type === 'delivery.request' || event.type === 'delivery.settle'
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
  if (isOpen(context, event.deliveryId))
    return refuse(
      'CONFLICT',
      { connector: context.name, deliveryId: event.deliveryId },
      'A message of this id waits already, or a person has still to decide on it.',
    );
  return context.queue.length >= limits.queueMax
    ? refuse('QUEUE_FULL', { connector: context.name, queueMax: limits.queueMax })
    : undefined;
}

function maySettle(
  { name, unsettled, queue }: ConnectorContext,
  { deliveryId, choice, waitingId }: ConnectorEventOf<'delivery.settle'>,
): Refusal | undefined {
  const found = unsettled.find((one) => one.deliveryId === deliveryId);
  if (found !== undefined && waitingId !== undefined && settleId(found) !== waitingId)
    return refuse(
      'CONFLICT',
      { connector: name, deliveryId, waitingId: settleId(found) },
      'It was tried again since you read it. See what came of that, then decide.',
    );
  if (found === undefined)
    return refuse(
      'CONFLICT',
      { connector: name, deliveryId },
      'There is nothing to decide about this message: it was decided already, it arrived, or it is too old.',
    );
  if (!deliveryChoices.includes(choice)) return refuse('BAD_REQUEST', { path: 'choice' });
  if (choice === 'arrived' && found.outcome === 'failed')
    return refuse('CONFLICT', { connector: name, deliveryId }, `It did not arrive: ${found.reason}`);
  return choice === 'send-again' && queue.length >= limits.queueMax
    ? refuse('QUEUE_FULL', { connector: name, queueMax: limits.queueMax })
    : undefined;
}

function fitText(path: string, text: unknown, bytesMax: number): Refusal | undefined {
  if (typeof text !== 'string' || text.trim() === '')
    return refuse('BAD_REQUEST', { path }, `${path} is required.`);
  return jsonBytes(text) - 2 > bytesMax ? refuse('PAYLOAD_TOO_LARGE', { path, bytesMax }) : undefined;
}
