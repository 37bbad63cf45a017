import type { Context, Next } from 'koa';
import { isOpen, verdict } from './authorization.js';
import { answerRefusal } from './errors.js';
import { clientOf, type OriginCheck } from './origin.js';
import type { Route } from './route.js';
import type { Audit } from '../records/audit/audit.js';
import { type Refusal, refuse } from '../../machines/refusals.js';
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { agentOf } from '../commands/authority/causes.js';
import type { Agent } from '../commands/relation.js';
import type { DeviceBook } from '../records/devices/devices.js';
import type { App } from '../commands/app.js';
import { callerName, operator, type Caller } from '../../machines/caller.js';

/**
 * What every request passes: Host and Origin, then who it is. On protected paths a missing or wrong
 * credential is 401 before anything is said about whether the path exists.
 *
 * @internal Koa's types are no dependency of our users.
 */
export function authentication(options: {
  step: OriginCheck;
  authenticator: Authenticator;
  routes: readonly Route[];
  authRequired: boolean;
  audit?: Audit | undefined;
}) {
  const { step, authenticator, authRequired, audit } = options;
  const open = new Set(options.routes.filter((route) => isOpen(route.authority)).map((route) => route.path));
  const pairing = new Set(
    options.routes.filter(({ authority }) => verdict(authority, 'none') === 'policy').map(({ path }) => path),
  );

  return async (ctx: Context, next: Next): Promise<void> => {
    const turnAway = (refusal: Refusal, by: string): void => {
      if (refusal.status === 401 || refusal.status === 403)
        audit?.decided({
          by,
          address: clientOf(ctx.req).address,
          authority: 'authentication',
          method: ctx.method,
          verdict: 'refused',
          code: refusal.code,
        });
      answerRefusal(ctx, refusal);
    };
    const refusal = step.check(ctx.req);
    if (refusal) return turnAway(refusal, 'unknown');
    const found = authenticator.identify(ctx.req.headers, clientOf(ctx.req).address, ctx.req.socket);
    const named: Identity = found instanceof Promise ? await found : found;
    const { path } = ctx;
    const identity =
      named.type === 'anonymous' && pairing.has(path) ? await authenticator.newcomer(ctx.req.socket) : named;
    ctx.state['identity'] = identity;
    const crossed = crossSite(identity, ctx.req, step);
    if (crossed) return turnAway(crossed, nameOf(identity));
    const mayRead = identity.type === 'anonymous' && !authRequired && isRead(ctx.method);
    if (identity.type !== 'authenticated' && !open.has(path) && isProtected(path) && !mayRead)
      return turnAway(refusedIdentity(identity), nameOf(identity));
    await next();
  };
}

/** Cookies travel by themselves: what they authenticate must come from a page of ours. */
export const crossSite = (
  identity: Identity,
  request: IncomingMessage,
  step: OriginCheck,
): Refusal | undefined =>
  identity.type === 'authenticated' &&
  identity.caller.type === 'device' &&
  isProtected((request.url ?? '').split('?', 1)[0] ?? '')
    ? step.checkCookies(request)
    : undefined;

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

// Routes are found with a slash at the end, too
export const isProtected = (path: string): boolean => /^\/(?:api|ws|metrics|mcp)(?:\/|$)/.test(path);

/**
 * Who a request is from: no one, someone with a wrong credential, a known caller, or an agent's tool call
 * that lost its identity.
 */
export type Identity =
  | { readonly type: 'anonymous' | 'invalid' }
  | {
      readonly type: 'authenticated';
      readonly caller: Caller;
      /** The session token it came with, to notice its end. */ readonly token?: string;
    }
  | { readonly type: 'orphaned'; readonly refusal: Refusal; /** Who was caught. */ readonly by?: string };

/** Session tokens as the gateway needs them. */
export interface TokenBook {
  /** The session to which a live token or capability belongs. */
  resolve(token: string): string | undefined;
  /** The session whose agents carry this mark of a process, also when its turn is over. */
  sessionOfMark?(mark: number): string | undefined;
  /** How many tokens are valid, and how many there have been. */
  readonly size?: number;
  /** Since the process began. */
  readonly minted?: number;
}

/** Paired browsers as the gateway needs them. */
export interface Browsers {
  readonly devices: Pick<DeviceBook, 'verify' | 'seen'>;
  readonly cookies: Pick<CookieJar, 'read'>;
}

export interface Authenticator {
  identify(headers: IncomingHttpHeaders, address?: string, socket?: Socket): Promise<Identity> | Identity;
  /** Who comes without a credential to be paired: anonymous, unless an agent holds the other end. */
  newcomer(socket: Socket): Promise<Identity>;
}

/**
 * Credentials → caller. The bearer is the operator's token or a session's own; the identity headers of agent
 * tools may only narrow it. Whatever claims to be an agent's call and cannot prove which agent's is refused,
 * never widened.
 */
export function createAuthenticator(options: {
  supervisor: App['supervisor'];
  tokens: TokenBook;
  operatorToken: string;
  browsers?: Browsers | undefined;
  /** The session of the agent that holds the other end of a connection. */
  agentAt?: ((socket: Socket) => Promise<string | undefined> | undefined) | undefined;
}): Authenticator {
  const expected = Buffer.from(`Bearer ${options.operatorToken}`);

  async function agentCalled(sessionId: string): Promise<Agent | undefined> {
    const session = await options.supervisor.get('session', sessionId);
    // Its processes may take a moment to go; their word counts no more
    if (!session || ['stopped', 'deleted'].includes(session.view.status)) return undefined;
    return agentOf(session);
  }

  async function byToken(header: string): Promise<Identity> {
    const token = header.startsWith('Bearer ') ? header.slice(7) : undefined;
    const sessionId =
      token === undefined || token.length > tokenCharsMax ? undefined : options.tokens.resolve(token);
    const caller = sessionId === undefined ? undefined : await agentCalled(sessionId);
    return caller && token !== undefined ? { type: 'authenticated', caller, token } : { type: 'invalid' };
  }

  /**
   * A cookie that no one knows is as good as none: browsers send them unasked, also those of an earlier life.
   */
  async function byCookies(
    header: string | undefined,
    address: string | undefined,
    socket: Socket | undefined,
  ): Promise<Identity> {
    const { browsers } = options;
    for (const { id, secret } of browsers?.cookies.read(header) ?? []) {
      const device = await browsers?.devices.verify(id, secret);
      if (!device) continue;
      browsers?.devices.seen(device.id, address);
      const identity: Identity = { type: 'authenticated', caller: { type: 'device', id: device.id } };
      // the folder of a browser can be read like any other
      return socket ? unlessAgent(socket, identity, 'An agent may use its own token only.') : identity;
    }
    return { type: 'anonymous' };
  }

  /** An agent that has read the operator's token does not become the operator by it. */
  const byOperator = (socket: Socket): Promise<Identity> =>
    unlessAgent(socket, known, "An agent may use its own token only, not the operator's.");

  /** Whose agents hold the connections of which that was found out. */
  const agents = new WeakMap<Socket, Promise<string | undefined>>();

  async function unlessAgent(socket: Socket, identity: Identity, message: string): Promise<Identity> {
    const found = agents.get(socket) ?? options.agentAt?.(socket);
    if (found === undefined) return identity;
    agents.set(socket, found);
    const session = await found;
    if (session === undefined) return identity;
    if (session === goneClient)
      return { type: 'orphaned', refusal: refuse('FORBIDDEN', {}, goneMessage), by: session };
    return { type: 'orphaned', refusal: refuse('FORBIDDEN', {}, message), by: `session:${session}` };
  }

  async function narrowed(identity: Identity, headers: IncomingHttpHeaders): Promise<Identity> {
    if (identity.type !== 'authenticated') return identity;
    const sessionId = single(headers['x-svc-caller-session']);
    const capability = single(headers['x-svc-session-capability']);
    if (sessionId === undefined || capability === undefined || capability.length > tokenCharsMax) return lost;
    if (options.tokens.resolve(capability) !== sessionId) return lost;
    const agent = await agentCalled(sessionId);
    if (!agent) return lost;
    const { caller } = identity;
    if (caller.type === 'session' && caller.id !== agent.id && !agent.ancestors.includes(caller.id))
      return lost;
    return { ...identity, caller: agent, token: capability };
  }

  return {
    identify(headers, address, socket) {
      const { authorization } = headers;
      const marked = markers.some((name) => headers[name] !== undefined);
      // A tool call without its bearer is not a passer-by
      if (authorization === undefined && marked) return { type: 'invalid' };
      if (authorization === undefined)
        return options.browsers && headers.cookie !== undefined
          ? byCookies(headers.cookie, address, socket)
          : { type: 'anonymous' };
      if (!marked && sameBytes(authorization, expected)) return socket ? byOperator(socket) : known;
      const identity = sameBytes(authorization, expected) ? known : byToken(authorization);
      return marked ? Promise.resolve(identity).then((found) => narrowed(found, headers)) : identity;
    },
    /** An agent that reads the home could prove a challenge, and be a person by its cookies. */
    newcomer: (socket) => unlessAgent(socket, { type: 'anonymous' }, 'An agent pairs no browser.'),
  };
}

/**
 * A client of this machine that had sent its request and was gone before it was known whose it is: an agent could do so
 * with the operator's token, for what it does not need the answer to.
 */
export const goneClient = 'gone';

/** For the audit log alone: who is gone reads no answer. */
const goneMessage = 'The client went away before it was known whether it is an agent; nothing was done.';

const known: Identity = { type: 'authenticated', caller: operator };
const markers = ['x-svc-tool-call', 'x-svc-caller-session', 'x-svc-session-capability'];
const tokenCharsMax = 200;
const lost: Identity = {
  type: 'orphaned',
  refusal: refuse(
    'FORBIDDEN',
    {},
    'caller identity unavailable: this tool call carries no valid x-svc-caller-session and x-svc-session-capability.',
  ),
};

/** Constant in what it compares; the length of the token is no secret. */
function sameBytes(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

const single = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

/** How the audit log calls it. */
export const nameOf = (identity: Identity): string =>
  identity.type === 'authenticated'
    ? callerName(identity.caller)
    : identity.type === 'orphaned'
      ? (identity.by ?? identity.type)
      : identity.type;

/** The refusal for a request without a valid credential. */
export const refusedIdentity = (identity: Identity): Refusal =>
  identity.type === 'orphaned' ? identity.refusal : refuse('UNAUTHENTICATED');

/**
 * Browsers cannot set headers on a WebSocket, and a credential does not belong into an address. So a page
 * offers two subprotocols, `troupe` and `bearer.<token>`: the second is read here as the Authorization header
 * that it stands for, and is never echoed, because the first one offered is the one that is chosen.
 */
export function readSocketBearer({ headers }: IncomingMessage): void {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const tokens = offered.filter((name) => name.startsWith(prefix));
  if (offered[0] !== 'troupe' || tokens.length !== 1 || headers.authorization !== undefined) return;
  headers.authorization = `Bearer ${tokens[0]?.slice(prefix.length)}`;
  headers['sec-websocket-protocol'] = 'troupe';
}

const prefix = 'bearer.';

/**
 * The two cookies of a paired browser: which device it says it is, and the secret that proves it. Cookies are
 * shared between the ports of a host, so the names carry the instance.
 */
export interface CookieJar {
  /**
   * What a request brings, each id with each secret. Browsers share cookies between the ports of a host, so a
   * page of another port can plant one of the same name: any that is valid counts.
   */
  read(header: string | undefined): readonly { readonly id: string; readonly secret: string }[];
  /** Values for `Set-Cookie`. */
  give(id: string, secret: string, secure: boolean): readonly string[];
  clear(secure: boolean): readonly string[];
}

/**
 * `cookieJar('default').give('d_1', secret, false)` → `['svc_auth=…; Path=/; HttpOnly; …', 'svc_device=d_1;
 * …']`
 */
export function cookieJar(instance: string): CookieJar {
  const suffix = instance === 'default' ? '' : `_${instance}`;
  const names = { secret: `svc_auth${suffix}`, id: `svc_device${suffix}` };
  const attributes = (maxAgeSeconds: number, secure: boolean): string =>
    `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`;
  return {
    read(header) {
      if (header === undefined || header.length > headerCharsMax) return [];
      const secrets = valuesOf(header, names.secret, secretShape);
      return valuesOf(header, names.id, idShape).flatMap((id) => secrets.map((secret) => ({ id, secret })));
    },
    give: (id, secret, secure) => [
      `${names.secret}=${secret}; ${attributes(yearSeconds, secure)}`,
      `${names.id}=${id}; ${attributes(yearSeconds, secure)}`,
    ],
    clear: (secure) => [
      `${names.secret}=; ${attributes(0, secure)}`,
      `${names.id}=; ${attributes(0, secure)}`,
    ],
  };
}

const yearSeconds = 31_536_000;
const headerCharsMax = 8_192;
const idShape = /^d_[\w-]{16}$/;
const secretShape = /^[\w-]{43}$/;

/** The values of one name that look like ours, the first few of them. */
function valuesOf(header: string, name: string, shape: RegExp): readonly string[] {
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter((value) => shape.test(value));
  return [...new Set(values)].slice(0, sameNameMax);
}

const sameNameMax = 8;
