import { z } from 'zod';
import { refuse, type Refusal } from '../../../../machines/refusals.js';
import { makeBundle } from '../../../inspector/make-bundle.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import type { Reply } from '../../../commands/request.js';
import { text } from '../../schemas.js';

/** A bug bundle to give away: `troupe replay` decides it once more, far from here. */
const seq = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a log position')
  .transform(Number);
const bundleQuery = z.object({
  kind: text(64).optional().describe('With `id`: one actor.'),
  id: text(200).optional(),
  from: seq.optional().describe('Position of the first entry; without an actor: everything from there on.'),
  to: seq.optional().describe('Position of the last entry.'),
});
const bundle = z.looseObject({
  format: z.literal('troupe-bundle'),
  version: z.literal(1),
  from: z.int(),
  to: z.int(),
  truncated: z.boolean(),
  actors: z.array(z.looseObject({ kind: z.string(), id: z.string() })),
});

export const inspectBundleRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/inspect/bundle',
    'inspect.bundle',
    {
      about: 'A bug bundle: the history of an actor or of a range of the log, with personal texts redacted.',
      query: bundleQuery,
      answer: bundle,
      refusals: ['NOT_FOUND', 'BAD_REQUEST'],
    },
    read,
  ),
];

async function read({
  app: { supervisor },
  query,
}: HttpRequest<unknown, z.output<typeof bundleQuery>>): Promise<Reply | Refusal> {
  const { kind, id, from, to } = query;
  if ((kind === undefined) !== (id === undefined))
    return refuse('BAD_REQUEST', { path: kind === undefined ? 'kind' : 'id' }, 'kind and id go together.');
  if (kind === undefined && from === undefined)
    return refuse(
      'BAD_REQUEST',
      { path: 'from' },
      'Give kind and id of an actor, or the log position where the bundle begins.',
    );
  if (from !== undefined && to !== undefined && to < from)
    return refuse('BAD_REQUEST', { path: 'to' }, 'to: must not be before from');
  if (kind !== undefined && !supervisor.inspection.kinds().some((known) => known.kind === kind))
    return refuse('NOT_FOUND', { kind, id });
  const made = await makeBundle(supervisor, {
    ...(kind !== undefined && id !== undefined && { actor: { kind, id } }),
    from,
    to,
  });
  if (made === undefined)
    return refuse('NOT_FOUND', { kind, id, from, to }, 'The log has no entries for it.');
  return {
    body: made,
    headers: { 'Content-Disposition': `attachment; filename="troupe-${made.from}-${made.to}.json"` },
  };
}
