import type { Context } from 'koa';
import { answering } from './answer.js';
import type { Identity } from './caller.js';
import { visitorOf } from './cookies.js';
import { answerRefusal } from './failures.js';
import { readJson, readQuery } from './parse.js';
import type { Route } from './route.js';
import { isMultipart, readMultipart, type Multipart } from './upload.js';
import type { Desk } from '../commands/desk.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';

/**
 * One HTTP request through one route.
 * @example router.get('/api/status', dispatch(desk, route, {openReads: false}))
 */
export function dispatch(desk: Desk, route: Route, options: { openReads: boolean }): (ctx: Context) => Promise<void> {
  const { shape } = route;
  const answer = answering(desk, route, options);

  return async (ctx) => {
    const outcome = await answer({
      identity: ctx.state['identity'] as Identity,
      visitor: visitorOf(ctx.req),
      params: ctx['params'] as Record<string, string>,
      path: ctx.path,
      query: readQuery(ctx.req.url ?? ''),
      body: (limits) => readJson(ctx.req, limits),
      multipart: () => multipartOf(desk, ctx),
      header: (name) => ctx.get(name) || undefined,
    });
    if (isRefusal(outcome)) return answerRefusal(ctx, outcome);
    ctx.status = outcome.status ?? shape.status ?? 200;
    if (outcome.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (shape.contentType) ctx.type = shape.contentType;
    for (const [name, value] of Object.entries(outcome.headers ?? {})) ctx.set(name, typeof value === 'string' ? value : [...value]);
    ctx.body = outcome.body;
  };
}

async function multipartOf(desk: Desk, ctx: Context): Promise<Multipart | Refusal | undefined> {
  if (!isMultipart(ctx)) return undefined;
  const staging = desk.records?.files.staging;
  if (!staging) return refuse('UNSUPPORTED_MEDIA_TYPE');
  return readMultipart(ctx, { folder: staging.folder, fileBytesMax: staging.bytesMax, fields: uploadFields });
}

/** The texts that a multipart body may carry beside its file. */
const uploadFields = ['filename', 'text', 'mimetype', 'idempotencyKey'];
