import { z } from 'zod';
import { addComment, changeComment, linkWorkItems } from '../../../commands/work-items/annotate-work-item.js';
import { askActor } from '../../../commands/request.js';
import { recordsOf, idsOf } from '../../../commands/iterate.js';
import { isRefusal, refuse, type Refusal } from '../../../../machines/refusals.js';
import { sortableText } from '../../../../machines/sortable.js';
import { limits, linkRelations } from '../../../../machines/work-item/context.js';
import { route, type HttpRequest, type Route } from '../../route.js';
import { idOf, nextCursor } from '../../parse.js';
import type { Reply } from '../../../commands/request.js';
import { idempotencyKey, iso, labels, sentence, text } from '../../schemas.js';
import { workItem } from './schemas.js';
import { attempt, attempts, handOff, handoffBody } from './attempts.js';
import { pageQuery, rowsOf } from './rows.js';

/**
 * What stands around a work item: comments, labels, links, sub-tasks, attempts and what was decided about it.
 */

const comment = z
  .object({
    n: z.int().optional().describe('Its position in the list, for `before`.'),
    id: z.string(),
    author: z.string(),
    text: z.string(),
    createdAt: iso,
    editedAt: iso.nullable(),
  })
  .meta({ id: 'Comment' });

const relation = z.enum(linkRelations);

const approval = z
  .looseObject({
    requestId: z.string(),
    request: z.string(),
    target: z.string().nullable(),
    state: z.enum(['pending', 'approved', 'rejected', 'superseded', 'expired', 'cancelled']),
    requestedBy: z.string(),
    requestedAt: iso,
    expiresAt: iso.nullable(),
    escalatedAt: iso.nullable(),
    decidedBy: z.string().nullable(),
    decidedAt: iso.nullable(),
    note: z.string().nullable(),
  })
  .meta({ id: 'ApprovalRequest' });

const commentBody = z.object({ text: sentence(limits.commentBytesMax), idempotencyKey });

const labelBody = z.object({ add: labels.optional(), remove: labels.optional(), idempotencyKey });

const linkBody = z.object({ relation, workItemId: text(200).min(1), idempotencyKey });

const bare = z.object({ idempotencyKey });

const target = 'work-item';

const one = z.object({ workItem });

const commented = z.object({ comment: comment.nullable(), workItem });

const owners = ['NOT_FOUND', 'NOT_OWNER'] as const;

export const workItemLedgerRoutes: readonly Route[] = [
  route(
    'GET',
    '/api/work-items/:id/comments',
    'work-item.read',
    {
      about: 'Comments, oldest first.',
      query: pageQuery,
      answer: z.object({ comments: z.array(comment), hasOlder: z.boolean(), nextCursor }),
      target,
      refusals: ['NOT_FOUND'],
    },
    (request) => rowsOf(request, 'comments'),
  ),
  route(
    'POST',
    '/api/work-items/:id/comments',
    'work-item.comment',
    {
      about: 'Add a comment.',
      body: commentBody,
      answer: commented,
      status: 201,
      target,
      plan: true,
      refusals: owners,
    },
    add,
  ),
  route(
    'PATCH',
    '/api/work-items/:id/comments/:commentId',
    'work-item.comment',
    {
      about: 'Edit a comment; for its author and people.',
      body: commentBody,
      answer: commented,
      target,
      plan: true,
      refusals: [...owners, 'FORBIDDEN', 'VERSION_CONFLICT'],
    },
    change,
  ),
  route(
    'DELETE',
    '/api/work-items/:id/comments/:commentId',
    'work-item.comment',
    {
      about: 'Delete a comment; the ledger records the deletion.',
      body: bare,
      answer: commented,
      target,
      plan: true,
      refusals: [...owners, 'FORBIDDEN', 'VERSION_CONFLICT'],
    },
    remove,
  ),
  route(
    'POST',
    '/api/work-items/:id/labels',
    'work-item.label',
    { about: 'Add and remove labels.', body: labelBody, answer: one, target, plan: true, refusals: owners },
    relabel,
  ),
  route(
    'POST',
    '/api/work-items/:id/links',
    'work-item.link',
    {
      about: 'Link two work items; both ends in one commit.',
      body: linkBody,
      answer: one,
      target,
      plan: true,
      refusals: [...owners, 'CONFLICT'],
    },
    link,
  ),
  route(
    'DELETE',
    '/api/work-items/:id/links/:relation/:other',
    'work-item.link',
    {
      about: 'Remove a link, at both ends.',
      body: bare,
      answer: one,
      target,
      plan: true,
      refusals: owners,
    },
    unlink,
  ),
  route(
    'GET',
    '/api/work-items/:id/children',
    'work-item.read',
    {
      about: 'The sub-tasks of a work item, oldest first.',
      answer: z.object({ workItems: z.array(workItem) }),
      target,
      refusals: ['NOT_FOUND'],
    },
    children,
  ),
  route(
    'GET',
    '/api/work-items/:id/attempts',
    'work-item.read',
    {
      about: 'The attempts at a work item, with employee, time, outcome and cost; oldest first.',
      query: pageQuery,
      answer: z.object({ attempts: z.array(attempt), hasOlder: z.boolean(), nextCursor }),
      target,
      refusals: ['NOT_FOUND'],
    },
    attempts,
  ),
  route(
    'POST',
    '/api/work-items/:id/handoff',
    'work-item.handoff',
    {
      about: 'Submit the results of an attempt: summary, changed files, verification.',
      body: handoffBody,
      answer: one,
      target,
      plan: true,
      refusals: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
    },
    handOff,
  ),
  route(
    'GET',
    '/api/work-items/:id/approvals',
    'work-item.read',
    {
      about: 'All approval requests, oldest first, with outcome, decider and time.',
      query: pageQuery,
      answer: z.object({ approvals: z.array(approval), hasOlder: z.boolean(), nextCursor }),
      target,
      refusals: ['NOT_FOUND'],
    },
    (request) => rowsOf(request, 'approvals'),
  ),
];

async function add(request: HttpRequest<z.output<typeof commentBody>>): Promise<Reply | Refusal> {
  const done = await addComment(request, idOf(request), request.body.text);
  return isRefusal(done) ? done : { ...done, body: done.body };
}

async function change(request: HttpRequest<z.output<typeof commentBody>>): Promise<Reply | Refusal> {
  const done = await changeComment(
    request,
    idOf(request),
    request.params['commentId'] ?? '',
    request.body.text,
  );
  return isRefusal(done) ? done : { ...done, body: done.body };
}

async function remove(request: HttpRequest): Promise<Reply | Refusal> {
  const done = await changeComment(request, idOf(request), request.params['commentId'] ?? '', null);
  return isRefusal(done) ? done : { ...done, body: done.body };
}

async function relabel(request: HttpRequest<z.output<typeof labelBody>>): Promise<Reply | Refusal> {
  const { add: more = [], remove: fewer = [] } = request.body;
  const done = await askActor(request, 'work-item', idOf(request), {
    type: 'item.label',
    add: more,
    remove: fewer,
  });
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

async function link(request: HttpRequest<z.output<typeof linkBody>>): Promise<Reply | Refusal> {
  const done = await linkWorkItems(
    request,
    idOf(request),
    { relation: request.body.relation, other: request.body.workItemId },
    'add',
  );
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

async function unlink(request: HttpRequest): Promise<Reply | Refusal> {
  const words = relation.safeParse(request.params['relation']);
  if (!words.success)
    return refuse(
      'BAD_REQUEST',
      { path: 'relation' },
      `The relation is one of: ${linkRelations.join(', ')}.`,
    );
  const done = await linkWorkItems(
    request,
    idOf(request),
    { relation: words.data, other: request.params['other'] ?? '' },
    'remove',
  );
  return isRefusal(done) ? done : { ...done, body: { workItem: done.body.view } };
}

async function children({ app, ...call }: HttpRequest): Promise<Reply | Refusal> {
  const id = idOf(call);
  if (!(await app.supervisor.get('work-item', id)))
    return refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
  const ids = await idsOf(app.supervisor, 'work-item', {
    index: 'parent',
    prefix: `${sortableText(id)}/`,
    most: childrenMax,
  });
  return { body: { workItems: await recordsOf(app.supervisor, 'work-item', ids) } };
}

const childrenMax = 1_000;
