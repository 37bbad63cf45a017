import { rm } from 'node:fs/promises';
import type { Context } from 'koa';
import { ignoresKinship, verdict, type CallerKind } from './authority.js';
import { refusedIdentity, type Identity } from './caller.js';
import { rehearsed, wantsRehearsal } from './dry-run.js';
import { answerRefusal } from './failures.js';
import { idempotencyOf } from './idempotency.js';
import { bodyBytesDefault, parse, readJson, readQuery } from './parse.js';
import type { Call, Reply, Route } from './route.js';
import { isMultipart, readMultipart, type Multipart } from './upload.js';
import type { Desk } from '../commands/desk.js';
import { kinship } from '../commands/kinship.js';
import { operator, type Caller } from '../../machines/caller.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * One request through one route: authority by the table, then parsing, then the route's function, then the answer.
 * @example router.get('/api/status', dispatch(desk, route, {openReads: false}))
 */
export function dispatch(desk: Desk, route: Route, options: { openReads: boolean }): (ctx: Context) => Promise<void> {
  const { shape } = route;
  const bodyLimits = { bytesMax: shape.bodyBytesMax ?? bodyBytesDefault, ...(shape.forbidden && { forbidden: shape.forbidden }) };
  const open = verdict(route.authority, 'none') === 'yes';
  const judgedByKinship = !ignoresKinship(route.authority);

  async function authorize(identity: Identity, params: Record<string, string>): Promise<Caller | Refusal> {
    if (identity.type !== 'known') {
      if (open) return operator; // public routes tell everybody the same
      // reads are open where authentication is switched off, which only a loopback gateway may do
      if (identity.type === 'none' && options.openReads && route.method === 'GET') return operator;
      return refusedIdentity(identity);
    }
    const { caller } = identity;
    const kind = await kindOf(caller, params);
    if (isRefusal(kind)) return kind;
    const judged = verdict(route.authority, kind);
    return judged === 'yes' || judged === 'policy' ? caller : refuse(judged);
  }

  async function kindOf(caller: Caller, params: Record<string, string>): Promise<CallerKind | Refusal> {
    if (caller.type !== 'session') return caller.type === 'device' ? 'device' : 'operator';
    if (!judgedByKinship || !shape.target) return 'self';
    const kind = shape.target === 'param' ? params['kind'] ?? '' : shape.target;
    const found = await kinship(desk, caller, kind, params['id'] ?? '');
    return found === 'absent' ? refuse('NOT_FOUND', { kind, id: params['id'] }) : found;
  }

  async function call(ctx: Context, by: Caller): Promise<Reply | Refusal> {
    const given = readQuery(ctx.req.url ?? '');
    if (isRefusal(given)) return given;
    const rehearsal = route.method === 'GET' ? false : wantsRehearsal(given, shape.plan === true);
    if (isRefusal(rehearsal)) return rehearsal;
    const query = shape.query ? parse(shape.query, given, 'query') : undefined;
    if (isRefusal(query)) return query;
    const multipart = shape.upload && isMultipart(ctx) ? await multipartOf(ctx) : undefined;
    if (isRefusal(multipart)) return multipart;
    try {
      return await answer(ctx, by, { query, rehearsal }, multipart);
    } finally {
      if (multipart?.upload) await rm(multipart.upload.path, { force: true });
    }
  }

  async function multipartOf(ctx: Context): Promise<Multipart | Refusal> {
    const staging = desk.records?.files.staging;
    if (!staging) return refuse('UNSUPPORTED_MEDIA_TYPE');
    return readMultipart(ctx, { folder: staging.folder, fileBytesMax: staging.bytesMax, fields: uploadFields });
  }

  async function answer(ctx: Context, by: Caller, { query, rehearsal }: { query: unknown; rehearsal: boolean }, multipart: Multipart | undefined): Promise<Reply | Refusal> {
    const raw = multipart ? { ...multipart.fields } : shape.body ? await readJson(ctx.req, bodyLimits) : undefined;
    if (isRefusal(raw)) return raw;
    const body = shape.body ? parse(shape.body, raw, 'body') : undefined;
    if (isRefusal(body)) return body;
    const idempotency = shape.plan
      ? idempotencyOf({ header: ctx.get('idempotency-key') || undefined, body: raw, by, route: `${route.method} ${ctx.path}` })
      : undefined;
    if (isRefusal(idempotency)) return idempotency;
    const params = ctx['params'] as Record<string, string>;
    const asking = { by, ...(idempotency && !rehearsal && { idempotency }), ...(rehearsal && { dryRun: true }) };
    const authenticated = (ctx.state['identity'] as Identity).type === 'known';
    const header = (name: string): string | undefined => ctx.get(name) || undefined;
    const upload = multipart?.upload;
    const outcome = await route.run({ desk, by, authenticated, params, query, body, asking, header, ...(upload && { upload }) } as Call<never, never>);
    return rehearsal ? rehearsed(outcome) : outcome;
  }

  return async (ctx) => {
    const by = await authorize(ctx.state['identity'] as Identity, ctx['params'] as Record<string, string>);
    const outcome = isRefusal(by) ? by : await call(ctx, by);
    if (isRefusal(outcome)) return answerRefusal(ctx, outcome);
    ctx.status = outcome.status ?? shape.status ?? 200;
    if (outcome.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (shape.contentType) ctx.type = shape.contentType;
    if (outcome.headers) ctx.set({ ...outcome.headers });
    ctx.body = outcome.body;
  };
}

/** The texts that a multipart body may carry beside its file. */
const uploadFields = ['filename', 'text', 'mimetype'];
