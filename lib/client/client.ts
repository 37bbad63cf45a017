import type { Socket } from './connection.js';
import { openEvents, type Events, type EventsOptions } from './events.js';
import { openInspectorFeed, type InspectOptions, type InspectorFeed } from './inspector-feed.js';
import { createFiles, type Files } from './files.js';
import { GatewayError, isRefusal } from './refusal.js';
import { nodesOf } from './nodes.js';
import { createRequests, type RefusalOf, type Requests } from './requests.js';
import { socketsOf } from './sockets.js';
import { attachRun, startRun, type Run, type RunRefusal, type RunSettings } from './run.js';

/** Which gateway, and how it is reached: `createClient({ url, token })`. */
export interface ClientOptions {
  /**
   * `http://127.0.0.1:7420`; default in a browser: the page's own origin. Several: the nodes of one home; the one that
   * owns it is asked, and when another takes it over, requests that may be repeated and feeds go on there.
   */
  readonly url?: string | readonly string[];
  /**
   * The operator's or an agent's token. Without one a browser uses its pairing cookies. A function is asked before
   * every request.
   */
  readonly token?: string | (() => string | undefined);
  /** Milliseconds until a request is given up; default 60,000. */
  readonly timeoutMs?: number;
  /** How often a request whose connection failed is repeated, if that is safe; default 2. */
  readonly retries?: number;
  /** In place of the platform's, e.g. for a proxy or a test. */
  readonly fetch?: typeof globalThis.fetch;
  /** Default: the one of the platform, else that of the package `ws`. */
  readonly WebSocket?: new (url: string, protocols: string[]) => Socket;
}

/** A gateway, seen from outside. Refusals are values; what is no answer of a gateway throws a `GatewayError`. */
export interface Client extends Requests {
  /** Origin and path of the gateway, without a slash at the end; of several, the one that is asked now. */
  readonly url: string;
  /** Turns of agents: start one, or follow one that runs. */
  readonly sessions: {
    /**
     * Give an agent a task, in a new session or in the one that `session` names.
     * @example
     *   const run = await client.sessions.run('digest');
     *   if (isRefusal(run)) throw new Error(run.message);
     *   for await (const { type, content } of run) if (type === 'text') process.stdout.write(content);
     */
    run(prompt: string, settings?: RunSettings): Promise<Run | RunRefusal>;
    /** Follow the turn that a session is in, from now on; over at once where there is none. */
    attach(
      session: string,
      settings?: Pick<RunSettings, 'signal' | 'giveUpAfterMs'>,
    ): Promise<Run | RefusalOf<'/api/sessions/{id}', 'get'>>;
  };
  /** Upload and download. */
  readonly files: Files;
  /**
   * What happens, as it is committed; goes on by itself after a break.
   * @example for await (const { event, payload } of client.events({ since })) console.log(event, payload);
   */
  events(options?: EventsOptions): Events;
  /**
   * Every step of every actor, as `troupe tail` prints it; for the operator and paired browsers. Goes on by itself
   * after a break.
   * @example
   *   for await (const frame of client.inspect({ since: 0 }))
   *     if (frame.event === 'entries') for (const { kind, id, to } of frame.payload.entries) console.log(kind, id, to);
   */
  inspect(options?: InspectOptions): InspectorFeed;
}

/**
 * `const client = createClient({ url, token })`. Opens nothing; holds nothing that must be closed. Throws a
 * TypeError without `url` where there is no page.
 * @example const client = createClient({ url: 'http://127.0.0.1:7420', token });
 */
export function createClient(options: ClientOptions = {}): Client {
  const nodes = nodesOf(addressesOf(options.url));
  const token = (): string | undefined =>
    typeof options.token === 'function' ? options.token() : options.token;
  const requests = createRequests({
    nodes,
    token,
    fetch: options.fetch ?? ((...request) => globalThis.fetch(...request)),
    timeoutMs: options.timeoutMs ?? 60_000,
    retries: options.retries ?? 2,
  });

  const connect = socketsOf({
    url: () => nodes.current,
    token,
    ...(options.WebSocket && { WebSocket: options.WebSocket }),
  });

  async function judge(signal: AbortSignal): Promise<void> {
    const state = await requests.get('/api/auth/state', { signal }).catch((error: unknown) => {
      if (isPassing(error)) return undefined;
      throw error;
    });
    if (isRefusal(state)) throw new GatewayError('UNAUTHENTICATED', state.message);
    if (state?.authRequired && !state.authenticated)
      throw new GatewayError('UNAUTHENTICATED', 'Missing or invalid token.');
  }

  const events = (filter: EventsOptions = {}): Events => openEvents({ connect, judge }, filter);
  return {
    get url() {
      return nodes.current;
    },
    ...requests,
    sessions: {
      run: (prompt, settings = {}) => startRun(requests, events, prompt, settings),
      attach: (session, settings = {}) => attachRun(requests, events, session, settings),
    },
    files: createFiles(requests),
    events,
    inspect: (filter = {}) => openInspectorFeed({ connect, judge }, filter),
  };
}

function addressesOf(given: string | readonly string[] | undefined): readonly string[] {
  const url = given ?? (globalThis as { readonly location?: { readonly origin: string } }).location?.origin;
  return url === undefined ? [] : typeof url === 'string' ? [url] : url;
}

/** It may come back; so may one whose proxy says meanwhile that it cannot reach it. */
const isPassing = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'UNREACHABLE' || error.code === 'TIMEOUT' || (error.status ?? 0) >= 500);
