import { z } from 'zod';
import { addComment, changeComment, linkWorkItems } from '../../commands/annotate-work-item.js';
import { askOne, recordOf } from '../../commands/desk.js';
import { recordsOf, idsOf } from '../../commands/walk.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { sortableText } from '../../../machines/sortable.js';
import { limits } from '../../../machines/work-item/context.js';
import { linkRelations } from '../../../machines/work-item/links.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { idempotencyKey, iso, labels, sentence, text, wholeNumber, workItem } from '../shapes.js';

/** What stands around a work item: comments, labels, links, sub-tasks, attempts and what was decided about it. */

const comment = z.object({ n: z.int().optional().describe('Its place in the list, for `before`.'), id: z.string(), author: z.string(), text: z.string(), createdAt: iso, editedAt: iso.nullable() }).meta({ id: 'Comment' });
const relation = z.enum(linkRelations);
const attempt = z.looseObject({
  sessionId: z.string(), employee: z.string().nullable(), startedAt: iso.nullable(), endedAt: iso.nullable(),
  outcome: z.enum(['succeeded', 'failed', 'interrupted']).nullable().describe('null while it is at work'),
  summary: z.string().nullable(), changedFiles: z.array(z.string()).nullable(), costUsd: z.number().nullable(),
  handoff: z.looseObject({}).nullable().describe('What the attempt said about its own work.'),
}).meta({ id: 'Attempt' });
const approval = z.looseObject({
  requestId: z.string(), request: z.string(), target: z.string().nullable(), state: z.enum(['pending', 'approved', 'rejected', 'superseded', 'expired', 'cancelled']),
  requestedBy: z.string(), requestedAt: iso, expiresAt: iso.nullable(), escalatedAt: iso.nullable(), decidedBy: z.string().nullable(), decidedAt: iso.nullable(), note: z.string().nullable(),
}).meta({ id: 'ApprovalRequest' });

const pageQuery = z.object({ before: wholeNumber(1, 999_999_999).optional().describe('`n` of the oldest row that was seen.'), limit: wholeNumber(1, 500).optional().describe('Default 100.') });
const commentBody = z.object({ text: sentence(limits.commentBytesMax), idempotencyKey });
const labelBody = z.object({ add: labels.optional(), remove: labels.optional(), idempotencyKey });
const linkBody = z.object({ relation, workItemId: text(200).min(1), idempotencyKey });
const handoffBody = z.object({
  summary: text(8_000).optional(), changedFiles: z.array(text(1_000)).max(limits.changedFilesMax).optional(),
  verification: text(8_000).optional(), retryNotes: text(8_000).optional(), sessionId: text(200).optional().describe('Default: the session that asks.'), idempotencyKey,
});

const bare = z.object({ idempotencyKey });

const target = 'work-item';
const one = z.object({ workItem });
const commented = z.object({ comment: comment.nullable(), workItem });
const owners = ['NOT_FOUND', 'NOT_OWNER'] as const;

export const workItemLedgerRoutes: readonly Route[] = [
  route('GET', '/api/work-items/:id/comments', 'work-item.read', { about: 'Comments, oldest first.', query: pageQuery, answer: z.object({ comments: z.array(comment), hasOlder: z.boolean() }), target, refusals: ['NOT_FOUND'] }, (call) => rowsOf(call, 'comments')),
  route('POST', '/api/work-items/:id/comments', 'work-item.comment', { about: 'Say something about it.', body: commentBody, answer: commented, status: 201, target, plan: true, refusals: owners }, add),
  route('PATCH', '/api/work-items/:id/comments/:commentId', 'work-item.comment', { about: 'Edit a comment: its author, or a person.', body: commentBody, answer: commented, target, plan: true, refusals: [...owners, 'FORBIDDEN', 'VERSION_CONFLICT'] }, change),
  route('DELETE', '/api/work-items/:id/comments/:commentId', 'work-item.comment', { about: 'Delete a comment; the ledger keeps that there was one.', body: bare, answer: commented, target, plan: true, refusals: [...owners, 'FORBIDDEN', 'VERSION_CONFLICT'] }, remove),
  route('POST', '/api/work-items/:id/labels', 'work-item.label', { about: 'Add and remove labels.', body: labelBody, answer: one, target, plan: true, refusals: owners }, relabel),
  route('POST', '/api/work-items/:id/links', 'work-item.link', { about: 'Link it to another item; both ends in one commit.', body: linkBody, answer: one, target, plan: true, refusals: [...owners, 'CONFLICT'] }, link),
  route('DELETE', '/api/work-items/:id/links/:relation/:other', 'work-item.link', { about: 'Take a link away, at both ends.', body: bare, answer: one, target, plan: true, refusals: owners }, unlink),
  route('GET', '/api/work-items/:id/children', 'work-item.read', { about: 'Its sub-tasks, oldest first.', answer: z.object({ workItems: z.array(workItem) }), target, refusals: ['NOT_FOUND'] }, children),
  route('GET', '/api/work-items/:id/attempts', 'work-item.read', { about: 'Who worked on it, when, with what outcome and at what cost; oldest first.', query: pageQuery, answer: z.object({ attempts: z.array(attempt), hasOlder: z.boolean() }), target, refusals: ['NOT_FOUND'] }, attempts),
  route('POST', '/api/work-items/:id/handoff', 'work-item.handoff', { about: 'What an attempt hands over: summary, changed files, how it was verified.', body: handoffBody, answer: one, target, plan: true, refusals: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'] }, handOver),
  route('GET', '/api/work-items/:id/approvals', 'work-item.read', { about: 'Every request for approval, oldest first: what became of it, who decided and when.', query: pageQuery, answer: z.object({ approvals: z.array(approval), hasOlder: z.boolean() }), target, refusals: ['NOT_FOUND'] }, (call) => rowsOf(call, 'approvals')),
];

async function rowsOf(call: Call<unknown, z.output<typeof pageQuery>>, collection: 'comments' | 'approvals' | 'attempts'): Promise<Reply | Refusal> {
  const id = idOf(call);
  if (!(await call.desk.supervisor.get('work-item', id))) return refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
  const { before, limit = 100 } = call.query;
  const rows = await call.desk.supervisor.rows({ kind: 'work-item', id }, collection, { last: limit + 1, ...(before !== undefined && { before }) });
  const shown = rows.slice(-limit).map(({ n, row }) => ({ n, ...(row as object) }));
  return { body: { [collection]: shown, hasOlder: rows.length > limit } };
}

async function add(call: Call<z.output<typeof commentBody>>): Promise<Reply | Refusal> {
  const done = await addComment(call.desk, idOf(call), call.body.text, call.asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

async function change(call: Call<z.output<typeof commentBody>>): Promise<Reply | Refusal> {
  const done = await changeComment(call.desk, idOf(call), call.params['commentId'] ?? '', call.body.text, call.asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

async function remove(call: Call): Promise<Reply | Refusal> {
  const done = await changeComment(call.desk, idOf(call), call.params['commentId'] ?? '', null, call.asking);
  return isRefusal(done) ? done : { ...done, body: done.value };
}

async function relabel(call: Call<z.output<typeof labelBody>>): Promise<Reply | Refusal> {
  const { add: more = [], remove: fewer = [] } = call.body;
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'item.label', add: more, remove: fewer }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function link(call: Call<z.output<typeof linkBody>>): Promise<Reply | Refusal> {
  const done = await linkWorkItems(call.desk, idOf(call), { relation: call.body.relation, other: call.body.workItemId }, 'add', call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function unlink(call: Call): Promise<Reply | Refusal> {
  const words = relation.safeParse(call.params['relation']);
  if (!words.success) return refuse('BAD_REQUEST', { path: 'relation' }, `The relation is one of: ${linkRelations.join(', ')}.`);
  const done = await linkWorkItems(call.desk, idOf(call), { relation: words.data, other: call.params['other'] ?? '' }, 'remove', call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function children({ desk, ...call }: Call): Promise<Reply | Refusal> {
  const id = idOf(call);
  if (!(await desk.supervisor.get('work-item', id))) return refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
  const ids = await idsOf(desk.supervisor, 'work-item', { index: 'parent', prefix: `${sortableText(id)}/`, most: childrenMax });
  return { body: { workItems: await recordsOf(desk.supervisor, 'work-item', ids) } };
}

const childrenMax = 1_000;

/** The ledger's rows, with what each attempt said itself and, for the latest of a session, what that session has cost. */
async function attempts(call: Call<unknown, z.output<typeof pageQuery>>): Promise<Reply | Refusal> {
  const page = await rowsOf(call, 'attempts');
  if (isRefusal(page)) return page;
  const { attempts: rows, hasOlder } = page.body as { attempts: readonly AttemptRow[]; hasOlder: boolean };
  const key = { kind: 'work-item', id: idOf(call) };
  const said = new Map((await call.desk.supervisor.rows(key, 'handoffs', { last: 1_000 })).map(({ n, row }) => [n, row as { changedFiles?: unknown }]));
  const latest = new Map(rows.map((row) => [row.sessionId, row.n]));
  const sessions = await recordsOf(call.desk.supervisor, 'session', [...latest.keys()]);
  const costs = new Map(sessions.map((each) => [(each as { id?: unknown }).id, (each as { totalCost?: unknown }).totalCost]));
  return { body: { hasOlder, attempts: rows.map((row) => ({
    ...row,
    costUsd: row.costUsd ?? (latest.get(row.sessionId) === row.n ? costs.get(row.sessionId) ?? null : null),
    changedFiles: row.changedFiles ?? said.get(row.n)?.changedFiles ?? null,
    handoff: said.get(row.n) ?? null,
  })) } };
}

interface AttemptRow { readonly n: number; readonly sessionId: string; readonly costUsd: number | null; readonly changedFiles: unknown }

async function handOver(call: Call<z.output<typeof handoffBody>>): Promise<Reply | Refusal> {
  const { sessionId, idempotencyKey: _key, ...said } = call.body;
  const session = sessionId ?? (call.by.type === 'session' ? call.by.id : undefined);
  if (session === undefined) return refuse('BAD_REQUEST', { path: 'sessionId' }, 'sessionId: say whose attempt this is.');
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'attempt.reported', sessionId: session, ...given }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: recordOf(done.value) } };
}
