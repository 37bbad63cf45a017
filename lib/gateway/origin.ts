import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { refuse, type Refusal } from '../../machines/refusals.js';
import { readFile } from 'node:fs/promises';

/**
 * Which addresses may be in the request: the defence against pages of other origins and against names that
 * were rebound to this machine. Host must name a loopback address, the configured host or an allowed one;
 * Origin, when there is one, must be the same origin (another port is another origin) or an allowed one. Both
 * are parsed, never compared by prefix.
 */
export interface OriginCheck {
  /** The refusal, or undefined when the request may come in. */
  check(request: IncomingMessage): Refusal | undefined;
  /**
   * The same for a request that a cookie authenticates: it must show that it comes from a page of this
   * gateway.
   */
  checkCookies(request: IncomingMessage): Refusal | undefined;
}

export interface OriginOptions {
  readonly host: string;
  /** Host names, `name` or `name:port`. */
  readonly allowedHosts: Names;
  /** Origins, `https://console.example`. */
  readonly allowedOrigins: Names;
}

/** A list, or where to find it as it is now. */
export type Names = readonly string[] | (() => readonly string[]);

export function originCheck(options: OriginOptions): OriginCheck {
  // A gateway sees the same few Hosts for ever; those of this machine may come in whatever the lists say
  const loopback = new Set<string>();
  const known = new Map<string, Refusal | undefined>();
  const namesOf = remembered(options.allowedHosts, (allowed) => {
    known.clear();
    return new Set(
      [...allowed, ...(wildcards.has(options.host) ? [] : [options.host])].map((name) => name.toLowerCase()),
    );
  });
  const originsOf = remembered(
    options.allowedOrigins,
    (allowed) => new Set(allowed.map((origin) => originOf(origin)).filter((origin) => origin !== undefined)),
  );

  function checkHost(header: string | undefined, standby: string | undefined): Refusal | undefined {
    if (header === undefined)
      return refuse('BAD_REQUEST', {}, 'Invalid request authority: the Host header is missing.');
    if (loopback.has(header)) return undefined;
    // What the node listens on to which the client came is a name of that node
    if (standby !== undefined && !wildcards.has(standby) && isNamed(hostOf(header), new Set([standby])))
      return undefined;
    const names = namesOf();
    if (known.has(header)) return known.get(header);
    const url = hostOf(header);
    if (url !== undefined && isLoopback(url.hostname)) {
      if (loopback.size < knownMax) loopback.add(header);
      return undefined;
    }
    const refusal = judgeHost(url, names);
    if (known.size < knownMax) known.set(header, refusal);
    return refusal;
  }

  return {
    check(request) {
      const { host, origin } = request.headers;
      if (hostsOf(request) > 1)
        return refuse('BAD_REQUEST', {}, 'Invalid request authority: there is more than one Host header.');
      const refusal = checkHost(host, clientEnds.get(request.socket)?.host.toLowerCase());
      if (refusal) return refusal;
      if (!request.url?.startsWith('/'))
        return refuse('BAD_REQUEST', {}, 'The request target must be a path.');
      if (origin === undefined) return undefined;
      const asked = originOf(origin);
      if (asked !== undefined && (asked === ownOrigin(request) || originsOf().has(asked))) return undefined;
      return refuse('ORIGIN_REFUSED');
    },
    checkCookies(request) {
      const { method = 'GET', headers } = request;
      const { origin, upgrade, 'sec-fetch-site': site } = headers;
      // Another port of this machine is the same *site*, so SameSite alone keeps no one's page out.
      if (site !== undefined && site !== 'same-origin' && site !== 'none')
        return refuse('CROSS_SITE_REFUSED');
      if (origin !== undefined && originOf(origin) !== ownOrigin(request))
        return refuse('CROSS_SITE_REFUSED');
      if (isSafe(method) && upgrade === undefined) return undefined;
      if (origin === undefined && site !== 'same-origin')
        return refuse('CROSS_SITE_REFUSED', {}, 'A request with a cookie must name its Origin.');
      return upgrade === undefined && isFormLike(headers['content-type'])
        ? refuse(
            'UNSUPPORTED_MEDIA_TYPE',
            {},
            'A paired browser sends application/json or multipart/form-data.',
          )
        : undefined;
    },
  };
}

const ownOrigin = ({ headers, socket }: IncomingMessage): string | undefined =>
  originOf(
    `${(socket as { encrypted?: boolean }).encrypted === true ? 'https' : 'http'}://${headers.host ?? ''}`,
  );

/** Made again only when the list is another one. */
function remembered<Made>(names: Names, make: (names: readonly string[]) => Made): () => Made {
  let from = typeof names === 'function' ? names() : names;
  let made = make(from);
  return () => {
    const now = typeof names === 'function' ? names() : names;
    if (now !== from) made = make((from = now));
    return made;
  };
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/**
 * What a form or a beacon may send across origins without a preflight: text and urlencoded. A body without a type
 * is none of these.
 */
const isFormLike = (type: string | undefined): boolean =>
  type !== undefined && !/^(?:application\/json|multipart\/form-data)\s*(?:;|$)/i.test(type);

/** Node shows the first; a proxy before us may have looked at another. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  return hosts;
}

const knownMax = 200;
/** Addresses to bind to, not to be called by. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]', '']);

function hostOf(header: string): URL | undefined {
  return /^[A-Za-z0-9.\-_:[\]]+$/.test(header) /* no @, /, ? or #: nothing but name and port */
    ? parsed(`http://${header}`)
    : undefined;
}

function judgeHost(url: URL | undefined, names: ReadonlySet<string>): Refusal | undefined {
  if (!url) return refuse('BAD_REQUEST', {}, 'Invalid request authority.');
  return isNamed(url, names) ? undefined : refuse('HOST_REFUSED');
}

const isNamed = (url: URL | undefined, names: ReadonlySet<string>): boolean =>
  url !== undefined &&
  (names.has(url.hostname) || names.has(url.hostname.replace(/^\[|\]$/g, '')) || names.has(url.host));

/** `localhost`, 127.0.0.0/8 or ::1, once the URL parser has brought every spelling to one. */
export function isLoopback(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

const originOf = (text: string): string | undefined => {
  const url = parsed(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.origin : undefined;
};

const parsed = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined; // not an address
  }
};

/**
 * Does another user of this machine sit at the far end of a loopback connection? Linux tells whose each
 * socket is. A grant stands in the arguments of the program that opens the browser, for everybody on the
 * machine to read: anyone who is faster than the browser must not be let in. Where the system does not tell,
 * no one is taken for an outsider; the administrator (who may relay for the user) never is.
 */
export async function isOtherUser(
  { remotePort = 0, localPort = 0 }: Ends,
  own = process.getuid?.(),
): Promise<boolean> {
  if (own === undefined) return false;
  const tables = await Promise.all(
    ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  return tables
    .flatMap((table) => ownersOf(table, remotePort, localPort))
    .some((uid) => uid !== own && uid !== 0);
}

/** Of a socket of ours. */
interface Ends {
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

/**
 * The users whose sockets lead from one port to another: `  1: 0100007F:A505 0100007F:1CFC 01 …:… …:… …  1000
 * …`.
 */
export function ownersOf(table: string, fromPort: number, toPort: number): readonly number[] {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  const [from, to] = [`:${hex(fromPort)}`, `:${hex(toPort)}`];
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote]) => local?.endsWith(from) === true && remote?.endsWith(to) === true)
    .map((fields) => Number(fields[7]));
}

/** From where a request comes, as far as the connection itself says. */
export interface Client {
  /** The peer's address. */
  readonly address: string | undefined;
  /** Over TLS. */
  readonly secure: boolean;
  /** A loopback peer that asked for a loopback name, and no one in between who says otherwise, nor a standby. */
  readonly local: boolean;
  /** A program of another user of this machine, as far as the system tells. */
  isOtherUser(): Promise<boolean>;
}

export function clientOf(request: IncomingMessage): Client {
  const address = addressOf(request.socket);
  const { host = '', forwarded, 'x-forwarded-for': forwardedFor, 'x-real-ip': realIp } = request.headers;
  const name = host.replace(/:\d+$/, '');
  const direct =
    forwarded === undefined &&
    forwardedFor === undefined &&
    realIp === undefined &&
    clientEnds.get(request.socket) === undefined;
  return {
    address,
    secure: (request.socket as { encrypted?: boolean }).encrypted === true,
    local: direct && address !== undefined && isLoopback(address) && isLoopback(name),
    isOtherUser: () => isOtherUser(request.socket),
  };
}

/** Of its other end, as people write it; undefined once it is closed. `addressOf(socket) // '127.0.0.1'` */
export const addressOf = (socket: Socket): string | undefined =>
  socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '');

/** A client's end of a connection that came through a standby. */
export interface ClientEnd {
  /** Of the client. */
  readonly address: string;
  readonly port: number;
  /** Of the standby, where the client connected. */
  readonly localPort: number;
  readonly localAddress?: string;
  /** Over TLS, as far as the standby. */
  readonly secure: boolean;
  /** What the standby listens on: one of its names, unless a wildcard. */
  readonly host: string;
  /** Of the agent that holds it, where that is a process of the standby's machine: the owner cannot see it. */
  readonly mark?: number;
}

/** Of connections that came through a standby; the client of any other connected to this node itself. */
export const clientEnds = new WeakMap<Socket, ClientEnd>();
