import { z } from 'zod';
import { createWorkItem } from '../../commands/create-work-item.js';
import { askOne, recordOf } from '../../commands/desk.js';
import { attemptsOf, spendOf } from '../../commands/list-sessions.js';
import { listWorkItems } from '../../commands/list-work-items.js';
import { whatNext } from '../../commands/next-moves.js';
import { isRefusal, refuse, type Refusal } from '../../../machines/refusals.js';
import { limits } from '../../../machines/work-item/context.js';
import { idOf, route, type Call, type Reply, type Route } from '../route.js';
import { agreeing, boundedText, employeeName, filter, idempotencyKey, instant, labels, note, sentence, session, text, verifyPolicy, wholeNumber, workItem, workItemEvent, workItemRow, workItemSource, workItemStatus } from '../shapes.js';

const listQuery = agreeing(z.object({
  status: workItemStatus.optional(),
  source: workItemSource.optional(),
  assignee: filter.optional(),
  department: filter.optional(),
  label: filter.optional(),
  since: instant.optional().describe('On `updatedAt`: from then on. A date, which is its midnight in UTC, or a zoned timestamp.'),
  until: instant.optional().describe('On `updatedAt`: until then.'),
  q: text(1024).optional().describe('Substring of id, title or body.'),
  text: text(1024).optional().describe('The same as `q`.'),
  needsAttentionFor: filter.optional().describe('An employee, `operator`, or `me`.'),
  limit: wholeNumber(1, 100).optional().describe('Default 20.'),
  offset: wholeNumber(0, 1_000_000).optional(),
}), ['q', 'text']);

const createBody = z.object({
  title: sentence(20_000).describe('Cut at 200 characters.'),
  body: boundedText(limits.bodyBytesMax).nullish(),
  acceptance: boundedText(limits.acceptanceBytesMax).nullish(),
  assignee: employeeName.nullish(),
  department: text(200).nullish().describe('Default: that of the assignee.'),
  verifyPolicy: verifyPolicy.nullish(),
  parentId: text(200).nullish().describe('Makes it a sub-task; they nest at most 3 deep.'),
  dueAt: instant.nullish(),
  labels: labels.optional(),
  idempotencyKey,
});
const assignBody = z.object({ assignee: employeeName, idempotencyKey });
const statusBody = z.object({ status: workItemStatus, note, idempotencyKey });
const archiveBody = z.object({ note, idempotencyKey });
const patchBody = z.strictObject({
  title: sentence(200).optional(),
  body: boundedText(limits.bodyBytesMax).nullable().optional(),
  acceptance: boundedText(limits.acceptanceBytesMax).nullable().optional(),
  assignee: employeeName.nullable().optional(),
  department: text(200).nullable().optional(),
  priority: z.int().min(0).max(3).optional(),
  rank: z.number().nullable().optional(),
  dueAt: instant.nullable().optional(),
  verifyPolicy: verifyPolicy.nullable().optional(),
  expectedVersion: z.int().min(1).optional().describe('Or the header `If-Match: "<version>"`.'),
  idempotencyKey,
});

/** Where it comes from, where it stands and what was approved are known, never said. */
const forbidden = ['provenance', 'approval*', 'source', 'sourceRef', 'status', 'createdBy', 'rootId', 'depth', 'rounds'];
const target = 'work-item';
const one = z.object({ workItem });
const page = z.object({ workItems: z.array(workItemRow), total: z.int(), totals: z.record(z.string(), z.int()), limit: z.int(), offset: z.int(), nextOffset: z.int().nullable() });
const judged = { allowed: z.boolean(), code: z.string().optional(), reason: z.string().optional() };
const next = z.looseObject({ workItemId: z.string(), status: workItemStatus, moves: z.array(z.object({ status: workItemStatus, noteNeeded: z.boolean().optional(), ...judged })), deeds: z.array(z.object({ deed: z.string(), ...judged })) });
const whole = z.object({ workItem, spendUsd: z.number(), events: z.array(workItemEvent) });

export const workItemRoutes: readonly Route[] = [
  route('POST', '/api/work-items', 'work-item.create', { about: 'Record an intent. Starts nothing.', body: createBody, answer: one, status: 201, forbidden, plan: true, refusals: ['UNKNOWN_EMPLOYEE', 'NOT_FOUND', 'NOT_OWNER', 'TERMINAL'] }, create),
  route('GET', '/api/work-items', 'work-item.list', { about: 'Work items, ranked ones first, then the latest change first.', query: listQuery, answer: page }, list),
  route('GET', '/api/work-items/:id', 'work-item.read', { about: 'A work item with its ledger and what it has cost.', answer: whole, target, refusals: ['NOT_FOUND'] }, read),
  route('PATCH', '/api/work-items/:id', 'work-item.edit', { about: 'Edit metadata, against the version that was read.', body: patchBody, answer: one.extend({ replayed: z.boolean() }), target, forbidden, plan: true, bodyBytesMax: 65_536, refusals: ['NOT_FOUND', 'PRECONDITION_REQUIRED', 'VERSION_CONFLICT', 'UNKNOWN_EMPLOYEE'] }, edit),
  route('POST', '/api/work-items/:id/assign', 'work-item.assign', { about: 'Give it to somebody.', body: assignBody, answer: one, target, plan: true, refusals: ['NOT_FOUND', 'UNKNOWN_EMPLOYEE', 'NOT_OWNER', 'TERMINAL', 'CONFLICT'] }, assign),
  route('POST', '/api/work-items/:id/status', 'work-item.status', { about: 'Move it along a legal edge. `blocked` and `escalated` need a note.', body: statusBody, answer: one.extend({ escalated: z.boolean() }), target, plan: true, refusals: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'NOTE_REQUIRED', 'ASSIGNEE_REQUIRED', 'PERSON_REQUIRED', 'SELF_REVIEW', 'NOT_OWNER', 'CANCEL_BY_ARCHIVE'] }, move),
  route('PUT', '/api/work-items/:id/status', 'work-item.set-status', { about: 'For consoles: a person moves it; `cancelled` archives it.', body: statusBody, answer: one.extend({ escalated: z.boolean() }), target, plan: true, refusals: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'NOTE_REQUIRED', 'ASSIGNEE_REQUIRED', 'TERMINAL', 'GATE_PARKED'] }, (call) => (call.body.status === 'cancelled' ? putAway(call) : move(call))),
  route('POST', '/api/work-items/:id/archive', 'work-item.archive', { about: 'Cancel it and keep the evidence.', body: archiveBody, answer: one.extend({ archived: z.literal(true) }), target, plan: true, refusals: ['NOT_FOUND', 'TERMINAL', 'PERSON_REQUIRED', 'NOT_OWNER', 'GATE_PARKED'] }, archive),
  route('GET', '/api/work-items/:id/next', 'work-item.next', { about: 'Where this caller may move it now, what else they may do with it, and what stands in the way of the rest.', answer: next, target, refusals: ['NOT_FOUND'] }, async (call) => {
    const answer = await whatNext(call.desk, idOf(call), call.by);
    return isRefusal(answer) ? answer : { body: answer };
  }),
  route('GET', '/api/work-items/:id/sessions', 'work-item.sessions', { about: 'The sessions that attempted it, oldest first.', answer: z.array(session), target, refusals: ['NOT_FOUND'] }, sessions),
];

async function create({ desk, body, asking }: Call<z.output<typeof createBody>>): Promise<Reply | Refusal> {
  const done = await createWorkItem(desk, body, asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function list({ desk, query, by }: Call<unknown, z.output<typeof listQuery>>): Promise<Reply> {
  return { body: await listWorkItems(desk, { ...query, q: query.q ?? query.text, limit: query.limit ?? 20, offset: query.offset ?? 0 }, by) };
}

async function read(call: Call): Promise<Reply | Refusal> {
  const record = await itemOf(call);
  if (isRefusal(record)) return record;
  const id = idOf(call);
  const [spendUsd, rows] = await Promise.all([spendOf(call.desk, id), call.desk.supervisor.rows({ kind: 'work-item', id }, 'events', { last: eventsMax })]);
  return { body: { workItem: record, spendUsd, events: rows.map((row) => row.row) } };
}

const eventsMax = 1000;

async function edit(call: Call<z.output<typeof patchBody>>): Promise<Reply | Refusal> {
  const { expectedVersion, idempotencyKey: _key, ...given } = call.body;
  const matched = versionIn(call.header('if-match'));
  if (expectedVersion !== undefined && matched !== undefined && expectedVersion !== matched) return refuse('BAD_REQUEST', { path: 'expectedVersion' }, 'expectedVersion and If-Match differ. Send one of them.');
  const version = expectedVersion ?? matched;
  if (version === undefined) return refuse('PRECONDITION_REQUIRED');
  const patch = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (Object.keys(patch).length === 0) return refuse('BAD_REQUEST', { path: '' }, 'no recognized fields to update');
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'item.edit', patch, expectedVersion: version }, call.asking);
  if (!isRefusal(done) && patch.verifyPolicy != null) await call.desk.reviews?.look();
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view, replayed: done.replayed } };
}

/** `"3"`, `W/"3"` or `3` → 3 */
function versionIn(header: string | undefined): number | undefined {
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(header?.trim() ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

async function assign(call: Call<z.output<typeof assignBody>>): Promise<Reply | Refusal> {
  const event = { type: 'item.assign', assignee: call.body.assignee, department: null }; // the roster knows the department
  const done = await askOne(call.desk, 'work-item', idOf(call), event, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view } };
}

async function move(call: Call<z.output<typeof statusBody>>): Promise<Reply | Refusal> {
  const { status, note: why } = call.body;
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'item.move', status, ...(why !== undefined && { note: why }) }, call.asking);
  if (isRefusal(done)) return done;
  // asked for something else and found escalated: the review rounds are used up
  const escalated = status !== 'escalated' && recordOf(done.value)['status'] === 'escalated';
  return { ...done, body: { workItem: done.value.view, escalated } };
}

async function archive(call: Pick<Call<z.output<typeof archiveBody>>, 'body' | 'desk' | 'params' | 'asking'>): Promise<Reply | Refusal> {
  const { note: why } = call.body;
  const done = await askOne(call.desk, 'work-item', idOf(call), { type: 'item.archive', ...(why !== undefined && { note: why }) }, call.asking);
  return isRefusal(done) ? done : { ...done, body: { workItem: done.value.view, archived: true } };
}

/** Consoles say that it is cancelled; that is archiving. */
async function putAway(call: Call<z.output<typeof statusBody>>): Promise<Reply | Refusal> {
  const done = await archive(call);
  return isRefusal(done) ? done : { ...done, body: { workItem: (done.body as { workItem: unknown }).workItem, escalated: false } };
}

async function sessions(call: Call): Promise<Reply | Refusal> {
  const record = await itemOf(call);
  return isRefusal(record) ? record : { body: await attemptsOf(call.desk, idOf(call)) };
}

async function itemOf(call: Call): Promise<Readonly<Record<string, unknown>> | Refusal> {
  const id = idOf(call);
  if (!/^[A-Z]{3}-[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id.slice(4)))) return refuse('BAD_REQUEST', { path: 'id' }, 'Invalid Todo ID; expected <AAA>-N with a positive safe-integer suffix');
  const view = await call.desk.supervisor.get('work-item', id);
  return view ? recordOf(view) : refuse('NOT_FOUND', { kind: 'work-item', id }, `Todo ${id} not found`);
}
