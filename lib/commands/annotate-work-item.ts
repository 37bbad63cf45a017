import { createHash } from 'node:crypto';
import { asked, askOne, doneWith, recordOf, type Asking, type Desk, type Done } from './desk.js';
import { kinship } from './kinship.js';
import { newestRow } from './walk.js';
import type { ActorView, EventObject } from '../supervisor/contract.js';
import type { ActorKey, Json } from '../../machines/ground.js';
import { isRefusal, refuse, type Refusal } from '../../machines/refusals.js';
import { inverse, type LinkRelation } from '../../machines/work-item/links.js';

/** Comments and links of work items: what touches rows or two items at once. */

export interface Comment { readonly id: string; readonly author: string; readonly text: string; readonly createdAt: string; readonly editedAt: string | null }
export interface Commented { readonly comment: Comment | null; readonly workItem: Json }

/** `await addComment(desk, 'TRP-4', 'Which well?', {by})` */
export async function addComment(desk: Desk, id: string, text: string, asking: Asking): Promise<Done<Commented> | Refusal> {
  const commentId = keyedId(asking) ?? desk.supervisor.world.id();
  const done = await askOne(desk, 'work-item', id, { type: 'item.comment', commentId, text }, asking);
  if (isRefusal(done)) return done;
  const found = asking.dryRun ? undefined : await commentOf(desk, id, commentId);
  return { ...done, value: { comment: found?.row ?? null, workItem: done.value.view } };
}

/**
 * Edit (`text`) or delete (`null`) a comment. Its row is read first and the item told which edition was seen; whoever
 * was overtaken in between reads again.
 */
export async function changeComment(desk: Desk, id: string, commentId: string, text: string | null, asking: Asking): Promise<Done<Commented> | Refusal> {
  for (let tries = 0; ; tries += 1) {
    const item = await desk.supervisor.get('work-item', id);
    if (!item) return refuse('NOT_FOUND', { kind: 'work-item', id });
    const found = await commentOf(desk, id, commentId);
    if (!found) return refuse('NOT_FOUND', { workItemId: id, commentId }, `There is no comment ${commentId} on ${id}.`);
    const { author, createdAt } = found.row;
    const seen = { commentId, n: found.n, author, createdAt, edition: recordOf(item)['commentEdition'] };
    const done = await askOne(desk, 'work-item', id, text === null ? { type: 'comment.delete', ...seen } : { type: 'comment.edit', ...seen, text }, asking);
    if (isRefusal(done) && done.code === 'VERSION_CONFLICT' && tries < triesMax) continue;
    if (isRefusal(done)) return done;
    const now = text === null || asking.dryRun ? undefined : await commentOf(desk, id, commentId);
    return { ...done, value: { comment: now?.row ?? null, workItem: done.value.view } };
  }
}

const triesMax = 5;

/** The same request again is the same comment. */
function keyedId({ idempotency }: Asking): string | undefined {
  return idempotency && createHash('sha256').update(`${idempotency.scope}\n${idempotency.key}`).digest('hex').slice(0, 32);
}

async function commentOf({ supervisor }: Desk, id: string, commentId: string): Promise<{ readonly n: number; readonly row: Comment } | undefined> {
  const found = await newestRow(supervisor, { kind: 'work-item', id }, 'comments', (row) => (row as unknown as Comment).id === commentId); // rows of `comments` are written by one deed
  return found && { n: Number(found.n), row: found.row as unknown as Comment };
}

export interface LinkWish { readonly relation: LinkRelation; readonly other: string }

/** Link two items, or unlink them: both ends in one commit. Whoever asks owns this end and may read the other. */
export async function linkWorkItems(desk: Desk, id: string, { relation, other }: LinkWish, how: 'add' | 'remove', asking: Asking): Promise<Done<ActorView> | Refusal> {
  const { by } = asking;
  if (other === id) return refuse('BAD_REQUEST', { path: 'workItemId' }, 'A work item is not linked to itself.');
  if (by.type === 'session' && ['below', 'stranger'].includes(await kinship(desk, by, 'work-item', other))) return refuse('NOT_OWNER', { workItemId: other }, `You may not read work item ${other}.`);
  const near: ActorKey = { kind: 'work-item', id };
  const far: ActorKey = { kind: 'work-item', id: other };
  const type = `relation.${how}`;
  const committed = await desk.supervisor.transact({
    name: `work-item-${how}-link`,
    actors: [near, far],
    ...asked(asking),
    decide(turns) {
      const there = turns.read(far);
      if (!there) return refuse('NOT_FOUND', { kind: 'work-item', id: other }, `Todo ${other} not found`);
      const links = (recordOf(there)['links'] ?? []) as readonly { relation: string; id: string }[];
      if (how === 'add' && relation !== inverse[relation] && links.some((link) => link.relation === relation && link.id === id)) {
        return refuse('CONFLICT', { workItemId: id, other }, `${other} ${relation.replace('_', ' ')} ${id} already: it cannot be both ways.`);
      }
      turns.send(near, { type, relation, other } satisfies EventObject);
      turns.send(far, { type, relation: inverse[relation], other: id, far: true } satisfies EventObject);
      return { id };
    },
  });
  if (isRefusal(committed)) return committed;
  const view = await desk.supervisor.get('work-item', id);
  return view ? doneWith(committed, view) : refuse('NOT_FOUND', { ...near }); // it was there a moment ago: items are never removed
}
