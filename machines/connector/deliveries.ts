import { callerName } from '../caller.js';
import { publish, writeRow, type WriteRow, type Output, type Decision } from '../outputs.js';
import { isoTime } from '../sortable.js';
import {
  limits,
  type ConnectorContext,
  type ConnectorEventOf,
  type Delivery,
  type DeliveryInput,
  type DeliveryOutput,
  type DeliveryRow,
  type Unsettled,
} from './context.js';

/**
 * What happens to messages on their way out. Each is a row of `deliveries` from the moment it is accepted;
 * its text waits in `outbox` until it has arrived, or a person has decided what becomes of it.
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
    requestedBy: callerName(event.by).slice(0, limits.callerCharsMax),
    decision: null,
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
  const outcome = surely(delivery, output.outcome);
  const messageId = output.outcome === 'sent' ? (output.messageId?.slice(0, 200) ?? null) : null;
  const reason = output.outcome === 'sent' ? null : reasonFor(delivery, output.reason);
  const lost =
    outcome === 'sent' || delivery.isErased === true
      ? []
      : [undelivered(delivery, outcome, reason ?? '', at)];
  const { kept, dropped } = withUnsettled(context, lost, at);
  return {
    set: {
      current: null,
      unsettled: kept,
      [outcome]: context[outcome] + 1,
      last: { deliveryId: delivery.deliveryId, outcome, reason, messageId },
      updatedAt: at,
    },
    outputs: [
      ...closed(context, delivery, outcome, reason, messageId, at),
      ...(lost.length === 0 ? [forgetText(delivery)] : []),
      ...dropped,
    ],
  };
}

/** The connector was stopped: what still waits fails, visibly. What is being sent meets its own end. */
export function halt(context: ConnectorContext, at: number): Done {
  const reason = 'The connector was stopped before this message was sent.';
  const lost = context.queue.map((delivery) =>
    undelivered(delivery, surely(delivery, 'failed'), reasonFor(delivery, reason), at),
  );
  const last = lost.at(-1);
  const failed = lost.filter(({ outcome }) => outcome === 'failed').length;
  const { kept, dropped } = withUnsettled(context, lost, at);
  return {
    set: {
      wanted: false,
      failingSince: null,
      queue: [],
      unsettled: kept,
      failed: context.failed + failed,
      unknown: context.unknown + lost.length - failed,
      updatedAt: at,
      ...(last && {
        last: {
          deliveryId: last.deliveryId,
          outcome: last.outcome,
          reason: last.reason,
          messageId: null,
        },
      }),
    },
    outputs: [
      ...lost.flatMap((delivery) => closed(context, delivery, delivery.outcome, delivery.reason, null, at)),
      ...dropped,
    ],
  };
}

/**
 * A person has decided on a message that did not arrive, or may not have. The policy has seen that it is one of them,
 * so the second person is refused, and nothing is sent twice by two people.
 */
export function decideDelivery(
  context: ConnectorContext,
  { deliveryId, choice, by, at }: ConnectorEventOf<'delivery.settle'>,
): Done {
  const found = context.unsettled.find((one) => one.deliveryId === deliveryId);
  if (found === undefined) return erase(context, deliveryId, at);
  const { outcome, reason, since: _since, ...message } = found;
  const delivery: Delivery = {
    ...message,
    decision: { choice, by: callerName(by).slice(0, 100), at: isoTime(at) },
    ...(outcome === 'unknown' && { mayHaveArrived: true }),
  };
  const unsettled = context.unsettled.filter((one) => one !== found);
  const counted = { [outcome]: context[outcome] - 1 };
  if (choice === 'send-again')
    return {
      set: { ...counted, unsettled, queue: [...context.queue, delivery], updatedAt: at },
      outputs: [
        row(context, delivery, 'queued', null, null, null),
        published(context, delivery, 'queued', null),
      ],
    };
  const end =
    choice === 'arrived' ? ({ status: 'sent', why: null } as const) : { status: outcome, why: reason };
  const { last } = context;
  return {
    set: {
      ...(choice === 'arrived' && { ...counted, sent: context.sent + 1 }),
      ...(last?.deliveryId === deliveryId && { last: { ...last, outcome: end.status, reason: end.why } }),
      unsettled,
      updatedAt: at,
    },
    outputs: [...closed(context, delivery, end.status, end.why, null, at), forgetText(delivery)],
  };
}

/** Its session was erased: what waits is not sent, and of what is being sent the text goes with its end. */
function erase(context: ConnectorContext, deliveryId: string, at: number): Done {
  const { current, queue } = context;
  if (current?.deliveryId === deliveryId)
    return { set: { current: { ...current, isErased: true }, updatedAt: at } };
  const waiting = queue.find((one) => one.deliveryId === deliveryId);
  if (waiting === undefined) return {};
  const outcome = surely(waiting, 'failed');
  const reason = 'Its session was erased before it was sent.';
  return {
    set: {
      queue: queue.filter((one) => one !== waiting),
      [outcome]: context[outcome] + 1,
      last: { deliveryId, outcome, reason, messageId: null },
      updatedAt: at,
    },
    outputs: [...closed(context, waiting, outcome, reason, null, at), forgetText(waiting)],
  };
}

/** A message that may have arrived did not surely fail to, whatever became of a later try. */
const surely = <Outcome extends DeliveryOutput['outcome']>(
  { mayHaveArrived }: Delivery,
  outcome: Outcome,
): Outcome | 'unknown' => (outcome === 'failed' && mayHaveArrived === true ? 'unknown' : outcome);

const reasonFor = ({ mayHaveArrived }: Delivery, reason: string): string =>
  (mayHaveArrived === true ? `Sent again; the first try may have arrived. ${reason}` : reason).slice(
    0,
    limits.reasonCharsMax,
  );

const undelivered = (
  delivery: Delivery,
  outcome: Unsettled['outcome'],
  reason: string,
  since: number,
): Unsettled => ({ ...delivery, outcome, reason, since });

/**
 * No list grows for ever: what failed a day ago goes, then the oldest that failed, then the oldest. Whose text goes
 * before its time says so in its row.
 */
function withUnsettled(
  context: ConnectorContext,
  added: readonly Unsettled[],
  at: number,
): { readonly kept: readonly Unsettled[]; readonly dropped: readonly Output[] } {
  const all = [...context.unsettled, ...added];
  const current = all.filter((one) => !isOver(one, at));
  const tooMany = Math.max(0, current.length - limits.unsettledMax);
  const leaving = [
    ...current.filter(({ outcome }) => outcome === 'failed'),
    ...current.filter(({ outcome }) => outcome === 'unknown'),
  ].slice(0, tooMany);
  const kept = current.filter((one) => !leaving.includes(one));
  return {
    kept,
    dropped: [
      ...all.filter((one) => isOver(one, at)).map(forgetText),
      ...leaving.flatMap((one) => [
        ...closed(context, one, one.outcome, tooManyWords(one.reason), null, one.since),
        forgetText(one),
      ]),
    ],
  };
}

const isOver = ({ outcome, since }: Unsettled, at: number): boolean =>
  outcome === 'failed' && since + limits.failedShownMs <= at;

const tooManyWords = (reason: string): string =>
  `No one decided on it, and ${limits.unsettledMax} newer ones wait: its text is gone. ${reason}`.slice(
    0,
    limits.reasonCharsMax,
  );

/** A day after they failed their texts go, whether or not another message comes by. */
export function forgetOver(context: ConnectorContext, at: number): Done {
  const { kept, dropped } = withUnsettled(context, [], at);
  return { set: { unsettled: kept }, outputs: dropped };
}

/** From `at` until the first of those that failed is over; undefined: none has. */
export function untilOver({ unsettled }: ConnectorContext, at: number): number | undefined {
  const failed = unsettled.filter(({ outcome }) => outcome === 'failed').map(({ since }) => since);
  return failed.length === 0 ? undefined : Math.max(0, Math.min(...failed) + limits.failedShownMs - at);
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
    row(context, delivery, outcome, reason, messageId, at),
    published(context, delivery, outcome, reason, messageId),
  ];
}

const forgetText = ({ n }: Delivery): Output => writeRow('outbox', n, null);

const published = (
  { name }: ConnectorContext,
  { deliveryId }: Delivery,
  outcome: DeliveryRow['status'],
  reason: string | null,
  messageId: string | null = null,
): Output => publish('connector:delivery', { connector: name, deliveryId, outcome, reason, messageId });

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
    decision: delivery.decision,
  });
}
