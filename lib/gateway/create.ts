import { createHmac } from 'node:crypto';
import Koa from 'koa';
import type { Logger } from 'pino';
import { reception, type TokenBook } from './caller.js';
import { cookieJar } from './cookies.js';
import { door } from './door.js';
import { drainable } from './drain.js';
import { failures } from './failures.js';
import { doorstep, isLoopback, type Names } from './host.js';
import { createListeners, type Tls } from './listeners.js';
import type { BackUp } from './routes/backup.js';
import type { Console } from './routes/console.js';
import { routesOf, type GatewayFacts } from './routes/index.js';
import { meterOf } from './meter.js';
import { oneAtATime } from './one-at-a-time.js';
import { openSocket } from './socket.js';
import { trace } from './trace.js';
import { answerUnreadable, isClients } from './unreadable.js';
import { turnstile } from './turnstile.js';
import type { Desk, DeskSettings, Engines, Roster } from '../commands/desk.js';
import type { Evidence } from '../records/evidence/evidence.js';
import type { Records } from '../records/records.js';
import type { Supervisor } from '../supervisor/contract.js';

/** The HTTP and WebSocket face of a supervisor: it translates, and does nothing else. */
export interface Gateway {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** On which programs of this machine are served without TLS; `port` where there is none. */
  readonly localPort: number;
  /** What its commands reach. */
  readonly desk: Desk;
  /** Stop accepting, answer what is in flight, close the sockets; what is still open after `drainMs` (default 10,000) is cut. Idempotent. */
  close(drainMs?: number): Promise<void>;
}

export interface GatewayOptions {
  readonly supervisor: Supervisor;
  readonly registry: Engines;
  readonly tokens: TokenBook;
  /** At least 32 characters. Kept in memory only. */
  readonly operatorToken: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default true. False is honoured on a loopback address only, and opens reads, never mutations. */
  readonly authRequired?: boolean;
  /** Asked anew at every request when it is a function. */
  readonly allowedHosts?: Names;
  readonly allowedOrigins?: Names;
  /** PEM texts of certificate and key: makes the listener an HTTPS one, and a plain one on loopback for the programs of this machine. */
  readonly tls?: Tls | undefined;
  /** When a reader is too slow: for specs. */
  readonly slow?: { readonly lookEveryMs?: number; readonly bytesMin?: number; readonly looksMax?: number };
  readonly instance?: string;
  readonly version?: string;
  readonly settings: DeskSettings;
  /** Default: that of `records`. */
  readonly roster?: () => Roster | undefined;
  /** Makes the routes of org, skills, knowledge and files possible. */
  readonly records?: Records;
  /** Makes the routes of workflows possible. */
  readonly evidence?: Evidence;
  /** Makes connectors possible. */
  readonly connectors?: Desk['connectors'];
  /** Is given the desk: the hands of workflow runs work at it. */
  readonly workflows?: { connect(desk: Desk): void };
  readonly log?: Logger;
  /** Makes the routes possible that tell of settings and log. */
  readonly console?: Console;
  /** Makes `POST /api/backup` possible. */
  readonly backup?: BackUp;
  /** Cursor and liveness of sockets: a look at each this often, a ping at every sixth. Default 5,000. */
  readonly heartbeatMs?: number;
}

/** `const gateway = await createGateway({supervisor, registry, tokens, operatorToken, settings}); … await gateway.close()` */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { supervisor, tokens, operatorToken } = options;
  if (operatorToken.length < 32) throw new TypeError('operatorToken must have at least 32 characters');
  const host = options.host ?? '127.0.0.1';
  const log = options.log ?? supervisor.world.log;
  const authRequired = options.authRequired !== false || !isLoopback(host);
  const { records } = options;
  const roster = options.roster ?? (records && (() => records.roster.value));
  const desk: Desk = {
    supervisor, engines: options.registry, settings: options.settings, ...(roster && { roster }), ...(records && { records }),
    ...(options.connectors && { connectors: options.connectors }), ...(options.evidence && { evidence: options.evidence }),
    keyFor: (label) => createHmac('sha256', operatorToken).update(label).digest('base64url'),
  };
  options.workflows?.connect(desk);
  const instance = options.instance ?? 'default';
  const pairing = records && { devices: records.devices, cookies: cookieJar(instance), codeKey: operatorToken };
  const visitors = reception({ supervisor, tokens, operatorToken, browsers: pairing });
  const step = doorstep({ host, allowedHosts: options.allowedHosts ?? [], allowedOrigins: options.allowedOrigins ?? [] });
  const facts: GatewayFacts = {
    version: options.version ?? '0.0.0', instance, startedAt: supervisor.world.steady(),
    authRequired, networkExposed: !isLoopback(host), port: () => listeners.port(), pairing: pairing !== undefined,
  };
  const meter = meterOf();
  const routes = routesOf(facts, { backup: options.backup, records, evidence: options.evidence, pairing, meter, console: options.console });

  const app = new Koa();
  // Koa says here what Node says of the request's bytes too: who stops in the middle of a body is no fault of ours.
  app.on('error', (error: Error) => (isClients(error) ? log.debug({ reason: error.message }, 'a client went away') : log.error({ err: error }, 'an answer could not be written')));
  const listeners = createListeners({ tls: options.tls, ...(options.slow && { slow: options.slow }) });
  const drain = drainable(listeners.servers);

  app.use(meter.middleware);                                 // 0. counted and timed, whatever becomes of it
  app.use(failures(log, () => supervisor.world.id()));       // 1. the one error exit
  app.use(trace(log));                                       // 2. traceparent, nosniff, one debug line
  app.use(drain.middleware);                                 // 3. nothing new while draining
  app.use(door({ step, visitors, routes, authRequired, audit: records?.audit }));   // 4. Host, Origin, who is it; 401 before all else
  app.use(turnstile(desk, routes, { openReads: !authRequired })); // 5. one route, or 404, or 405
  const handle = app.callback();
  const answer = oneAtATime((request, response) => void handle(request, response));
  for (const server of listeners.servers) {
    server.on('request', answer);
    answerUnreadable(server);
  }

  const socket = openSocket(listeners.servers, { desk, step, visitors, authRequired, log, tokens, heartbeatMs: options.heartbeatMs ?? 5_000, onRevoked: records?.devices.onRevoked });
  await listeners.open(host, options.port ?? 0).catch((error: unknown) => {
    listeners.stop();
    socket.close();
    throw error;
  });
  const port = listeners.port();
  const secure = options.tls !== undefined;
  log.info({ host, port, authRequired, secure }, 'the gateway listened');
  let closing: Promise<void> | undefined;
  return {
    url: `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    localPort: listeners.localPort(),
    host,
    port,
    desk,
    close: (drainMs = 10_000) => (closing ??= drain.close(drainMs, () => socket.close()).finally(listeners.stop)),
  };
}
