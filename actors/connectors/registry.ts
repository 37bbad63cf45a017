import type { Json } from '../../machines/outputs.js';
import type { Connector, ConnectorCapabilities } from './connector.js';

/**
 * The connector types of this gateway and the instances that the configuration names. Settings (and their
 * secrets) are read here when they are needed, so that neither a machine nor an event ever holds them.
 */
export interface ConnectorRegistry {
  type(type: string): Connector | undefined;
  instance(name: string): ConnectorInstance | undefined;
  instances(): readonly ConnectorInstance[];
  readonly types: readonly string[];
}

/** A configured connector: its name, type and settings. */
export interface ConnectorInstance {
  /** Unique; the `:name` of its routes. */
  readonly name: string;
  /** Which connector opens it. */
  readonly type: string;
  /** Who answers messages from people; null: no one, they are refused. */
  readonly employee: string | null;
  /**
   * Names of people on the far side who may write to us; empty or absent: no one, and no one listens. `*`:
   * everybody.
   */
  readonly allowFrom?: readonly string[];
  /** The rest of its configuration; secrets as `{ env }` or `{ file }`, read when it is opened. */
  readonly settings: Readonly<Record<string, Json>>;
}

/** What the configuration says of connectors, and the types that there are. */
export interface Connectors {
  readonly types: readonly Connector[];
  instances(): readonly ConnectorInstance[];
  /** Read the configuration again; rejects with a sentence where it cannot be used. */
  reread(): Promise<void>;
}

export interface ConnectorRegistryOptions {
  readonly connectors: readonly Connector[];
  /** The configured instances as they are now; asked again each time, so that a reload needs no notice. */
  readonly instances: () => readonly ConnectorInstance[];
}

/** `createConnectorRegistry({connectors: [webhook], instances: () => config.connectors})` */
export function createConnectorRegistry({
  connectors,
  instances,
}: ConnectorRegistryOptions): ConnectorRegistry {
  const known = new Map(connectors.map((connector) => [connector.type, connector]));
  if (known.size !== connectors.length) throw new TypeError('two connectors have the same type');
  return {
    type: (type) => known.get(type),
    instance: (name) => instances().find((instance) => instance.name === name),
    instances,
    types: [...known.keys()],
  };
}

/** What a connector of an unknown type can do. */
export const noCapabilities: ConnectorCapabilities = {
  threading: false,
  messageEdits: false,
  reactions: false,
  attachments: false,
};
