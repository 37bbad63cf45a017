import type { z } from 'zod';
import type { AuthorityId } from './authorization.js';
import type { Client } from './origin.js';
import type { Upload } from './upload.js';
import type { Reply, Request } from '../commands/request.js';
import type { Refusal, RefusalCode } from '../../machines/refusals.js';

/** A route is data: one line says method, path, authority, shapes and the function that answers. */
export interface Route {
  /** GET neither changes anything nor takes a body. */
  readonly method: Method;
  /** `/api/sessions/:id` */
  readonly path: string;
  /** Row of the table of authority: who may call it. */
  readonly authority: AuthorityId;
  /** What it takes and answers. */
  readonly schema: RouteSchema;
  /** Answers; a refusal becomes an error of its status. What it throws becomes a 500 with an id. */
  readonly run: (request: HttpRequest<never, never>) => Promise<Reply | Refusal> | Reply | Refusal;
}

/** The methods that routes may have. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route takes and answers: checked at run time, and shown in the OpenAPI document. */
export interface RouteSchema {
  /** A sentence for the documentation. */
  readonly about: string;
  /** Shape of a success, for the OpenAPI document. */
  readonly answer: z.ZodType;
  /** Of a success; default 200. */
  readonly status?: 200 | 201 | 302;
  /** Shape of the query. Absent: the route reads none. */
  readonly query?: z.ZodType;
  /** Its absence means that the route reads no body. A missing body is read as `{}`. */
  readonly body?: z.ZodType;
  /** Codes that the answer may carry beside those of the authority table and of parsing. */
  readonly refusals?: readonly RefusalCode[];
  /** Members that a caller may not smuggle in; `approval*` names a beginning. */
  readonly forbidden?: readonly string[];
  /** Default 1 MiB. */
  readonly bodyBytesMax?: number;
  /** What `:id` (with `:kind` given in the path, `param`) names, for the judgement of agents. */
  readonly target?: 'session' | 'work-item' | 'param';
  /** A mutation that can be rehearsed with `?dryRun=true`, and takes an idempotency key. */
  readonly plan?: true;
  /** Of the answer. Default `application/json`. */
  readonly contentType?: string;
  /** Headers that the route reads, and what each is for. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A credential of its own, judged before a byte of the body is read; a refusal ends the request. */
  readonly credential?: (request: CredentialRequest) => Promise<Refusal | undefined>;
  /** `call.bytes` holds the body as it came. */
  readonly keepsBytes?: true;
  /**
   * Takes multipart bodies as well: a part `file`, and the members of `body` as texts. Streamed, not kept in
   * memory.
   */
  readonly upload?: true;
}

/** A request of which only the head has been read. */
export type CredentialRequest = Pick<HttpRequest, 'app' | 'caller' | 'authenticated' | 'header' | 'params'>;

/** A request whose body and query its schemas have parsed. */
export interface HttpRequest<Body = unknown, Query = unknown> extends Request {
  /** False on a public route, or where reads are open and no credential came. */
  readonly authenticated: boolean;
  /** From where it comes. */
  readonly client: Client;
  /** Members of the path: `/api/things/:id` gives `id`, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** As the schema parsed it; undefined without one. */
  readonly query: Query;
  /** As the schema parsed it; undefined without one. */
  readonly body: Body;
  /** The value of a header, by its name in any case. */
  readonly header: (name: string) => string | undefined;
  /** The body as it came, for routes that keep it; absent where it did not come by HTTP. */
  readonly bytes?: Buffer;
  /** The file of a multipart body. */
  readonly upload?: Upload;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/**
 * `route('POST', '/api/work-items', 'work-item.create', {about, body, answer}, create)`: `run` sees what the
 * schemas parse. A body or query that its schema does not take is refused with `VALIDATION`.
 * @example
 *   const shape = { about: 'Answers.', answer: z.object({ ok: z.boolean() }) };
 *   route('GET', '/api/ping', 'status.read', shape, () => ({ status: 200, body: { ok: true } }));
 */
export function route<const S extends RouteSchema>(
  method: Method,
  path: string,
  authority: AuthorityId,
  shape: S,
  run: (
    request: HttpRequest<Parsed<S['body']>, Parsed<S['query']>>,
  ) => Promise<Reply | Refusal> | Reply | Refusal,
): Route {
  return { method, path, authority, schema: shape, run: run as Route['run'] };
}

/**
 * True for a route whose operation can be asked for twice with one idempotency key: those that can be rehearsed,
 * and uploads.
 */
export const takesKey = ({ plan, upload }: RouteSchema): boolean => plan === true || upload === true;
