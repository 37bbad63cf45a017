import { lookup } from 'node:dns/promises';
import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { refuse, type Refusal } from '../../../machines/refusals.js';
import { isPublicAddress } from './addresses.js';

/**
 * The one way in which the gateway fetches an address that someone gave it. Names are resolved here, every
 * address that a name has is judged, and the connection goes to the very address that was judged: a name that
 * answers differently the second time (rebinding) finds no second time. Each redirect is judged like the
 * first address.
 */
export interface FetchOptions {
  /** More are refused. */
  readonly bytesMax: number;
  /** Default GET. Only a GET follows redirects. Named, any 2xx is a success; else only 200 is. */
  readonly method?: string;
  /** Further headers; those that belong to the connection cannot be set. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is sent along. */
  readonly content?: string | Uint8Array;
  /** For everything together. Default 30,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** `host:port`: no other is asked, nor its name resolved. Default: any that is public. */
  readonly hosts?: readonly string[];
  /** All addresses of a name. Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** A certificate that is trusted in place of the system's, PEM. */
  readonly ca?: string;
  /** A connection to that address and port. Default: TCP. */
  readonly dial?: (address: string, port: number) => Socket;
}

export interface Fetched {
  /** The body as it arrives; rejects when it is too long, late or broken. */
  readonly body: AsyncIterable<Uint8Array>;
  /** After redirects. */
  readonly url: URL;
  readonly status: number;
}

/**
 * `const fetched = await fetchBytes('https://example.org/logo.png', {bytesMax: 50e6})`. URL_REFUSED or
 * FETCH_FAILED.
 */
export async function fetchBytes(address: string, options: FetchOptions): Promise<Fetched | Refusal> {
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
  let url = parsed(address);
  for (let hops = 0; hops <= redirectsMax; hops += 1) {
    if (url === undefined)
      return refuse('URL_REFUSED', {}, 'Only http and https addresses without a user name can be fetched.');
    const target = await judged(url, options, signal);
    if (typeof target !== 'string') return target;
    let response: IncomingMessage;
    try {
      response = await ask(url, target, options, signal);
    } catch {
      return failed(signal.aborted ? 'The request timed out.' : 'The address is unreachable.');
    }
    const { statusCode = 0, headers } = response;
    if (redirects.has(statusCode) && headers.location !== undefined && (options.method ?? 'GET') === 'GET') {
      response.destroy();
      const next = parsed(headers.location, url);
      if (url.protocol === 'https:' && next?.protocol === 'http:')
        return refuse('URL_REFUSED', {}, 'The address redirects from https to http.');
      url = next;
      continue;
    }
    const refusal = unfit(response, options);
    if (refusal) {
      response.destroy();
      return refusal;
    }
    return { body: bounded(response, options.bytesMax, signal), url, status: statusCode };
  }
  return failed(`The address redirects more than ${redirectsMax} times.`);
}

/** Thrown by the body when it is longer than allowed. */
export class TooLong extends Error {
  override readonly name = 'TooLong';
}

const redirectsMax = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function parsed(address: string, base?: URL): URL | undefined {
  try {
    const url = new URL(address, base);
    const web =
      (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '';
    return web && address.length <= 8_192 ? url : undefined;
  } catch {
    return undefined; // not an address
  }
}

/**
 * The address to dial. A name of which one address is not public is refused whole: no one has such a name by
 * accident.
 */
async function judged(url: URL, options: FetchOptions, signal: AbortSignal): Promise<string | Refusal> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  if (options.hosts?.includes(`${name}:${portOf(url)}`) === false)
    return refuse(
      'URL_REFUSED',
      {},
      `This agent has no network but its named hosts, and ${url.host} is none (agents.sandboxHosts).`,
    );
  const resolve = options.resolve ?? resolveAll;
  let addresses: readonly string[];
  try {
    addresses = isIP(name) ? [name] : await Promise.race([resolve(name), aborted(signal)]);
  } catch {
    return failed(`The name ${name.slice(0, 253)} could not be resolved.`);
  }
  const [first] = addresses;
  if (first === undefined || !addresses.every((address) => isPublicAddress(address))) {
    return refuse('URL_REFUSED', {}, 'loopback or private URLs are not fetchable');
  }
  return first;
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

const resolveAll = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

function ask(
  url: URL,
  address: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const port = portOf(url);
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const dial = (): Socket => options.dial?.(address, port) ?? connectPlain({ host: address, port });
  const createConnection = (): Socket =>
    secure
      ? connectSecure({
          socket: dial(),
          host: name,
          ...(isIP(name) ? {} : { servername: name }),
          ...(options.ca === undefined ? {} : { ca: options.ca }),
        })
      : dial();
  return new Promise((resolve, reject) => {
    const sent = (secure ? requestSecure : requestPlain)(
      {
        host: name,
        port,
        method: options.method ?? 'GET',
        path: url.pathname + url.search,
        signal,
        createConnection,
        maxHeaderSize: 16_384,
        headers: {
          accept: '*/*',
          'user-agent': 'troupe',
          ...chosen(options.headers),
          host: url.host,
          'accept-encoding': 'identity',
          ...lengthOf(options.content),
        },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(options.content);
  });
}

const lengthOf = (content: FetchOptions['content']) =>
  content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) };

/** Names of headers as they are compared; what belongs to the connection is ours. */
function chosen(headers: FetchOptions['headers'] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !connectionHeaders.has(name)),
  );
}

const connectionHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'accept-encoding',
]);

function unfit(
  { statusCode = 0, headers }: IncomingMessage,
  { bytesMax, method }: FetchOptions,
): Refusal | undefined {
  // A file that is fetched must be there whole
  const good = method === undefined ? statusCode === 200 : statusCode >= 200 && statusCode <= 299;
  if (!good) return failed(`The address answered with status ${statusCode}.`, { answered: statusCode });
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    return failed('The response has an encoding that was not requested.', { answered: statusCode });
  return Number(headers['content-length'] ?? 0) > bytesMax
    ? refuse('PAYLOAD_TOO_LARGE', { bytesMax })
    : undefined;
}

async function* bounded(
  response: IncomingMessage,
  bytesMax: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let length = 0;
  const stop = (): void => void response.destroy(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bytesMax) throw new TooLong('the body is too long');
      yield chunk;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    response.destroy();
  }
}

const failed = (sentence: string, details: { readonly answered?: number } = {}): Refusal =>
  refuse('FETCH_FAILED', details, sentence);
