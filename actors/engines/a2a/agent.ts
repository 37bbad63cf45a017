import type { AgentCard } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { optionalPackage } from '../../optional-package.js';
import { boundedFetch, keyOf } from '../remote/bounded-fetch.js';

/** What the settings of an agent of another house say. */
export interface A2aOptions {
  /** Exact string in the API. */
  readonly name: string;
  /** `https://agents.example`, whose card is asked for at `/.well-known/agent-card.json`, or the address of a card. */
  readonly url: string;
  /** Name of the gateway's own environment variable that holds the key; without it none is sent. */
  readonly apiKeyEnv?: string;
  /** Header for the key, as the card's `apiKey` scheme names it. Default: `Authorization`, as a bearer. */
  readonly apiKeyHeader?: string;
  /** Before a broken connection is tried again; doubled each time, to at most 30 s. Default 1 s. */
  readonly retryMs?: number;
}

/** The agent of one turn, over the official SDK. @internal */
export interface RemoteAgent {
  readonly client: Client;
  readonly card: AgentCard;
}

/**
 * Asks for the agent's card and chooses a way to talk to it: JSON-RPC or HTTP+JSON, of protocol 1.0 or 0.3. Rejects
 * with the SDK's errors and with a `RefusedError`. The card is an outsider's: whatever addresses stand in it, only the
 * origin that the settings name is ever called, so that neither the key nor a request of ours goes elsewhere.
 * @internal
 */
export async function openAgent(options: A2aOptions, signal: AbortSignal): Promise<RemoteAgent> {
  // With the first turn: few homes have one
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } =
    await optionalPackage('@a2a-js/sdk', () => import('@a2a-js/sdk/client'));
  keepQuiet();
  const spoken = { fetchImpl: ownOriginOnly(options, signal), legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(spoken), new RestTransportFactory(spoken)],
  });
  const card = await new DefaultAgentCardResolver(spoken).resolve(cardAddress(options.url), '');
  return { client: await factory.createFromAgentCard(card), card };
}

/**
 * The SDK prints an event that it cannot read before it throws: an outsider would write to this program's terminal and
 * log, whatever and as much as it likes.
 */
function keepQuiet(): void {
  if (isQuiet) return;
  isQuiet = true;
  const { error } = console;
  console.error = (...words: readonly unknown[]) => {
    if (words[0] !== 'Failed to parse SSE event data:') error.apply(console, [...words]);
  };
}

let isQuiet = false;

/** `cardAddress('https://agents.example/ann')` → 'https://agents.example/ann/.well-known/agent-card.json' */
export const cardAddress = (url: string): string =>
  new URL(url).pathname.endsWith('.json') ? url : `${url.replace(/\/*$/, '')}/.well-known/agent-card.json`;

function ownOriginOnly(options: A2aOptions, signal: AbortSignal): typeof fetch {
  const { origin } = new URL(options.url);
  const send = boundedFetch({
    sent: ['accept', 'content-type', 'content-length', 'user-agent', 'a2a-version', 'a2a-extensions'],
    key: keyOf(options),
    keyHeader: options.apiKeyHeader,
  });
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin)
      throw new RefusedError(`Its card leads to ${url.origin}, and nothing but ${origin} is called.`);
    const response = await send(input, { ...init, signal: init?.signal ?? signal });
    if (response.status !== 401 && response.status !== 403 && response.status !== 429) return response;
    await response.body?.cancel();
    throw new RefusedError(`It answers ${response.status}.`, response.status);
  };
}

/** No talk with this agent, however often it is tried. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}
