import { callerName } from '../caller.js';
import type { Decision } from '../decision.js';
import { publish, writeRow, type WriteRow, type Output } from '../outputs.js';
import { isoTime } from '../sortable.js';
import {
  limits,
  type ConnectorContext,
  type ConnectorEventOf,
  type Delivery,
  type DeliveryInput,
  type DeliveryOutput,
  type DeliveryRow,
} from './context.js';

/**
 * What happens to messages on their way out. Each is a row of `deliveries` from the moment it is accepted;
 * its text waits in `outbox` until its fate is known.
 */

type Done = Decision<ConnectorContext>;

export function accept(context: ConnectorContext, event: ConnectorEventOf<'delivery.request'>): Done {
  const n = context.deliveries + 1;
  const delivery: Delivery = {
    deliveryId: event.deliveryId,
    n,
    channel: event.channel,
    thread: event.thread,
    requestedAt: event.at,
    requestedBy: callerName(event.by).slice(0, 100),
  };
  return {
    set: { deliveries: n, queue: [...context.queue, delivery], updatedAt: event.at },
    outputs: [
      writeRow('outbox', n, {
        n,
        deliveryId: delivery.deliveryId,
        channel: delivery.channel,
        text: event.text,
        thread: delivery.thread,
      }),
      row(context, delivery, 'queued', null, null, null),
    ],
  };
}

/** The next one leaves the queue. */
export function take(context: ConnectorContext): Done {
  const [current, ...queue] = context.queue;
  return current === undefined ? {} : { set: { current, queue } };
}

export function deliveryInput(context: ConnectorContext): DeliveryInput {
  // The machine never gets here: a fault, not a refusal
  if (context.current === null) throw new Error(`connector ${context.id} has no delivery`);
  return { ...context.current, name: context.name, connectorType: context.connectorType };
}

/** Its fate is known, or is known to be unknown. */
export function settle(context: ConnectorContext, output: DeliveryOutput, at: number): Done {
  const delivery = context.current;
  if (delivery === null) return {};
  const { outcome } = output;
  const reason = output.outcome === 'sent' ? null : output.reason.slice(0, limits.reasonCharsMax);
  const messageId = output.outcome === 'sent' ? (output.messageId?.slice(0, 200) ?? null) : null;
  return {
    set: {
      current: null,
      [outcome]: context[outcome] + 1,
      last: { deliveryId: delivery.deliveryId, outcome, reason, messageId },
      updatedAt: at,
    },
    outputs: [...closed(context, delivery, outcome, reason, messageId, at)],
  };
}

/** The connector was stopped: what still waits fails, visibly. What is being sent meets its own end. */
export function halt(context: ConnectorContext, at: number): Done {
  const reason = 'The connector was stopped before this message was sent.';
  const last = context.queue.at(-1);
  return {
    set: {
      wanted: false,
      queue: [],
      failed: context.failed + context.queue.length,
      updatedAt: at,
      ...(last ? { last: { deliveryId: last.deliveryId, outcome: 'failed', reason, messageId: null } } : {}),
    },
    outputs: context.queue.flatMap((delivery) => closed(context, delivery, 'failed', reason, null, at)),
  };
}

function closed(
  context: ConnectorContext,
  delivery: Delivery,
  outcome: DeliveryOutput['outcome'],
  reason: string | null,
  messageId: string | null,
  at: number,
): readonly Output[] {
  return [
    writeRow('outbox', delivery.n, null),
    row(context, delivery, outcome, reason, messageId, at),
    publish('connector:delivery', {
      connector: context.name,
      deliveryId: delivery.deliveryId,
      outcome,
      reason,
      messageId,
    }),
  ];
}

function row(
  context: ConnectorContext,
  delivery: Delivery,
  status: DeliveryRow['status'],
  reason: string | null,
  messageId: string | null,
  at: number | null,
): WriteRow<'deliveries', DeliveryRow> {
  return writeRow('deliveries', delivery.n, {
    id: delivery.deliveryId,
    connector: context.name,
    channel: delivery.channel,
    thread: delivery.thread,
    status,
    reason,
    messageId,
    requestedAt: isoTime(delivery.requestedAt),
    settledAt: at === null ? null : isoTime(at),
    requestedBy: delivery.requestedBy,
  });
}
