import type { Context, Next } from 'koa';
import { verdict } from './authority.js';
import { refusedIdentity, type Identity, type Reception } from './caller.js';
import { answerRefusal } from './failures.js';
import type { Doorstep } from './host.js';
import type { Route } from './route.js';

/**
 * What every request passes: Host and Origin, then who it is. On protected paths a missing or wrong credential is 401
 * before anything is said about whether the path exists.
 */
export function door(options: { step: Doorstep; visitors: Reception; routes: readonly Route[]; authRequired: boolean }) {
  const { step, visitors, authRequired } = options;
  const open = new Set(options.routes.filter((route) => verdict(route.authority, 'none') === 'yes').map((route) => route.path));

  return async (ctx: Context, next: Next): Promise<void> => {
    const refusal = step.check(ctx.req);
    if (refusal) return answerRefusal(ctx, refusal);
    const found = visitors.identify(ctx.req.headers);
    const identity: Identity = found instanceof Promise ? await found : found;
    ctx.state['identity'] = identity;
    const { path } = ctx;
    if (identity.type === 'known' || open.has(path) || !isProtected(path)) return next();
    if (identity.type === 'none' && !authRequired && (ctx.method === 'GET' || ctx.method === 'HEAD')) return next();
    return answerRefusal(ctx, refusedIdentity(identity));
  };
}

export const isProtected = (path: string): boolean =>
  path.startsWith('/api/') || path === '/api' || path === '/ws' || path.startsWith('/ws/') || path === '/metrics' || path === '/mcp';
