import { createServer, type Server } from 'node:http';
import Koa from 'koa';
import type { Logger } from 'pino';
import { reception, type TokenBook } from './caller.js';
import { door } from './door.js';
import { drainable } from './drain.js';
import { failures } from './failures.js';
import { doorstep, isLoopback } from './host.js';
import type { BackUp } from './routes/backup.js';
import { routesOf, type GatewayFacts } from './routes/index.js';
import { openSocket } from './socket.js';
import { trace } from './trace.js';
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
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
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
  const desk: Desk = { supervisor, engines: options.registry, settings: options.settings, ...(roster && { roster }), ...(records && { records }), ...(options.connectors && { connectors: options.connectors }), ...(options.evidence && { evidence: options.evidence }) };
  options.workflows?.connect(desk);
  const visitors = reception({ supervisor, tokens, operatorToken });
  const step = doorstep({ host, allowedHosts: options.allowedHosts ?? [], allowedOrigins: options.allowedOrigins ?? [] });
  const facts: GatewayFacts = {
    version: options.version ?? '0.0.0', instance: options.instance ?? 'default', startedAt: supervisor.world.steady(),
    authRequired, networkExposed: !isLoopback(host), port: () => portOf(server),
  };
  const routes = routesOf(facts, { backup: options.backup, records, evidence: options.evidence });

  const app = new Koa();
  app.on('error', (error: Error) => log.error({ err: error }, 'an answer could not be written'));
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 60_000, maxHeaderSize: 16_384, connectionsCheckingInterval: 5_000, keepAliveTimeout: 15_000 });
  server.maxConnections = 4_096;
  const drain = drainable(server);

  app.use(failures(log, () => supervisor.world.id()));       // 1. the one error exit
  app.use(trace(log));                                       // 2. traceparent, nosniff, one debug line
  app.use(drain.middleware);                                 // 3. nothing new while draining
  app.use(door({ step, visitors, routes, authRequired }));   // 4. Host, Origin, who is it; 401 before all else
  app.use(turnstile(desk, routes, { openReads: !authRequired })); // 5. one route, or 404, or 405
  server.on('request', app.callback());

  const socket = openSocket(server, { desk, step, visitors, authRequired, log, tokens, heartbeatMs: options.heartbeatMs ?? 5_000 });
  await listen(server, host, options.port ?? 0).catch((error: unknown) => {
    socket.close();
    throw error;
  });
  const port = portOf(server);
  log.info({ host, port, authRequired }, 'the gateway listened');
  let closing: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    host,
    port,
    desk,
    close: (drainMs = 10_000) => (closing ??= drain.close(drainMs, () => socket.close())),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 511 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
