import { z } from 'zod';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import { treePage } from '../../../inspector/actor-tree.js';
import { nextCursor } from '../../parse.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import type { Reply } from '../../../commands/request.js';
import { text, wholeNumber } from '../../schemas.js';

/** Who stands beneath whom, a page at a time. Shape: `TreePage` of lib/inspector/answers.ts. */
const treeQuery = z.object({
  kind: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be the name of a kind'),
  id: text(200)
    .optional()
    .describe('The actor whose children are read. Without it: actors of the kind without a parent.'),
  after: text(1000).optional().describe('`next` of the page before.'),
  cursor: text(1000).optional().describe('`nextCursor` of the page before: the same as `after`.'),
  offset: wholeNumber(0, 10_000_000).optional().describe('Without `id`: how many actors to skip.'),
  limit: wholeNumber(1, 200).optional(),
});
const row = z.looseObject({ kind: z.string(), id: z.string(), value: z.unknown(), hasChildren: z.boolean() });

export const inspectTreeRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/inspect/tree',
    'inspect.list',
    {
      about: 'A page of the actor tree: the children of an actor, or the actors of a kind without a parent.',
      query: treeQuery,
      answer: z.object({
        actors: z.array(row),
        read: z.int().describe('Actors read for this page.'),
        next: z.string().nullable(),
        nextCursor,
      }),
      refusals: ['NOT_FOUND', 'BAD_REQUEST'],
    },
    read,
  ),
];

async function read({
  app: { supervisor },
  query,
}: HttpRequest<unknown, z.output<typeof treeQuery>>): Promise<Reply | Refusal> {
  const { kind, id, offset, limit = 100 } = query;
  const after = query.after || query.cursor || undefined;
  if (!supervisor.inspection.kinds().some((known) => known.kind === kind))
    return refuse('BAD_REQUEST', { path: 'kind' }, `kind: unknown kind of actor "${kind}"`);
  if (offset !== undefined && (after !== undefined || id !== undefined))
    return refuse('BAD_REQUEST', { path: 'offset' }, 'offset goes with neither after nor id');
  if (id !== undefined && (await supervisor.get(kind, id)) === undefined)
    return refuse('NOT_FOUND', { kind, id });
  const page = await treePage(supervisor, { kind, id, after, offset, limit });
  return { body: { ...page, nextCursor: page.next } };
}
