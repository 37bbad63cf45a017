import { createHash } from 'node:crypto';
import type { App, GatewayActor } from '../app.js';
import { optionsOf, askActor, replyWith, type Request, type Reply } from '../request.js';
import { relationTo } from '../relation.js';
import { newestRow } from '../iterate.js';
import type { ActorKey, Json } from '../../../machines/outputs.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import type { Comment } from '../../../machines/work-item/annotations.js';
import { inverse, type LinkRelation } from '../../../machines/work-item/context.js';

/** Comments and links of work items: what touches rows or two items at once. */

export interface Commented {
  readonly comment: Comment | null;
  readonly workItem: Json;
}

/** `await addComment(request, 'TRP-4', 'Which well?')` */
export async function addComment(
  request: Request,
  id: string,
  text: string,
): Promise<Reply<Commented> | Refusal> {
  const commentId = keyedId(request) ?? request.app.supervisor.environment.ids.next();
  const done = await askActor(request, 'work-item', id, { type: 'item.comment', commentId, text });
  if (isRefusal(done)) return done;
  const found = request.dryRun ? undefined : await commentOf(request.app, id, commentId);
  return { ...done, body: { comment: found?.row ?? null, workItem: done.body.view } };
}

/**
 * Edit (`text`) or delete (`null`) a comment. Its row is read first and the item told which edition was seen;
 * anyone who was overtaken in between reads again.
 */
export async function changeComment(
  request: Request,
  id: string,
  commentId: string,
  text: string | null,
): Promise<Reply<Commented> | Refusal> {
  for (let tries = 0; ; tries += 1) {
    const item = await request.app.supervisor.get('work-item', id);
    if (!item) return refuse('NOT_FOUND', { kind: 'work-item', id });
    const found = await commentOf(request.app, id, commentId);
    if (!found)
      return refuse('NOT_FOUND', { workItemId: id, commentId }, `There is no comment ${commentId} on ${id}.`);
    const { author, createdAt } = found.row;
    const seen = { commentId, n: found.n, author, createdAt, edition: item.view.commentEdition };
    const done = await askActor(
      request,
      'work-item',
      id,
      text === null ? { type: 'comment.delete', ...seen } : { type: 'comment.edit', ...seen, text },
    );
    if (isRefusal(done) && done.code === 'VERSION_CONFLICT' && tries < triesMax) continue;
    if (isRefusal(done)) return done;
    const now = text === null || request.dryRun ? undefined : await commentOf(request.app, id, commentId);
    return { ...done, body: { comment: now?.row ?? null, workItem: done.body.view } };
  }
}

const triesMax = 5;

/** The same request again is the same comment. */
function keyedId({ idempotency }: Request): string | undefined {
  return (
    idempotency &&
    createHash('sha256').update(`${idempotency.scope}\n${idempotency.key}`).digest('hex').slice(0, 32)
  );
}

async function commentOf(
  { supervisor }: App,
  id: string,
  commentId: string,
): Promise<{ readonly n: number; readonly row: Comment } | undefined> {
  const found = await newestRow(
    supervisor,
    { kind: 'work-item', id },
    'comments',
    (row) => row.id === commentId,
  );
  return found && { n: Number(found.n), row: found.row };
}

export interface LinkInput {
  readonly relation: LinkRelation;
  readonly other: string;
}

/**
 * Link two items, or unlink them: both ends in one commit. Anyone who asks owns this end and may read the other.
 */
export async function linkWorkItems(
  request: Request,
  id: string,
  { relation, other }: LinkInput,
  how: 'add' | 'remove',
): Promise<Reply<GatewayActor<'work-item'>> | Refusal> {
  const { caller: by } = request;
  if (other === id)
    return refuse('BAD_REQUEST', { path: 'workItemId' }, 'A work item cannot be linked to itself.');
  if (
    by.type === 'session' &&
    ['below', 'outsider'].includes(await relationTo(request.app, by, 'work-item', other))
  )
    return refuse('NOT_OWNER', { workItemId: other }, `You may not read work item ${other}.`);
  const near: ActorKey<'work-item'> = { kind: 'work-item', id };
  const far: ActorKey<'work-item'> = { kind: 'work-item', id: other };
  const type = `relation.${how}` as const;
  const committed = await request.app.supervisor.transact({
    name: `work-item-${how}-link`,
    actors: [near, far],
    ...optionsOf(request),
    run(turns) {
      const there = turns.read(far);
      if (!there) return refuse('NOT_FOUND', { kind: 'work-item', id: other }, `Todo ${other} not found`);
      if (
        how === 'add' &&
        relation !== inverse[relation] &&
        there.view.links.some((link) => link.relation === relation && link.id === id)
      ) {
        return refuse(
          'CONFLICT',
          { workItemId: id, other },
          `${other} ${relation.replace('_', ' ')} ${id} already; the reverse is not allowed.`,
        );
      }
      turns.send(near, { type, relation, other });
      turns.send(far, { type, relation: inverse[relation], other: id, far: true });
      return { id };
    },
  });
  if (isRefusal(committed)) return committed;
  const view = await request.app.supervisor.get('work-item', id);
  // It was there a moment ago: items are never removed
  return view ? replyWith(committed, view) : refuse('NOT_FOUND', { ...near });
}
