import type { Context, Next } from 'koa';
import { isOpen } from './authority.js';
import { nameOf, refusedIdentity, type Identity, type Reception } from './caller.js';
import { visitorOf } from './cookies.js';
import { answerRefusal } from './failures.js';
import type { Doorstep } from './host.js';
import type { Route } from './route.js';
import type { Audit } from '../records/audit/audit.js';
import type { Refusal } from '../../machines/refusals.js';

/**
 * What every request passes: Host and Origin, then who it is. On protected paths a missing or wrong credential is 401
 * before anything is said about whether the path exists.
 */
export function door(options: { step: Doorstep; visitors: Reception; routes: readonly Route[]; authRequired: boolean; audit?: Audit | undefined }) {
  const { step, visitors, authRequired, audit } = options;
  const open = new Set(options.routes.filter((route) => isOpen(route.authority)).map((route) => route.path));

  return async (ctx: Context, next: Next): Promise<void> => {
    const turnAway = (refusal: Refusal, by: string): void => {
      if (refusal.status === 401 || refusal.status === 403) audit?.decided({ by, address: visitorOf(ctx.req).address, authority: 'door', method: ctx.method, verdict: 'refused', code: refusal.code });
      answerRefusal(ctx, refusal);
    };
    const refusal = step.check(ctx.req);
    if (refusal) return turnAway(refusal, 'unknown');
    const found = visitors.identify(ctx.req.headers, visitorOf(ctx.req).address);
    const identity: Identity = found instanceof Promise ? await found : found;
    ctx.state['identity'] = identity;
    const { path } = ctx;
    const crossed = crossSite(identity, ctx.req, step);
    if (crossed) return turnAway(crossed, nameOf(identity));
    if (identity.type === 'known' || open.has(path) || !isProtected(path)) return next();
    if (identity.type === 'none' && !authRequired && (ctx.method === 'GET' || ctx.method === 'HEAD')) return next();
    return turnAway(refusedIdentity(identity), nameOf(identity));
  };
}

/** Cookies travel by themselves: what they authenticate must come from a page of ours. */
export const crossSite = (identity: Identity, request: Context['req'], step: Doorstep): Refusal | undefined =>
  identity.type === 'known' && identity.caller.type === 'device' && isProtected((request.url ?? '').split('?', 1)[0] ?? '') ? step.checkCookies(request) : undefined;

export const isProtected = (path: string): boolean =>
  /^\/(?:api|ws|metrics|mcp)(?:\/|$)/.test(path); // routes are found with a slash at the end, too
