import createFetch, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch';
import { keyedOperations, type paths } from './api.js';
import { isElsewhere, isUnsent, type Nodes } from './nodes.js';
import { GatewayError, refusalOf, type Refusal } from './refusal.js';

/**
 * Every operation of the gateway's OpenAPI document by method and path, typed: parameters, body, answer and the
 * codes of its refusals.
 * @example const session = await client.get('/api/sessions/{id}', { params: { path: { id } } });
 */
export interface Requests {
  /** Read: `await client.get('/api/status')`. Repeated when the connection fails. */
  readonly get: Verb<'get'>;
  /** Create or act. Where the operation takes an idempotency key, one is sent, and it is repeated too. */
  readonly post: Verb<'post'>;
  /** Replace members. */
  readonly put: Verb<'put'>;
  /** Change members. */
  readonly patch: Verb<'patch'>;
  /** Delete, or archive where the operation says so. */
  readonly delete: Verb<'delete'>;
}

/** The methods that the gateway knows. */
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that know a method. */
export type PathWith<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, object> ? Path : never;
}[keyof paths];

type OperationOf<Path extends keyof paths, M extends Method> = paths[Path][M] & Record<string, unknown>;

/** Body of a success. */
export type Answer<Path extends keyof paths, M extends Method> = NonNullable<
  FetchResponse<OperationOf<Path, M>, object, `${string}/${string}`>['data']
>;

/** The refusals of an operation, by their codes. */
export type RefusalOf<Path extends keyof paths, M extends Method> = FetchResponse<
  OperationOf<Path, M>,
  object,
  `${string}/${string}`
>['error'] extends infer Failure
  ? Failure extends { code: infer Code extends string }
    ? Refusal<Code>
    : never
  : never;

type Init<Path extends keyof paths, M extends Method> = MaybeOptionalInit<paths[Path], M> & RequestSettings;

/** Parameters and body; may be left out where the operation needs none. */
export type InitOf<Path extends keyof paths, M extends Method> =
  undefined extends MaybeOptionalInit<paths[Path], M> ? [Init<Path, M>?] : [Init<Path, M>];

/** What every request may be given beside its parameters and body. */
export interface RequestSettings {
  /** Makes a create safe to repeat for a day. Default: a new one per call. */
  readonly idempotencyKey?: string;
  /** Milliseconds until the answer; default that of the client. */
  readonly timeoutMs?: number;
  /** Gives the request up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves with the body or the refusal; rejects with a `GatewayError`. A path that the gateway does not have is
 * refused by the compiler, which names those that begin like it.
 */
export type Verb<M extends Method> = <Path extends PathWith<M> | (string & {})>(
  path: Path extends PathWith<M> ? Path : PathMeant<Path, M>,
  ...init: Path extends PathWith<M> ? InitOf<Path, M> : [object?]
) => Promise<Path extends PathWith<M> ? Answer<Path, M> | RefusalOf<Path, M> : never>;

/** In place of a path that is none: what the compiler says. */
export type PathMeant<Path extends string, M extends Method> = Path extends keyof paths
  ? `${Path} has no ${M}: it has ${{ [Other in Method]: Path extends PathWith<Other> ? Other : never }[Method]}`
  : [Near<Path, M>] extends [never]
    ? 'no such path: the guide to the HTTP API lists them'
    : Near<Path, M>;

/** The paths that begin with the same letters after `/api/`. */
type Near<Path extends string, M extends Method> = Path extends `/api/${infer A}${infer B}${string}`
  ? Extract<PathWith<M>, `/api/${A}${B}${string}`>
  : never;

export interface RequestOptions {
  readonly nodes: Nodes;
  readonly token: () => string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly retries: number;
}

export function createRequests({ nodes, token, fetch, timeoutMs, retries }: RequestOptions): Requests {
  const http = createFetch<Record<string, Record<string, object>>>({
    fetch,
    redirect: 'manual', // no request of ours is redirected: what does it is a proxy's login page
  });

  async function request(method: Method, path: string, init: RequestSettings = {}): Promise<unknown> {
    const { idempotencyKey, timeoutMs: patienceMs = timeoutMs, signal, ...rest } = init;
    const keyed = keyedOperations.has(`${method.toUpperCase()} ${path}`);
    const bearer = token();
    const headers = {
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(keyed && { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }),
    };
    const isRepeatable = method === 'get' || keyed;
    const until = performance.now() + patienceMs;
    /** Another node may take the home over: that takes seconds. */
    const mayTryAnother = (): boolean => nodes.count > 1 && performance.now() < until;
    for (let attempt = 0; ; attempt += 1) {
      const url = nodes.current;
      // One that is frozen takes connections, and answers nothing
      const isPatient = nodes.count === 1 || !isRepeatable;
      const limit = AbortSignal.timeout(isPatient ? patienceMs : Math.min(patienceMs, frozenMs));
      try {
        const { data, error, response } = await http.request(
          method,
          path as never,
          {
            ...rest,
            baseUrl: url,
            headers,
            signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
          } as never,
        );
        if (response.ok) return data;
        const status = response.type === 'opaqueredirect' ? 302 : response.status;
        const refusal = refusalOf(status, error);
        if (refusal === undefined) return notAGateway(`${method.toUpperCase()} ${path}`, status);
        if (!isElsewhere(refusal.code)) return refusal;
        if (!isRepeatable || !mayTryAnother()) {
          nodes.passOver(url); // what comes next is asked there
          return refusal;
        }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason;
        if (mayTryAnother() && (isUnsent(cause) || (isRepeatable && isBroken(cause, limit)))) {
          nodes.passOver(url);
          await pause(Math.min(1_000, 50 * 2 ** attempt));
          continue;
        }
        if (cause instanceof GatewayError) throw cause;
        if (cause instanceof SyntaxError) notAGateway(`${method.toUpperCase()} ${path}`, 200, cause);
        // What has no key may have been done before the connection broke
        if (limit.aborted)
          throw new GatewayError('TIMEOUT', `The gateway did not answer within ${patienceMs} ms.`, { cause });
        if (attempt >= retries || !isRepeatable)
          throw new GatewayError('UNREACHABLE', `The gateway at ${url} does not answer.`, { cause });
        await pause(100 * 4 ** attempt);
        continue;
      }
      nodes.passOver(url);
      await pause(Math.min(1_000, 50 * 2 ** attempt));
    }
  }

  const verb = <M extends Method>(method: M): Verb<M> =>
    ((path: string, init?: RequestSettings) => request(method, path, init)) as Verb<M>;
  return {
    get: verb('get'),
    post: verb('post'),
    put: verb('put'),
    patch: verb('patch'),
    delete: verb('delete'),
  };
}

const frozenMs = 10_000;

/** The node did not answer, or a proxy says so in its place; what any program may answer is none of it. */
const isBroken = (error: unknown, limit: AbortSignal): boolean =>
  limit.aborted ||
  (error instanceof GatewayError
    ? error.code === 'NOT_A_GATEWAY' && (error.status ?? 0) >= 500
    : !(error instanceof SyntaxError));

/** A proxy, a login page, another program. */
const notAGateway = (request: string, status: number, cause?: unknown): never => {
  const isRedirect = status >= 300 && status < 400;
  const isLogin = isRedirect || status === 401 || status === 403;
  const what = isRedirect ? 'was redirected' : `was answered with ${status}`;
  const why = isLogin ? 'a proxy before it wants you to sign in' : 'something else stands in its place';
  throw new GatewayError('NOT_A_GATEWAY', `${request} ${what}, but not by a gateway: ${why}.`, {
    cause,
    status,
  });
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
