import Router from '@koa/router';
import type { Context, Next } from 'koa';
import { dispatch } from './dispatch.js';
import { answerRefusal } from './failures.js';
import type { Route } from './route.js';
import type { Desk } from '../commands/desk.js';
import { refuse } from '../../machines/refusals.js';

/**
 * Paths → routes. One small router per resource (`/api/<resource>`), found by its name, so that a request is compared
 * with a handful of paths and not with all of them. No route: 404, or 405 with `Allow` when another method has one.
 */
export function turnstile(desk: Desk, routes: readonly Route[], options: { openReads: boolean }) {
  const routers = new Map<string, Router>();
  for (const route of routes) {
    const name = resourceOf(route.path);
    const router = routers.get(name) ?? new Router({ sensitive: true });
    router.register(route.path, [route.method], [dispatch(desk, route, options)]);
    routers.set(name, router);
  }
  const entries = new Map([...routers].map(([name, router]) => [name, { router, pass: router.routes() }]));

  return (ctx: Context, next: Next): Promise<void> | void => {
    const entry = entries.get(resourceOf(ctx.path));
    if (!entry) return answerRefusal(ctx, refuse('NOT_FOUND', {}, 'Not found'));
    const miss = async (): Promise<void> => missed(ctx, entry.router);
    void next; // nothing stands behind the turnstile
    return entry.pass(ctx as never, miss) as Promise<void>;
  };
}

function missed(ctx: Context, router: Router): void {
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
