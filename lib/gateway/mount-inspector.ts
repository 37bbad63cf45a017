import Koa from 'koa';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerRefusal, failures } from './errors.js';
import { createRouter } from './router.js';
import { attentionRoutes } from './routes/attention.js';
import { inspectRoutes } from './routes/inspect/actors.js';
import { deadLetterRoutes } from './routes/inspect/dead-letters.js';
import { inspectBundleRoutes } from './routes/inspect/bundle.js';
import { inspectSystemRoutes } from './routes/inspect/system.js';
import { inspectTreeRoutes } from './routes/inspect/tree.js';
import { pageRoutes, shellHeaders } from './routes/page.js';
import { openMountedSocket } from './websocket/mounted-socket.js';
import { pulseOf } from '../inspector/pulse.js';
import type { Route } from './route.js';
import type { App } from '../commands/app.js';
import type { Supervisor } from '../supervisor/contract.js';
import { operator } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/** What a viewer may: see and act, see alone, or nothing. */
export type Admission = boolean | 'read';

/** Who may see it, and where it is. */
export interface MountOptions {
  /**
   * Judges each request and each socket, by your application's own session: `true` to see and act, `'read'` to see
   * alone. Asked again every half a minute while a socket is open.
   */
  readonly authorize: (request: IncomingMessage) => Admission | Promise<Admission>;
  /** Where it is served, without a slash at the end. Default `/inspect`. */
  readonly prefix?: string;
  /** Pages that may show it in a frame, as in a Content-Security-Policy: `["'self'"]`. Default: none. */
  readonly frameAncestors?: readonly string[];
  /** Why no one may act here, as a sentence that the page shows: `true` is `'read'` then. */
  readonly readOnly?: string;
  /** Origins from which it is opened where a proxy changes the host: `['https://ops.example.com']`. */
  readonly origins?: readonly string[];
}

/** An inspector inside of an application: what to give to its server. */
export interface MountedInspector {
  /** For Node's `http` and for Express. What is not below the prefix goes to `next`, or is answered with 404. */
  readonly handler: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;
  /** For Koa: `app.use(inspector.koa)`. */
  readonly koa: (ctx: KoaContext, next: () => Promise<unknown>) => Promise<unknown>;
  /** `server.on('upgrade', inspector.upgrade)`: takes the sockets below the prefix and leaves all others alone. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes its sockets. */
  close(): void;
}

/** The part of Koa's context that is needed: no types of Koa must be installed for it. */
export interface KoaContext {
  /** Node's request. */
  readonly req: IncomingMessage;
  /** Node's response. */
  readonly res: ServerResponse;
  /** Set to false: the inspector answers by itself. */
  respond?: boolean;
}

/**
 * Serves the live inspector of a supervisor inside your own application: no gateway, no home, no token.
 *
 * @throws TypeError where the prefix is none, or where nothing judges the requests
 * @example
 *   const inspector = mountInspector(supervisor, { authorize: (request) => isAdmin(request) });
 *   const server = createServer(inspector.handler).on('upgrade', inspector.upgrade);
 */
export function mountInspector(supervisor: Supervisor, options: MountOptions): MountedInspector {
  return serveInspector(appOf(supervisor), inspectorRoutes, options);
}

/** The same with more routes than a supervisor alone can answer. */
export function serveInspector(
  app: App,
  served: readonly Route[],
  options: MountOptions & {
    /** Nothing of it moves: the page calls nothing live. */
    readonly isStopped?: boolean;
  },
): MountedInspector {
  const { supervisor } = app;
  const { prefix = '/inspect', authorize, origins = [], frameAncestors = [], readOnly } = options;
  if (!/^(?:\/[\w.~-]+)+$/.test(prefix))
    throw new TypeError(`the prefix "${prefix}" must be a path such as /inspect, without a slash at the end`);
  if (typeof authorize !== 'function')
    throw new TypeError('authorize must be a function: it judges each request');
  const log = supervisor.environment.log;
  pulseOf(supervisor); // from now on it is remembered what happens
  const koa = new Koa();
  koa.use(failures(log, () => supervisor.environment.ids.next()));
  koa.use(async (ctx, next) => {
    const admission = await judge(ctx.req);
    if (isRefusal(admission)) return answerRefusal(ctx, admission);
    ctx.state['identity'] = { type: 'authenticated', caller: operator };
    await next();
    if (ctx.path === '/inspect' && Buffer.isBuffer(ctx.body))
      ctx.body = shellAt(prefix, ctx.body.toString(), {
        readOnly: admission === 'read' ? (readOnly ?? mayOnlySee) : undefined,
        isStopped: options.isStopped === true,
      });
    if (frameAncestors.length > 0) allowFrames(ctx, frameAncestors);
  });
  koa.use(createRouter(app, served, { openReads: false }));
  koa.on('error', (error: unknown) => log.error({ err: error }, 'a request of the inspector failed'));
  const answer = koa.callback();
  const sockets = openMountedSocket(supervisor, judge);

  async function judge(request: IncomingMessage): Promise<true | 'read' | Refusal> {
    // Whatever else an application without types answers, as the user that it did not find, lets no one in
    const given: unknown = await authorize(request);
    const admission = given === true && readOnly !== undefined ? 'read' : given;
    if (admission !== true && admission !== 'read')
      return refuse('UNAUTHENTICATED', {}, 'The application does not let you in.');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isSocket = request.headers.upgrade !== undefined;
    if ((!isRead || isSocket) && !isSameOrigin(request, origins))
      return refuse('FORBIDDEN', {}, 'It comes from another origin.');
    if (!isRead && admission === 'read') return refuse('FORBIDDEN', {}, readOnly ?? mayOnlySee);
    if (!isRead && request.readableEnded)
      return refuse('BAD_REQUEST', {}, 'The body was read already: mount the inspector before body parsers.');
    return admission;
  }

  const handler: MountedInspector['handler'] = (request, response, next) => {
    const address = addressOf(request);
    const inside = insideOf(address, prefix);
    if (inside === undefined) {
      if (next !== undefined) return next();
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found');
      return;
    }
    request.url = inside;
    void answer(request, response);
  };
  return {
    handler,
    koa: async (ctx, next) => {
      if (insideOf(addressOf(ctx.req), prefix) === undefined) return next();
      ctx.respond = false;
      handler(ctx.req, ctx.res);
    },
    upgrade(request, socket, head) {
      const address = addressOf(request);
      if (!address.startsWith(`${prefix}/ws/inspect`)) return;
      request.url = address.slice(prefix.length);
      sockets.upgrade(request, socket, head);
    },
    close: () => sockets.close(),
  };
}

/** What a supervisor alone can answer. */
export const inspectorRoutes: readonly Route[] = [
  ...pageRoutes.filter(({ path }) => path !== '/' && path !== '/push-worker.js'),
  ...inspectRoutes,
  ...deadLetterRoutes,
  ...inspectBundleRoutes,
  ...inspectSystemRoutes.filter(({ path }) => path !== '/api/inspect/quotas'),
  ...inspectTreeRoutes,
  ...attentionRoutes,
];

/** Express takes the path at which it is mounted off the address. */
const addressOf = (request: IncomingMessage): string =>
  (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? '';

/** `/ops/inspect/api/inspect/fleet?x` → `/api/inspect/fleet?x`; the page and its files lie below `/inspect`. */
function insideOf(address: string, prefix: string): string | undefined {
  if (!address.startsWith(prefix)) return undefined;
  const inside = address.slice(prefix.length);
  if (inside.startsWith('/api/')) return inside;
  if (inside === '' || inside === '/' || inside.startsWith('?')) return '/inspect';
  return inside.startsWith('/') ? `/inspect${inside}` : undefined;
}

/** A browser names the page that sends or opens a socket; who names none is no page of another. */
function isSameOrigin({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return headers['sec-fetch-site'] !== 'cross-site';
  if (origins.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

const mayOnlySee = 'You may see, and not act.';

function shellAt(
  prefix: string,
  shell: string,
  { readOnly, isStopped }: { readonly readOnly: string | undefined; readonly isStopped: boolean },
): string {
  const facts = [
    `data-base="${prefix}"`,
    ...(readOnly === undefined ? [] : [`data-read-only="${escaped(readOnly)}"`]),
    ...(isStopped ? ['data-stopped'] : []),
  ];
  return shell
    .replace('<html lang="en">', () => `<html lang="en" ${facts.join(' ')}>`)
    .replaceAll('="/inspect/', `="${prefix}/`);
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

function allowFrames(ctx: Koa.Context, ancestors: readonly string[]): void {
  const policy = shellHeaders['Content-Security-Policy'];
  if (ctx.response.get('Content-Security-Policy') !== policy) return;
  ctx.set(
    'Content-Security-Policy',
    policy.replace("frame-ancestors 'none'", `frame-ancestors ${ancestors.join(' ')}`),
  );
  ctx.remove('X-Frame-Options');
}

/** What the routes of the inspector ask for: a supervisor alone, and of all else that there is none. */
export const appOf = (supervisor: Supervisor): App => ({
  supervisor: supervisor as App['supervisor'],
  engines: {
    select: async () => refuse('NOT_FOUND', {}, 'There are no engines here.'),
    limits: async () => ({ default: null, engines: {} }),
    list: async () => ({ default: null, engines: {} }),
    refresh: () => undefined,
  },
  settings: { home: '', sessionRoots: [], interruptOnNewMessage: false, turnDeadlineMs: 0 },
});
