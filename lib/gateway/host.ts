import type { IncomingMessage } from 'node:http';
import { refuse, type Refusal } from '../../machines/refusals.js';

/**
 * Which addresses may be in the request: the defence against pages of other origins and against names that were
 * rebound to this machine. Host must name a loopback address, the configured host or an allowed one; Origin, when
 * there is one, must be the same origin (another port is another origin) or an allowed one. Both are parsed, never
 * compared by prefix.
 */
export interface Doorstep {
  /** The refusal, or undefined when the request may come in. */
  check(request: IncomingMessage): Refusal | undefined;
  /** The same for a request that a cookie authenticates: it must show that it comes from a page of this gateway. */
  checkCookies(request: IncomingMessage): Refusal | undefined;
}

export interface DoorstepOptions {
  readonly host: string;
  /** Host names, `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** Origins, `https://console.example`. */
  readonly allowedOrigins: readonly string[];
  /** Served over TLS. */
  readonly secure?: boolean;
}

export function doorstep(options: DoorstepOptions): Doorstep {
  const names = new Set(options.allowedHosts.map((name) => name.toLowerCase()));
  if (!wildcards.has(options.host)) names.add(options.host.toLowerCase());
  const origins = new Set(options.allowedOrigins.map((origin) => originOf(origin)).filter((origin) => origin !== undefined));
  const scheme = options.secure === true ? 'https' : 'http';
  const known = new Map<string, Refusal | undefined>(); // a gateway sees the same few Hosts for ever

  function checkHost(header: string | undefined): Refusal | undefined {
    if (header === undefined) return refuse('BAD_REQUEST', {}, 'Invalid request authority: the Host header is missing.');
    if (known.has(header)) return known.get(header);
    const refusal = judgeHost(header, names);
    if (known.size < knownMax) known.set(header, refusal);
    return refusal;
  }

  return {
    check(request) {
      const { host, origin } = request.headers;
      const refusal = checkHost(host);
      if (refusal) return refusal;
      if (!request.url?.startsWith('/')) return refuse('BAD_REQUEST', {}, 'The request target must be a path.');
      if (origin === undefined) return undefined;
      const asked = originOf(origin);
      if (asked !== undefined && (asked === originOf(`${scheme}://${host ?? ''}`) || origins.has(asked))) return undefined;
      return refuse('ORIGIN_REFUSED');
    },
    checkCookies({ method = 'GET', headers }) {
      const { host, origin, upgrade, 'sec-fetch-site': site } = headers;
      // Another port of this machine is the same *site*, so SameSite alone keeps nobody's page out.
      if (site !== undefined && site !== 'same-origin' && site !== 'none') return refuse('CROSS_SITE_REFUSED');
      if (origin !== undefined && originOf(origin) !== originOf(`${scheme}://${host ?? ''}`)) return refuse('CROSS_SITE_REFUSED');
      if (isSafe(method) && upgrade === undefined) return undefined;
      if (origin === undefined && site !== 'same-origin') return refuse('CROSS_SITE_REFUSED', {}, 'A request with a cookie must name its Origin.');
      return upgrade === undefined && isFormLike(headers['content-type']) ? refuse('UNSUPPORTED_MEDIA_TYPE', {}, 'A paired browser sends application/json or multipart/form-data.') : undefined;
    },
  };
}

const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** What a form or a beacon may send across origins without asking: text and urlencoded. A body without a type is none of these. */
const isFormLike = (type: string | undefined): boolean => type !== undefined && !/^(?:application\/json|multipart\/form-data)\s*(?:;|$)/i.test(type);

const knownMax = 200;
/** Addresses to bind to, not to be called by. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]', '']);

function judgeHost(header: string, names: ReadonlySet<string>): Refusal | undefined {
  const url = /^[A-Za-z0-9.\-_:[\]]+$/.test(header) ? parsed(`http://${header}`) : undefined;
  if (!url || url.pathname !== '/' || url.username !== '' || url.hostname === '') {
    return refuse('BAD_REQUEST', {}, 'Invalid request authority.');
  }
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  if (isLoopback(url.hostname) || names.has(url.hostname) || names.has(bare) || names.has(url.host)) return undefined;
  return refuse('HOST_REFUSED');
}

/** `localhost`, 127.0.0.0/8 or ::1, once the URL parser has brought every spelling to one. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '').replace(/\.$/, '');
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
