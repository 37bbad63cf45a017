import type { ConnectorEvent, ConnectorRows } from '../../machines/connector/context.js';
import type { AtMostOnceEffect, EffectContext } from '../contracts.js';
import type { DeliveryResult } from '../connectors/connector.js';
import { bounded } from './connection.js';
import type { ConnectorLinks } from './links.js';

/**
 * The effect of one message on its way out through a connector. Fenced: a message is never sent twice by us.
 * When no one can know whether it arrived (a crash in the middle, a connector that broke) the outcome is
 * `unknown`, and sending it again is a person's decision.
 */
export interface DeliveryInput {
  readonly deliveryId: string;
  /** Its row in the collection `outbox`, where the text is. */
  readonly n: number;
  readonly channel: string;
  readonly thread: string | null;
  readonly name: string;
  readonly connectorType: string;
}

export interface DeliveryOptions {
  readonly links: ConnectorLinks;
  /** For one message, waits for the far side's rate limit included. Default 200. */
  readonly timeoutSeconds?: number;
}

/** A little more than a connector may take to open. */
const openSeconds = 20;

export function deliveryEffect({
  links,
  timeoutSeconds = 200,
}: DeliveryOptions): AtMostOnceEffect<DeliveryInput, DeliveryResult, ConnectorRows, ConnectorEvent> {
  return {
    guarantee: 'at-most-once',
    async run(input, context) {
      const text = await readText(input, context);
      if (text === undefined)
        return { outcome: 'failed', reason: 'The text of the message is no longer stored.' };
      // After a restart the connector opens beside us: an accepted message waits for it
      const withinMs = Math.min(timeoutSeconds, openSeconds) * 1_000;
      const link = await links.opened(input.name, context.signal, withinMs);
      if (link === undefined)
        return { outcome: 'failed', reason: `The connector "${input.name}" is not open.` };
      await context.checkpoint({ deliveryId: input.deliveryId }); // the fence: from here on a crash means "recover"
      try {
        const message = { channel: input.channel, text, thread: input.thread, key: input.deliveryId };
        return checked(await bounded(context.signal, timeoutSeconds, (signal) => link.send(message, signal)));
      } catch (error) {
        return {
          outcome: 'unknown',
          reason: `${error instanceof Error ? error.message : String(error)} It may have been sent.`,
        };
      }
    },
    recover: () =>
      Promise.resolve({
        outcome: 'unknown',
        reason: 'The gateway ended while this message was being sent. It may have been sent.',
      }),
  };
}

async function readText(
  { n, deliveryId }: DeliveryInput,
  context: EffectContext<ConnectorRows, ConnectorEvent>,
): Promise<string | undefined> {
  const where = (row: ConnectorRows['outbox']): boolean => row.n === n && row.deliveryId === deliveryId;
  return (await context.rows('outbox', { where, last: 1 }))[0]?.text;
}

/** Connectors are other people's code: an answer that is none says nothing about the message. */
function checked(result: DeliveryResult): DeliveryResult {
  const given: { readonly outcome?: unknown; readonly reason?: unknown; readonly messageId?: unknown } =
    typeof result === 'object' && result !== null ? result : {};
  if (given.outcome === 'sent')
    return {
      outcome: 'sent',
      ...(typeof given.messageId === 'string' ? { messageId: given.messageId } : {}),
    };
  const reason =
    typeof given.reason === 'string' && given.reason !== '' ? given.reason : 'The connector gave no reason.';
  return given.outcome === 'failed' ? { outcome: 'failed', reason } : { outcome: 'unknown', reason };
}
