/**
 * One request as it will stand on the wire, still in parts, so that a shrinker can take parts away and see
 * whether the fault stays. Nothing here is checked: the point is to send what no client library would.
 */
export interface Ask {
  /** Its place in the run: with the seed it makes the same request again. */
  readonly n: number;
  /** `POST /api/work-items`: the operation of the document from which it was made. */
  readonly operation: string;
  readonly caller: CallerName;
  readonly method: string;
  /** The request target up to the `?`. */
  readonly path: string;
  /** `limit=5`, already encoded (or badly so). */
  readonly query: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** How the end of the body is told; `short` and `both` lie about it. */
  readonly framing: 'length' | 'chunked' | 'short' | 'both';
  /** Needs a connection of its own, and may be cut without an answer. */
  readonly rude: boolean;
  /** What was done to it after it was valid. */
  readonly spoiled: readonly string[];
}

export type CallerName = 'none' | 'bad' | 'odd' | 'operator' | 'agent' | 'tool' | 'browser';

/** The bytes of a request. What a `short` body lacks is never sent: the client hangs up instead. */
export function bytesOf(ask: Ask, port: number): Buffer {
  const target = ask.query.length === 0 ? ask.path : `${ask.path}?${ask.query.join('&')}`;
  const lines = [`${ask.method} ${target} HTTP/1.1`];
  if (!has(ask, 'host')) lines.push(`Host: 127.0.0.1:${port}`);
  for (const [name, value] of ask.headers) lines.push(`${name}: ${value}`);
  const { body, framing } = ask;
  const chunked = framing === 'chunked' || framing === 'both';
  if (body !== undefined && chunked) lines.push('Transfer-Encoding: chunked');
  if (body !== undefined && framing !== 'chunked')
    lines.push(`Content-Length: ${body.length + (framing === 'short' ? 10 : 0)}`);
  if (body === undefined && ask.method !== 'GET' && ask.method !== 'HEAD' && !has(ask, 'content-length'))
    lines.push('Content-Length: 0');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === undefined) return head;
  return Buffer.concat([
    head,
    ...(chunked
      ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]
      : [body]),
  ]);
}

/** For a report: the parts, long ones cut, credentials by name only. */
export function shown(ask: Ask): string {
  const target = ask.query.length === 0 ? ask.path : `${ask.path}?${ask.query.join('&')}`;
  const headers = ask.headers.map(([name, value]) =>
    /^(?:authorization|cookie|x-svc-session-capability)$/i.test(name)
      ? `${name}: <${ask.caller}>`
      : `${name}: ${cut(value, 80)}`,
  );
  return [
    `${ask.method} ${cut(target, 200)}`,
    ...headers,
    ...(ask.framing === 'length' ? [] : [`(${ask.framing})`]),
    ...(ask.body ? [cut(JSON.stringify(ask.body.toString('utf8')), 400)] : []),
    `as ${ask.caller}, #${ask.n}: ${ask.spoiled.join(', ') || 'valid'}`,
  ].join('\n      ');
}

const has = (ask: Ask, wanted: string): boolean =>
  ask.headers.some(([name]) => name.toLowerCase() === wanted);
const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
