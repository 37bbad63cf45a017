import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ancestorsOf, type Agent } from '../commands/kinship.js';
import { recordOf } from '../commands/desk.js';
import type { CookieJar } from './cookies.js';
import type { DeviceBook } from '../records/devices/devices.js';
import type { Supervisor } from '../supervisor/contract.js';
import { callerName, operator, type Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/** Who a request is from: nobody, somebody with a wrong credential, a known caller, or an agent's tool call that lost its identity. */
export type Identity =
  | { readonly type: 'none' | 'bad' }
  | { readonly type: 'known'; readonly caller: Caller; /** The session token it came with, to notice its end. */ readonly token?: string }
  | { readonly type: 'lost'; readonly refusal: Refusal };

/** Session tokens as the gateway needs them. */
export interface TokenBook {
  /** The session to which a live token or capability belongs. */
  resolve(token: string): string | undefined;
}

/** Paired browsers as the gateway needs them. */
export interface Browsers { readonly devices: Pick<DeviceBook, 'verify' | 'seen'>; readonly cookies: Pick<CookieJar, 'read'> }

export interface Reception {
  identify(headers: IncomingHttpHeaders, address?: string): Promise<Identity> | Identity;
}

/**
 * Credentials → caller. The bearer is the operator's token or a session's own; the identity headers of agent tools
 * may only narrow it. Whatever claims to be an agent's call and cannot prove which agent's is refused, never widened.
 */
export function reception(options: { supervisor: Supervisor; tokens: TokenBook; operatorToken: string; browsers?: Browsers | undefined }): Reception {
  const expected = Buffer.from(`Bearer ${options.operatorToken}`);

  async function agentCalled(sessionId: string): Promise<Agent | undefined> {
    const session = await options.supervisor.get('session', sessionId);
    if (!session || ['stopped', 'deleted'].includes(String(recordOf(session)['status']))) return undefined; // its processes may take a moment to go; their word counts no more
    const employee = recordOf(session)['employee'];
    return { type: 'session', id: sessionId, employee: typeof employee === 'string' ? employee : null, ancestors: ancestorsOf(session) };
  }

  async function byToken(header: string): Promise<Identity> {
    const token = header.startsWith('Bearer ') ? header.slice(7) : undefined;
    const sessionId = token === undefined || token.length > tokenCharsMax ? undefined : options.tokens.resolve(token);
    const caller = sessionId === undefined ? undefined : await agentCalled(sessionId);
    return caller && token !== undefined ? { type: 'known', caller, token } : { type: 'bad' };
  }

  /** A cookie that nobody knows is as good as none: browsers send them unasked, also those of an earlier life. */
  async function byCookies(header: string | undefined, address: string | undefined): Promise<Identity> {
    const { browsers } = options;
    const given = browsers?.cookies.read(header);
    const device = given && await browsers?.devices.verify(given.id, given.secret);
    if (!device) return { type: 'none' };
    browsers?.devices.seen(device.id, address);
    return { type: 'known', caller: { type: 'device', id: device.id } };
  }

  async function narrowed(identity: Identity, headers: IncomingHttpHeaders): Promise<Identity> {
    if (identity.type !== 'known') return identity;
    const sessionId = single(headers['x-svc-caller-session']);
    const capability = single(headers['x-svc-session-capability']);
    if (sessionId === undefined || capability === undefined || capability.length > tokenCharsMax) return lost;
    if (options.tokens.resolve(capability) !== sessionId) return lost;
    const agent = await agentCalled(sessionId);
    if (!agent) return lost;
    const { caller } = identity;
    if (caller.type === 'session' && caller.id !== agent.id && !agent.ancestors.includes(caller.id)) return lost;
    return { ...identity, caller: agent, token: capability };
  }

  return {
    identify(headers, address) {
      const { authorization } = headers;
      const marked = markers.some((name) => headers[name] !== undefined);
      if (authorization === undefined && marked) return { type: 'bad' }; // a tool call without its bearer is not a passer-by
      if (authorization === undefined) return options.browsers && headers.cookie !== undefined ? byCookies(headers.cookie, address) : { type: 'none' };
      if (!marked && sameBytes(authorization, expected)) return known;
      const identity = sameBytes(authorization, expected) ? known : byToken(authorization);
      return marked ? Promise.resolve(identity).then((found) => narrowed(found, headers)) : identity;
    },
  };
}

const known: Identity = { type: 'known', caller: operator };
const markers = ['x-svc-tool-call', 'x-svc-caller-session', 'x-svc-session-capability'];
const tokenCharsMax = 200;
const lost: Identity = {
  type: 'lost',
  refusal: refuse('FORBIDDEN', {}, 'caller identity unavailable: this tool call carries no valid x-svc-caller-session and x-svc-session-capability.'),
};

/** Constant in what it compares; the length of the token is no secret. */
function sameBytes(given: string, expected: Buffer): boolean {
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

const single = (header: string | string[] | undefined): string | undefined => (typeof header === 'string' ? header : undefined);

/** How the audit log calls it. */
export const nameOf = (identity: Identity): string => (identity.type === 'known' ? callerName(identity.caller) : identity.type);

/** The refusal for a request without a valid credential. */
export const refusedIdentity = (identity: Identity): Refusal => (identity.type === 'lost' ? identity.refusal : refuse('UNAUTHENTICATED'));
