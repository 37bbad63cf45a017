/** All that one answer may weigh on the wire: a stream that never ends must not fill the gateway's memory. */
const answerBytesMax = 16 * 1024 * 1024;
/** And one event of it: an SDK copies an unfinished event with every piece that arrives. */
const eventBytesMax = 512 * 1024;

export interface BoundedFetchOptions {
  /** Names of headers, in small letters, that may be sent; an SDK's others are left out. */
  readonly sent: readonly string[];
  readonly key: string | undefined;
  /** Header for the key. Default: `authorization`, as a bearer. */
  readonly keyHeader?: string | undefined;
}

/**
 * `fetch` for an SDK: the request without what no one asked for, the answer within its bounds. An answer beyond them
 * ends with a `Flood`.
 */
export const boundedFetch =
  ({ sent, key, keyHeader }: BoundedFetchOptions) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    for (const name of [...headers.keys()]) if (!sent.includes(name)) headers.delete(name);
    if (key !== undefined) headers.set(keyHeader ?? 'authorization', keyHeader ? key : `Bearer ${key}`);
    const response = await fetch(input, { ...init, headers, redirect: 'error' });
    if (response.body === null) return response;
    return new Response(response.body.pipeThrough(bounded()), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let eventBytes = 0;
  let isAfterLine = false;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const end = Math.max(
        text.lastIndexOf('\n\n'),
        text.lastIndexOf('\n\r\n'),
        isAfterLine && /^\r?\n/.test(text.toString('latin1', 0, 2)) ? 0 : -1,
      );
      isAfterLine = text.at(-1) === newline;
      eventBytes = end === -1 ? eventBytes + text.length : text.length - end;
      if (bytes > answerBytesMax || eventBytes > eventBytesMax) controller.error(new Flood());
      else controller.enqueue(chunk);
    },
  });
}

const newline = 0x0a;

export class Flood extends Error {
  override readonly name = 'Flood';
  constructor() {
    super('The endpoint exceeded the output limit.');
  }
}

/** The key, from the gateway's environment and nowhere else. `keyOf({ apiKeyEnv: 'MODEL_KEY' })` */
export const keyOf = ({ apiKeyEnv }: { readonly apiKeyEnv?: string }): string | undefined => {
  const key = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
  return key === '' ? undefined : key;
};
