import Koa from 'koa';
import type { Logger } from 'pino';
import { agentProcesses } from './agent-process.js';
import { authentication, cookieJar, createAuthenticator, type TokenBook } from './authentication.js';
import { failures, answerClientErrors, isClientError } from './errors.js';
import { originCheck, isLoopback, type Names } from './origin.js';
import { forwardedConnections } from './standby/forwarded.js';
import { drainable, oneAtATime, openListeners, type Listeners, type Tls } from './listeners.js';
import type { BackUp } from './routes/backup.js';
import type { Console } from './routes/status.js';
import { routesOf, type GatewayFacts } from './routes/index.js';
import { requestMetricsOf, trace, traceRequests } from './observability.js';
import { openSocket } from './websocket/socket.js';
import { postTo, type Post } from './in-process.js';
import { createRouter } from './router.js';
import { pulseOf } from '../inspector/pulse.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { measure, type Metric } from './measure.js';
import type { App } from '../commands/app.js';
import type { Route } from './route.js';

/** The HTTP and WebSocket face of a supervisor: it translates, and does nothing else. */
export interface Gateway {
  /** `http://127.0.0.1:7420`: what clients take. */
  readonly url: string;
  /** Address that it listens on. */
  readonly host: string;
  /** Port that it listens on, chosen where 0 was asked for. */
  readonly port: number;
  /** Serves programs of this machine without TLS; `port` where there is none. */
  readonly localPort: number;
  /** What its commands reach. */
  readonly app: App;
  /** Its routes, for callers that are known without a request. */
  readonly post: Post;
  /** What `GET /metrics` shows. @internal */
  readonly measure: () => Promise<readonly Metric[]>;
  /**
   * Stop accepting, answer what is in flight, close the sockets; what is still open after `drainMs` (default
   * 10,000) is cut. Idempotent.
   */
  close(drainMs?: number): Promise<void>;
}

/** What is served, to whom, and where. */
export interface GatewayOptions {
  /** What it serves: what its commands reach, and the tokens of agents' sessions. */
  readonly instance: {
    /** The commands over its actors. */
    readonly app: App;
    /** Of agents and devices. */
    readonly tokens: TokenBook;
  };
  /** At least 32 characters. Kept in memory only. */
  readonly operatorToken: string;
  /** Makes `POST /api/internal/hook` possible, which it opens. At least 32 characters. */
  readonly hookSecret?: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default true. False is honoured on a loopback address only, and opens reads, never mutations. */
  readonly authRequired?: boolean;
  /** Asked again at every request when it is a function. */
  readonly allowedHosts?: Names;
  /** Origins of pages that may call it, beside its own. */
  readonly allowedOrigins?: Names;
  /**
   * PEM texts of certificate and key: makes the listener an HTTPS one, and a plain one on loopback for the
   * programs of this machine.
   */
  readonly tls?: Tls | undefined;
  /** Listens already; in place of `port`, `tls` and `slow`. */
  readonly listeners?: Listeners;
  /** When a reader is too slow, for specs: took less than `bytesMin` in `checksMax` looks, one each `checkEveryMs`. */
  readonly slow?: { readonly checkEveryMs?: number; readonly bytesMin?: number; readonly checksMax?: number };
  /** Of the instance, shown by `GET /api/status` and part of the cookies' names. Default `default`. */
  readonly name?: string;
  /** Shown by `GET /api/status`. Default: Troupe's own. */
  readonly version?: string;
  /** Faults, and a debug line for each request. Default: the supervisor's. */
  readonly log?: Logger;
  /** Makes the routes possible that show settings and log. */
  readonly console?: Console;
  /** Of the host's own, under paths that the gateway has not. */
  readonly routes?: readonly Route[];
  /** Makes `POST /api/backup` possible. */
  readonly backup?: BackUp;
  /** By which standbys of the home are known, whose clients are then served. @internal */
  readonly ownerKey?: string | undefined;
  /** Follows requests as spans. @internal */
  readonly telemetry?: Pick<Telemetry, 'request'> | undefined;
  /** Cursor and liveness of sockets: a look at each this often, a ping at every sixth. Default 5,000. */
  readonly heartbeatMs?: number;
}

/**
 * Serve an instance: `startInstance` does it for its own. Rejects with a TypeError for a short token, and with the
 * system's error where the port is taken.
 * @example
 *   const gateway = await createGateway({ instance, operatorToken });
 *   console.log(gateway.url);
 *   await gateway.close();
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { operatorToken, tls, slow } = options;
  const { app, tokens } = options.instance;
  if (operatorToken.length < 32) throw new TypeError('operatorToken must have at least 32 characters');
  if (options.hookSecret !== undefined && options.hookSecret.length < 32)
    throw new TypeError('hookSecret must have at least 32 characters');
  const { supervisor, records } = app;
  pulseOf(supervisor); // from now on it is remembered what happens
  const host = options.host ?? '127.0.0.1';
  const log = options.log ?? supervisor.environment.log;
  const authRequired = options.authRequired !== false || !isLoopback(host);
  const listeners =
    options.listeners ?? (await openListeners({ host, port: options.port ?? 0, tls, ...(slow && { slow }) }));
  const { port, localPort } = listeners;
  const instance = options.name ?? 'default';
  const pairing = records && {
    devices: records.devices,
    cookies: cookieJar(instance),
    codeKey: operatorToken,
  };
  const agentAt = agentProcesses(tokens);
  const authenticator = createAuthenticator({
    supervisor,
    tokens,
    operatorToken,
    browsers: pairing,
    agentAt,
  });
  const step = originCheck({
    host,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
  });
  const facts: GatewayFacts = {
    version: options.version ?? '0.0.0',
    instance,
    startedAt: supervisor.environment.clock.monotonic(),
    authRequired,
    networkExposed: !isLoopback(host),
    host,
    port,
    pairing: pairing !== undefined,
  };
  const metrics = requestMetricsOf();
  const { backup, console } = options;
  const ending = new AbortController();
  const routes = routesOf(facts, {
    backup,
    hookSecret: options.hookSecret,
    records,
    evidence: app.evidence,
    pairing,
    metrics,
    console,
    ending: ending.signal,
    own: options.routes,
  });

  const koa = new Koa();
  // Koa says here what Node says of the request's bytes too: who stops in the middle of a body is no fault of
  // ours.
  koa.on('error', (error: Error) =>
    isClientError(error)
      ? log.debug({ reason: error.message }, 'a client disconnected')
      : log.error({ err: error }, 'a response could not be written'),
  );
  const drain = drainable(listeners.servers);
  koa.use(metrics.middleware); // 0. counted and timed, whatever becomes of it
  koa.use(failures(log, () => supervisor.environment.ids.next())); // 1. the one error exit
  koa.use(trace(log)); // 2. traceparent, nosniff, one debug line
  koa.use(drain.middleware); // 3. nothing new while draining
  // 4. Host, Origin, who is it; 401 before all else
  koa.use(authentication({ step, authenticator, routes, authRequired, audit: records?.audit }));
  if (options.telemetry !== undefined) koa.use(traceRequests(options.telemetry));
  koa.use(createRouter(app, routes, { openReads: !authRequired })); // 5. one route, or 404, or 405
  for (const server of listeners.servers) answerClientErrors(server);
  // Where reads are open to this machine, a standby's clients are no part of it
  const { ownerKey } = options;
  const inner = listeners.servers.at(-1);
  const forwarded =
    ownerKey === undefined || inner === undefined || !authRequired
      ? undefined
      : forwardedConnections(ownerKey, inner, tls?.cert);
  const socket = openSocket(listeners.servers, {
    app,
    step,
    authenticator,
    authRequired,
    log,
    tokens,
    heartbeatMs: options.heartbeatMs ?? 5_000,
    onRevoked: records?.devices.onRevoked,
    forwarded,
  });
  listeners.serve(oneAtATime(koa.callback()));
  const secure = tls !== undefined;
  log.info({ host, port, authRequired, secure }, 'the gateway listened');
  let closing: Promise<void> | undefined;
  return {
    url: `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    localPort,
    host,
    port,
    app,
    post: postTo(app, routes),
    measure: () => measure(app, facts, metrics),
    close(drainMs = 10_000) {
      const endOpen = (): void => {
        socket.close();
        ending.abort();
      };
      return (closing ??= drain.close(drainMs, endOpen).finally(listeners.close));
    },
  };
}
