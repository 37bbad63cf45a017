import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorLink, Inbox } from '../connectors/connector.js';
import type { ConnectorRegistry } from '../connectors/registry.js';

/**
 * The open links of the connectors of one supervisor, by instance name: what `connection` opens, `delivery`
 * sends through.
 */
export interface ConnectorLinks {
  /** Open again, with the settings as they are now; a former link is closed first. Rejects with a sentence. */
  /** `inbox`: where the messages of the instance's people go; absent: it only sends. */
  open(name: string, type: string, signal: AbortSignal, inbox?: Inbox): Promise<ConnectorLink>;
  get(name: string): ConnectorLink | undefined;
  /** The link, as soon as it is open; undefined when it is not within `withinMs`, or the signal says stop. */
  opened(name: string, signal: AbortSignal, withinMs: number): Promise<ConnectorLink | undefined>;
  /** Close a link, unless it was replaced in the meantime. */
  close(name: string, link: ConnectorLink): Promise<void>;
}

export function createConnectorLinks(registry: ConnectorRegistry): ConnectorLinks {
  const links = new Map<string, ConnectorLink>();
  const waiting = new Map<string, Set<() => void>>();

  async function close(name: string, link: ConnectorLink): Promise<void> {
    if (links.get(name) === link) links.delete(name);
    await closedSoon(link);
  }

  return {
    get: (name) => links.get(name),
    close,
    async opened(name, signal, withinMs) {
      if (links.has(name) || signal.aborted) return links.get(name);
      const all = waiting.get(name) ?? new Set();
      waiting.set(name, all);
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          all.delete(end);
          resolve();
        };
        const timer = setTimeout(end, withinMs).unref();
        signal.addEventListener('abort', end, { once: true });
        all.add(end);
      });
      return links.get(name);
    },
    async open(name, type, signal, inbox) {
      const former = links.get(name);
      if (former !== undefined) await close(name, former);
      const connector = registry.type(type);
      if (connector === undefined)
        throw new Error(`Unknown connector type "${type}" (known: ${registry.types.join(', ') || 'none'}).`);
      const instance = registry.instance(name);
      if (instance === undefined) throw new Error(`The configuration has no connector "${name}".`);
      const link = await connector.open(instance.settings, signal, inbox);
      if (signal.aborted) {
        await closedSoon(link);
        throw new Error('The connector was stopped while it opened.');
      }
      links.set(name, link);
      for (const end of waiting.get(name) ?? []) end();
      return link;
    },
  };
}

/** What does not close is forgotten all the same: the next opening must not wait for it. */
function closedSoon(link: ConnectorLink): Promise<unknown> {
  return Promise.race([link.close().catch(() => undefined), delay(closeMsMax, undefined, { ref: false })]);
}

const closeMsMax = 5_000;
