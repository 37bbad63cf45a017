import type { Context } from 'koa';
import { answering } from './answer.js';
import type { Identity } from './caller.js';
import { answerRefusal } from './failures.js';
import { readJson, readQuery } from './parse.js';
import type { Route } from './route.js';
import type { Desk } from '../commands/desk.js';
import { isRefusal } from '../../machines/refusals.js';

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
      params: ctx['params'] as Record<string, string>,
      path: ctx.path,
      query: readQuery(ctx.req.url ?? ''),
      body: (limits) => readJson(ctx.req, limits),
      header: (name) => ctx.get(name) || undefined,
    });
    if (isRefusal(outcome)) return answerRefusal(ctx, outcome);
    ctx.status = outcome.status ?? shape.status ?? 200;
    if (outcome.replayed) ctx.set('Idempotency-Replayed', 'true');
    if (shape.contentType) ctx.type = shape.contentType;
    ctx.body = outcome.body;
  };
}
