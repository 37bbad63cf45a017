/**
 * One request and what is known of it afterwards. A connection that breaks leaves an `unknown`: the action may
 * have happened, and no one has promised that it did.
 */
export type Answer =
  | { readonly type: 'done'; readonly status: number; readonly body: Body; readonly replayed: boolean }
  | { readonly type: 'refused'; readonly status: number; readonly code: string; readonly message: string }
  | { readonly type: 'unknown' };

export type Body = Readonly<Record<string, unknown>>;

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly body?: Body;
  readonly key?: string | undefined;
}

export async function ask(url: string, token: string, { method, path, body, key }: Ask): Promise<Answer> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(answerMsMax),
    });
    const text = await response.text();
    const answer = (text === '' ? {} : JSON.parse(text)) as Body;
    if (response.ok)
      return {
        type: 'done',
        status: response.status,
        body: answer,
        replayed: response.headers.get('idempotency-replayed') === 'true',
      };
    if (response.status === 503) return { type: 'unknown' }; // drained or recovering: safe to ask again
    return {
      type: 'refused',
      status: response.status,
      code: String(answer['code']),
      message: String(answer['error']),
    };
  } catch {
    return { type: 'unknown' };
  }
}

const answerMsMax = 30_000;
