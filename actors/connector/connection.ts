import { setTimeout as delay } from 'node:timers/promises';
import type { AtLeastOnceEffect, EffectContext } from '../contracts.js';
import type { ConnectorLink, Inbox } from '../connectors/connector.js';
import type { ConnectorLinks } from './links.js';

/**
 * The effect of a connector's link. `open` resolves when the far side answered a probe; `hold` lives as long as
 * the link does and asks the far side now and then, so that a dead one is noticed before someone's message
 * is. Keyed: opening again after a crash harms no one.
 */
export interface ConnectionInput {
  readonly name: string;
  readonly connectorType: string;
  readonly mode: 'open' | 'hold';
}

export interface ConnectionOptions {
  readonly links: ConnectorLinks;
  /** Where the messages of an instance's people go; undefined: it only sends. */
  readonly inboxOf?: (name: string, context: EffectContext) => Inbox | undefined;
  /** Between two probes of a held link. Default 60. */
  readonly probeSeconds?: number;
  /** For one opening or probe. Default 15. */
  readonly timeoutSeconds?: number;
}

/** `hands: {connection: connectionHand({links}), delivery: deliveryHand({links})}` */
export function connectionEffect({
  links,
  inboxOf,
  probeSeconds = 60,
  timeoutSeconds = 15,
}: ConnectionOptions): AtLeastOnceEffect<ConnectionInput, void> {
  async function opened(input: ConnectionInput, context: EffectContext): Promise<ConnectorLink> {
    const { signal } = context;
    const inbox = inboxOf?.(input.name, context);
    const link = await bounded(signal, timeoutSeconds, (limited) =>
      links.open(input.name, input.connectorType, limited, inbox),
    );
    try {
      await bounded(signal, timeoutSeconds, (limited) => link.probe(limited));
      return link;
    } catch (error) {
      await links.close(input.name, link);
      throw error;
    }
  }

  return {
    guarantee: 'at-least-once',
    async run(input, context) {
      const { signal } = context;
      if (input.mode === 'open') return void (await opened(input, context));
      let link = links.get(input.name);
      try {
        link ??= await opened(input, context); // after a crash there is none to hold yet
        while (!signal.aborted) {
          await delay(probeSeconds * 1000, undefined, { signal, ref: false }).catch(() => undefined);
          if (!signal.aborted) await bounded(signal, timeoutSeconds, link.probe.bind(link));
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (link !== undefined) await links.close(input.name, link);
      }
    },
  };
}

/**
 * Work that gets a signal and so much time; it must not hold the hand for ever when it ignores its signal.
 * The signal is quiet once the work is done: a connector may tie the life of what it opened to it.
 */
export async function bounded<Value>(
  signal: AbortSignal,
  timeoutSeconds: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => controller.abort(), timeoutSeconds * 1000);
  const late = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Error('The service did not answer in time.'));
    if (controller.signal.aborted) give();
    else controller.signal.addEventListener('abort', give, { once: true });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
