import type { Stamp } from '../outputs.js';
import { isoTime } from '../sortable.js';

/**
 * The shapes of a connector. Settings (and their secrets) never come here: the hand reads them from the
 * configuration by name.
 */

/** `input` of the machine; the kernel adds `id`, `at`, `by`. */
export interface ConnectorInput {
  /** Id of the actor. */
  readonly id: string;
  /** Epoch milliseconds of the creation. */
  readonly at: number;
  /** Name of the configured instance, and its type (`webhook`, `slack` …). */
  readonly name: string;
  /** See `name`. */
  readonly connectorType: string;
  /** Who answers messages from people; null: no one. */
  readonly employee: string | null;
  /** What the far side can do. */
  readonly capabilities: Capabilities;
  /** Start at once. Default true. */
  readonly autostart?: boolean;
}

export type Capabilities = {
  readonly threading: boolean;
  readonly messageEdits: boolean;
  readonly reactions: boolean;
  readonly attachments: boolean;
};

export type Delivery = {
  readonly deliveryId: string;
  /** Its rows in `outbox` (channel, text, thread) and `deliveries` (what became of it). */
  readonly n: number;
  readonly channel: string;
  readonly thread: string | null;
  readonly requestedAt: number;
  readonly requestedBy: string;
  /** Why it is sent again; null: it is not. */
  readonly decision: DeliveryDecision | null;
  /** An earlier try may have: then no later one makes it sure that it did not. */
  readonly mayHaveArrived?: true;
  /** Its session was erased while it was being sent: its text goes, whatever becomes of it. */
  readonly isErased?: true;
};

/** A message that did not arrive, or may not have: its text stays in `outbox` until a person says what becomes of it. */
export type Unsettled = Delivery & {
  readonly outcome: 'failed' | 'unknown';
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly since: number;
};

/** What a person made of a message whose outcome was `failed` or `unknown`. */
export type DeliveryChoice = (typeof deliveryChoices)[number];
export const deliveryChoices = ['arrived', 'send-again', 'give-up'] as const;

export type DeliveryDecision = {
  readonly choice: DeliveryChoice;
  readonly by: string;
  /** ISO-8601. */
  readonly at: string;
};

/** What a connector remembers. */
export interface ConnectorContext {
  /** Its name again: connectors are found by it. */
  readonly id: string;
  /** Name of the configured instance. */
  readonly name: string;
  /** Its type: `webhook`, `slack` … */
  readonly connectorType: string;
  /** Who answers messages from people; null: no one. */
  readonly employee: string | null;
  /** What the far side can do. */
  readonly capabilities: Capabilities;
  /** It should run; false once someone stopped it. */
  readonly wanted: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds of its last event. */
  readonly updatedAt: number;
  /** Why it is in `error`. */
  readonly detail: string | null;
  /** Failures since it last ran steadily; the backoff grows with them. */
  readonly failures: number;
  /** Epoch milliseconds of the first of them; null: there was none, or it is from before this was kept. */
  readonly failingSince: number | null;
  /** Messages accepted so far; the last one's row in `outbox`. */
  readonly deliveries: number;
  /** Messages that wait, in the order of their acceptance. */
  readonly queue: readonly Delivery[];
  /** The message that is being sent; null: none. */
  readonly current: Delivery | null;
  /** Those on which a person has still to decide, oldest first. */
  readonly unsettled: readonly Unsettled[];
  /** Messages that arrived. */
  readonly sent: number;
  /** Messages that surely did not arrive. */
  readonly failed: number;
  /** Messages that may have arrived. */
  readonly unknown: number;
  /** The last settled delivery, for the one who waits for an outcome. */
  readonly last: {
    /** As it was accepted under. */
    readonly deliveryId: string;
    /** `sent`, `failed` or `unknown`. */
    readonly outcome: string;
    /** Why it is not `sent`, as a sentence; null: it is. */
    readonly reason: string | null;
    /** The far side's own id of the message; null: it gives none, or it was not sent. */
    readonly messageId: string | null;
  } | null;
}

/**
 * The keyed hand of the link. `open`: resolve when the far side answered a probe. `hold`: keep it open
 * (opening it first after a crash); reject when it fails.
 */
export interface ConnectionInput {
  /** Name of the configured instance. */
  readonly name: string;
  /** Its type: `webhook`, `slack` … */
  readonly connectorType: string;
  /** `open`: until a probe is answered. `hold`: until it fails. */
  readonly mode: 'open' | 'hold';
}

/** The fenced hand of one message: the text is in row `n` of `outbox`. */
export interface DeliveryInput extends Delivery {
  /** Name of the configured instance. */
  readonly name: string;
  /** Its type: `webhook`, `slack` … */
  readonly connectorType: string;
}

/** What became of a message on its way out. */
export type DeliveryOutput =
  /** It arrived; `messageId` is the far side's own id, where it gives one. */
  | { readonly outcome: 'sent'; readonly messageId?: string }
  /** It surely did not arrive, or no one can know; `reason` is a sentence for people. */
  | { readonly outcome: 'failed' | 'unknown'; readonly reason: string };

/** A message that was accepted, and what became of it: a row of `deliveries`. Times are ISO-8601. */
export interface DeliveryRow {
  readonly id: string;
  readonly connector: string;
  readonly channel: string;
  readonly thread: string | null;
  readonly status: 'queued' | DeliveryOutput['outcome'];
  readonly reason: string | null;
  readonly messageId: string | null;
  readonly requestedAt: string;
  readonly settledAt: string | null;
  readonly requestedBy: string;
  /** What a person made of it last; absent or null: nothing. */
  readonly decision?: DeliveryDecision | null;
}

/** The rows of a connector by collection, each under the number of its message. */
export interface ConnectorRows {
  readonly deliveries: DeliveryRow;
  readonly outbox: OutboxRow;
}

/** What is to be sent: it stands apart from the list, which shows no texts. */
export interface OutboxRow {
  readonly n: number;
  readonly deliveryId: string;
  readonly text: string;
}

/**
 * The employees who list this connector, from the roster at the time of the event: their sessions may send.
 */
export type ConnectorFacts = { readonly senders: readonly string[] };

/** What a connector takes. */
export type ConnectorEvent = Stamp<ConnectorFacts> &
  (
    | { readonly type: 'connector.start' }
    | { readonly type: 'connector.stop' }
    /** Its settings were read again: an absent member stays as it is, `employee: null` answers no one. */
    | {
        readonly type: 'connector.reload';
        readonly connectorType?: string;
        readonly capabilities?: Capabilities;
        readonly employee?: string | null;
      }
    /**
     * A message to `channel` of the far side, below `thread` of it (null: a new one). `deliveryId` is the caller's: a
     * second one is refused. At most `limits.textBytesMax` of text, `limits.channelBytesMax` of channel; `meta` is
     * the far side's business.
     */
    | {
        readonly type: 'delivery.request';
        readonly deliveryId: string;
        readonly channel: string;
        readonly text: string;
        readonly thread: string | null;
      }
    /**
     * What a person makes of a message of `unsettled`: it arrived after all, it is to be sent once more, or it is left
     * as it is. The first one counts. `waitingId`: only while that still waits, not what came of a later try.
     */
    | {
        readonly type: 'delivery.settle';
        readonly deliveryId: string;
        readonly choice: DeliveryChoice;
        readonly waitingId?: string;
      }
    // The link tells the outbox; never sent from outside:
    | { readonly type: 'link.opened' }
    /** A day has gone by since a message failed. The kernel's timer sends it. */
    | { readonly type: 'unsettled.over' }
  );

export type ConnectorEventOf<Type extends ConnectorEvent['type']> = Extract<ConnectorEvent, { type: Type }>;

export const limits = {
  queueMax: 100,
  /** More let go of the oldest one, with its text, and say so. */
  unsettledMax: 100,
  /** A failed message that no one has looked at by then is let go; what may have arrived waits for a person. */
  failedShownMs: 86_400_000,
  textBytesMax: 64 * 1024,
  channelBytesMax: 128,
  idBytesMax: 64,
  /** A job's name and the time of its run are in it. */
  callerCharsMax: 400,
  reasonCharsMax: 500,
} as const;

export const firstContext = (input: ConnectorInput): ConnectorContext => ({
  id: input.id,
  name: input.name,
  connectorType: input.connectorType,
  employee: input.employee,
  capabilities: input.capabilities,
  wanted: input.autostart ?? true,
  createdAt: input.at,
  updatedAt: input.at,
  detail: null,
  failures: 0,
  failingSince: null,
  deliveries: 0,
  queue: [],
  current: null,
  unsettled: [],
  sent: 0,
  failed: 0,
  unknown: 0,
  last: null,
});

/** A connector's two regions. */
export interface ConnectorState {
  readonly link: LinkStatus;
  readonly outbox: 'quiet' | 'sending';
}
export type LinkStatus = 'stopped' | 'starting' | 'running' | 'error';

/** A connector as the API shows it. */
export type ConnectorView = ReturnType<typeof connectorView>;

/**
 * A connector as `GET /api/connectors` shows it. Never throws.
 * @example
 *   const view = ({ value, context }: SnapshotFrom<typeof connectorMachine>) => connectorView(value, context);
 */
export function connectorView(state: ConnectorState, context: ConnectorContext) {
  return {
    name: context.name,
    instanceId: context.name,
    connectorType: context.connectorType,
    employee: context.employee,
    status: state.link,
    detail: context.detail,
    capabilities: context.capabilities,
    sending: state.outbox === 'sending',
    queueDepth: context.queue.length + (context.current === null ? 0 : 1),
    unsettled: context.unsettled.length,
    sent: context.sent,
    failed: context.failed,
    unknown: context.unknown,
    last: context.last,
    createdAt: isoTime(context.createdAt),
    updatedAt: isoTime(context.updatedAt),
  };
}
