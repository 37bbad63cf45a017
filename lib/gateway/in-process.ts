import { answererOf } from './router.js';
import { expectedRefusal } from './errors.js';
import { judgeJson } from './parse.js';
import type { Route } from './route.js';
import type { App } from '../commands/app.js';
import type { Reply } from '../commands/request.js';
import type { Caller } from '../../machines/caller.js';
import { refuse, type Refusal } from '../../machines/refusals.js';

/** Posts to a route without a connection: `post(caller, '/api/trust', { decision: 'trust' })`. */
export type Post = (
  caller: Caller,
  path: string,
  body: Readonly<Record<string, unknown>>,
  /** The idempotency key, for routes that take one. */
  options?: { readonly key: string },
) => Promise<Reply | Refusal>;

/** For effects, which are made before the routes are: it is refused until `served` hands over the real one. */
export function postOnceServed(): { readonly post: Post; readonly served: (by: Post) => void } {
  let to: Post = () => Promise.resolve(refuse('BUSY', {}, 'The gateway is starting. Try again in a moment.'));
  return { post: (...request) => to(...request), served: (by) => void (to = by) };
}

/** Judged, parsed and written to the audit log as any request of that caller. Rejects where the route fails. */
export const postTo =
  (app: App, routes: readonly Route[]): Post =>
  async (caller, path, body, options) => {
    const found = routes.flatMap((route) => {
      const params = route.method === 'POST' ? paramsOf(route.path, path) : undefined;
      return params === undefined ? [] : [{ route, params }];
    })[0];
    if (found === undefined) return refuse('NOT_FOUND', {}, 'Not found');
    try {
      return await answererOf(app, found.route, { openReads: false })({
        identity: { type: 'authenticated', caller },
        client: {
          address: undefined,
          secure: true,
          local: false,
          isOtherUser: () => Promise.resolve(false),
        },
        params: found.params,
        path,
        query: {},
        body: async (limits) => judgeJson(body, limits) ?? body,
        header: (name) => (name === 'idempotency-key' ? options?.key : undefined),
      });
    } catch (error) {
      const refusal = expectedRefusal(error);
      if (refusal !== undefined) return refusal;
      throw error;
    }
  };

/** `paramsOf('/api/sessions/:id', '/api/sessions/s%201')` → `{ id: 's 1' }`; undefined: another path. */
function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}
