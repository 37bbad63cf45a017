import type { Json } from '../../machines/outputs.js';

/** The connector port: a named outbound messaging channel. One file per type, made with `defineConnector`. */
export interface Connector {
  /** `webhook`, `slack` … the `type` of an instance in the configuration. */
  readonly type: string;
  /** What the far side can do; shown by `GET /api/connectors`. */
  readonly capabilities: ConnectorCapabilities;
  /**
   * Open what a configured instance needs; reject with a sentence for a person when it cannot work. Never
   * logs secrets. `inbox`: where messages from people go, if anybody listens.
   */
  open(settings: Readonly<Record<string, Json>>, signal: AbortSignal, inbox?: Inbox): Promise<ConnectorLink>;
}

/**
 * Resolves when the message is kept for good: only then may the far side be told so. Rejects when it is not;
 * the far side will say it again. A text is for the person alone who pressed a button: what came of it.
 */
export type Inbox = (message: InboundMessage) => Promise<string | void>;

/** What someone wrote on the far side. */
export interface InboundMessage {
  /** The far side's own name of the message: the same when it is delivered again. */
  readonly id: string;
  /** Where it was written, as the far side names it. */
  readonly channel: string;
  /** Where an answer belongs; together with the channel it names the conversation. */
  readonly thread: string | null;
  /** The far side's name of the person, as `allowFrom` lists it. */
  readonly from: string;
  /** Plain text. */
  readonly text: string;
  /** The value of the button that was pressed; absent: this is a message. */
  readonly choice?: string;
}

export interface ConnectorCapabilities {
  readonly threading: boolean;
  readonly messageEdits: boolean;
  readonly reactions: boolean;
  readonly attachments: boolean;
}

/** A message on its way out. */
export interface OutboundMessage {
  /** Where to: a name or id of the far side's. */
  readonly channel: string;
  /** Plain text. */
  readonly text: string;
  /** Of which conversation; null: of none. */
  readonly thread: string | null;
  /** Stable across retries: pass it on where the far side can dedupe. */
  readonly key: string;
  /** Buttons, where the far side has them: what is pressed arrives as `InboundMessage.choice`. */
  readonly choices?: readonly MessageChoice[];
}

export interface MessageChoice {
  readonly label: string;
  /** At most 64 bytes. */
  readonly value: string;
}

/** A message that was sent, as it is to read now; its buttons go. */
export interface EditedMessage {
  readonly channel: string;
  readonly messageId: string;
  readonly text: string;
}

/** The outcome of a message. */
export type DeliveryResult =
  /** `messageId`: the far side's, by which it can be edited. */
  | { readonly outcome: 'sent'; readonly messageId?: string }
  /** It was surely not sent. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The far side may or may not have it. */
  | { readonly outcome: 'unknown'; readonly reason: string };

/** An open connection of a connector. */
export interface ConnectorLink {
  /** Send once. `failed` where it was surely not sent; a rejection counts as `unknown`. */
  send(message: OutboundMessage, signal: AbortSignal): Promise<DeliveryResult>;
  /** Absent: what was sent stays as it is. */
  edit?(message: EditedMessage, signal: AbortSignal): Promise<DeliveryResult>;
  /** Is the far side there? Rejects with a sentence when not. */
  probe(signal: AbortSignal): Promise<void>;
  /** Let go of the connection. Idempotent. */
  close(): Promise<void>;
}

/**
 * A connector of your own; checks its shape at definition. Throws a TypeError that names what is wrong.
 * @example
 *   const pigeon = defineConnector({
 *     type: 'pigeon',
 *     capabilities: { threading: false, messageEdits: false, reactions: false, attachments: false },
 *     open: async (settings, signal) => openLoft(String(settings['loft']), signal),
 *   });
 */
export function defineConnector(connector: Connector): Connector {
  if (!/^[a-z][a-z0-9-]*$/.test(connector.type))
    throw new TypeError(`connector type "${connector.type}" must match [a-z][a-z0-9-]*`);
  if (typeof connector.open !== 'function') throw new TypeError(`connector "${connector.type}" lacks open()`);
  return connector;
}
