/** The gateway as the clerk knows it: a few routes, JSON in and out, its own session's token. */
export interface GatewayClient {
  get(path: string, query?: Readonly<Record<string, string | undefined>>): Promise<Body>;
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<Body>;
}

export type Body = Readonly<Record<string, unknown>>;

/** The gateway said no, or could not be reached. The message is its own sentence for a person. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

const answerMsMax = 30_000;

/** `await createGatewayClient(url, token).post('/api/work-items', {title: 'Buy milk'})` */
export function createGatewayClient(url: string, token: string): GatewayClient {
  async function call(method: string, path: string, body?: Body): Promise<Body> {
    const answer = await fetch(new URL(path, url), {
      method,
      // a redirect would carry the token to someone else
      redirect: 'error',
      signal: AbortSignal.timeout(answerMsMax),
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Refused(`The gateway did not answer (${reason(error)}).`, undefined, error);
    });
    const json = (await answer.json().catch(() => ({}))) as Body;
    if (answer.ok) return json;
    throw new Refused(
      typeof json['error'] === 'string' ? json['error'] : `The gateway answered ${answer.status}.`,
      answer.status,
    );
  }
  return {
    get(path, query = {}) {
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as [string, string]],
      );
      return call('GET', given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`);
    },
    post: (path, body) => call('POST', path, body),
  };
}

function reason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string'
    ? cause.code
    : error instanceof Error
      ? error.message
      : String(error);
}
