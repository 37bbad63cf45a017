import Router from '@koa/router';
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Context, Next } from 'koa';
import { nameOf, refusedIdentity, type Identity } from './authentication.js';
import { ignoresRelation, isOpen, verdictsOf, type CallerKind, type Verdict } from './authorization.js';
import { clientOf, type Client } from './origin.js';
import { answerRefusal, failureBody } from './errors.js';
import { bodyBytesDefault, parse, readJson, readQuery, type BodyLimits } from './parse.js';
import { takesKey, type HttpRequest, type Route } from './route.js';
import { fingerprint, isMultipart, readMultipart, type Multipart } from './upload.js';
import type { App } from '../commands/app.js';
import type { Reply } from '../commands/request.js';
import { spendBytes } from '../commands/authority/quotas.js';
import { relationTo } from '../commands/relation.js';
import type { Idempotency } from '../supervisor/contract.js';
import { callerName, operator, type Caller } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * The life of a request, from a path to a reply: find the route, judge the caller by the authority table, parse
 * query and body by the route's schemas, run the route, write the audit line, answer. Tools of the MCP endpoint
 * enter at `answererOf`, so that both ways in refuse alike.
 *
 * Paths → routes: one small router per resource (`/api/<resource>`), found by its name, so that a request is
 * compared with a handful of paths and not with all of them. No route: 404, or 405 with `Allow` when another
 * method has one.
 */
export function createRouter(app: App, routes: readonly Route[], options: { openReads: boolean }) {
  const routers = new Map<string, Router>();
  for (const route of routes) {
    const name = resourceOf(route.path);
    const router = routers.get(name) ?? new Router({ sensitive: true });
    router.register(route.path, [route.method], [handlerOf(app, route, options)]);
    routers.set(name, router);
  }
  const entries = new Map([...routers].map(([name, router]) => [name, { router, handle: router.routes() }]));

  // Nothing stands behind the router: `next` is never called.
  return (ctx: Context, _next: Next): Promise<void> | void => {
    const entry = entries.get(resourceOf(ctx.path));
    if (!entry) return answerRefusal(ctx, refuse('NOT_FOUND', {}, 'Not found'));
    const noMatch = async (): Promise<void> => answerNoMatch(ctx, entry.router);
    return entry.handle(ctx as never, noMatch) as Promise<void>;
  };
}

function answerNoMatch(ctx: Context, router: Router): void {
  const methods = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (methods.size === 0) return answerRefusal(ctx, refuse('NOT_FOUND', {}, 'Not found'));
  answerRefusal(ctx, refuse('METHOD_NOT_ALLOWED', { allow: [...methods] }));
}

/** `/api/sessions/1` → `sessions`; `/healthz` → `/healthz`; `/inspect/main.js` → `/inspect`. */
function resourceOf(path: string): string {
  if (!path.startsWith('/api/')) return /^\/[^/]*/.exec(path)?.[0] ?? path;
  const end = path.indexOf('/', 5);
  return end === -1 ? path.slice(5) : path.slice(5, end);
}

/** One route as Koa sees it. */
function handlerOf(app: App, route: Route, options: { openReads: boolean }): (ctx: Context) => Promise<void> {
  const { schema } = route;
  const answer = answererOf(app, route, options);
  return async (ctx) => {
    const reply = await answer({
      identity: ctx.state['identity'] as Identity,
      client: clientOf(ctx.req),
      params: ctx['params'] as Record<string, string>,
      path: ctx.path,
      query: readQuery(ctx.req.url ?? ''),
      body: (limits) => readJson(ctx.req, limits),
      multipart: () => multipartOf(app, ctx),
      header: (name) => ctx.get(name) || undefined,
    });
    if (isRefusal(reply)) return answerRefusal(ctx, reply);
    ctx.status = reply.status ?? schema.status ?? 200;
    if (reply.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (schema.contentType) ctx.type = schema.contentType;
    for (const [name, value] of Object.entries(reply.headers ?? {}))
      ctx.set(name, typeof value === 'string' ? value : [...value]);
    ctx.body = reply.body;
  };
}

async function multipartOf(app: App, ctx: Context): Promise<Multipart | Refusal | undefined> {
  if (!isMultipart(ctx)) return undefined;
  const staging = app.records?.files.staging;
  if (!staging) return refuse('UNSUPPORTED_MEDIA_TYPE');
  return readMultipart(ctx, { folder: staging.folder, fileBytesMax: staging.bytesMax, fields: uploadFields });
}

/** The texts that a multipart body may carry beside its file. */
const uploadFields = ['filename', 'text', 'mimetype', 'idempotencyKey'];

/** A request before anything of it was judged or read, by HTTP or as a tool of the MCP endpoint. */
export interface Incoming {
  readonly identity: Identity;
  readonly client: Client;
  readonly params: Readonly<Record<string, string>>;
  /** `/api/sessions/s1/message`, as requested: part of what an idempotency key covers. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>> | Refusal;
  /** Called once, and only after the caller was found to have the authority. */
  readonly body: (limits: BodyLimits) => Promise<unknown>;
  /** Bytes that came along, where the transport carries them; undefined when the body is none of these. */
  readonly multipart?: () => Promise<Multipart | Refusal | undefined>;
  readonly header: (name: string) => string | undefined;
}

/**
 * Answers requests to one route: authority by the table, then parsing, then the route's function.
 * @example await answererOf(app, route, { openReads: false })(incoming)
 */
export function answererOf(
  app: App,
  route: Route,
  options: { openReads: boolean },
): (incoming: Incoming) => Promise<Reply | Refusal> {
  const { schema } = route;
  const limits = {
    bytesMax: schema.bodyBytesMax ?? bodyBytesDefault,
    ...(schema.forbidden && { forbidden: schema.forbidden }),
  };
  const authorize = authorizerOf(app, route, options);
  const repeatable = takesKey(schema);
  const audited = verdictsOf(route.authority).bad !== 'yes'; // what everybody may do is no decision

  return async (incoming) => {
    const reply = await answer(incoming);
    const audit = audited ? app.records?.audit : undefined;
    audit?.decided({
      by: nameOf(incoming.identity),
      person: personOf(app, incoming.identity),
      address: incoming.client.address,
      authority: route.authority,
      method: route.method,
      target: incoming.params['id'] ?? incoming.params['name'],
      ...(isRefusal(reply)
        ? {
            verdict: reply.status === 401 || reply.status === 403 ? 'refused' : 'allowed',
            code: reply.code,
          }
        : { verdict: 'allowed' }),
    });
    return reply;
  };

  async function answer(incoming: Incoming): Promise<Reply | Refusal> {
    const caller = await authorize(incoming);
    if (isRefusal(caller)) return caller;
    if (isRefusal(incoming.query)) return incoming.query;
    const dryRun = route.method === 'GET' ? false : readDryRun(incoming.query, schema.plan === true);
    if (isRefusal(dryRun)) return dryRun;
    const query = schema.query ? parse(schema.query, incoming.query, 'query') : undefined;
    if (isRefusal(query)) return query;
    const authenticated = incoming.identity.type === 'authenticated';
    const unproved = await schema.credential?.({ app, caller, authenticated, ...incoming });
    if (unproved !== undefined) return unproved;
    // Before the bytes are taken in
    if (schema.upload && app.supervisor.status.diskLow) return refuse('DISK_LOW');
    const multipart = schema.upload ? await incoming.multipart?.() : undefined;
    if (isRefusal(multipart)) return multipart;
    try {
      return await run(incoming, { caller, query, dryRun }, multipart);
    } finally {
      // Anyone who wanted the bytes has moved them
      if (multipart?.upload) await rm(multipart.upload.path, { force: true });
    }
  }

  async function run(
    incoming: Incoming,
    judged: { readonly caller: Caller; readonly query: unknown; readonly dryRun: boolean },
    multipart: Multipart | undefined,
  ): Promise<Reply | Refusal> {
    const { caller, query, dryRun } = judged;
    const upload = multipart?.upload;
    let bytes: Buffer | undefined;
    const keepBytes = (received: Buffer): void => void (bytes = received);
    const raw = multipart
      ? { ...multipart.fields }
      : schema.body && (await incoming.body(schema.keepsBytes ? { ...limits, onBytes: keepBytes } : limits));
    if (isRefusal(raw)) return raw;
    const full = caller.type === 'session' && (await spendBytes({ app, caller, dryRun }, sizeOf(raw)));
    if (full) return full;
    const said = caller.type === 'session' && app.redact !== undefined ? app.redact(raw) : raw;
    const body = schema.body ? parse(schema.body, said, 'body') : undefined;
    if (isRefusal(body)) return body;
    const idempotency = repeatable
      ? idempotencyOf({
          header: incoming.header('idempotency-key'),
          body: multipart && upload ? { ...multipart.fields, file: await fingerprint(upload) } : raw,
          caller,
          route: `${route.method} ${incoming.path}`,
        })
      : undefined;
    if (isRefusal(idempotency)) return idempotency;
    const request = {
      app,
      caller,
      authenticated: incoming.identity.type === 'authenticated',
      client: incoming.client,
      params: incoming.params,
      query,
      body,
      header: incoming.header,
      ...(idempotency && !dryRun && { idempotency }),
      ...(dryRun && { dryRun }),
      ...(bytes && { bytes }),
      ...(upload && { upload }),
    };
    // The schemas have just made of query and body what this route's function takes.
    const reply = await route.run(request as HttpRequest<unknown, unknown> as HttpRequest<never, never>);
    return dryRun ? dryRunReply(reply) : reply;
  }
}

const sizeOf = (body: unknown): number => (body === undefined ? 0 : JSON.stringify(body).length);

/** Who may use a route: the caller, judged by the authority table, or the refusal. */
function authorizerOf(
  app: App,
  route: Route,
  options: { openReads: boolean },
): (incoming: Incoming) => Promise<Caller | Refusal> {
  const { authority, schema } = route;
  const open = isOpen(authority);
  const verdicts = verdictsOf(authority);
  const openToInvalid = verdicts.bad === 'yes';
  const byRelation = !ignoresRelation(authority) && schema.target !== undefined;
  const outsider = byRelation
    ? 'An agent reaches only its own sessions and work, their descendants, and what it manages. Ask the owner.'
    : `Only people may do this (${authority}). Ask a person, or use one of your tools.`;

  async function kindOf(caller: Caller, params: Incoming['params']): Promise<CallerKind | Refusal> {
    if (caller.type !== 'session') return caller.type === 'device' ? 'device' : 'operator';
    if (!byRelation) return 'self';
    const kind = schema.target === 'param' ? (params['kind'] ?? '') : (schema.target ?? '');
    const relation = await relationTo(app, caller, kind, params['id'] ?? '');
    return relation === 'absent' ? refuse('NOT_FOUND', { kind, id: params['id'] }) : relation;
  }

  return async ({ identity, params }) => {
    if (identity.type !== 'authenticated') {
      // Public routes answer everybody alike; `authenticated` is false.
      if (open && (openToInvalid || identity.type === 'anonymous')) return operator;
      if (open && identity.type === 'invalid') return refusalOf(verdicts.bad, identity);
      // Reads are open where authentication is switched off, which only a loopback gateway may do.
      if (identity.type === 'anonymous' && options.openReads && route.method === 'GET') return operator;
      return refusedIdentity(identity);
    }
    const { caller } = identity;
    const kind = await kindOf(caller, params);
    if (isRefusal(kind)) return kind;
    const judged = verdicts[kind];
    if (judged === 'yes' || judged === 'policy') return caller;
    return judged === 'FORBIDDEN' && caller.type === 'session'
      ? refuse(judged, { authority }, outsider)
      : refuse(judged);
  };
}

/** Who uses the paired browser that asks. */
const personOf = (app: App, identity: Identity): string | undefined =>
  identity.type === 'authenticated' && identity.caller.type === 'device'
    ? app.records?.devices.personOf(identity.caller.id)
    : undefined;

const refusalOf = (judged: Verdict, identity: Identity): Refusal =>
  judged === 'yes' || judged === 'policy' ? refusedIdentity(identity) : refuse(judged);

/**
 * `?dryRun=true`: the same transaction, not committed. Its reply is 200 whether the operation would be allowed
 * or not; only what never reaches a transaction (no credential, malformed input) is an error as always.
 */
function readDryRun(query: Readonly<Record<string, string>>, supported: boolean): boolean | Refusal {
  // Unknown parameters are ignored; but to commit what was meant as a dry run would be too much of that.
  const misspelt = Object.keys(query).find((name) => name !== 'dryRun' && /^dry[-_]?run$/i.test(name));
  if (misspelt !== undefined)
    return refuse(
      'BAD_REQUEST',
      { path: misspelt },
      `Use dryRun instead of ${misspelt}; nothing was changed.`,
    );
  const { dryRun } = query;
  if (dryRun === undefined || dryRun === 'false') return false;
  if (dryRun !== 'true') return refuse('BAD_REQUEST', { path: 'dryRun' }, 'dryRun: must be true or false');
  return supported ? true : refuse('DRY_RUN_UNSUPPORTED');
}

/** `{allowed, refusal?: {error, code, httpStatus, …}, steps: [{kind, id, from, to, effects[]}]}` */
function dryRunReply(reply: Reply | Refusal): Reply {
  if (!isRefusal(reply)) return { status: 200, body: { allowed: true, steps: reply.steps ?? [] } };
  const refusal = { ...failureBody(reply), httpStatus: reply.status };
  return { status: 200, body: { allowed: false, refusal, steps: [] } };
}

/**
 * The idempotency key of a request: header `Idempotency-Key` and body member `idempotencyKey` are one
 * namespace per caller. The kernel stores key and hash in the operation's own commit; here only the hash of
 * route and body is made.
 */
export function idempotencyOf(options: {
  header: string | undefined;
  body: unknown;
  caller: Caller;
  route: string;
}): Idempotency | Refusal | undefined {
  const { header } = options;
  const member = (options.body as { idempotencyKey?: unknown } | null)?.idempotencyKey;
  if (header === undefined && member === undefined) return undefined;
  if (member !== undefined && typeof member !== 'string')
    return refuse('BAD_REQUEST', { path: 'idempotencyKey' }, 'idempotencyKey: must be a string');
  if (header !== undefined && member !== undefined && header !== member)
    return refuse('IDEMPOTENCY_KEYS_DIFFER');
  const key = header ?? member ?? '';
  if (key.trim() === '' || key.length > keyCharsMax) {
    const rule = `idempotencyKey: must have 1 to ${keyCharsMax} characters and not be blank`;
    return refuse('BAD_REQUEST', { path: 'idempotencyKey' }, rule);
  }
  const content = `${options.route}\n${canonical(options.body)}`;
  return {
    key,
    scope: callerName(options.caller),
    hash: createHash('sha256').update(content).digest('hex'),
  };
}

const keyCharsMax = 256;

/** Members in order of their names, without the key itself: the same input is the same text however written. */
function canonical(value: unknown, top = true): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, false)).join(',')}]`;
  const members = Object.entries(value)
    .filter(([name]) => !(top && name === 'idempotencyKey'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inside]) => `${JSON.stringify(name)}:${canonical(inside, false)}`).join(',')}}`;
}
