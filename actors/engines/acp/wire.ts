import type { AnyMessage, ClientContext } from '@agentclientprotocol/sdk';
import type { Json } from '../../../machines/outputs.js';
import type { JsonObject } from '../agent/lines.js';

/**
 * The Agent Client Protocol over the lines of a child process, with the official SDK on our side. The SDK is
 * given what belongs to a conversation and nothing else: it prints whatever it cannot place on the gateway's
 * own error output, and that is no place for an agent's words.
 *
 * @internal
 */
export interface Wire {
  /** The agent, to be asked. Its answers are read member by member. */
  readonly agent: ClientContext;
  /** A message of the child. */
  take(message: JsonObject): void;
  /** The child is gone: whatever was asked rejects. */
  close(): void;
  readonly closed: boolean;
}

/** @internal */
export interface WireOptions {
  send(message: Json): void;
  /**
   * In the order in which they were written, and before the answer that follows them; the SDK promises
   * neither.
   */
  onUpdate(params: JsonObject): void;
  /** `session/request_permission`: its answer. */
  onPermission(params: JsonObject): Promise<PermissionOutcome>;
}

export type PermissionOutcome =
  | { readonly outcome: 'cancelled' }
  | { readonly outcome: 'selected'; readonly optionId: string };

/**
 * `const wire = await connect({send: child.send, …}); await wire.agent.request('initialize', …)`
 *
 * @internal
 */
export async function connect({ send, onUpdate, onPermission }: WireOptions): Promise<Wire> {
  // With the first turn: a gateway without such agents starts without it
  const { client } = await import('@agentclientprotocol/sdk');
  const asked = new Set<string | number>();
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined;
  const readable = new ReadableStream<AnyMessage>({
    start: (controller) => {
      incoming = controller;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message && message.id !== null) asked.add(message.id);
      send(message as Json); // the SDK's own message, made to be sent as JSON
    },
  });
  const connection = client({ name: 'troupe' })
    // neither files nor terminals are offered: what the SDK has no handler for it refuses with "method not
    // found"
    .onRequest('session/request_permission', anything, async ({ params }) => ({
      outcome: await onPermission(params),
    }))
    .connect({ readable, writable });
  let closed = false;
  return {
    agent: connection.agent,
    get closed() {
      return closed;
    },
    take(message) {
      const { id, method } = message;
      if (message['jsonrpc'] !== '2.0') return;
      if (typeof method === 'string' && id === undefined) {
        if (method === 'session/update' && isParams(message['params'])) onUpdate(message['params']);
        return;
      }
      if (typeof id !== 'string' && typeof id !== 'number') return;
      if (typeof method !== 'string' && !asked.delete(id)) return;
      // A request, or the answer to one of ours; what is in it is read with care
      incoming?.enqueue(message as AnyMessage);
    },
    close() {
      closed = true;
      connection.close(new Error('The agent has exited.'));
    },
  };
}

const isParams = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const anything = (params: unknown): JsonObject => (isParams(params as Json) ? (params as JsonObject) : {});

/** Asks and waits at most so long: a handshake that hangs is not waited out. */
export async function within<Answer>(ms: number, what: string, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Late(`The agent did not answer ${what} within ${Math.round(ms / 1000)} s.`)),
      ms,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An agent that does not answer is not an agent that refuses. */
export class Late extends Error {
  override readonly name = 'Late';
}
