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
}

export interface DoorstepOptions {
  readonly host: string;
  /** Host names, `name` or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** Origins, `https://console.example`. */
  readonly allowedOrigins: readonly string[];
}

export function doorstep(options: DoorstepOptions): Doorstep {
  const names = new Set(options.allowedHosts.map((name) => name.toLowerCase()));
  if (!wildcards.has(options.host)) names.add(options.host.toLowerCase());
  const origins = new Set(options.allowedOrigins.map((origin) => originOf(origin)).filter((origin) => origin !== undefined));
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
      if (asked !== undefined && (asked === originOf(`http://${host ?? ''}`) || origins.has(asked))) return undefined;
      return refuse('ORIGIN_REFUSED');
    },
  };
}

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
